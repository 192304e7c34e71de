/*
 * s3_reply - what S3 says of uploads in parts, read.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_S3_REPLY_H
#define EXPORTERS_CLOUD_S3_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporters/cloud/http/md5.h"
#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	S3_ID_BYTES = 1025, /* of an upload, with its NUL */
	S3_KEY_BYTES = 1025,
	S3_PARTS_MAX = 10000,
};

struct s3_part {
	uint64_t bytes;
	unsigned char md5[MD5_BYTES];
	bool there;
};

/* A page of "ListMultipartUploads": the newest of one key. */
struct s3_uploads {
	const char *key;      /* which is sought */
	char id[S3_ID_BYTES]; /* "" as long as there is none */
	char begun[40];       /* as text, which sorts by time */
	bool more;            /* ask again, behind these two */
	char next_key[S3_KEY_BYTES], next_id[S3_ID_BYTES];
};

/* A page of "ListParts". */
struct s3_parts {
	struct s3_part at[S3_PARTS_MAX + 1]; /* by number, from 1 */
	bool more;
	uint64_t next; /* ask again, behind this one */
};

int s3_read_uploads(
    struct s3_uploads *uploads, struct text body, struct err *err);
int s3_read_parts(struct s3_parts *parts, struct text body, struct err *err);
/* The id in the answer to "CreateMultipartUpload". */
int s3_read_id(char id[static S3_ID_BYTES], struct text body, struct err *err);
/* The ETag in that to "CompleteMultipartUpload" ("" when there is none), which
 * may be 200 and an error all the same: -1. */
int s3_read_whole(char etag[static 128], struct text body, struct err *err);

/* An ETag without the quotes around it. */
struct text s3_etag_bare(struct text etag);
/* The MD5 that an ETag is ("\"...\"", of a part or a whole); false: it is
 * something else. */
bool s3_etag_md5(struct text etag, unsigned char md5[static MD5_BYTES]);

/*
 * What parts that were put become: the request that makes them one
 * object, and the ETag that it gets.
 */
enum { S3_ETAG_BYTES = 80, S3_WHOLE_BYTES = MD5_HEX_BYTES + 16 };

/* A part that is there. */
struct s3_put {
	unsigned char md5[MD5_BYTES];
	char etag[S3_ETAG_BYTES]; /* as the service said it */
};

/* The body of "CompleteMultipartUpload"; the caller frees it.  `put` is by
 * number, from 1, here and below. */
char *s3_whole_list(const struct s3_put *put, uint32_t count, size_t *bytes);

/* The ETag without its quotes: the MD5 of those of the parts, and how many. */
int s3_whole_etag(char to[static S3_WHOLE_BYTES], const struct s3_put *put,
    uint32_t count, struct err *err);

#endif
