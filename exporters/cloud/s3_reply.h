/*
 * s3_reply - parse the answers of S3 about multipart uploads.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_S3_REPLY_H
#define EXPORTERS_CLOUD_S3_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporters/cloud/md5.h"
#include "proto/base/err.h"
#include "proto/base/text.h"

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
