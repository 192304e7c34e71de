/*
 * table - columns for a terminal of 80 characters.
 *
 * Numbers are right-aligned with as many decimals as fit; counts that do not
 * fit are printed in k, M, G ...; an unknown value is "-"; text that does not
 * fit loses its middle.  Widths count characters, not bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_TABLE_H
#define PROTO_FORMAT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/base/text.h"

struct table_column {
	const char *title; /* NULL ends the list */
	unsigned width;
	bool right;
};

struct table {
	FILE *file;
	const struct table_column *columns;
	unsigned at; /* the next column */
};

/* Prints the titles. */
void table_begin(
    struct table *table, FILE *file, const struct table_column *columns);

/* Write the next cell; the last cell of a row ends the line. */
void table_text(struct table *table, struct text value);
void table_string(struct table *table, const char *value);
void table_count(struct table *table, uint64_t value);
void table_number(struct table *table, double value);
void table_none(struct table *table);

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
