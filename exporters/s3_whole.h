/*
 * s3_whole - what parts that were put become: the request that makes them one
 * object, and the ETag that it gets.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_S3_WHOLE_H
#define EXPORTERS_S3_WHOLE_H

#include <stddef.h>
#include <stdint.h>

#include "exporters/md5.h"

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
