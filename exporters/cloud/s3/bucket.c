/*
 * s3_bucket - a bucket of S3 or a compatible service, configured in the
 * environment.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/s3/bucket.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exporters/cloud/common/service_error.h"
#include "proto/http/message.h"

/* The first variable that is set, or NULL. */
static const char *
get_either(const char *one, const char *other)
{
	const char *value = getenv(one);

	if (value == NULL || *value == '\0')
		value = getenv(other);
	return value != NULL && *value != '\0' ? value : NULL;
}

static int
take_secrets(struct s3 *s3, struct err *err)
{
	bool has_id, has_secret, has_token;

	if (secret_from_environment(
		&s3->id, "AWS_ACCESS_KEY_ID", &has_id, err) != 0 ||
	    secret_from_environment(
		&s3->secret, "AWS_SECRET_ACCESS_KEY", &has_secret, err) != 0 ||
	    secret_from_environment(
		&s3->token, "AWS_SESSION_TOKEN", &has_token, err) != 0)
		return -1;
	if (!has_id || !has_secret)
		return err_set(err,
		    "no access key: set AWS_ACCESS_KEY_ID and "
		    "AWS_SECRET_ACCESS_KEY (or AWS_SECRET_ACCESS_KEY_FILE)");
	if (has_token && s3->token.bytes > S3_TOKEN_BYTES_MAX)
		return err_set(err, "AWS_SESSION_TOKEN is longer than %d bytes",
		    S3_TOKEN_BYTES_MAX);
	return 0;
}

static int
take_region(struct s3 *s3, struct err *err)
{
	const char *region = get_either("AWS_REGION", "AWS_DEFAULT_REGION");

	if (region == NULL)
		region = "us-east-1";
	if (strlen(region) >= sizeof(s3->region) ||
	    strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") !=
		strlen(region))
		return err_set(err, "AWS_REGION contains other characters than "
				    "lower-case letters, digits and hyphens");
	snprintf(s3->region, sizeof(s3->region), "%s", region);
	return 0;
}

/* The certificate does not cover a bucket name with a dot as a host name. */
static int
take_endpoint(struct s3 *s3, struct text bucket, struct err *err)
{
	const char *endpoint =
	    get_either("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
	bool dotted = memchr(bucket.at, '.', bucket.bytes) != NULL;
	int length = endpoint != NULL ? (int)strlen(endpoint) : 0, n;

	while (length > 0 && endpoint[length - 1] == '/')
		length--;
	if (endpoint != NULL)
		n = snprintf(s3->base, sizeof(s3->base), "%.*s/%.*s", length,
		    endpoint, (int)bucket.bytes, bucket.at);
	else if (dotted)
		n = snprintf(s3->base, sizeof(s3->base),
		    "https://s3.%s.amazonaws.com/%.*s", s3->region,
		    (int)bucket.bytes, bucket.at);
	else
		n = snprintf(s3->base, sizeof(s3->base),
		    "https://%.*s.s3.%s.amazonaws.com", (int)bucket.bytes,
		    bucket.at, s3->region);
	if (n < 0 || (size_t)n >= sizeof(s3->base))
		return err_set(err, "AWS_ENDPOINT_URL is longer than %zu bytes",
		    sizeof(s3->base) - 80);
	if (strpbrk(s3->base, "?#") != NULL)
		return err_set(err, "AWS_ENDPOINT_URL contains a query");
	return endpoint == NULL || http_check_url(s3->base, err) == 0
		   ? 0
		   : err_prefix(err, "AWS_ENDPOINT_URL");
}

int
s3_open(struct s3 *s3, struct text bucket, const struct http_options *how,
    struct err *err)
{
	if (take_secrets(s3, err) != 0 || take_region(s3, err) != 0 ||
	    take_endpoint(s3, bucket, err) != 0)
		return -1;
	return http_open(&s3->http, how, err);
}

void
s3_close(struct s3 *s3)
{
	struct secret *const secrets[] = { &s3->id, &s3->secret, &s3->token };

	http_close(&s3->http);
	for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets); i++)
		if (secrets[i]->at != NULL)
			secret_clear(secrets[i]);
}

/* The hash of the body. */
static void
make_sum(struct s3 *s3, struct text body)
{
	unsigned char sum[crypto_hash_sha256_BYTES];
	char hex[2 * sizeof(sum) + 1];

	crypto_hash_sha256(sum, (const unsigned char *)body.at, body.bytes);
	snprintf(s3->sum, sizeof(s3->sum), "x-amz-content-sha256: %s",
	    sodium_bin2hex(hex, sizeof(hex), sum, sizeof(sum)));
}

/* The date, and the authorization. */
static int
sign(void *arg, struct err *err)
{
	struct s3 *s3 = arg;
	const struct sign_s3 who = {
		.id = secret_text(&s3->id),
		.secret = secret_text(&s3->secret),
		.region = s3->region,
	};
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(s3->date, sizeof(s3->date), "x-amz-date: %Y%m%dT%H%M%SZ", &tm);
	s3->request.headers[s3->count] = NULL; /* not part of the signature */
	if (sign_s3(&who, &s3->request, s3->header, err) != 0)
		return -1;
	s3->request.headers[s3->count] = s3->header;
	return 0;
}

int
s3_send(struct s3 *s3, const char *method, const char *path,
    const char *const *headers, struct text body, struct http_answer *answer,
    struct err *err)
{
	struct http_request *request = &s3->request;
	char token[S3_TOKEN_BYTES_MAX + 32];
	uint32_t count = 0;
	int n = snprintf(s3->url, sizeof(s3->url), "%s%s", s3->base, path);

	if (n < 0 || (size_t)n >= sizeof(s3->url))
		return err_set(
		    err, "the address is longer than %d bytes", S3_URL_BYTES);
	make_sum(s3, body);
	*request = (struct http_request){ .method = method,
		.url = s3->url,
		.body = body,
		.sign = sign,
		.sign_arg = s3 };
	for (; headers[count] != NULL; count++)
		request->headers[count] = headers[count];
	request->headers[count++] = s3->date;
	request->headers[count++] = s3->sum;
	if (s3->token.at != NULL) {
		snprintf(token, sizeof(token), "x-amz-security-token: %s",
		    (const char *)s3->token.at);
		request->headers[count++] = token;
	}
	s3->count = count;
	n = http_send(s3->http, request, answer, err);
	s3->lost = n != 0;
	if (n == 0 && (answer->status < 200 || answer->status > 299))
		n = answer->status < 400
			? http_refused(s3->http, answer, err)
			: service_error_set(request, answer, err);
	sodium_memzero(token, sizeof(token));
	return n;
}
