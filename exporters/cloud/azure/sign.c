/*
 * azure_sign - SharedKey signatures for Azure Storage blobs and tables.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure/sign.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

int
sign_azure_set_key(struct sign_azure *who, struct text base64, struct err *err)
{
	if (sodium_base642bin(who->key, sizeof(who->key), base64.at,
		base64.bytes, NULL, &who->key_bytes, NULL,
		sodium_base64_VARIANT_ORIGINAL) != 0 ||
	    who->key_bytes == 0)
		return err_set(err,
		    "the key of the storage account is not base64 of at most "
		    "%d bytes",
		    SIGN_AZURE_KEY_BYTES_MAX);
	return 0;
}

static void
put(crypto_auth_hmacsha256_state *m, struct text t)
{
	crypto_auth_hmacsha256_update(m, (const unsigned char *)t.at, t.bytes);
}

static void
put_lower(crypto_auth_hmacsha256_state *m, struct text t)
{
	for (uint32_t i = 0; i < t.bytes; i++) {
		char c = sign_lower(t.at[i]);

		put(m, (struct text){ &c, 1 });
	}
}

static int
get_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = sign_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void
put_decoded(crypto_auth_hmacsha256_state *m, struct text t)
{
	for (uint32_t i = 0; i < t.bytes; i++) {
		char c = t.at[i];

		if (c == '%' && t.bytes - i > 2 &&
		    get_digit(t.at[i + 1]) >= 0 &&
		    get_digit(t.at[i + 2]) >= 0) {
			c = (char)(get_digit(t.at[i + 1]) * 16 +
				   get_digit(t.at[i + 2]));
			i += 2;
		}
		put(m, (struct text){ &c, 1 });
	}
}

static void
put_resource(
    crypto_auth_hmacsha256_state *m, const char *account, struct text path)
{
	put(m, text_of("/"));
	put(m, text_of(account));
	put(m, path);
}

/* Of the query only "comp" is signed. */
static void
put_table(crypto_auth_hmacsha256_state *m, const struct sign_azure *who,
    struct text method, const struct sign_pair *headers, uint32_t count,
    const struct http_address *address)
{
	static const char *const names[] = { "content-md5", "content-type",
		"x-ms-date" };
	struct sign_pair query[SIGN_QUERY_MAX];
	int parameters = sign_query(query, text_of(address->query));
	struct text comp;

	put(m, method);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		put(m, text_of("\n"));
		put(m, sign_find(headers, count, names[i]));
	}
	put(m, text_of("\n"));
	put_resource(m, who->account, text_of(address->path));
	comp =
	    sign_find(query, parameters > 0 ? (uint32_t)parameters : 0, "comp");
	if (comp.bytes > 0) {
		put(m, text_of("?comp="));
		put(m, comp);
	}
}

/* The length of the body; an empty string if there is no body. */
static void
put_length(crypto_auth_hmacsha256_state *m, uint32_t bytes)
{
	char digits[16];

	put(m, text_of("\n"));
	if (bytes == 0)
		return;
	snprintf(digits, sizeof(digits), "%u", bytes);
	put(m, text_of(digits));
}

static void
put_blob_headers(crypto_auth_hmacsha256_state *m,
    const struct sign_pair *headers, uint32_t count, uint32_t body_bytes)
{
	/* Empty: x-ms-date has the date. */
	static const char *const names[] = { "content-md5", "content-type", "",
		"if-modified-since", "if-match", "if-none-match",
		"if-unmodified-since", "range" };

	put(m, text_of("\n"));
	put(m, sign_find(headers, count, "content-encoding"));
	put(m, text_of("\n"));
	put(m, sign_find(headers, count, "content-language"));
	put_length(m, body_bytes);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		put(m, text_of("\n"));
		put(m, sign_find(headers, count, names[i]));
	}
	put(m, text_of("\n"));
	for (uint32_t i = 0; i < count; i++) {
		if (headers[i].name.bytes < 5 ||
		    strncasecmp(headers[i].name.at, "x-ms-", 5) != 0)
			continue;
		put_lower(m, headers[i].name);
		put(m, text_of(":"));
		put(m, headers[i].value);
		put(m, text_of("\n"));
	}
}

static int
put_blob_resource(crypto_auth_hmacsha256_state *m, const struct sign_azure *who,
    const struct http_address *address, struct err *err)
{
	struct sign_pair query[SIGN_QUERY_MAX];
	int parameters = sign_query(query, text_of(address->query));

	if (parameters < 0)
		return err_set(err, "a request has more than %d parameters",
		    SIGN_QUERY_MAX);
	put_resource(m, who->account, text_of(address->path));
	for (int i = 0; i < parameters; i++) {
		put(m, text_of("\n"));
		put_lower(m, query[i].name);
		put(m, text_of(":"));
		put_decoded(m, query[i].value);
	}
	return 0;
}

int
sign_azure(const struct sign_azure *who, const struct http_request *request,
    char header[static SIGN_AZURE_HEADER_BYTES], struct err *err)
{
	unsigned char sum[crypto_auth_hmacsha256_BYTES];
	char text[sodium_base64_ENCODED_LEN(
	    sizeof(sum), sodium_base64_VARIANT_ORIGINAL)];
	struct sign_pair headers[HTTP_HEADERS_MAX];
	uint32_t count = sign_headers(headers, request);
	struct http_address address;
	crypto_auth_hmacsha256_state m;
	int rc = 0;

	if (http_address_open(&address, request->url, err) != 0)
		return -1;
	crypto_auth_hmacsha256_init(&m, who->key, who->key_bytes);
	if (who->service == SIGN_AZURE_TABLE) {
		put_table(&m, who, text_of(request->method), headers, count,
		    &address);
	} else {
		put(&m, text_of(request->method));
		put_blob_headers(&m, headers, count, request->body.bytes);
		rc = put_blob_resource(&m, who, &address, err);
	}
	http_address_close(&address);
	crypto_auth_hmacsha256_final(&m, sum);
	sodium_memzero(&m, sizeof(m));
	sodium_bin2base64(text, sizeof(text), sum, sizeof(sum),
	    sodium_base64_VARIANT_ORIGINAL);
	snprintf(header, SIGN_AZURE_HEADER_BYTES,
	    "Authorization: SharedKey %s:%s", who->account, text);
	return rc;
}
