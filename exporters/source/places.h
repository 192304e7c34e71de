/*
 * places - where a source asks: a store, or one or several aggregators and
 * archives.
 *
 * A partition is asked where it is kept; if several keep it, where its newest
 * record is, and a warning says so.  The answer to a status is that of all
 * places, one after the other.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_PLACES_H
#define EXPORTERS_SOURCE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/pages.h"
#include "proto/config/instance.h"
#include "proto/record/record.h"

enum { PLACE_NAME_BYTES = INSTANCE_PATH_BYTES + 16 };

struct place {
	struct pages pages;
	bool is_local;   /* its listener runs on this machine */
	bool is_archive; /* it has no journal */
	char name[PLACE_NAME_BYTES];
};

struct places {
	struct place *at; /* do not add any after the first question */
	uint32_t count;
	struct place *now; /* the one that is asked */
	/* Of the place in `routed` it is known that it keeps the partition. */
	struct place *routed; /* NULL: of none */
	char partition[NAME_BYTES_MAX];
	uint32_t partition_bytes;
	char name[PLACE_NAME_BYTES]; /* of all of them, for messages */
};

/* Returns a new place whose `pages` the caller opens; it becomes `now`. */
struct place *places_add(struct places *places, const char *name);
void places_clear(struct places *places);

/* As pages_begin and pages_next; -1 also when it is not known where the
 * partition is kept, because a place does not answer.  `err` names it. */
int places_begin(struct places *places, const struct pages_question *question,
    struct err *err);
int places_next(
    struct places *places, struct wire_cursor *records, struct err *err);

/* As pages_ahead; of several places none is asked ahead, because the one that
 * keeps the partition is found first. */
void places_ahead(struct places *places, const struct pages_question *question);

/* The place that is asked, or all of them when none keeps what is asked for. */
const char *places_name(const struct places *places);
/* As pages_damaged, of all. */
uint64_t places_damaged(const struct places *places);

#endif
