/*
 * source_private - shared by source.c (reading) and open.c (choosing, opening,
 * closing).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_SOURCE_PRIVATE_H
#define EXPORTERS_SOURCE_SOURCE_PRIVATE_H

#include "exporters/source/pages.h"
#include "exporters/source/pairs/phase_pairs.h"
#include "exporters/source/source.h"
#include "proto/config/instance.h"

enum { SOURCE_NAME_BYTES = INSTANCE_PATH_BYTES + 16 };

struct source {
	struct pages pages;
	bool is_local; /* the listener runs on this machine */
	uint64_t lag;  /* batches of a store that are not indexed; 0: none, or
			  already reported */
	bool answered, failed; /* source_is_empty */
	bool said_incomplete;  /* once is enough */
	char name[SOURCE_NAME_BYTES];
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
