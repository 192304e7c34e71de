/*
 * http_message - format and check requests, parse answers.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_HTTP_MESSAGE_H
#define EXPORTERS_CLOUD_HTTP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "exporters/cloud/http/http.h"

enum { HTTP_PLACE_BYTES = 256, HTTP_SAID_BYTES = 200 };

/* scheme://host:port/path of an address for use in messages, without user,
 * password and query.  Returns `to`. */
const char *http_place(char to[static HTTP_PLACE_BYTES], const char *url);

/* Does the address contain a user or a password before its host? */
bool http_has_user(const char *url);

/* Why requests to this address are refused; NULL: they are allowed. */
const char *http_address_fault(const struct sockaddr *address);

/* Parse Retry-After relative to now: seconds, or a date (RFC 9110, 10.2.3).
 * False if it is neither. */
bool http_retry_after(struct text value, int64_t now_ns, int64_t *pause_ns);

/* Are these the complete headers of an answer?  Headers of interim answers
 * (100 Continue) may precede them, trailers may follow. */
bool http_headers_end(struct text headers);

/* The value of the last header with this name in "HTTP/... CRLF Name: value
 * CRLF ..."; empty if absent. */
struct text http_find_header(struct text headers, const char *name);

/* Is the value of this header ("Name: value") secret? */
bool http_is_secret_header(const char *header);

/* The beginning of a body, sanitized for a message and without any secrets of
 * the request that it repeats. */
void http_excerpt(char to[static HTTP_SAID_BYTES], struct text body,
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

#endif
