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

#include "proto/base/text.h"
#include "proto/config/opt.h"
#include "proto/keys/z85.h"

struct web_access; /* opaque */

enum { WEB_PATTERN_BYTES = NAME_BYTES_MAX + 1 };

struct web_access_options {
	bool own_token;        /* make one for this process */
	uint64_t request_rate; /* of each token, a second; 0: no limit */
	const struct opt_list *hosts;
};

int web_access_open(struct web_access **access,
    const struct web_access_options *options, struct err *err);
void web_access_close(struct web_access **access);

/* The token of this process; NULL: it has none. */
const char *web_access_token(const struct web_access *access);

/* What a request may see. */
struct web_right {
	unsigned char token[Z85_KEY_BYTES]; /* its hash */
	char pattern[WEB_PATTERN_BYTES];    /* of partitions; "": all */
};

/* `authorization` is the header; NULL: none.  -1: the sentence says what is
 * wrong. */
int web_access_check(struct web_access *access, const char *authorization,
    struct web_right *right, struct err *err);
/* Is the token still valid, for the same partitions? */
bool web_access_holds(struct web_access *access, const struct web_right *right);

/* May a token ask `count` questions now?  0: they are charged; else how many
 * ms it must wait. */
uint32_t web_access_wait_ms(
    struct web_access *access, const struct web_right *right, uint32_t count);

/* The header Origin; NULL: none, as that of a program.  A page of another
 * server names its own. */
int web_access_check_origin(
    const struct web_access *access, const char *origin, struct err *err);
/* The header Host; NULL: none. */
int web_access_check_host(
    const struct web_access *access, const char *host, struct err *err);

#endif
