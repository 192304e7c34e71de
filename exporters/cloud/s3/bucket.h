/*
 * s3_bucket - a bucket of S3, or of a service like it, as the environment names
 * it.
 *
 * AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY (or _FILE), AWS_SESSION_TOKEN (or
 * _FILE), AWS_REGION or AWS_DEFAULT_REGION ("us-east-1"); AWS_ENDPOINT_URL_S3
 * or AWS_ENDPOINT_URL for another service, whose buckets then stand in the
 * path.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_S3_BUCKET_H
#define EXPORTERS_CLOUD_S3_BUCKET_H

#include "exporters/cloud/s3/sign.h"
#include "proto/keys/secret.h"

enum { S3_URL_BYTES = 8192, S3_HEADERS_MAX = 4, S3_TOKEN_BYTES_MAX = 8192 };

struct s3 {
	struct http *http;
	struct secret id, secret, token; /* token: at NULL, none */
	char region[64], base[512];
	char url[S3_URL_BYTES], date[40], sum[96];
	char header[SIGN_S3_HEADER_BYTES];
	struct http_request request; /* the last one */
	uint32_t count;              /* of its headers, its signature's place */
	bool lost;                   /* it had no answer */
};

/* Whatever comes back, s3_close ends it; zero one before. */
int s3_open(struct s3 *s3, struct text bucket, const struct http_options *how,
    struct err *err);
void s3_close(struct s3 *s3);

/* `path` is the key, encoded, with its query; `headers` end with NULL.  0: an
 * answer 2xx; -1: another, or none (then `lost`). */
int s3_send(struct s3 *s3, const char *method, const char *path,
    const char *const *headers, struct text body, struct http_answer *answer,
    struct err *err);

#endif
