/*
 * names - the names of a partition of the archive, and the numbers that they
 * have in the rows that are made.
 *
 * The numbers are those of the newest store, so that its answers and those of
 * the archive have one order.  A name without a number, or whose number a newer
 * one has, gets one behind all others.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_NAMES_H
#define AGGREGATOR_ARCHIVE_READ_NAMES_H

#include "aggregator/archive/read/fetch.h"
#include "proto/hash/string_table.h"

struct names;

/* Read all names of a partition. */
int names_read(
    struct names **names, struct fetch *fetch, uint64_t part, struct err *err);
void names_free(struct names **names);

/* Has a newer name the number of another one?  Then the partition was dropped
 * and made again. */
bool names_were_made_again(const struct names *names);

/* The number of a text; 0: it is empty.  One that is not known gets one. */
uint32_t names_number(struct names *names, struct text text);
uint32_t names_session(struct names *names, struct text session);
/* 0: there is no such name. */
uint32_t names_find(const struct names *names, struct text text);
/* False: no name has the number. */
bool names_text(const struct names *names, uint32_t number, struct text *text);
/* The next number of a node (or host) from `*number` on; false: there is none.
 */
bool names_next_node(
    const struct names *names, uint32_t *number, bool *is_host);

/* All names, one by one: i from 0 on. */
struct names_name {
	struct text text;
	uint32_t number;
	bool is_run, is_node, is_host;
};
bool names_get(const struct names *names, uint32_t i, struct names_name *to);

#endif
