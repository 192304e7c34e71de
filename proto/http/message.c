/*
 * http_message - format and check requests, parse answers.
 * SPDX-License-Identifier: MIT
 */
#include "proto/http/message.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proto/base/memory.h"
#include "proto/base/text.h"
#include "proto/http/libcurl.h"

enum {
	PATH_BYTES_MAX =
	    160, /* characters of an address in a message, without its scheme */
};

/* ---- addresses in messages, valid or not ---- */

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

const char *
http_display_url(char to[static HTTP_DISPLAY_URL_BYTES], const char *url)
{
	const char *host = authority_of(url), *user = user_end(url);
	char plain[HTTP_DISPLAY_URL_BYTES];
	size_t scheme = (size_t)(host - url), bytes;

	if (user != NULL)
		host = user + 1;
	bytes = strcspn(host, "?#");
	if (scheme > 8)
		scheme = 8;
	snprintf(plain, sizeof(plain), "%.*s%.*s%s", (int)scheme, url,
	    bytes > PATH_BYTES_MAX ? PATH_BYTES_MAX : (int)bytes, host,
	    bytes > PATH_BYTES_MAX ? "..." : "");
	text_quote(to, HTTP_DISPLAY_URL_BYTES, text_of(plain));
	return to;
}

/* ---- addresses to connect to ---- */

static const char *
fault_of_ip4(uint32_t ip)
{
	/* Azure's wire server, and the metadata services of Alibaba and
	 * Oracle, have other addresses. */
	if (ip >> 16 == 0xA9FE)
		return "is link-local, where cloud machines keep their "
		       "credentials";
	if (ip == 0xA83F8110 || ip == 0x646464C8 || ip == 0xC00000C0)
		return "is a cloud's metadata service";
	if (ip >> 24 == 0)
		return "is not a host address";
	if (ip >> 28 >= 0xE)
		return "is a multicast or broadcast address";
	return NULL;
}

struct ip6_network {
	uint32_t bytes;
	unsigned char at[16];
};

static bool
is_of(
    const struct in6_addr *ip, const struct ip6_network *networks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(ip->s6_addr, networks[i].at, networks[i].bytes) == 0)
			return true;
	return false;
}

static const char *
fault_of_ip6(const struct in6_addr *ip)
{
	/* Networks, of which clouds use more than one address: Amazon, Google,
	 * Oracle, Scaleway, Linode. */
	static const struct ip6_network clouds[] = {
		{ 4, { 0xFD, 0x00, 0x0E, 0xC2 } },
		{ 4, { 0xFD, 0x20, 0x00, 0xCE } },
		{ 4, { 0xFD, 0x00, 0x00, 0xC1 } },
		{ 4, { 0xFD, 0x00, 0x00, 0x42 } },
		{ 6, { 0xFD, 0x00, 0xA9, 0xFE, 0xA9, 0xFE } },
	};
	/* Those that end with an address of IPv4: NAT64 (RFC 6052, RFC 8215),
	 * SIIT. */
	static const struct ip6_network ending[] = {
		{ 12, { 0x00, 0x64, 0xFF, 0x9B } },
		{ 6, { 0x00, 0x64, 0xFF, 0x9B, 0x00, 0x01 } },
		{ 12, { [8] = 0xFF, [9] = 0xFF } },
	};
	const unsigned char *b = ip->s6_addr;
	uint32_t last = (uint32_t)b[12] << 24 | (uint32_t)b[13] << 16 |
			(uint32_t)b[14] << 8 | b[15];

	if (IN6_IS_ADDR_LOOPBACK(ip))
		return NULL;
	if (IN6_IS_ADDR_V4MAPPED(ip) || IN6_IS_ADDR_V4COMPAT(ip) ||
	    is_of(ip, ending, sizeof(ending) / sizeof(*ending)))
		return fault_of_ip4(last);
	if (b[0] == 0x20 && b[1] == 0x02) /* 6to4 */
		return fault_of_ip4((uint32_t)b[2] << 24 |
				    (uint32_t)b[3] << 16 | (uint32_t)b[4] << 8 |
				    b[5]);
	if (IN6_IS_ADDR_UNSPECIFIED(ip))
		return "is not a host address";
	if (IN6_IS_ADDR_LINKLOCAL(ip))
		return "is link-local";
	if (IN6_IS_ADDR_MULTICAST(ip))
		return "is a multicast address";
	if (is_of(ip, clouds, sizeof(clouds) / sizeof(*clouds)))
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

static bool
has_control(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7F)
			return true;
	return false;
}

/* Checks before libcurl parses the address. */
static int
check_plain(const char *url, const char *shown, struct err *err)
{
	bool secure = strncmp(url, "https://", 8) == 0;

	if (!secure && strncmp(url, "http://", 7) != 0)
		return err_set(err,
		    "address '%s' does not begin with http:// or https://",
		    shown);
	if (has_control(url) || strchr(url, ' ') != NULL)
		return err_set(err,
		    "%s: the address contains a blank or a control character",
		    shown);
	/* libcurl accepts a host after a third slash. */
	if (url[secure ? 8 : 7] == '/')
		return err_set(err, "address '%s' has no host", shown);
	return 0;
}

static int
explain(CURLUcode code, const char *shown, struct err *err)
{
	switch (code) {
	case CURLUE_OK: return 0;
	case CURLUE_USER_NOT_ALLOWED:
		return err_set(err,
		    "%s: the address contains a user or a password, which "
		    "others could read",
		    shown);
	case CURLUE_NO_HOST:
		return err_set(err, "address '%s' has no host", shown);
	default:
		return err_set(err, "invalid address '%s': %s", shown,
		    libcurl.url_strerror(code));
	}
}

/* NULL if the part is absent. */
static char *
part_of(const struct http_address *address, CURLUPart part)
{
	char *text = NULL;
	CURLUcode code =
	    libcurl.url_get(address->curl, part, &text, CURLU_NO_DEFAULT_PORT);

	if (code == CURLUE_OUT_OF_MEMORY)
		memory_must(NULL);
	return code == CURLUE_OK ? text : NULL;
}

int
http_address_open(
    struct http_address *address, const char *url, struct err *err)
{
	char shown[HTTP_DISPLAY_URL_BYTES];

	*address = (struct http_address){ .curl = NULL };
	http_display_url(shown, url);
	if (check_plain(url, shown, err) != 0 || libcurl_load(err) != 0)
		return -1;
	address->curl = memory_must(libcurl.url());
	/* Send the path exactly as it is signed, without normalizing "../". */
	if (explain(libcurl.url_set(address->curl, CURLUPART_URL, url,
			CURLU_DISALLOW_USER | CURLU_PATH_AS_IS),
		shown, err) != 0) {
		http_address_close(address);
		return -1;
	}
	address->scheme = part_of(address, CURLUPART_SCHEME);
	address->host = part_of(address, CURLUPART_HOST);
	address->port = part_of(address, CURLUPART_PORT);
	address->path = part_of(address, CURLUPART_PATH);
	address->query = part_of(address, CURLUPART_QUERY);
	return 0;
}

void
http_address_close(struct http_address *address)
{
	if (address->curl == NULL)
		return;
	libcurl.free(address->scheme);
	libcurl.free(address->host);
	libcurl.free(address->port);
	libcurl.free(address->path);
	libcurl.free(address->query);
	libcurl.url_cleanup(address->curl);
	*address = (struct http_address){ .curl = NULL };
}

int
http_check_url(const char *url, struct err *err)
{
	struct http_address address;
	int rc = http_address_open(&address, url, err);

	http_address_close(&address);
	return rc;
}

static bool
is_host_here(const char *host)
{
	struct in6_addr ip6;
	struct in_addr ip4;
	char word[INET6_ADDRSTRLEN];
	size_t bytes = strlen(host);

	if (strcasecmp(host, "localhost") == 0 ||
	    strcasecmp(host, "localhost.") == 0)
		return true;
	if (*host != '[')
		return inet_pton(AF_INET, host, &ip4) == 1 &&
		       ntohl(ip4.s_addr) >> 24 == 127;
	if (bytes < 2 || bytes - 2 >= sizeof(word))
		return false;
	memcpy(word, host + 1, bytes - 2);
	word[bytes - 2] = '\0';
	return inet_pton(AF_INET6, word, &ip6) == 1 &&
	       IN6_IS_ADDR_LOOPBACK(&ip6);
}

bool
http_is_here(const char *url)
{
	struct http_address address;
	struct err ignored = { 0 };
	bool here = http_address_open(&address, url, &ignored) == 0 &&
		    address.host != NULL && is_host_here(address.host);

	http_address_close(&address);
	return here;
}

/* ---- requests ---- */

/* A proxy gets the host as text, so a literal address is checked here. */
static const char *
fault_of_host(const char *host)
{
	bool bracketed = *host == '[';
	size_t bytes = strcspn(host += bracketed, "]");
	struct sockaddr_in ip4 = { .sin_family = AF_INET };
	struct sockaddr_in6 ip6 = { .sin6_family = AF_INET6 };
	char word[INET6_ADDRSTRLEN + 1];

	if (strchr(host, '%') != NULL)
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
	char shown[HTTP_DISPLAY_URL_BYTES];
	struct http_address address;
	const char *fault;

	if (http_address_open(&address, request->url, err) != 0)
		return -1;
	http_display_url(shown, request->url);
	fault = fault_of_host(address.host);
	http_address_close(&address);
	if (fault != NULL)
		return err_set(err,
		    "%s: its address %s; the request was not sent", shown,
		    fault);
	for (uint32_t i = 0; request->headers[i] != NULL; i++)
		if (has_control(request->headers[i]))
			return err_set(err,
			    "%s: control character in the header %.*s", shown,
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
