/*
 * http_message - format and check requests, parse answers.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_HTTP_MESSAGE_H
#define PROTO_HTTP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	HTTP_HEADERS_MAX = 24,
	HTTP_DISPLAY_URL_BYTES = 256,
	HTTP_EXCERPT_BYTES = 200
};

struct http_request {
	const char *method; /* "GET", "PUT", "POST", "HEAD", "DELETE" */
	const char *url;    /* http:// or https:// */
	/* "Name: value"; ends with NULL. */
	const char *headers[HTTP_HEADERS_MAX + 1];
	struct text body;
	/* NULL, or called before each attempt to renew the headers of date and
	 * signature: a signature expires after some minutes, but --retry-time
	 * may be hours.  -1 stops the request. */
	int (*sign)(void *arg, struct err *err);
	void *sign_arg;
};

/* scheme://host:port/path of an address for use in messages, without user,
 * password and query.  Returns `to`. */
const char *http_display_url(
    char to[static HTTP_DISPLAY_URL_BYTES], const char *url);

/* The parts of an address as libcurl parses it, so that the checked and signed
 * parts are those of the request that is sent. */
struct http_address {
	void *curl; /* a CURLU */
	char *scheme, *host;
	char *port;  /* NULL: the default of the scheme */
	char *path;  /* begins with a slash */
	char *query; /* NULL: none */
};

/* Returns -1 if the address is invalid, is neither http nor https, or contains
 * a user or a password.  It can be closed in any case. */
int http_address_open(
    struct http_address *address, const char *url, struct err *err);
void http_address_close(struct http_address *address);

/* Does the host of the address name this machine: localhost, 127.0.0.0/8 or
 * ::1?  False if the address is invalid. */
bool http_is_here(const char *url);

struct sockaddr;
/* Why requests to this address are refused; NULL: they are allowed. */
const char *http_address_fault(const struct sockaddr *address);

/* The beginning of a body, sanitized for a message and without any secrets of
 * the request that it repeats. */
void http_excerpt(char to[static HTTP_EXCERPT_BYTES], struct text body,
    const struct http_request *request);

/* Sanitize a text of an external program for a message, at most 255 bytes. */
void http_plain(char *text);

/* Check an address, independently of the service; returns -1 if it is
 * invalid. */
int http_check_url(const char *url, struct err *err);

/* Check a request; returns -1 if it may not be sent. */
int http_check(const struct http_request *request, struct err *err);

/* Print the request for --dry-run. */
void http_show(const struct http_request *request);

/* Percent-encode all but unreserved characters (RFC 3986) and those in `keep`.
 * NUL-terminates `to`; returns 0 if there is no room. */
size_t http_encode(char *to, size_t room, struct text text, const char *keep);

#endif
