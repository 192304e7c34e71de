/*
 * follow_position - the file of a follower that says where it goes on.
 *
 * One line: the generation of the store and the number of the first entry of
 * its journal that was not taken, as source_followed gives it.  Replaced
 * whole, so that it is the old one or the new one.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_FOLLOW_POSITION_H
#define EXPORTERS_SOURCE_FOLLOW_POSITION_H

#include <stdint.h>

#include "exporters/source/source.h"

struct follow_position {
	uint64_t generation; /* 0: none yet */
	uint64_t entry;
};

/* A file that is not there is { 0, 0 }: the oldest entry that is kept. */
int follow_position_read(
    struct follow_position *follow_position, const char *path, struct err *err);
int follow_position_write(const struct follow_position *follow_position,
    const char *path, struct err *err);
/* The text of such a file. */
int follow_position_parse(
    struct follow_position *follow_position, struct text text, struct err *err);

/* source_follow from there; refused when it is one of another store, or of
 * this one before it was restored. */
int follow_position_follow(const struct follow_position *follow_position,
    struct source *source, struct text partition,
    const struct wire_query *query, struct err *err);

#endif
