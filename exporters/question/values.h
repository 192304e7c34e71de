/*
 * question_values - the values of the options of all questions.
 *
 * They come from a command line, from the parameters of a URL or from a
 * program; in each way an option has one name and one meaning.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_QUESTION_VALUES_H
#define EXPORTERS_QUESTION_VALUES_H

#include <stdbool.h>

#include "exporters/perf/list.h"
#include "exporters/runs/runs.h"
#include "exporters/samples/time_window.h"
#include "exporters/source/starts.h"
#include "proto/answer/answer.h"

enum { QUESTION_GIVEN_BYTES = 512, QUESTION_TABLES = 8 };

struct question_values {
	struct time_window_options window;
	struct metric_options metrics;
	struct runs_options runs;
	struct starts_options starts;
	struct perf_options perf;
	struct answer_options answer;
	const char *name, *by;
	const char *what; /* the operand; NULL: not given */
	const char *test, *entry, *nodes;
	struct whatif_values {
		struct opt_list places, lengths, sizes, begins, without;
	} whatif;
	struct stragglers_values {
		const char *spreads, *ratio, *work, *wait;
		int64_t least_ns, error_ns, last_ns;
		bool drain;
	} stragglers;
	struct compare_values {
		struct opt_list base, with;
		const char *store, *worse;
		bool mixed;
		int report; /* enum compare_report */
	} compare;
	uint64_t limit, rows, pixels, max_bytes;
	int as, of_what, order;
	bool strict, verbose, prometheus, oldest, entries, changes, lanes;
	bool no_drags; /* of critical: for a question that shows none */
	/* The names of the options that were given, each with a blank before
	 * and behind it. */
	char given[QUESTION_GIVEN_BYTES];
	/* A time is relative to now: the same question has another answer
	 * later. */
	bool is_relative;
};

/* Zeros are no defaults: begin with these. */
struct question_values question_values_default(void);

/* The tables of all options, bound to `values`; the last one is zeros. */
void question_tables(struct opt_table to[static QUESTION_TABLES],
    struct question_values *values);

/* The option of this name, and the struct that it is bound to; NULL: there is
 * none. */
const struct opt *question_find_option(
    struct question_values *values, const char *name, void **to);
/* Set it as a command line does, to a word that must outlive `values`.  -1: it
 * is not a valid value. */
int question_put(struct question_values *values, const struct opt *opt,
    void *to, const char *word, struct err *err);

/* Note that it was given. */
void question_give(struct question_values *values, const char *name);
bool question_is_given(const struct question_values *values, const char *name);
/* Note those of the command line that has been parsed. */
void question_give_parsed(struct question_values *values);

/* Make what follows from the options: the list of nodes, the window of runs.
 * -1: they do not fit together. */
int question_complete(struct question_values *values, struct err *err);

/* What was read of a source and will be asked for again.
 *
 * For programs that ask again and again; of one source, used by one thread. */
struct question_kept {
	struct pools_kept *pools; /* NULL: nothing, like metrics */
	struct metrics *metrics;
	char *pattern; /* of the metrics */
	bool by_node;
};
void question_kept_clear(struct question_kept *kept);

#endif
