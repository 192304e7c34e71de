/*
 * web_access - who may ask, and for which partitions.
 *
 * A request carries a token, "Authorization: Bearer TOKEN": that of this
 * process, which sees everything, or one of DIR/keys/tokens
 * (proto/keys/tokens.h), which sees the partitions of its pattern.
 *
 * The Host of a request must be a name of this server: a page of another
 * server whose name leads to our address (DNS rebinding) sends its own.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_ACCESS_H
#define EXPORTERS_WEB_ACCESS_H

#include <stdbool.h>

#include "proto/config/opt.h"

struct web_access; /* opaque */

struct web_access_options {
	bool own_token; /* make one for this process */
	const struct opt_list *hosts;
};

int web_access_open(struct web_access **access,
    const struct web_access_options *options, struct err *err);
void web_access_close(struct web_access **access);

/* The token of this process; NULL: it has none. */
const char *web_access_token(const struct web_access *access);

/* `authorization` is the header; NULL: none.  0: `*pattern` is that of the
 * partitions (NULL: all), which lives until the next call.  -1: the sentence
 * says what is wrong. */
int web_access_check(struct web_access *access, const char *authorization,
    const char **pattern, struct err *err);

/* The header Host; NULL: none. */
int web_access_check_host(
    const struct web_access *access, const char *host, struct err *err);

#endif
