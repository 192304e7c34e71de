/*
 * open_phases - the phase that each node is in: the one that began last, of
 * those that have not ended.
 *
 * However long ago it began: only phases that have not ended are read.  Those
 * whose model says that unmatched events mean nothing are left out.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_OPEN_PHASES_H
#define EXPORTERS_NODES_OPEN_PHASES_H

#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

struct open_phase {
	struct text label; /* "pull tf:1.3": its name and its key */
	int64_t begin_ns;  /* by the clock of the node */
};

struct open_phases {
	struct string_table nodes, labels; /* labels: of `at`, and some more */
	struct open_phase *at;             /* by the number of the node */
	uint32_t room;
};

/* The clock of the source is CLOCK_RAW meanwhile.  Clear it in any case. */
int open_phases_read(struct open_phases *phases, struct source *source,
    struct text partition, struct err *err);
void open_phases_init(struct open_phases *phases);
void open_phases_clear(struct open_phases *phases);

/* NULL: the node is in no phase. */
const struct open_phase *open_phases_find(
    const struct open_phases *phases, struct text node);

#endif
