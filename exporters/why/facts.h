/*
 * why_facts - what sentences are made of: rows of answers, which are taken as
 * they are printed (answer_taker).
 *
 * Each number of a sentence is one that a question gives; nothing is computed
 * here but sums of its rows.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WHY_FACTS_H
#define EXPORTERS_WHY_FACTS_H

#include "exporters/why/sentences.h"
#include "proto/answer/answer.h"
#include "proto/base/arena.h"

enum {
	WHY_STARTS = 21, /* the newest, and those before */
	WHY_NAMED = 3,   /* nodes that are named */
	WHY_PIECES = 64, /* of a critical path, by what they are of */
	WHY_STEPS = 12,  /* of a run */
	WHY_SPANS = 3,   /* names of the spans of a job */
};

struct why_start {
	int64_t begin_ns;
	char state[16];
	uint64_t nodes, ready;
	int64_t last_ready_ns, duration_ns; /* after it; ANSWER_NO_NS */
};

/* What a path was in, all of one kind added up. */
struct why_piece {
	char *kind, *node, *phase, *key; /* NULL: none */
	int64_t ns;
};

struct why_slow {
	char *node, *phase, *key;
	int64_t time_ns, usual_ns, above_ns;
	bool is_open, is_of_phase; /* of the phase with any key */
	bool is_outer;             /* without phases that began in it */
};

struct why_straggler {
	char *node, *phase, *key, *cause, *why;
	int64_t time_ns, usual_ns, drag_ns; /* drag: ANSWER_NO_NS: not known */
	double share; /* of what it lost; NaN: not known */
	bool is_open, is_of_node;
};

struct why_node {
	char *node, *wrong, *state, *phase; /* phase: open for too long */
	int64_t open_ns, usual_ns;
	bool attention;
};

struct why_step {
	char *name;
	double seconds, usual; /* usual: the median of its group; NaN */
};

struct why_run {
	char *run, *group, *state, *error_text;
	bool is_error;
	int64_t first_ns;
	struct why_step steps[WHY_STEPS];
	uint32_t step_count;
};

/* What a job used. */
struct why_usage {
	bool is_known;
	double cpu_used, cpu_unused; /* hours */
	double memory_peak;
	double pressure; /* seconds; NaN */
};

/* Zeros are nothing. */
struct why_facts {
	struct arena texts;                  /* all that are pointed to */
	struct why_start starts[WHY_STARTS]; /* the newest first */
	uint32_t start_count;

	struct why_piece pieces[WHY_PIECES];
	uint32_t piece_count;
	int64_t path_ns;
	char *last_node;    /* that was ready last */
	bool has_no_words;  /* the model says not what phases wait for */
	uint64_t not_ready; /* nodes */

	/* One of a node, unless it is the only one that is asked for. */
	struct why_straggler stragglers[WHY_NAMED];
	uint32_t straggler_count;
	uint64_t more_stragglers; /* of other nodes */
	bool has_not_judged;      /* there are too few to compare with */

	struct why_slow slow[WHY_NAMED];
	uint64_t judged, slower; /* nodes; those that are worth a line */
	bool has_attended;       /* and those of which `nodes` says it */

	struct why_node nodes[WHY_NAMED]; /* the first rows */
	uint32_t node_count;
	uint64_t all_nodes, attention, heard, expected, imported;
	bool is_of_nodes;     /* the answer that is being taken */
	char *nodes_left_out; /* what is not known of them */

	uint64_t groups, runs, queued, ongoing, finished, errors;

	uint64_t records;
	int64_t oldest_ns, newest_ns, age_ns;

	struct text only;     /* the node that is asked for */
	int64_t only_path_ns; /* of the path, pieces of it */
	struct why_run run;
	struct why_usage usage;
	struct why_step spans[WHY_SPANS]; /* seconds: their sum; usual: p50 */
	uint32_t span_count;

	/* Of the answer that is being taken: what would have been. */
	int64_t best_ns, worst_ns;
};

/* Is a node that was so long above the usual time worth a line? */
bool why_is_slow(int64_t above_ns, int64_t usual_ns);

/* The first one of the node; NULL: it is none. */
const struct why_straggler *why_straggler_of(
    const struct why_facts *facts, struct text node);

/* For struct answer_taker; `facts` is one. */
void why_take(void *facts, const struct answer_taken *row);
void why_facts_clear(struct why_facts *facts);

/* What would be asked of whatif, the most hopeful first; the caller frees the
 * arguments. */
enum { WHY_HELPS = 3 };
struct why_help {
	const char *option;        /* "places" */
	char *argument;            /* "redis=+2" */
	char *words;               /* "2 more places for redis" */
	int64_t best_ns, worst_ns; /* earlier; ANSWER_NO_NS: unknown */
};
uint32_t why_helps_find(
    struct why_help to[static WHY_HELPS], const struct why_facts *facts);

/* Up to 10 minutes with one decimal place, as they add up. */
const char *why_seconds(char to[static QUANTITY_TEXT_BYTES], int64_t ns);

/* The sentences of a pool.  `helps`: those that were asked; `no_help`: why none
 * could be, or NULL; `lost` and `clocks`, that were set: a sentence, or NULL.
 */
struct why_pool {
	const struct why_facts *facts;
	const struct why_help *helps;
	uint32_t help_count;
	const char *no_help, *lost, *clocks;
	int64_t from_ns; /* no start that began before is meant */
};
void why_say_pool(struct why_sentences *all, const struct why_pool *pool);

/* The sentences of a node; `ready_ns`: after the start, or ANSWER_NO_NS. */
struct why_one_node {
	const struct why_facts *facts;
	struct text node;
	int64_t ready_ns, median_ns; /* of all that are ready */
	uint32_t place, of;          /* the how many-th of them it was */
	const char *lost, *clocks;
};
void why_say_node(struct why_sentences *all, const struct why_one_node *node);

/* The sentences of a test run. */
void why_say_run(struct why_sentences *all, const struct why_facts *facts);

/* The sentences of a job; `to_ns` TIME_MAX_NS: it runs. */
struct why_job {
	const struct why_facts *facts;
	struct text job;
	int64_t from_ns, to_ns;
	uint32_t nodes;
	const char *lost, *clocks;
};
void why_say_job(struct why_sentences *all, const struct why_job *job);

/* What sentences of all kinds have. */
void why_say_slow(struct why_sentences *all, const struct why_facts *facts);
void why_say_lost(
    struct why_sentences *all, const char *lost, const char *clocks);
void why_put_ns(FILE *file, int64_t ns);
void why_put_time(FILE *file, int64_t ns);
/* "from TIME to TIME"; within a second "at TIME". */
void why_put_times(FILE *file, int64_t from_ns, int64_t to_ns);

#endif
