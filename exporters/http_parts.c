/*
 * http_parts - requests and answers as text, apart from how they travel.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/http_parts.h"

#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "proto/clock.h"

enum {
	PATH_BYTES_MAX = 160, /* shown */
	SECRETS_MAX = 2 * HTTP_HEADERS_MAX,
	SECRET_BYTES_MIN = 6, /* shorter ones stand in any text */
	VALUE_BYTES_MIN = 16, /* of a query: long enough for a signature */
};

/* ---- addresses ---- */

/* "://" and what follows, or the whole. */
static const char *
authority_of(const char *url)
{
	const char *at = strstr(url, "://");

	return at != NULL ? at + 3 : url;
}

/* The last '@' before the path. */
static const char *
user_end(const char *authority)
{
	return memrchr(authority, '@', strcspn(authority, "/?#"));
}

bool
http_has_user(const char *url)
{
	return user_end(authority_of(url)) != NULL;
}

const char *
http_place(char to[static HTTP_PLACE_BYTES], const char *url)
{
	const char *host = authority_of(url), *user = user_end(host);
	char plain[HTTP_PLACE_BYTES];
	size_t scheme = (size_t)(host - url), bytes;

	if (user != NULL)
		host = user + 1;
	bytes = strcspn(host, "?#");
	if (scheme > 8)
		scheme = 8;
	snprintf(plain, sizeof(plain), "%.*s%.*s%s", (int)scheme, url,
	    bytes > PATH_BYTES_MAX ? PATH_BYTES_MAX : (int)bytes, host,
	    bytes > PATH_BYTES_MAX ? "..." : "");
	text_quote(to, HTTP_PLACE_BYTES, text_of(plain));
	return to;
}

static const char *
fault_of_ip4(uint32_t ip)
{
	/* Azure's wire server and Alibaba's metadata stand elsewhere. */
	if (ip >> 16 == 0xA9FE)
		return "is link-local, where cloud machines keep their "
		       "credentials";
	if (ip == 0xA83F8110 || ip == 0x646464C8)
		return "is a cloud's metadata service";
	if (ip >> 24 == 0)
		return "is no address to send to";
	if (ip >> 28 >= 0xE)
		return "is a multicast or broadcast address";
	return NULL;
}

static const char *
fault_of_ip6(const struct in6_addr *ip)
{
	static const unsigned char amazon[16] = { 0xFD, 0x00, 0x0E,
		0xC2, [14] = 0x02, [15] = 0x54 };
	static const unsigned char nat64[12] = { 0x00, 0x64, 0xFF, 0x9B };
	const unsigned char *b = ip->s6_addr;
	uint32_t last = (uint32_t)b[12] << 24 | (uint32_t)b[13] << 16 |
			(uint32_t)b[14] << 8 | b[15];

	if (IN6_IS_ADDR_LOOPBACK(ip))
		return NULL;
	if (IN6_IS_ADDR_V4MAPPED(ip) || IN6_IS_ADDR_V4COMPAT(ip) ||
	    memcmp(b, nat64, sizeof(nat64)) == 0)
		return fault_of_ip4(last);
	if (IN6_IS_ADDR_UNSPECIFIED(ip))
		return "is no address to send to";
	if (IN6_IS_ADDR_LINKLOCAL(ip))
		return "is link-local";
	if (IN6_IS_ADDR_MULTICAST(ip))
		return "is a multicast address";
	if (memcmp(b, amazon, sizeof(amazon)) == 0)
		return "is a cloud's metadata service";
	return NULL;
}

const char *
http_address_fault(const struct sockaddr *address)
{
	struct sockaddr_in ip4;
	struct sockaddr_in6 ip6;

	switch (address->sa_family) {
	case AF_INET:
		memcpy(&ip4, address, sizeof(ip4));
		return fault_of_ip4(ntohl(ip4.sin_addr.s_addr));
	case AF_INET6:
		memcpy(&ip6, address, sizeof(ip6));
		return fault_of_ip6(&ip6.sin6_addr);
	default: return "is of no family that is known";
	}
}

/* ---- answers ---- */

static struct text
trim(struct text t)
{
	while (t.bytes > 0 && strchr(" \t\r\n", t.at[t.bytes - 1]) != NULL)
		t.bytes--;
	while (t.bytes > 0 && strchr(" \t", *t.at) != NULL) {
		t.at++;
		t.bytes--;
	}
	return t;
}

bool
http_retry_after(struct text value, int64_t now_ns, int64_t *pause_ns)
{
	char date[40];
	struct tm tm = { .tm_sec = 0 };
	const char *end;
	int64_t seconds = 0;
	uint32_t i = 0;

	value = trim(value);
	for (; i < value.bytes && isdigit((unsigned char)value.at[i]); i++)
		if (seconds < 1 << 30)
			seconds = 10 * seconds + (value.at[i] - '0');
	if (i == value.bytes) {
		*pause_ns = seconds * NS_PER_SECOND;
		return i > 0;
	}
	if (value.bytes >= sizeof(date))
		return false;
	memcpy(date, value.at, value.bytes);
	date[value.bytes] = '\0';
	end = strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	if (end == NULL || *end != '\0' || tm.tm_year > 300)
		return false;
	*pause_ns = (int64_t)timegm(&tm) * NS_PER_SECOND - now_ns;
	if (*pause_ns < 0)
		*pause_ns = 0;
	return true;
}

struct text
http_find_header(struct text headers, const char *name)
{
	struct text found = { NULL, 0 }, rest = headers;
	size_t bytes = strlen(name);

	while (rest.bytes > 0) {
		const char *end = memchr(rest.at, '\n', rest.bytes);
		uint32_t line =
		    end == NULL ? rest.bytes : (uint32_t)(end + 1 - rest.at);

		if (line > bytes && rest.at[bytes] == ':' &&
		    strncasecmp(rest.at, name, bytes) == 0)
			found = trim((struct text){
			    rest.at + bytes + 1, line - (uint32_t)bytes - 1 });
		rest.at += line;
		rest.bytes -= line;
	}
	return found;
}

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
http_excerpt(char to[static HTTP_SAID_BYTES], struct text body,
    const struct http_request *request)
{
	char plain[HTTP_SAID_BYTES + 8];
	struct secrets secrets = { .count = 0 };
	struct text rest = trim(body);
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
	text_quote(to, HTTP_SAID_BYTES, (struct text){ plain, used });
}

/* ---- requests ---- */

static bool
has_control(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7F)
			return true;
	return false;
}

int
http_check(const struct http_request *request, struct err *err)
{
	char place[HTTP_PLACE_BYTES];
	const char *url = request->url;

	http_place(place, url);
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return err_set(err,
		    "'%s' is no address that begins with http:// or https://",
		    place);
	if (has_control(url) || strchr(url, ' ') != NULL)
		return err_set(
		    err, "%s: a blank or a control character", place);
	if (http_has_user(url))
		return err_set(err,
		    "%s: the address has a user or a password in it, where "
		    "others can read them",
		    place);
	for (uint32_t i = 0; request->headers[i] != NULL; i++)
		if (has_control(request->headers[i]))
			return err_set(err,
			    "%s: a control character in the header %.*s", place,
			    (int)strcspn(request->headers[i], ":\r\n"),
			    request->headers[i]);
	return 0;
}

size_t
http_encode(char *to, size_t room, struct text text, const char *keep)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t used = 0;

	for (uint32_t i = 0; i < text.bytes; i++) {
		unsigned char c = (unsigned char)text.at[i];

		if (used + 4 > room)
			return 0;
		if ((c < 0x80 && isalnum(c)) ||
		    (c != '\0' && (strchr("-._~", c) || strchr(keep, c)))) {
			to[used++] = (char)c;
			continue;
		}
		to[used++] = '%';
		to[used++] = digits[c >> 4];
		to[used++] = digits[c & 15];
	}
	if (used >= room)
		return 0;
	to[used] = '\0';
	return used;
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
