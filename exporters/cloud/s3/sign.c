/*
 * s3_sign - AWS Signature Version 4 for S3.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/s3/sign.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { DATE_BYTES = 16, DAY_BYTES = 8, SUM_BYTES = crypto_hash_sha256_BYTES };

static void
put(crypto_hash_sha256_state *sum, struct text t)
{
	crypto_hash_sha256_update(sum, (const unsigned char *)t.at, t.bytes);
}

static void
put_string(crypto_hash_sha256_state *sum, const char *string)
{
	put(sum, text_of(string));
}

/* Collapse consecutive blanks in a value. */
static void
put_value(crypto_hash_sha256_state *sum, struct text value)
{
	for (uint32_t i = 0; i < value.bytes; i++)
		if (value.at[i] != ' ' || value.at[i + 1] != ' ')
			put(sum, (struct text){ value.at + i, 1 });
}

static void
put_query(
    crypto_hash_sha256_state *sum, const struct sign_pair *query, int count)
{
	for (int i = 0; i < count; i++) {
		if (i > 0)
			put_string(sum, "&");
		put(sum, query[i].name);
		put_string(sum, "=");
		put(sum, query[i].value);
	}
}

/* Write "a;b;c", the names of all headers.  Returns the length, or `room` if
 * they do not fit. */
static size_t
name_headers(
    char *to, size_t room, const struct sign_pair *headers, uint32_t count)
{
	size_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (used + headers[i].name.bytes + 2 > room)
			return room;
		if (i > 0)
			to[used++] = ';';
		for (uint32_t k = 0; k < headers[i].name.bytes; k++)
			to[used++] = sign_lower(headers[i].name.at[k]);
	}
	to[used] = '\0';
	return used;
}

/* Insert the host, which is not among the request's headers, in sorted
 * order. */
static void
add_host(struct sign_pair *headers, uint32_t *count, struct text host)
{
	uint32_t at = *count;

	for (; at > 0; at--) {
		char first = sign_lower(headers[at - 1].name.at[0]);

		if (first < 'h')
			break;
		headers[at] = headers[at - 1];
	}
	headers[at] = (struct sign_pair){ text_of("host"), host };
	(*count)++;
}

/* The hash of the canonical request. */
static int
sum_request(unsigned char to[static SUM_BYTES],
    const struct http_request *request, const struct http_address *address,
    const struct sign_pair *headers, uint32_t count, const char *names,
    struct err *err)
{
	struct sign_pair query[SIGN_QUERY_MAX];
	int parameters = sign_query(query, text_of(address->query));
	crypto_hash_sha256_state sum;

	if (parameters < 0)
		return err_set(err, "a request has more than %d parameters",
		    SIGN_QUERY_MAX);
	crypto_hash_sha256_init(&sum);
	put_string(&sum, request->method);
	put_string(&sum, "\n");
	put(&sum, text_of(address->path));
	put_string(&sum, "\n");
	put_query(&sum, query, parameters);
	put_string(&sum, "\n");
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < headers[i].name.bytes; k++) {
			char c = sign_lower(headers[i].name.at[k]);

			put(&sum, (struct text){ &c, 1 });
		}
		put_string(&sum, ":");
		put_value(&sum, headers[i].value);
		put_string(&sum, "\n");
	}
	put_string(&sum, "\n");
	put_string(&sum, names);
	put_string(&sum, "\n");
	put(&sum, sign_find(headers, count, "x-amz-content-sha256"));
	crypto_hash_sha256_final(&sum, to);
	return 0;
}

static void
hmac(unsigned char to[static SUM_BYTES], const void *key, size_t key_bytes,
    struct text t)
{
	crypto_auth_hmacsha256_state state;

	crypto_auth_hmacsha256_init(&state, key, key_bytes);
	crypto_auth_hmacsha256_update(
	    &state, (const unsigned char *)t.at, t.bytes);
	crypto_auth_hmacsha256_final(&state, to);
	sodium_memzero(&state, sizeof(state));
}

/* The key for a day, a region and a service: four HMAC rounds from the
 * secret. */
static int
make_key(unsigned char key[static SUM_BYTES], const struct sign_s3 *who,
    struct text day, struct err *err)
{
	unsigned char first[4 + 1024];

	if (who->secret.bytes > sizeof(first) - 4)
		return err_set(err, "the secret key is longer than %zu bytes",
		    sizeof(first) - 4);
	memcpy(first, "AWS4", 4);
	memcpy(first + 4, who->secret.at, who->secret.bytes);
	hmac(key, first, 4 + who->secret.bytes, day);
	sodium_memzero(first, sizeof(first));
	hmac(key, key, SUM_BYTES, text_of(who->region));
	hmac(key, key, SUM_BYTES, text_of("s3"));
	hmac(key, key, SUM_BYTES, text_of("aws4_request"));
	return 0;
}

/* The host as the request has it: with its port unless that is the default. */
static struct text
name_host(
    char to[static NAME_BYTES_MAX + 1], const struct http_address *address)
{
	int bytes = snprintf(to, NAME_BYTES_MAX + 1, "%s%s%s", address->host,
	    address->port != NULL ? ":" : "",
	    address->port != NULL ? address->port : "");

	return bytes <= NAME_BYTES_MAX ? text_of(to) : text_of(NULL);
}

static int
sign_address(const struct sign_s3 *who, const struct http_request *request,
    const struct http_address *address,
    char header[static SIGN_S3_HEADER_BYTES], struct err *err)
{
	struct sign_pair headers[HTTP_HEADERS_MAX + 1];
	char host[NAME_BYTES_MAX + 1];
	uint32_t count = sign_headers(headers, request);
	char names[1024], hex[2 * SUM_BYTES + 1], text[512];
	unsigned char sum[SUM_BYTES], key[SUM_BYTES];
	struct text date = sign_find(headers, count, "x-amz-date");
	int bytes;

	add_host(headers, &count, name_host(host, address));
	if (date.bytes != DATE_BYTES ||
	    name_headers(names, sizeof(names), headers, count) == sizeof(names))
		return err_set(err, "cannot sign the request: its date is "
				    "invalid, or it has too many headers");
	if (sum_request(sum, request, address, headers, count, names, err) !=
		0 ||
	    make_key(key, who, (struct text){ date.at, DAY_BYTES }, err) != 0)
		return -1;
	sodium_bin2hex(hex, sizeof(hex), sum, sizeof(sum));
	bytes = snprintf(text, sizeof(text),
	    "AWS4-HMAC-SHA256\n%.*s\n%.*s/%s/s3/aws4_request\n%s", DATE_BYTES,
	    date.at, DAY_BYTES, date.at, who->region, hex);
	if (bytes < 0 || (size_t)bytes >= sizeof(text))
		return err_set(err, "the region's name is too long");
	hmac(sum, key, sizeof(key), (struct text){ text, (uint32_t)bytes });
	sodium_memzero(key, sizeof(key));
	sodium_bin2hex(hex, sizeof(hex), sum, sizeof(sum));
	bytes = snprintf(header, SIGN_S3_HEADER_BYTES,
	    "Authorization: AWS4-HMAC-SHA256 "
	    "Credential=%.*s/%.*s/%s/s3/aws4_request,SignedHeaders=%s,"
	    "Signature=%s",
	    (int)who->id.bytes, who->id.at, DAY_BYTES, date.at, who->region,
	    names, hex);
	return bytes > 0 && bytes < SIGN_S3_HEADER_BYTES
		   ? 0
		   : err_set(err, "the access key is too long");
}

int
sign_s3(const struct sign_s3 *who, const struct http_request *request,
    char header[static SIGN_S3_HEADER_BYTES], struct err *err)
{
	struct http_address address;
	int rc = http_address_open(&address, request->url, err);

	if (rc == 0)
		rc = sign_address(who, request, &address, header, err);
	http_address_close(&address);
	return rc;
}
