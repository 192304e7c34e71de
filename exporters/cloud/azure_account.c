/*
 * azure_account - an Azure Storage account configured in the environment.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure_account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "exporters/cloud/sign.h"
#include "exporters/cloud/xml.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/base/search.h"
#include "proto/http/message.h"

#include <sodium.h>

enum { HASH_BYTES = 20 };

struct reading {
	struct azure_blocks *blocks;
	struct azure_block block; /* the block being parsed */
	bool usable;
};

static int
take_block(struct reading *r, struct err *err)
{
	struct azure_blocks *blocks = r->blocks;

	if (blocks->count == AZURE_BLOCKS_MAX)
		return err_set(
		    err, "a list of more than %d blocks", AZURE_BLOCKS_MAX);
	if (r->usable && r->block.id[0] != '\0') {
		*MEMORY_ADD(blocks->at, blocks->room, blocks->count) = r->block;
	}
	r->block = (struct azure_block){ .bytes = 0 };
	r->usable = true;
	return 0;
}

static int
on_element(void *arg, const char *path, struct text value, struct err *err)
{
	static const char *const lists[] = { "BlockList/CommittedBlocks/Block",
		"BlockList/UncommittedBlocks/Block" };
	struct reading *r = arg;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		size_t bytes = strlen(lists[i]);

		if (strncmp(path, lists[i], bytes) != 0)
			continue;
		if (path[bytes] == '\0')
			return take_block(r, err);
		if (strcmp(path + bytes, "/Name") == 0) {
			/* Other programs use other ids. */
			if (value.bytes != AZURE_BLOCK_ID_BYTES - 1)
				r->usable = false;
			else
				memcpy(r->block.id, value.at, value.bytes);
		} else if (strcmp(path + bytes, "/Size") == 0) {
			if (number_parse_u64(value, &r->block.bytes, NULL) != 0)
				return err_set(
				    err, "the size of a block is not a number");
		}
	}
	return 0;
}

static int
compare(const void *left, const void *right)
{
	const struct azure_block *a = left, *b = right;

	return strcmp(a->id, b->id);
}

int
azure_blocks_read(
    struct azure_blocks *blocks, struct text body, struct err *err)
{
	struct reading r = { .blocks = blocks, .usable = true };

	if (xml_read(body, on_element, &r, err) != 0)
		return -1;
	if (blocks->count > 0)
		qsort(blocks->at, blocks->count, sizeof(*blocks->at), compare);
	return 0;
}

void
azure_blocks_clear(struct azure_blocks *blocks)
{
	free(blocks->at);
	*blocks = (struct azure_blocks){ .at = NULL };
}

/* An id may be listed as committed and as uncommitted. */
bool
azure_blocks_have(
    const struct azure_blocks *blocks, const char *id, uint64_t bytes)
{
	uint32_t from =
	    LOWER_BOUND(i, 0, blocks->count, strcmp(blocks->at[i].id, id) < 0);

	return from < blocks->count && strcmp(blocks->at[from].id, id) == 0 &&
	       blocks->at[from].bytes == bytes;
}

void
azure_block_id(
    char to[static AZURE_BLOCK_ID_BYTES], uint32_t number, struct text body)
{
	unsigned char bytes[4 + HASH_BYTES];

	for (int i = 0; i < 4; i++)
		bytes[i] = (unsigned char)(number >> (24 - 8 * i));
	crypto_generichash(bytes + 4, HASH_BYTES,
	    (const unsigned char *)body.at, body.bytes, NULL, 0);
	sodium_bin2base64(to, AZURE_BLOCK_ID_BYTES, bytes, sizeof(bytes),
	    sodium_base64_VARIANT_ORIGINAL);
}

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

#define AZURE_BLOB_VERSION  "x-ms-version: 2021-08-06"
#define AZURE_TABLE_VERSION "x-ms-version: 2019-02-02"

static int
take_account(struct azure *azure, struct err *err)
{
	const char *name = getenv("AZURE_STORAGE_ACCOUNT");

	if (name == NULL || *name == '\0')
		return err_set(err, "AZURE_STORAGE_ACCOUNT is not set: it "
				    "names the storage account");
	if (strlen(name) < 3 || strlen(name) > 24 ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789") !=
		strlen(name))
		return err_set(err,
		    "AZURE_STORAGE_ACCOUNT is not 3 to 24 lower-case letters "
		    "and digits");
	snprintf(azure->account, sizeof(azure->account), "%s", name);
	azure->who.account = azure->account;
	return 0;
}

static int
take_endpoint(struct azure *azure, struct err *err)
{
	bool table = azure->who.service == SIGN_AZURE_TABLE;
	const char *name = table ? "AZURE_STORAGE_TABLE_ENDPOINT"
				 : "AZURE_STORAGE_BLOB_ENDPOINT";
	const char *endpoint = getenv(name);
	int n;

	if (endpoint == NULL || *endpoint == '\0')
		n = snprintf(azure->base, sizeof(azure->base),
		    "https://%s.%s.core.windows.net", azure->account,
		    table ? "table" : "blob");
	else
		n = snprintf(azure->base, sizeof(azure->base), "%s", endpoint);
	if (n < 0 || (size_t)n >= sizeof(azure->base))
		return err_set(err, "%s is longer than %zu bytes", name,
		    sizeof(azure->base) - 1);
	while (n > 0 && azure->base[n - 1] == '/')
		azure->base[--n] = '\0';
	if (strpbrk(azure->base, "?#") != NULL)
		return err_set(err, "%s contains a query", name);
	if (http_check_url(azure->base, err) != 0)
		return err_prefix(err, "%s", name);
	return 0;
}

static int
take_key(struct azure *azure, struct err *err)
{
	struct secret key;
	bool found;
	int rc;

	if (secret_from_environment(&key, "AZURE_STORAGE_KEY", &found, err) !=
	    0)
		return -1;
	if (found) {
		rc = sign_azure_set_key(&azure->who, secret_text(&key), err);
		secret_clear(&key);
		return rc;
	}
	if (secret_from_environment(
		&azure->sas, "AZURE_STORAGE_SAS_TOKEN", &found, err) != 0)
		return -1;
	if (!found)
		return err_set(err,
		    "no key for storage account %s: set AZURE_STORAGE_KEY, "
		    "AZURE_STORAGE_KEY_FILE or AZURE_STORAGE_SAS_TOKEN",
		    azure->account);
	return 0;
}

int
azure_open(struct azure *azure, enum sign_azure_service service,
    const struct http_options *how, struct err *err)
{
	azure->who.service = service;
	if (take_account(azure, err) != 0 || take_endpoint(azure, err) != 0 ||
	    take_key(azure, err) != 0)
		return -1;
	return http_open(&azure->http, how, err);
}

void
azure_close(struct azure *azure)
{
	http_close(&azure->http);
	if (azure->sas.at != NULL)
		secret_clear(&azure->sas);
	sodium_memzero(azure, sizeof(*azure));
}

static int
make_url(struct azure *azure, const char *path, struct err *err)
{
	const char *sas = (const char *)azure->sas.at;
	int n;

	if (sas != NULL)
		n = snprintf(azure->url, sizeof(azure->url), "%s%s%c%s",
		    azure->base, path, strchr(path, '?') != NULL ? '&' : '?',
		    sas + (*sas == '?'));
	else
		n = snprintf(
		    azure->url, sizeof(azure->url), "%s%s", azure->base, path);
	return n > 0 && (size_t)n < sizeof(azure->url)
		   ? 0
		   : err_set(err, "the address is longer than %d bytes",
			 AZURE_URL_BYTES);
}

/* Set the date (RFC 9110; the program's locale is "C") and the
 * authorization. */
static int
sign(void *arg, struct err *err)
{
	struct azure *azure = arg;
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(azure->date, sizeof(azure->date),
	    "x-ms-date: %a, %d %b %Y %H:%M:%S GMT", &tm);
	if (azure->sas.at != NULL)
		return 0;
	azure->request.headers[azure->count] =
	    NULL; /* not part of the signature */
	if (sign_azure(&azure->who, &azure->request, azure->header, err) != 0)
		return -1;
	azure->request.headers[azure->count] = azure->header;
	return 0;
}

int
azure_send(struct azure *azure, const char *method, const char *path,
    const char *const *headers, struct text body, struct http_answer *answer,
    struct err *err)
{
	struct http_request *request = &azure->request;
	uint32_t count = 0;

	if (make_url(azure, path, err) != 0)
		return -1;
	*request = (struct http_request){ .method = method,
		.url = azure->url,
		.body = body,
		.sign = sign,
		.sign_arg = azure };
	for (; headers[count] != NULL; count++)
		request->headers[count] = headers[count];
	request->headers[count++] = azure->date;
	request->headers[count++] = azure->who.service == SIGN_AZURE_TABLE
					? AZURE_TABLE_VERSION
					: AZURE_BLOB_VERSION;
	azure->count = count;
	return http_send(azure->http, request, answer, err);
}

int
azure_refused(const struct azure *azure, const struct http_answer *answer,
    struct err *err)
{
	if (answer->status >= 300 && answer->status < 400)
		return http_refused(azure->http, answer, err);
	return service_error_set(&azure->request, answer, err);
}
