/*
 * long_phases - of each node the phase that is open for longer than usual.
 *
 * What is usual of a phase is known by the statistics that the store keeps of
 * it.  Only phases are read that some node has begun and not
 * ended, and of which that is known: of a pool that is ready, none.  What a
 * node left behind when it began once more, by the first phase that the model
 * requires or by the same phase, is not open.  Phases of runs belong to no
 * node, and jobs (job:run) take as long as they take.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_LONG_PHASES_H
#define EXPORTERS_NODES_LONG_PHASES_H

#include "exporters/phases/phase_rows.h"
#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

/* How long something usually takes, and from when on it takes longer.
 *
 * Longer than usual is more than three times the median, more than the 99th
 * percentile and more than USUAL_LEAST seconds, which is noise below.  Of fewer
 * than USUAL_VALUES_MIN values nothing can be known: of eleven, the percentile
 * is the greatest of them, and one odd value would decide.  Both quantiles are
 * of the nearest rank (proto/base/quantile.h). */
enum { USUAL_VALUES_MIN = 12, USUAL_MEDIANS = 3, USUAL_LEAST = 30 };

struct usual {
	double count;
	double median, p99; /* seconds; NaN: unknown */
};

struct usual usual_of(const double numbers[static PHASE_NUMBERS]);

/* The seconds above which it takes longer than usual; NaN: that is unknown.
 */
double usual_limit(const struct usual *usual);

enum { LONG_PHASES_MAX = 1 << 20 }; /* open ones; more are not looked at */

struct long_phase {
	struct text id; /* "model:phase"; empty: there is none */
	/* By the node's clock; due INT64_MAX: never. */
	int64_t begin_ns, due_ns;
	double usual; /* seconds: the median */
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
