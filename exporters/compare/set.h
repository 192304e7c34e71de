/*
 * compare_set - the runs that are compared: the old and the new ones, like with
 * like.
 *
 * Who reads runs offers them, the newest first.  A run has a kind of text that
 * says what it is like: how many nodes, which images.  The new runs are chosen
 * first; of the older ones those are taken that are like one of them, and the
 * others are counted.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_COMPARE_SET_H
#define EXPORTERS_COMPARE_SET_H

#include "exporters/compare/verdict.h"
#include "proto/base/err.h"
#include "proto/config/opt.h"
#include "proto/hash/string_table.h"

enum { COMPARE_RUNS_MAX = 100000 };

enum compare_side { COMPARE_OLD, COMPARE_NEW, COMPARE_SIDES };

/* "last:N", or names; of starts a time in the second in which they began. */
struct compare_choice {
	uint64_t newest; /* 0: those of the names */
	const struct opt_list *names;
};
/* `option` begins the sentence of -1. */
int compare_choice_make(struct compare_choice *choice,
    const struct opt_list *given, uint64_t otherwise, const char *option,
    struct err *err);

struct compare_run {
	struct text name;
	int64_t time_ns;
	uint32_t like; /* number in compare_set.likes */
	enum compare_side side;
};

struct compare_value {
	uint32_t run, metric;
	double seconds;
};

struct compare_set {
	struct compare_choice choice[COMPARE_SIDES];
	bool is_mixed; /* all are like each other */
	/* The runs that are offered are of this side only; else of both. */
	bool is_one_sided;
	enum compare_side side;

	struct string_table texts, metrics, likes;
	bool *gates; /* by metric */
	uint32_t gates_room;
	struct compare_run *runs;
	uint32_t run_count, run_room;
	struct compare_value *values;
	uint32_t value_count, value_room;
	uint32_t (*taken)[COMPARE_SIDES]; /* by like */
	uint32_t taken_room;
	uint32_t count[COMPARE_SIDES]; /* how many are taken */
	/* Names that were met, a bit of each. */
	bool *met[COMPARE_SIDES];
	uint64_t unlike;     /* older ones that are like none of the new */
	uint64_t twice;      /* those that would be old and new: they are new */
	uint64_t unfinished; /* and failed */
	uint64_t no_time;    /* values that are 0 or less, or no number */
};

void compare_set_init(struct compare_set *set,
    const struct compare_choice choice[static COMPARE_SIDES], bool is_mixed);
void compare_set_clear(struct compare_set *set);

/* May one that is older be taken?  If not, nothing more needs to be read. */
bool compare_set_wants(const struct compare_set *set);
/* Is it taken?  Then its values follow; the texts are copied. */
bool compare_set_offer(struct compare_set *set, struct text name,
    int64_t time_ns, struct text like);
void compare_set_value(
    struct compare_set *set, struct text metric, bool gates, double seconds);

/* One number of all runs that are alike. */
struct compare_row {
	uint32_t metric, like;
	double median[COMPARE_SIDES]; /* seconds; NaN: of none */
	struct compare_judged of;
};
/* New rows, judged: those of numbers that decide first, in the order in which
 * they were met; freed with compare_rows_free. */
struct compare_row *compare_set_judge(
    const struct compare_set *set, double margin, uint32_t *count);
void compare_rows_free(struct compare_row *rows, uint32_t count);

#endif
