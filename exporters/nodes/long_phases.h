/*
 * long_phases - of each node the phase that is open for longer than usual.
 *
 * usual.h says what is usual.  Only phases are read that some node has begun
 * and not ended for so long: of a pool that is ready, none.  What a node left
 * behind when it began once more, by the first phase that the model
 * requires or by the same phase, is not open.  Phases of runs belong to no
 * node, and jobs (job:run) take as long as they take.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_LONG_PHASES_H
#define EXPORTERS_NODES_LONG_PHASES_H

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

enum { LONG_PHASES_MAX = 1 << 20 }; /* open ones; more are not looked at */

struct long_phase {
	struct text id; /* "model:phase"; empty: there is none */
	/* By the node's clock; due INT64_MAX: never. */
	int64_t begin_ns, due_ns;
	int64_t usual_ns; /* the median */
	struct text key;  /* of this key; empty: of the phase with any */
};

/* A new array by the numbers of `names`, those of the nodes; `ids` gets the
 * texts.  `nodes` is the list that is read, `until_ns` the time by the clock
 * that is ahead most.  The clock of the source must be CLOCK_RAW.  `*has_more`:
 * others are open, which were not for longer than usual by then;
 * `*is_incomplete`: the phases that a model requires did not all end equally
 * often, so that some node may not be ready.  Free it in
 * any case. */
int long_phases_read(struct long_phase **phases, struct string_table *ids,
    struct source *source, struct text partition, struct text nodes,
    const struct string_table *names, int64_t until_ns, bool *has_more,
    bool *is_incomplete, struct err *err);

/* The name without the model; a view. */
struct text long_phase_name(const struct long_phase *phase);

#endif
