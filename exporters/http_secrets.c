/*
 * http_secrets - what of a request is for its service only, and how the rest is
 * shown.
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "exporters/http_parts.h"

enum {
	SECRETS_MAX = 2 * HTTP_HEADERS_MAX,
	SECRET_BYTES_MIN = 6, /* shorter ones stand in any text */
	VALUE_BYTES_MIN = 16, /* of a query: long enough for a signature */
};

/* ---- what is for the service only ---- */

bool
http_is_secret_header(const char *header)
{
	static const char *const words[] = { "authorization", "cookie", "token",
		"secret", "password", "api-key", "apikey", "access-key",
		"customer-key", "encryption-key", "signature" };
	char name[64];
	size_t bytes = strcspn(header, ":");

	/* Nobody's name is so long: rather not show it. */
	if (bytes >= sizeof(name))
		return true;
	for (size_t i = 0; i < bytes; i++)
		name[i] = (char)tolower((unsigned char)header[i]);
	name[bytes] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(name, words[i]) != NULL)
			return true;
	return false;
}

/* Where the query of an address begins: behind its '?', or its end. */
static const char *
query_of(const char *url)
{
	const char *at = url + strcspn(url, "?");

	return *at == '?' ? at + 1 : at;
}

struct secrets {
	struct text at[SECRETS_MAX];
	uint32_t count;
};

static void
add_secret(struct secrets *secrets, const char *at, size_t bytes, size_t least)
{
	if (bytes >= least && secrets->count < SECRETS_MAX)
		secrets->at[secrets->count++] =
		    (struct text){ at, (uint32_t)bytes };
}

/* Values of secret headers, whole and their last word ("Bearer ..."); long
 * values of the query. */
static void
find_secrets(struct secrets *secrets, const struct http_request *request)
{
	const char *query = query_of(request->url);

	for (uint32_t i = 0; request->headers[i] != NULL; i++) {
		const char *line = request->headers[i];
		const char *value = line + strcspn(line, ":");
		const char *word;

		if (!http_is_secret_header(line) || *value == '\0')
			continue;
		value += 1 + strspn(value + 1, " ");
		add_secret(secrets, value, strlen(value), SECRET_BYTES_MIN);
		word = strrchr(value, ' ');
		if (word != NULL)
			add_secret(secrets, word + 1, strlen(word + 1),
			    SECRET_BYTES_MIN);
	}
	while (*query != '\0') {
		size_t bytes = strcspn(query, "&");
		const char *value = memchr(query, '=', bytes);

		if (value != NULL)
			add_secret(secrets, value + 1,
			    (size_t)(query + bytes - value - 1),
			    VALUE_BYTES_MIN);
		query += bytes + (query[bytes] == '&');
	}
}

/* The longest secret that begins here; 0: none. */
static uint32_t
secret_at(const struct secrets *secrets, struct text rest)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < secrets->count; i++) {
		const struct text *s = &secrets->at[i];

		if (s->bytes > longest && s->bytes <= rest.bytes &&
		    memcmp(s->at, rest.at, s->bytes) == 0)
			longest = s->bytes;
	}
	return longest;
}

void
http_plain(char *text)
{
	for (char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7F)
			*c = '?';
	if (text_check_name(text_of(text)) == TEXT_OK)
		return;
	for (char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c > 0x7F)
			*c = '?';
}

void
http_excerpt(char to[static HTTP_SAID_BYTES], struct text body,
    const struct http_request *request)
{
	char plain[HTTP_SAID_BYTES + 8];
	struct secrets secrets = { .count = 0 };
	struct text rest = body;
	uint32_t used = 0, bytes;
	bool blank = true;

	find_secrets(&secrets, request);
	while (rest.bytes > 0 && used < HTTP_SAID_BYTES) {
		bytes = secret_at(&secrets, rest);
		if (bytes > 0) {
			memcpy(plain + used, "***", 3);
			used += 3;
			blank = false;
		} else {
			bytes = 1;
			if (strchr(" \t\r\n", *rest.at) == NULL)
				plain[used++] = *rest.at;
			else if (!blank)
				plain[used++] = ' ';
			blank = plain[used > 0 ? used - 1 : 0] == ' ';
		}
		rest.at += bytes;
		rest.bytes -= bytes;
	}
	if (used > 0 && blank)
		used--;
	if (used >= HTTP_SAID_BYTES) {
		used = HTTP_SAID_BYTES - 1;
		memcpy(plain + used - 3, "...", 3);
	}
	memcpy(to, plain, used);
	to[used] = '\0';
	http_plain(to);
}

/* The address, with long values of its query hidden. */
static void
show_url(const char *url)
{
	const char *query = query_of(url);

	printf("%.*s", (int)(query - url), url);
	while (*query != '\0') {
		size_t bytes = strcspn(query, "&");
		const char *value = memchr(query, '=', bytes);

		if (strncmp(query, "sig=", 4) == 0 ||
		    strncasecmp(query, "x-amz-signature=", 16) == 0 ||
		    strncasecmp(query, "x-amz-security-token=", 21) == 0)
			printf("%.*s=***", (int)(value - query), query);
		else
			printf("%.*s", (int)bytes, query);
		query += bytes;
		if (*query == '&') {
			putchar('&');
			query++;
		}
	}
}

void
http_show(const struct http_request *request)
{
	printf("%s ", request->method);
	show_url(request->url);
	putchar('\n');
	for (uint32_t i = 0; request->headers[i] != NULL; i++) {
		const char *line = request->headers[i];

		if (http_is_secret_header(line))
			printf("%.*s: ***\n", (int)strcspn(line, ":"), line);
		else
			printf("%s\n", line);
	}
	putchar('\n');
	if (text_is_utf8(request->body) &&
	    memchr(request->body.at ? request->body.at : "", '\0',
		request->body.bytes) == NULL)
		fwrite(request->body.at ? request->body.at : "", 1,
		    request->body.bytes, stdout);
	else
		printf("(%u bytes)", request->body.bytes);
	if (request->body.bytes > 0)
		printf("\n\n");
	fflush(stdout);
}
