/*
 * source_private - shared by source.c (reading) and open.c (choosing, opening,
 * closing).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_SOURCE_PRIVATE_H
#define EXPORTERS_SOURCE_SOURCE_PRIVATE_H

#include "exporters/source/places.h"
#include "exporters/source/phase_pairs.h"
#include "exporters/source/source.h"

struct source {
	struct places places;
	uint64_t lag; /* batches of a store that are not indexed; 0: none, or
			 already reported */
	bool answered, failed;    /* source_is_empty */
	enum clock_choice choice; /* of --clock */
	const char *limit;        /* pattern of partitions; NULL: all */
	const struct source_rename *rename; /* NULL: none */
	/* NULL: all are wanted. */
	bool (*wants)(const void *arg, const struct record *record);
	const void *wants_arg;
	bool said_incomplete; /* once is enough */
	int64_t complete_ns;  /* source_complete_ns */
	enum source_damaged damaged;

	struct wire_cursor cursor; /* reads the records of the page */
	/* WIRE_FOLLOW: the record after the returned one; otherwise the one
	 * after those of `pairs` */
	struct record next;
	bool has_next; /* is it in this page? */
	uint64_t entry, followed;
	struct source_clock clock;
	bool unpaired;            /* WIRE_SELECT: phases come as events, */
	struct phase_pairs pairs; /* which pair here */
};

#endif
