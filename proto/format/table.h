/*
 * table - names as they are shown in a terminal: short ones, and without what
 * all of them have.  Widths count characters, not bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_TABLE_H
#define PROTO_FORMAT_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "proto/base/text.h"

/* The common prefix and suffix of a list of names, so that only the rest is
 * shown; they end at letters that all names have. */
struct table_names {
	struct text first;
	uint32_t prefix, suffix; /* bytes; whole words */
	uint32_t count;
	uint32_t longest;  /* characters */
	uint32_t shortest; /* bytes */
};
void table_names_add(struct table_names *names, struct text name);
/* Decide what to omit: nothing unless the longest name has more characters than
 * `room`. */
void table_names_fit(struct table_names *names, unsigned room);
/* A name without the common parts (a node that appeared between two readings)
 * is shown complete. */
struct text table_names_rest(const struct table_names *names, struct text name);

/* The number of characters of UTF-8 text. */
unsigned table_width(struct text t);
/* At most `width` characters of `t`, the middle replaced by "..". */
void table_put_elided(FILE *file, struct text t, unsigned width);
/* The same into `to`, NUL-terminated; returns the number of bytes. */
size_t table_elide(char *to, size_t room, struct text t, unsigned width);

#endif
