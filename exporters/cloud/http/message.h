/*
 * http_message - requests and answers as text, apart from how they travel.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_HTTP_MESSAGE_H
#define EXPORTERS_CLOUD_HTTP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "exporters/cloud/http/http.h"

enum { HTTP_PLACE_BYTES = 256, HTTP_SAID_BYTES = 200 };

/* scheme://host:port/path of an address, fit for a message: nothing of a user,
 * a password, a query.  Returns `to`. */
const char *http_place(char to[static HTTP_PLACE_BYTES], const char *url);

/* Has the address a user or a password before its host? */
bool http_has_user(const char *url);

/* Why nobody may be sent to this address, or NULL. */
const char *http_address_fault(const struct sockaddr *address);

/* What Retry-After says, from now on: seconds, or a date (RFC 9110, 10.2.3).
 * False: neither. */
bool http_retry_after(struct text value, int64_t now_ns, int64_t *pause_ns);

/* Are these the headers of an answer to their end?  Those of answers before
 * (100 Continue) may stand in front, trailers behind. */
bool http_headers_end(struct text headers);

/* The value of the last header with this name in "HTTP/... CRLF Name: value
 * CRLF ..."; empty: none. */
struct text http_find_header(struct text headers, const char *name);

/* Is the value of this header ("Name: value") for the service only? */
bool http_is_secret_header(const char *header);

/* The first words of what a service says, fit for a message, without what it
 * repeats of the secrets of the request. */
void http_excerpt(char to[static HTTP_SAID_BYTES], struct text body,
    const struct http_request *request);

/* Make a sentence of others, of at most 255 bytes, fit for a message. */
void http_plain(char *text);

/* What is wrong with an address, whoever is there: -1. */
int http_check_url(const char *url, struct err *err);

/* What keeps the request from being sent, whoever it is for: -1. */
int http_check(const struct http_request *request, struct err *err);

/* --dry-run: print it. */
void http_show(const struct http_request *request);

#endif
