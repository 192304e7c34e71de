/*
 * follow_position - the position file of a follower.
 *
 * One line: the generation of the store and the number of the first journal
 * entry that was not read, as source_followed returns it.  The file is
 * replaced as a whole: after a crash it is the old one or the new one.
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

/* A missing file reads as { 0, 0 }: the oldest stored entry. */
int follow_position_read(
    struct follow_position *follow_position, const char *path, struct err *err);
int follow_position_write(const struct follow_position *follow_position,
    const char *path, struct err *err);
/* Parse the text of a position file. */
int follow_position_parse(
    struct follow_position *follow_position, struct text text, struct err *err);

/* Call source_follow from the position; fails when the position belongs to
 * another store, or to this store before it was restored. */
int follow_position_follow(const struct follow_position *follow_position,
    struct source *source, struct text partition,
    const struct wire_query *query, struct err *err);

#endif
