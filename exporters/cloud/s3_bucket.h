/*
 * s3_bucket - a bucket of S3 or a compatible service, configured in the
 * environment.
 *
 * AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY (or _FILE), AWS_SESSION_TOKEN (or
 * _FILE), AWS_REGION or AWS_DEFAULT_REGION ("us-east-1"); AWS_ENDPOINT_URL_S3
 * or AWS_ENDPOINT_URL select another service, which then gets the bucket in
 * the path.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_S3_BUCKET_H
#define EXPORTERS_CLOUD_S3_BUCKET_H

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

#endif
