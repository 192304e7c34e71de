/*
 * phases_read - the phases of one model in a partition, by node: when each
 * began, and how long it took.
 *
 * Only complete phases are kept, and of a timeline starts without an end; ends
 * without a start, other starts without an end and phases that end before they
 * begin are counted, unless the model says that unmatched events of the phase
 * mean nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PHASES_READ_H
#define EXPORTERS_PHASES_READ_H

#include "exporters/source/source.h"
#include "proto/base/text.h"
#include "proto/hash/string_table.h"

enum {
	PHASES_READ_MAX = 8 << 20, /* phases; 40 bytes each */
	PHASES_KEYS_MAX = 1 << 20, /* of a timeline: different keys */
	PHASES_SPAN_NAMES = 24,    /* others of less time are one */
};

/* The models of a partition and their phases, which keep the order of their
 * files. */
struct phases_names {
	struct string_table models, phases, ignored; /* phases: "model:name" */
	struct string_table required;
	struct string_table begins; /* the first required phase of each model */
};

int phases_names_read(struct phases_names *names, struct source *source,
    struct text partition, struct err *err);
void phases_names_clear(struct phases_names *names);

struct phases_item {
	int64_t begin_ns, end_ns; /* begin + duration */
	/* The time of its end, whatever duration was measured: starts go by
	 * that. */
	int64_t ended_ns;
	uint32_t node, phase; /* numbers in phases_read.nodes, phases_names */
	uint32_t key;         /* of a timeline: number in phases_read.keys */
	bool is_open; /* of a timeline: it has no end; end_ns is begin_ns */
};

struct phases_read {
	struct string_table nodes, keys;
	struct phases_item *items; /* by node, begin, longest first, phase */
	uint32_t count, room;
	uint64_t left_out;
	bool is_of_spans; /* then keys are tracks */
};

/* When the event of its end was; a clock that was set back ends none before its
 * begin. */
int64_t phases_ended(const struct record *record);

enum phases_use { PHASES_COMPLETE, PHASES_TIMELINE };

/* `query` has the nodes, the window in which the phases begin, and
 * "model:*" as the name.  -1 also when there are more than PHASES_READ_MAX.
 * Clear it in any case. */
int phases_read(struct phases_read *phases, const struct phases_names *names,
    struct source *source, struct text partition,
    const struct wire_query *query, enum phases_use use, struct err *err);
/* By node and begin again, when ends have changed. */
void phases_read_sort(struct phases_read *phases);
void phases_read_clear(struct phases_read *phases);

/* "model NAME", or "no model", for titles. */
enum { PHASES_MODEL_BYTES = NAME_BYTES_MAX + sizeof("model ") };
const char *phases_model_words(
    char to[static PHASES_MODEL_BYTES], struct text model);

/* The names, and the phases of a model; `model` NULL: of the first one that has
 * some, a model with required phases before others.  `query` has the nodes and
 * the window; `chosen` is a view.  -1 also when there are none.  Clear both in
 * any case.
 *
 * For PHASES_TIMELINE and RECORD_SPAN_MODEL they are the spans whose names
 * match `query->name`: "span:NAME", those with most time first, the rest
 * "span:others". */
int phases_read_model(struct phases_read *phases, struct phases_names *names,
    struct source *source, struct text partition,
    const struct wire_query *query, const char *model, enum phases_use use,
    struct text *chosen, struct err *err);

#endif
