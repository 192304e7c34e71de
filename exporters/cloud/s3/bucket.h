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

#include "exporters/cloud/s3/sign.h"
#include "proto/http/http.h"
#include "proto/keys/secret.h"

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
