/*
 * http_message - format and check requests, parse answers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/http/message.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "proto/base/text.h"
#include "proto/os/clock.h"

enum {
	PATH_BYTES_MAX = 160, /* characters of a body in a message */
};

/* ---- addresses ---- */

/* Length of the scheme and its "://" (RFC 3986, 3.1); 0 without a scheme.  A
 * later "://" may be part of a query that follows a secret. */
static size_t
scheme_bytes(const char *url)
{
	size_t n = strspn(url, "abcdefghijklmnopqrstuvwxyz"
			       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");

	return n > 0 && strncmp(url + n, "://", 3) == 0 ? n + 3 : 0;
}

/* The part after the scheme, or the whole address. */
static const char *
authority_of(const char *url)
{
	return url + scheme_bytes(url);
}

/* The last '@' before the path; of an invalid address, before the query. */
static const char *
user_end(const char *url)
{
	const char *host = authority_of(url);

	return memrchr(host, '@', strcspn(host, host > url ? "/?#" : "?#"));
}

bool
http_has_user(const char *url)
{
	return user_end(url) != NULL;
}

const char *
http_place(char to[static HTTP_PLACE_BYTES], const char *url)
{
	const char *host = authority_of(url), *user = user_end(url);
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
	/* Azure's wire server and Alibaba's metadata service have other
	 * addresses. */
	if (ip >> 16 == 0xA9FE)
		return "is link-local, where cloud machines keep their "
		       "credentials";
	if (ip == 0xA83F8110 || ip == 0x646464C8)
		return "is a cloud's metadata service";
	if (ip >> 24 == 0)
		return "is not a host address";
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
		return "is not a host address";
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
	default: return "has an unknown address family";
	}
}

/* ---- answers ---- */

bool
http_retry_after(struct text value, int64_t now_ns, int64_t *pause_ns)
{
	char date[40];
	struct tm tm = { .tm_sec = 0 };
	const char *end;
	int64_t seconds = 0;
	uint32_t i = 0;

	value = text_trim(value);
	for (; i < value.bytes && isdigit((unsigned char)value.at[i]); i++)
		if (seconds < 100000000)
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
	/* Years that do not fit in nanoseconds are in the past. */
	*pause_ns =
	    tm.tm_year < 70 ? 0 : (int64_t)timegm(&tm) * NS_PER_SECOND - now_ns;
	if (*pause_ns < 0)
		*pause_ns = 0;
	return true;
}

bool
http_headers_end(struct text headers)
{
	bool ended = false;
	struct text line;

	while (text_next_line(&headers, &line)) {
		if (line.bytes > 5 && memcmp(line.at, "HTTP/", 5) == 0)
			ended = false;
		else if (text_trim(line).bytes == 0)
			ended = true;
	}
	return ended;
}

struct text
http_find_header(struct text headers, const char *name)
{
	struct text found = { NULL, 0 }, rest = headers, line;
	size_t bytes = strlen(name);

	while (text_next_line(&rest, &line)) {
		if (line.bytes > bytes && line.at[bytes] == ':' &&
		    strncasecmp(line.at, name, bytes) == 0)
			found = text_trim((struct text){ line.at + bytes + 1,
			    line.bytes - (uint32_t)bytes - 1 });
	}
	return found;
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
http_check_url(const char *url, struct err *err)
{
	char place[HTTP_PLACE_BYTES];

	http_place(place, url);
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return err_set(
		    err, "'%s' does not begin with http:// or https://", place);
	if (has_control(url) || strchr(url, ' ') != NULL)
		return err_set(err,
		    "%s: the address contains a blank or a control character",
		    place);
	if (http_has_user(url))
		return err_set(err,
		    "%s: the address contains a user or a password, which "
		    "others could read",
		    place);
	if (strcspn(authority_of(url), "/?#:") == 0)
		return err_set(err, "'%s' has no host", place);
	return 0;
}

/* A proxy gets the host as text, so a literal address is checked here. */
static const char *
fault_of_host(const char *url)
{
	const char *host = authority_of(url);
	bool bracketed = *host == '[';
	size_t bytes = strcspn(host += bracketed, bracketed ? "]%" : ":/?#");
	struct sockaddr_in ip4 = { .sin_family = AF_INET };
	struct sockaddr_in6 ip6 = { .sin6_family = AF_INET6 };
	char word[INET6_ADDRSTRLEN + 1];

	if (memchr(host, '%', bytes) != NULL)
		return "contains a percent sign";
	while (!bracketed && bytes > 0 && host[bytes - 1] == '.')
		bytes--;
	if (bytes >= sizeof(word))
		return NULL; /* a name */
	memcpy(word, host, bytes);
	word[bytes] = '\0';
	if (bracketed && inet_pton(AF_INET6, word, &ip6.sin6_addr) == 1)
		return http_address_fault((struct sockaddr *)&ip6);
	if (!bracketed && inet_aton(word, &ip4.sin_addr) != 0)
		return http_address_fault((struct sockaddr *)&ip4);
	return NULL;
}

int
http_check(const struct http_request *request, struct err *err)
{
	char place[HTTP_PLACE_BYTES];
	const char *fault;

	if (http_check_url(request->url, err) != 0)
		return -1;
	http_place(place, request->url);
	fault = fault_of_host(request->url);
	if (fault != NULL)
		return err_set(err,
		    "%s: its address %s; the request was not sent", place,
		    fault);
	for (uint32_t i = 0; request->headers[i] != NULL; i++)
		if (has_control(request->headers[i]))
			return err_set(err,
			    "%s: control character in the header %.*s", place,
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
