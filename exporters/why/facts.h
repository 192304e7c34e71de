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

enum {
	WHY_STARTS = 21, /* the newest, and those before */
	WHY_NAMED = 3,   /* nodes that are named */
	WHY_PIECES = 64, /* of a critical path, by what they are of */
	WHY_STEPS = 8,   /* of a run */
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
	bool is_open;
};

struct why_node {
	char *node, *wrong, *state;
	int64_t open_ns, usual_ns;
	bool attention;
};

struct why_step {
	char *name;
	double seconds, usual; /* NaN: unknown */
};

/* Zeros are nothing. */
struct why_facts {
	struct why_start starts[WHY_STARTS]; /* the newest first */
	uint32_t start_count;

	struct why_piece pieces[WHY_PIECES];
	uint32_t piece_count;
	int64_t path_ns;
	char *last_node;    /* that was ready last */
	bool has_no_words;  /* the model says not what phases wait for */
	uint64_t not_ready; /* nodes */

	struct why_slow slow[WHY_NAMED];
	uint64_t judged, slower; /* nodes; those that are worth a line */

	struct why_node nodes[WHY_NAMED]; /* the first rows */
	uint32_t node_count;
	uint64_t all_nodes, attention, heard, expected;
	bool is_of_nodes;     /* the answer that is being taken */
	char *nodes_left_out; /* what is not known of them */

	uint64_t groups, runs, queued, ongoing, finished, errors;

	uint64_t records;
	int64_t oldest_ns, newest_ns, age_ns;

	/* Of the answer that is being taken: what would have been. */
	int64_t best_ns, worst_ns;
};

/* Is a node that was so long above the usual time worth a line? */
bool why_is_slow(int64_t above_ns, int64_t usual_ns);

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

/* Seconds, as they add up. */
const char *why_seconds(char to[static QUANTITY_TEXT_BYTES], int64_t ns);

/* The sentences of a pool.  `helps`: those that were asked; `no_help`: why none
 * could be, or NULL; `lost`: a sentence, or NULL. */
struct why_pool {
	const struct why_facts *facts;
	const struct why_help *helps;
	uint32_t help_count;
	const char *no_help, *lost;
	int64_t from_ns; /* no start that began before is meant */
};
void why_say_pool(struct why_sentences *all, const struct why_pool *pool);

#endif
