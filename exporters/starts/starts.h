/*
 * starts - the starts of a pool: groups of nodes that began together, and when
 * they were ready.
 *
 * The phases that the model of the pool requires say when a node begins and is
 * ready (form.h); they are read from the store, which derives them from the
 * stored events.  So a start is never out of step with them, whatever came
 * late, was deleted, or was derived again.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STARTS_STARTS_H
#define EXPORTERS_STARTS_STARTS_H

#include "exporters/source/source.h"
#include "exporters/starts/form.h"
#include "proto/config/opt.h"

enum { STARTS_MARKS_MAX = 8 << 20 }; /* required phases; 24 bytes each */
#define STARTS_GAP_NS (600 * INT64_C(1000000000))

struct starts_options {
	int64_t start_ns; /* of which start; TIME_MIN_NS: not given */
	int64_t gap_ns;
};
#define STARTS_DEFAULT                                                         \
	{                                                                      \
		.start_ns = TIME_MIN_NS, .gap_ns = STARTS_GAP_NS               \
	}

/* --start, --gap; bound to struct starts_options. */
extern const struct opt starts_options[];
/* -1: the gap is too short, or a start and a window are given. */
int starts_options_judge(const struct starts_options *options, int64_t from_ns,
    int64_t to_ns, struct err *err);
/* The same; exits on wrong usage. */
void starts_options_check(
    const struct starts_options *options, int64_t from_ns, int64_t to_ns);

struct starts_query {
	const char *model;      /* NULL: the first one that requires phases */
	int64_t from_ns, to_ns; /* in which the nodes begin */
	int64_t gap_ns;
};

struct starts {
	char *model;
	struct start *at; /* in the order of time */
	uint32_t count;
};

/* -1 also when no node began, or there are more than STARTS_MARKS_MAX phases.
 * Clear it in any case. */
int starts_read(struct starts *starts, struct source *source,
    struct text partition, const struct starts_query *query, struct err *err);
void starts_clear(struct starts *starts);

enum start_state { START_READY, START_STARTING, START_INCOMPLETE };
extern const char *const start_state_words[];
/* Of a start of which not all nodes are ready, the pause since its last sign
 * decides whether they may still become so. */
enum start_state start_state_at(
    const struct start *start, int64_t gap_ns, int64_t now_ns);

/* The window of the start that had begun at `options->start_ns`, of the second
 * in which that lies: until the next one began, or TIME_MAX_NS.  Nothing is
 * done when it is not given. */
int starts_find_window(struct source *source, struct text partition,
    const struct starts_options *options, const char *model, int64_t *from_ns,
    int64_t *to_ns, struct err *err);

#endif
