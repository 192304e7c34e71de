/*
 * sign - what signatures of requests are made of: the parts of an address, and
 * headers in the order of their names.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_HTTP_SIGN_H
#define EXPORTERS_CLOUD_HTTP_SIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/cloud/http/http.h"

enum { SIGN_QUERY_MAX = 32 };

/* scheme://host/path?query; views into it.  The path begins with its slash and
 * is "/" when there is none. */
struct sign_address {
	struct text host, path, query;
};

/* "name=value" of a query, or "Name: value" of a header without the blanks
 * around the value. */
struct sign_pair {
	struct text name, value;
};

/* False: it is no address. */
bool sign_take_apart(struct sign_address *address, const char *url);

/* The headers, ordered by their names in lower case; and the pairs of a query,
 * by the bytes of their names, then of their values.  How many. */
uint32_t sign_headers(struct sign_pair to[static HTTP_HEADERS_MAX],
    const struct http_request *request);
/* -1: more than SIGN_QUERY_MAX. */
int sign_query(struct sign_pair to[static SIGN_QUERY_MAX], struct text query);

/* The value of a header; empty when it is not there.  Any case. */
struct text sign_find(
    const struct sign_pair *pairs, uint32_t count, const char *name);

char sign_lower(char c);

#endif
