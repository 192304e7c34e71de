/*
 * s3 - a bucket of S3 or a compatible service, configured in the environment,
 * and its answers.
 *
 * AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY (or _FILE), AWS_SESSION_TOKEN (or
 * _FILE), AWS_REGION or AWS_DEFAULT_REGION ("us-east-1"); AWS_ENDPOINT_URL_S3
 * or AWS_ENDPOINT_URL select another service, which then gets the bucket in
 * the path.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_S3_H
#define EXPORTERS_CLOUD_S3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporters/cloud/sign.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/http/http.h"
#include "proto/keys/secret.h"

/*
 * AWS Signature Version 4 for S3.
 *
 * AWS, "Authenticating Requests: Using the Authorization Header (AWS Signature
 * Version 4)", with the whole payload in one request.  All headers of the
 * request and the host are signed.  The path is signed as it is in the
 * address: the caller percent-encodes all but unreserved characters, once.
 */

enum { SIGN_S3_HEADER_BYTES = 2048 };

struct sign_s3 {
	struct text id;     /* access key: 16 to 128 characters */
	struct text secret; /* of any length */
	const char *region; /* "us-east-1" */
};

/* Make "Authorization: AWS4-HMAC-SHA256 ..." for the request with its headers,
 * which include x-amz-date ("20130524T000000Z") and x-amz-content-sha256. */
int sign_s3(const struct sign_s3 *who, const struct http_request *request,
    char header[static SIGN_S3_HEADER_BYTES], struct err *err);

enum { S3_URL_BYTES = 8192, S3_HEADERS_MAX = 4, S3_TOKEN_BYTES_MAX = 8192 };

struct s3 {
	struct http *http;
	struct secret id, secret,
	    token; /* token.at is NULL if there is no token */
	char region[64], base[512];
	char url[S3_URL_BYTES], date[40], sum[96];
	char header[SIGN_S3_HEADER_BYTES];
	struct http_request request; /* the last request */
	uint32_t count; /* headers of the request; the signature follows */
	bool lost;      /* the last request got no answer */
};

/* Zero the bucket first; call s3_close whatever s3_open returns. */
int s3_open(struct s3 *s3, struct text bucket, const struct http_options *how,
    struct err *err);
void s3_close(struct s3 *s3);

/* `path` is the encoded key with its query; `headers` end with NULL.  Returns
 * 0 for an answer 2xx, -1 for another, or for none (`lost` is then set). */
int s3_send(struct s3 *s3, const char *method, const char *path,
    const char *const *headers, struct text body, struct http_answer *answer,
    struct err *err);

/* Parse the answers of S3 about multipart uploads. */

enum {
	S3_ID_BYTES = 1025, /* bytes of an upload id, including its NUL */
	S3_KEY_BYTES = 1025,
	S3_PARTS_MAX = 10000,
};

struct s3_part {
	uint64_t bytes;
	unsigned char md5[MD5_BYTES];
	bool there;
};

/* A page of "ListMultipartUploads": finds the newest upload of a key. */
struct s3_uploads {
	const char *key;      /* the key to find */
	char id[S3_ID_BYTES]; /* "" until one is found */
	char begun[40];       /* text that sorts by time */
	bool more; /* if there is another page: the markers where it begins */
	char next_key[S3_KEY_BYTES], next_id[S3_ID_BYTES];
};

/* A page of "ListParts". */
struct s3_parts {
	struct s3_part at[S3_PARTS_MAX + 1]; /* by number, from 1 */
	bool more;
	uint64_t
	    next; /* if there is another page: the marker where it begins */
};

int s3_read_uploads(
    struct s3_uploads *uploads, struct text body, struct err *err);
int s3_read_parts(struct s3_parts *parts, struct text body, struct err *err);
/* Get the id from the answer to "CreateMultipartUpload". */
int s3_read_id(char id[static S3_ID_BYTES], struct text body, struct err *err);
/* Get the ETag from the answer to "CompleteMultipartUpload" ("" if absent).
 * Returns -1 if the answer is an error, which may have status 200. */
int s3_read_whole(char etag[static 128], struct text body, struct err *err);

/* An ETag without its quotes. */
struct text s3_etag_bare(struct text etag);
/* Parse an ETag that is an MD5 ("\"...\"", of a part or an object); false if
 * it is not. */
bool s3_etag_md5(struct text etag, unsigned char md5[static MD5_BYTES]);

/*
 * Combine parts: the request that makes them one object, and the ETag of that
 * object.
 */
enum { S3_ETAG_BYTES = 80, S3_WHOLE_BYTES = MD5_HEX_BYTES + 16 };

/* An uploaded part. */
struct s3_put {
	unsigned char md5[MD5_BYTES];
	char etag[S3_ETAG_BYTES]; /* as the service returned it */
};

/* The body of "CompleteMultipartUpload"; the caller frees it.  Here and below
 * `put` is ordered by part number, from 1. */
char *s3_whole_list(const struct s3_put *put, uint32_t count, size_t *bytes);

/* The ETag of the object without quotes: the MD5 of the MD5s of the parts, and
 * the number of parts. */
int s3_whole_etag(char to[static S3_WHOLE_BYTES], const struct s3_put *put,
    uint32_t count, struct err *err);

#endif
