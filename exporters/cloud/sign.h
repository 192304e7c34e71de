/*
 * sign - the parts of requests that signatures cover: the parameters of a
 * query, and headers sorted by name.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_SIGN_H
#define EXPORTERS_CLOUD_SIGN_H

#include <stdint.h>

#include "proto/http/message.h"

enum { SIGN_QUERY_MAX = 32 };

/* "name=value" of a query, or "Name: value" of a header without the blanks
 * around the value. */
struct sign_pair {
	struct text name, value;
};

/* Get the headers sorted by lower-case name, and the parameters of a query
 * sorted by the bytes of their names, then of their values.  Returns the
 * number. */
uint32_t sign_headers(struct sign_pair to[static HTTP_HEADERS_MAX],
    const struct http_request *request);
/* -1: more than SIGN_QUERY_MAX. */
int sign_query(struct sign_pair to[static SIGN_QUERY_MAX], struct text query);

/* The value of a header, case-insensitive; empty if absent. */
struct text sign_find(
    const struct sign_pair *pairs, uint32_t count, const char *name);

char sign_lower(char c);

#endif
