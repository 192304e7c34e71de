/*
 * sign - the parts of requests that signatures cover.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/sign.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <openssl/evp.h>
#include <sodium.h>

static EVP_MD_CTX *
context_of(struct md5 *md5)
{
	return (EVP_MD_CTX *)md5;
}

int
md5_open(struct md5 **md5, struct err *err)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();

	if (context != NULL &&
	    EVP_DigestInit_ex(context, EVP_md5(), NULL) == 1) {
		*md5 = (struct md5 *)context;
		return 0;
	}
	EVP_MD_CTX_free(context);
	return err_set(err, "OpenSSL on this machine has no MD5, which the "
			    "service requires to verify uploads");
}

void
md5_add(struct md5 *md5, struct text bytes)
{
	EVP_DigestUpdate(context_of(md5), bytes.at, bytes.bytes);
}

void
md5_end(struct md5 *md5, unsigned char to[static MD5_BYTES])
{
	EVP_DigestFinal_ex(context_of(md5), to, NULL);
	EVP_DigestInit_ex(context_of(md5), EVP_md5(), NULL);
}

void
md5_close(struct md5 **md5)
{
	EVP_MD_CTX_free(context_of(*md5));
	*md5 = NULL;
}

void
md5_base64(
    char to[static MD5_BASE64_BYTES], const unsigned char sum[static MD5_BYTES])
{
	sodium_bin2base64(to, MD5_BASE64_BYTES, sum, MD5_BYTES,
	    sodium_base64_VARIANT_ORIGINAL);
}

void
md5_hex(
    char to[static MD5_HEX_BYTES], const unsigned char sum[static MD5_BYTES])
{
	sodium_bin2hex(to, MD5_HEX_BYTES, sum, MD5_BYTES);
}

char
sign_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Split at the first `c`; without one the whole text is the name. */
static struct sign_pair
split(struct text t, char c)
{
	const char *at = t.bytes > 0 ? memchr(t.at, c, t.bytes) : NULL;
	struct sign_pair pair = { t, { NULL, 0 } };

	if (at == NULL)
		return pair;
	pair.name.bytes = (uint32_t)(at - t.at);
	pair.value = (struct text){ at + 1, t.bytes - pair.name.bytes - 1 };
	return pair;
}

static int
compare_names(struct text a, struct text b)
{
	uint32_t least = a.bytes < b.bytes ? a.bytes : b.bytes;

	for (uint32_t i = 0; i < least; i++) {
		unsigned char x = (unsigned char)sign_lower(a.at[i]);
		unsigned char y = (unsigned char)sign_lower(b.at[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return a.bytes < b.bytes ? -1 : a.bytes > b.bytes;
}

static int
compare_headers(const void *left, const void *right)
{
	const struct sign_pair *a = left, *b = right;

	return compare_names(a->name, b->name);
}

static int
compare_parameters(const void *left, const void *right)
{
	const struct sign_pair *a = left, *b = right;
	int order = text_compare(a->name, b->name);

	return order != 0 ? order : text_compare(a->value, b->value);
}

uint32_t
sign_headers(struct sign_pair to[static HTTP_HEADERS_MAX],
    const struct http_request *request)
{
	uint32_t count = 0;

	for (; request->headers[count] != NULL; count++) {
		assert(count < HTTP_HEADERS_MAX);
		to[count] = split(text_of(request->headers[count]), ':');
		to[count].value = text_trim(to[count].value);
	}
	qsort(to, count, sizeof(*to), compare_headers);
	return count;
}

int
sign_query(struct sign_pair to[static SIGN_QUERY_MAX], struct text query)
{
	int count = 0;

	while (query.bytes > 0) {
		struct sign_pair first = split(query, '&');

		if (first.name.bytes > 0) {
			if (count == SIGN_QUERY_MAX)
				return -1;
			to[count++] = split(first.name, '=');
		}
		query = first.value;
	}
	qsort(to, (size_t)count, sizeof(*to), compare_parameters);
	return count;
}

struct text
sign_find(const struct sign_pair *pairs, uint32_t count, const char *name)
{
	size_t bytes = strlen(name);

	for (uint32_t i = 0; i < count; i++)
		if (pairs[i].name.bytes == bytes &&
		    strncasecmp(pairs[i].name.at, name, bytes) == 0)
			return pairs[i].value;
	return (struct text){ NULL, 0 };
}
