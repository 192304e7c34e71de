/*
 * http_redact - find the secrets of a request, and print the rest.
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proto/http/message.h"

enum {
	SECRETS_MAX = 2 * HTTP_HEADERS_MAX,
	SECRET_BYTES_MIN = 6, /* shorter values occur in any text */
	VALUE_BYTES_MIN =
	    16, /* length of a query value that may be a signature */
};

/* ---- secrets ---- */

static bool
is_secret_header(const char *header)
{
	static const char *const words[] = { "authorization", "cookie", "token",
		"secret", "password", "api-key", "apikey", "access-key",
		"clickhouse-key", "customer-key", "encryption-key",
		"signature" };
	char name[64];
	size_t bytes = strcspn(header, ":");

	/* No header name is this long: hide the value. */
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

/* The query of an address: the position after its '?', or its end. */
static const char *
query_of(const char *url)
{
	const char *at = url + strcspn(url, "?");

	return *at == '?' ? at + 1 : at;
}

struct parameter {
	struct text name, value; /* value.at is NULL: no value */
};

/* Remove the first parameter of a query; false at its end. */
static bool
next_parameter(const char **query, struct parameter *to)
{
	size_t bytes = strcspn(*query, "&"), name = strcspn(*query, "=&");

	if (**query == '\0')
		return false;
	*to = (struct parameter){ .name = { *query, (uint32_t)name } };
	if (name < bytes)
		to->value = (struct text){ *query + name + 1,
			(uint32_t)(bytes - name - 1) };
	*query += bytes + ((*query)[bytes] == '&');
	return true;
}

/* Is the value of a parameter with this name secret?  Errs on the safe side:
 * Azure's signature, S3's, a password of InfluxDB 1 ... */
static bool
is_secret_parameter(struct text name)
{
	static const char *const words[] = { "pass", "pwd", "token", "key",
		"secret", "sig", "auth", "credential" };
	static const char *const names[] = { "p", "code" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (name.bytes == strlen(names[i]) &&
		    strncasecmp(name.at, names[i], name.bytes) == 0)
			return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		for (size_t k = 0; k + strlen(words[i]) <= name.bytes; k++)
			if (strncasecmp(
				name.at + k, words[i], strlen(words[i])) == 0)
				return true;
	return false;
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

/* Collect the values of secret headers, whole and their last word ("Bearer
 * ..."), and those of the query that are secret or long. */
static void
find_secrets(struct secrets *secrets, const struct http_request *request)
{
	const char *query = query_of(request->url);
	struct parameter one;

	for (uint32_t i = 0; request->headers[i] != NULL; i++) {
		const char *line = request->headers[i];
		const char *value = line + strcspn(line, ":");
		const char *word;

		if (!is_secret_header(line) || *value == '\0')
			continue;
		value += 1 + strspn(value + 1, " ");
		add_secret(secrets, value, strlen(value), SECRET_BYTES_MIN);
		word = strrchr(value, ' ');
		if (word != NULL)
			add_secret(secrets, word + 1, strlen(word + 1),
			    SECRET_BYTES_MIN);
	}
	while (next_parameter(&query, &one))
		add_secret(secrets, one.value.at, one.value.bytes,
		    is_secret_parameter(one.name) ? SECRET_BYTES_MIN
						  : VALUE_BYTES_MIN);
}

/* Length of the longest secret that begins here; 0: none. */
static uint32_t
secret_at(const struct secrets *secrets, struct text rest)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < secrets->count; i++) {
		const struct text *s = &secrets->at[i];

		if (s->bytes > longest && s->bytes <= rest.bytes &&
		    *s->at == *rest.at && memcmp(s->at, rest.at, s->bytes) == 0)
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
http_excerpt(char to[static HTTP_EXCERPT_BYTES], struct text body,
    const struct http_request *request)
{
	char plain[HTTP_EXCERPT_BYTES + 8];
	struct secrets secrets = { .count = 0 };
	struct text rest = body;
	uint32_t used = 0, bytes;
	bool blank = true;

	find_secrets(&secrets, request);
	while (rest.bytes > 0 && used < HTTP_EXCERPT_BYTES) {
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
			blank = used == 0 || plain[used - 1] == ' ';
		}
		rest.at += bytes;
		rest.bytes -= bytes;
	}
	if (used > 0 && blank)
		used--;
	if (used >= HTTP_EXCERPT_BYTES) {
		used = HTTP_EXCERPT_BYTES - 1;
		memcpy(plain + used - 3, "...", 3);
	}
	memcpy(to, plain, used);
	to[used] = '\0';
	http_plain(to);
}

/* Print the address with the secret values of its query hidden. */
static void
show_url(const char *url)
{
	const char *query = query_of(url);
	struct parameter one;

	printf("%.*s", (int)(query - url), url);
	while (next_parameter(&query, &one)) {
		printf("%.*s", (int)one.name.bytes, one.name.at);
		if (one.value.at != NULL && is_secret_parameter(one.name))
			printf("=***");
		else if (one.value.at != NULL)
			printf("=%.*s", (int)one.value.bytes, one.value.at);
		if (query[-1] == '&')
			putchar('&');
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

		if (is_secret_header(line))
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
