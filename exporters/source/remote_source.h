/*
 * remote_source - request pages from a query server.
 *
 * One query at a time.  The answer echoes the time of the query (sent_ns), so
 * a late answer is not mistaken for the next one.  A query whose answer does
 * not arrive is sent again: reading twice changes nothing.  A query sent ahead
 * lets the server make the next page while the caller reads the last one.
 *
 * A server that makes an answer of an archive says "fetching" to a query that
 * is sent again: it is sent for at most ten minutes.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_REMOTE_SOURCE_H
#define EXPORTERS_SOURCE_REMOTE_SOURCE_H

#include <stdint.h>

#include "exporters/source/places.h"
#include "proto/auth/client_key.h"

/* `silence_ns`: time to wait for an answer, without the time in which the
 * process was stopped. */
int remote_source_open(struct pages *pages, const struct client_key_values *key,
    const char *endpoint, int64_t silence_ns, struct err *err);

#endif
