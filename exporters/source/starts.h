/*
 * starts - the starts of a pool: groups of nodes that began together, and when
 * they were ready.
 *
 * The phases that the model of the pool requires say when a node begins and is
 * ready; they are read from the store, which derives them from the stored
 * events.  So a start is never out of step with them, whatever came late, was
 * deleted, or was derived again.
 *
 * A node begins when the first required phase begins on it, and is ready at the
 * end of the last one: each ends for the first time before the node begins
 * again.  Nodes that begin with pauses of at most the gap belong to one start;
 * the pause is that since the last sign: the begin of a node of the start, or a
 * begin or end of its required phases until it was ready.  The order of arrival
 * does not matter.
 *
 * The model may say what the gap is, and that a pool is ready when a share of
 * the nodes of a start is (poolscope-model(5), pool).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_STARTS_H
#define EXPORTERS_SOURCE_STARTS_H

#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/config/opt.h"
#include "proto/hash/string_table.h"

enum { STARTS_MARKS_MAX = 8 << 20 }; /* required phases; 24 bytes each */
#define START_UNKNOWN INT64_MIN

/* A required phase on a node; a time that is not known is START_UNKNOWN. */
struct start_mark {
	int64_t begin_ns, end_ns;
	uint32_t node; /* number */
};

/* Those of one phase, in any order: they are sorted. */
struct start_marks {
	struct start_mark *at;
	uint32_t count, room;
};

struct start {
	int64_t begin_ns;      /* of its first node */
	int64_t last_begin_ns; /* of its last one */
	int64_t sign_ns;       /* the last sign of it */
	/* When its first and last node became ready for the first time. */
	int64_t first_ready_ns, last_ready_ns;
	int64_t ready_ns; /* when the pool was: as many as it needs */
	uint32_t nodes, ready;
	uint32_t again; /* how often a node of it began once more */
};

/* What a model says of a pool: a longer pause parts two starts, and of
 * STARTS_SHARE_ALL nodes of a start this number makes it ready. */
enum { STARTS_SHARE_ALL = 1000000 };
struct starts_pool {
	int64_t gap_ns;
	uint32_t share;
};
/* How many nodes that are; of one or more at least one. */
uint32_t starts_needed(const struct starts_pool *pool, uint32_t nodes);

/* Returns new starts in the order of time, and how many; `phases`: the required
 * ones of the model, in its order; `nodes`: above all numbers.  Of nodes that
 * begin at `to_ns` or later none is formed.  `ready_ns` (or NULL), by node:
 * when it became ready after its last begin; START_UNKNOWN: it is not;
 * START_NONE: it has not begun. */
#define START_NONE INT64_MAX
struct start *starts_form(struct start_marks *phases, uint32_t phase_count,
    uint32_t nodes, int64_t to_ns, const struct starts_pool *pool,
    uint32_t *count, int64_t *ready_ns);

/* If neither an option nor the model says it. */
#define STARTS_GAP_NS    (600 * INT64_C(1000000000))
#define STARTS_GAP_MODEL INT64_C(-1) /* as the model says */

#define STARTS_NEWEST OPT_TIME_WORD(0)
#define STARTS_ALL    OPT_TIME_WORD(1)

struct starts_options {
	/* Of which start; TIME_MIN_NS: not given. */
	int64_t start_ns;
	int64_t gap_ns; /* STARTS_GAP_MODEL: not given */
};
#define STARTS_DEFAULT                                                         \
	{                                                                      \
		.start_ns = TIME_MIN_NS, .gap_ns = STARTS_GAP_MODEL            \
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
	int64_t gap_ns;         /* or STARTS_GAP_MODEL */
};

struct starts {
	char *model;
	struct starts_pool pool;
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

/* When it was ready, or, if it is not, its last node. */
static inline int64_t
start_until(const struct start *start)
{
	return start->ready_ns != START_UNKNOWN ? start->ready_ns
						: start->last_ready_ns;
}

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
