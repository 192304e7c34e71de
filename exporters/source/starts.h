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
#ifndef EXPORTERS_SOURCE_STARTS_H
#define EXPORTERS_SOURCE_STARTS_H

#include "exporters/source/source.h"
#include "exporters/source/form.h"
#include "proto/config/opt.h"
#include "proto/hash/string_table.h"

enum { STARTS_MARKS_MAX = 8 << 20 }; /* required phases; 24 bytes each */
#define STARTS_GAP_NS (600 * INT64_C(1000000000))

#define STARTS_NEWEST OPT_TIME_WORD(0)
#define STARTS_ALL    OPT_TIME_WORD(1)

struct starts_options {
	/* Of which start; TIME_MIN_NS: not given. */
	int64_t start_ns;
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
	bool falls_back;        /* the same if `model` requires none */
	int64_t from_ns, to_ns; /* in which the nodes begin */
	int64_t gap_ns;
};

struct starts {
	char *model;
	struct start *at; /* in the order of time */
	uint32_t count;
	struct string_table nodes;
	int64_t *ready_ns; /* by number of the node: form.h */
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

/* What a question is of. */
struct starts_chosen {
	int64_t begin_ns;       /* of the start; START_UNKNOWN: of none */
	uint32_t number, count; /* of how many; the oldest is 1 */
	uint32_t nodes;         /* that began in it */
	bool is_all;            /* --start all */
};
enum { STARTS_WORDS_BYTES = 120 };

/* Which part of a pool a question is of, and the window of it.
 * Times that are given are the window, and no start is chosen.
 * --start TIME is the start that had begun then, in that second: until the next
 * one began.  The newest one, if `by_default` also when nothing is given, is
 * all there is if no other start is known; so is a pool without starts.
 * The required phases of `model` say what a start is if it has some, else those
 * of the first model that has.  -1 also when no start had begun at TIME. */
int starts_choose(struct starts_chosen *chosen, struct source *source,
    struct text partition, const struct starts_options *options,
    const char *model, bool by_default, int64_t *from_ns, int64_t *to_ns,
    struct err *err);
/* "start of 2026-11-28T07:15:50Z, 2nd of 2, with 60 nodes"; "all starts";
 * empty: there are no others. */
const char *starts_words(
    char to[static STARTS_WORDS_BYTES], const struct starts_chosen *chosen);

#endif
