/*
 * source_private - shared by source.c (reading) and open.c (choosing, opening,
 * closing).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_SOURCE_PRIVATE_H
#define EXPORTERS_SOURCE_SOURCE_PRIVATE_H

#include "exporters/source/local_source.h"
#include "exporters/source/remote_source.h"
#include "exporters/source/source.h"
#include "proto/config/instance.h"

enum { SOURCE_NAME_BYTES = INSTANCE_PATH_BYTES + 16 };

struct source {
	struct local_source *local_source; /* NULL: query the listener */
	struct remote_source remote_source;
	bool is_local; /* the listener runs on this machine */
	uint64_t lag;  /* batches of a store that are not indexed; 0: none, or
			  already reported */
	char name[SOURCE_NAME_BYTES];

	enum source_what what;
	struct text partition;
	struct wire_query query;
	char position[WIRE_CURSOR_BYTES_MAX]; /* position of the next page */
	bool last;                            /* the page is the last one */

	struct wire_room room;
	struct wire_cursor cursor; /* index of the record in the page */
	struct record
	    ahead; /* SOURCE_FOLLOW: index of the next entry of the page */
	bool is_ahead;
	uint64_t entry, followed, generation;
	struct source_clock clock;
};

#endif
