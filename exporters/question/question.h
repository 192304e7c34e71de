/*
 * question - what can be asked of a source: one table of questions.
 *
 * `poolscope stats WORD`, the route /v1/pools/PARTITION/WORD and the report ask
 * through it; each question is one file with its options, columns and
 * computation.  A question gives rows (proto/answer) and knows neither formats
 * nor who asks.  It keeps no state: several threads ask at once, each with a
 * source of its own.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_QUESTION_QUESTION_H
#define EXPORTERS_QUESTION_QUESTION_H

#include "exporters/question/values.h"
#include "exporters/source/source.h"
#include "proto/answer/answer.h"
#include "proto/hash/string_table.h"

/* What is asked, of whom. */
struct question_asked {
	/* NULL: it could not be opened, which is a part of the answer
	 * (takes_silence); `silent` says why. */
	struct source *source;
	const char *silent;
	const struct source_options *options; /* of the source */
	const char *limit;                    /* of source_limit; NULL: none */
	struct text partition; /* a question of all pools: empty */
	/* Of the questions of all pools: only those that match. */
	struct text pattern;
	const struct question_values *values;
	bool is_of_start;           /* the window is that of a start */
	struct question_kept *kept; /* NULL: nothing is kept */
	/* Of a question of records (is_of_records); NULL: of all. */
	const struct job_intervals *jobs;
	/* Set by the question if it is not 0: the exit status of a program
	 * that prints the answer (poolscope(7)). */
	int *status;
};

struct question {
	const char *word;    /* "phases" */
	const char *summary; /* one line */
	/* Names of the options it takes, with a blank between them; all take
	 * --format, --columns and --output. */
	const char *options;
	/* What may follow the word on a command line, as of struct opt_topic;
	 * NULL: nothing.  It is values->what. */
	const char *operand;
	const char *examples; /* as those of a program */
	const struct answer_table *tables;
	/* What --by may be, such as "pool|node", the default first; NULL: it
	 * has no --by. */
	const char *by;
	uint32_t kinds;     /* bits of enum record_kind on which it depends */
	bool is_of_all;     /* of all pools, not of one partition */
	bool is_of_records; /* --job and --user select from its records */
	bool is_of_start;   /* of the newest start, if nothing is given */
	bool ages;          /* the answer changes while nothing comes */
	bool takes_silence; /* that the source does not answer is an answer */
	/* Checks values beyond their types; may be NULL. */
	int (*check)(const struct question_values *values, struct err *err);
	/* -1: the sentence says why there is no answer. */
	int (*ask)(const struct question_asked *asked, struct answer *answer,
	    struct err *err);
	/* Prints a format of other programs instead; NULL: there is none.  1:
	 * the options choose none. */
	int (*write)(
	    const struct question_asked *asked, FILE *file, struct err *err);
};

/* By word; the last one is zeros. */
extern const struct question *const questions[];
/* NULL: there is none. */
const struct question *question_find(const char *word);

/* Is it right, whatever is stored?  -1: no. */
int question_check(const struct question *question,
    const struct question_values *values, struct err *err);

/* Ask, and print the answer.  Finds the window of the start, refuses nodes and
 * partitions that do not exist, and notes what was lost in the window. */
int question_answer(const struct question *question,
    struct question_asked *asked, FILE *file, struct err *err);

/* What of --by was chosen: its number in question->by. */
int question_by(
    const struct question *question, const struct question_values *values);
/* What no answer of the window can know: new sentences, without a full stop;
 * NULL: there is nothing. */
struct question_doubts {
	char *lost;   /* records */
	char *clocks; /* that were set */
};
int question_doubts_read(const struct question_asked *asked,
    struct question_doubts *doubts, struct err *err);
void question_doubts_clear(struct question_doubts *doubts);
/* The nodes, and a query for records of these kinds in the window, of which
 * the source gives those of the jobs. */
struct wire_query question_query(
    const struct question_asked *asked, uint32_t kinds);
/* The window that an answer about samples is of. */
struct question_window {
	int64_t from_ns, to_ns;
	int64_t step_ns;    /* 0: there are no steps */
	struct text rollup; /* the coarsest that was read; empty: not known */
};
/* Put it in the head, instead of the window that was asked for, and in the line
 * above a table. */
extern const struct answer_column question_window_head[];
void question_put_window(const struct question *question,
    const struct question_asked *asked, const struct question_window *window,
    struct answer *answer);
/* Put into the head of which clock the times are; returns what the line above a
 * table says of it, "; clock raw" or nothing. */
enum { QUESTION_CLOCK_BYTES = SOURCE_CLOCK_WORDS + 2 };
const char *question_put_clock(char to[static QUESTION_CLOCK_BYTES],
    const struct question_asked *asked, struct answer *answer);
#define QUESTION_CLOCK_MEMBER                                                  \
	{                                                                      \
		"clock", ANSWER_HEAD(ANSWER_TEXT),                             \
		    "which clock the times are of; unknown: that of the nodes" \
	}
/* The number of the colour that a phase has everywhere (look.h). */
#define QUESTION_COLOUR_COLUMN(row)                                            \
	{                                                                      \
		"colour", NULL, ANSWER_AT_COUNT(row, colour),                  \
		    "its colour: the number in the palette, from 0, the same " \
		    "in every picture; from 8 on with a pattern"               \
	}
uint64_t question_colour(uint8_t place);
/* The head of an answer that is of a start. */
#define QUESTION_START_MEMBERS                                                 \
	{ "start", ANSWER_HEAD(ANSWER_TIME),                                   \
		"of which start of the pool it is, by its begin; unknown: of " \
		"none, as all or a window of time was asked for" },            \
	    { "start_number", ANSWER_HEAD(ANSWER_COUNT),                       \
		    "the number of that start; the oldest one is 1" },         \
	{                                                                      \
		"starts", ANSWER_HEAD(ANSWER_COUNT),                           \
		    "how many starts of the pool are known"                    \
	}
/* The table "models" of an answer about one model: those that there are. */
extern const struct answer_column question_model_columns[];
void question_put_models(
    const struct string_table *models, struct answer *answer);
/* --model; NULL: not given. */
const char *question_model(const struct question_values *values);
/* The starts of the window; `falls_back`: starts.h. */
struct starts_query question_starts_query(
    const struct question_values *values, bool falls_back);
/* The store of --with-store. */
struct source_options question_other_store(
    const struct question_values *values, const struct source_options *options);
/* Do the options of a question about test runs fit together? */
int question_check_runs(const struct question_values *values, struct err *err);

/* The questions. */
extern const struct question question_breakdown, question_cascade,
    question_clocks, question_compare, question_critical, question_deltas,
    question_groups, question_iterations, question_metrics, question_nodes,
    question_perf, question_phases, question_pools, question_reports,
    question_runs, question_samples, question_scanner, question_series,
    question_skew, question_slow, question_spans, question_starts,
    question_status, question_stragglers, question_timeline, question_usage,
    question_whatif, question_why;

#endif
