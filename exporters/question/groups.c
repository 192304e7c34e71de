/*
 * question_groups - statistics of groups of test runs: a row for each group;
 * then the durations of its steps, who asked for its runs, and which of them
 * have not ended.
 *
 * Groups come one after another, each with all of this; what belongs to later
 * tables is kept until they begin.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/question/question.h"
#include "exporters/runs/groups.h"
#include "exporters/runs/runs.h"
#include "proto/base/memory.h"
#include "proto/base/nearest.h"

enum {
	KEPT_BYTES_MAX = 256 << 20,
	SHOWN = 10, /* names of a group, for people */
};

/* ---- columns ---- */

struct group {
	struct text name;
	enum answer_flag known;
	uint64_t runs, queued, ongoing, finished, errors;
	double of_ended, of_all;
};

#define NAMES(row)                                                             \
	{                                                                      \
		"group", "GROUP", ANSWER_AT_TEXT(row, name),                   \
		    "the group of devices; unknown: its runs have no "         \
		    "description"                                              \
	}
#define COUNT(row, member) ANSWER_AT_COUNT(row, member)

static const struct answer_column columns[] = {
	NAMES(struct group),
	{ "known", NULL, ANSWER_AT_FLAG(struct group, known),
	    "do its runs have a description?" },
	{ "runs", "RUNS", COUNT(struct group, runs), "how many there are" },
	{ "queued", "QUEUED", COUNT(struct group, queued),
	    "how many wait for a device" },
	{ "ongoing", "ONGOING", COUNT(struct group, ongoing),
	    "how many have begun and not ended" },
	{ "finished", "FINISHED", COUNT(struct group, finished),
	    "how many ended without an error" },
	{ "errors", "ERRORS", COUNT(struct group, errors),
	    "how many have an error" },
	{ "error_pct_of_ended", "% OF ENDED",
	    ANSWER_AT_NUMBER(struct group, of_ended),
	    "how many of those that ended have an error", "%",
	    .traits = ANSWER_SPARE },
	{ "error_pct_of_all", "% OF ALL",
	    ANSWER_AT_NUMBER(struct group, of_all),
	    "how many of all have an error", "%", .traits = ANSWER_SPARE },
	{ .key = NULL },
};

struct step {
	struct text name, phase, time, of;
	uint64_t count;
	double sum, min, p50, p90, p99, max, mean, std_population, std_sample;
};

#define NUMBER(member) .unit = "s", ANSWER_AT_NUMBER(struct step, member)

static const struct answer_column step_columns[] = {
	NAMES(struct step),
	{ "phase", "STEP", ANSWER_AT_TEXT(struct step, phase), "the step" },
	{ "time", NULL, ANSWER_AT_TEXT(struct step, time),
	    "between which times of its events: event_emit or event_receive" },
	{ "of", "OF", ANSWER_AT_TEXT(struct step, of),
	    "of which times: per_iteration, or per_run_total, the iterations "
	    "of a run added up" },
	{ "count", "COUNT", COUNT(struct step, count), "how many there are" },
	{ "min", "MIN", NUMBER(min), "the shortest" },
	{ "p50", "P50", NUMBER(p50), "the median" },
	{ "p90", "P90", NUMBER(p90), "nine of ten are not longer" },
	{ "p99", "P99", NUMBER(p99), "99 of 100 are not longer",
	    .traits = ANSWER_SPARE },
	{ "max", "MAX", NUMBER(max), "the longest" },
	{ "mean", "MEAN", NUMBER(mean), "the mean" },
	{ "std_population", "STD", NUMBER(std_population),
	    "the standard deviation of these", .traits = ANSWER_SPARE },
	{ "std_sample", NULL, NUMBER(std_sample),
	    "the same, taken for a sample of more" },
	{ "sum", NULL, NUMBER(sum), "all added up" },
	{ .key = NULL },
};

struct requestor {
	struct text name, requestor;
	uint64_t runs;
};

static const struct answer_column requestor_columns[] = {
	NAMES(struct requestor),
	{ "requestor", "REQUESTED BY",
	    ANSWER_AT_TEXT(struct requestor, requestor), "who asked for runs" },
	{ "runs", "RUNS", COUNT(struct requestor, runs), "for how many" },
	{ .key = NULL },
};

struct unfinished {
	struct text name, state, run;
};

static const struct answer_column unfinished_columns[] = {
	NAMES(struct unfinished),
	{ "state", "NOT ENDED", ANSWER_AT_TEXT(struct unfinished, state),
	    "queued or ongoing; of runs without a description also finished" },
	{ "run", "RUN", ANSWER_AT_TEXT(struct unfinished, run),
	    "the id of the run" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "groups", columns },
	{ "steps", step_columns }, { "requestors", requestor_columns },
	{ "unfinished", unfinished_columns }, { "head", run_rows_head },
	{ .name = NULL } };

/* ---- what is kept for later tables ---- */

struct asking {
	const struct runs *runs;
	enum run_clock clock;
	struct answer *answer;
	struct runs_doubt doubt; /* of mean durations */
	struct string_table texts;
	struct step *steps;
	struct requestor *requestors;
	struct unfinished *unfinished;
	uint32_t step_count, step_room, requestor_count, requestor_room,
	    unfinished_count, unfinished_room;
	uint64_t kept_bytes, left_out;
};

static void
keep_step(struct asking *asking, struct text name, uint32_t number,
    enum run_clock clock, enum runs_of of, const struct runs_stats *stats)
{
	bool known = stats->count > 0;

	*MEMORY_ADD(asking->steps, asking->step_room, asking->step_count) =
	    (struct step){ name, asking->runs->steps[number].name,
		    text_of(clock == RUN_EMIT ? "event_emit" : "event_receive"),
		    text_of(of == RUNS_OF_TOTAL ? "per_run_total"
						: "per_iteration"),
		    (uint64_t)stats->count, known ? stats->sum : NAN,
		    known ? stats->min : NAN, known ? stats->p50 : NAN,
		    known ? stats->p90 : NAN, known ? stats->p99 : NAN,
		    known ? stats->max : NAN, known ? stats->mean : NAN,
		    known ? stats->std_population : NAN,
		    known ? stats->std_sample : NAN };
	asking->kept_bytes += sizeof(*asking->steps);
}

/* People see one clock, and sums where they are others. */
static void
keep_steps(
    struct asking *asking, struct text name, const struct runs_group *group)
{
	bool all = !answer_is_for_people(asking->answer);

	for (uint32_t i = 0; i < asking->runs->step_count; i++)
		for (int clock = 0; clock < RUN_CLOCKS; clock++) {
			const struct runs_stats *of = group->stats[i][clock];
			bool shown = clock == (int)asking->clock &&
				     of[RUNS_OF_ITERATION].count > 0;

			if (all || shown)
				keep_step(asking, name, i,
				    (enum run_clock)clock, RUNS_OF_ITERATION,
				    &of[RUNS_OF_ITERATION]);
			if (all || (shown && of[RUNS_OF_TOTAL].count !=
						 of[RUNS_OF_ITERATION].count))
				keep_step(asking, name, i,
				    (enum run_clock)clock, RUNS_OF_TOTAL,
				    &of[RUNS_OF_TOTAL]);
		}
}

static struct text
keep_text(struct asking *asking, struct text text)
{
	asking->kept_bytes += text.bytes;
	return string_table_text(&asking->texts, text);
}

/* People see the first of each group. */
static uint32_t
shown(struct asking *asking, uint32_t count)
{
	if (!answer_is_for_people(asking->answer) || count <= SHOWN)
		return count;
	asking->left_out += count - SHOWN;
	return SHOWN;
}

static void
keep_names(
    struct asking *asking, struct text name, const struct runs_group *group)
{
	static const char *const states[RUN_STATES] = { "queued", "ongoing",
		"finished" };
	uint32_t requestors = shown(asking, group->requestor_count);
	uint32_t listed = shown(asking, group->listed_count);

	for (uint32_t i = 0; i < requestors; i++) {
		*MEMORY_ADD(asking->requestors, asking->requestor_room,
		    asking->requestor_count) = (struct requestor){ name,
			keep_text(asking, group->requestors[i].name),
			(uint64_t)group->requestors[i].runs };
	}
	for (uint32_t i = 0; i < listed; i++) {
		*MEMORY_ADD(asking->unfinished, asking->unfinished_room,
		    asking->unfinished_count) = (struct unfinished){ name,
			text_of(states[group->listed[i].state]),
			keep_text(asking, group->listed[i].id) };
	}
	asking->kept_bytes += requestors * sizeof(*asking->requestors) +
			      listed * sizeof(*asking->unfinished);
}

/* ---- rows ---- */

/* The store has no single durations: judge by the means. */
static void
doubt(struct asking *asking, const struct runs_group *group)
{
	for (uint32_t i = 0; i < asking->runs->step_count; i++) {
		const struct runs_stats *emitted =
		    &group->stats[i][RUN_EMIT][RUNS_OF_ITERATION];
		const struct runs_stats *received =
		    &group->stats[i][RUN_RECEIVE][RUNS_OF_ITERATION];

		if (received->count == 0)
			continue;
		asking->doubt.durations++;
		asking->doubt.doubtful +=
		    runs_is_doubtful(received->mean, emitted->mean);
	}
}

static int
put(void *arg, const struct runs_group *group, struct err *err)
{
	struct asking *asking = arg;
	struct text name = group->known ? keep_text(asking, group->name)
					: (struct text){ NULL, 0 };
	const struct group row = { .name = name,
		.known = group->known ? ANSWER_YES : ANSWER_NO,
		.runs = (uint64_t)group->runs,
		.queued = (uint64_t)group->state[RUN_QUEUED],
		.ongoing = (uint64_t)group->state[RUN_ONGOING],
		.finished = (uint64_t)group->state[RUN_FINISHED],
		.errors = (uint64_t)group->errors,
		.of_ended = runs_errors_of_ended(group),
		.of_all = runs_errors_of_all(group) };

	if (asking->clock == RUN_RECEIVE)
		doubt(asking, group);
	answer_row(asking->answer, &row, NULL);
	keep_steps(asking, name, group);
	keep_names(asking, name, group);
	if (asking->kept_bytes > KEPT_BYTES_MAX)
		return err_set(err,
		    "these groups take more than %d MiB: select some with "
		    "--group",
		    KEPT_BYTES_MAX >> 20);
	return 0;
}

static void
put_kept(const struct asking *asking)
{
	struct answer *answer = asking->answer;
	bool all = !answer_is_for_people(answer);

	if (all || asking->step_count > 0)
		answer_begin_table(answer, "steps");
	for (uint32_t i = 0; i < asking->step_count; i++)
		answer_row(answer, &asking->steps[i], NULL);
	if (all || asking->requestor_count > 0)
		answer_begin_table(answer, "requestors");
	for (uint32_t i = 0; i < asking->requestor_count; i++)
		answer_row(answer, &asking->requestors[i], NULL);
	if (all || asking->unfinished_count > 0)
		answer_begin_table(answer, "unfinished");
	for (uint32_t i = 0; i < asking->unfinished_count; i++)
		answer_row(answer, &asking->unfinished[i], NULL);
	if (asking->left_out > 0)
		answer_note(answer, "left_out", asking->left_out,
		    "left out: %" PRIu64 " name%s after the first %d of a "
		    "group; --format csv with --table requestors or unfinished "
		    "has all",
		    asking->left_out, asking->left_out == 1 ? "" : "s", SHOWN);
	run_rows_note_doubt(&asking->doubt, "mean durations of groups", answer);
}

/* ---- asking ---- */

/* No group matches: which one may have been meant? */
static int
refuse(struct runs *runs, const char *pattern, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_RUN);
	char question[3 * NEAREST_WORD_BYTES + 32] = "", in[300];
	struct nearest nearest;
	struct record record;
	struct err ignored;
	struct text group;

	nearest_begin(&nearest, pattern == NULL ? "" : pattern);
	query.name = runs->model;
	if (source_select(runs->source, SOURCE_STATS, runs->partition, &query,
		&ignored) == 0) {
		while (source_next(runs->source, &record, &ignored) > 0) {
			char name[NAME_BYTES_MAX + 1];

			if (!text_equal(record.source, text_of("run-group")) ||
			    !record_find_text(&record, "group", &group))
				continue;
			snprintf(name, sizeof(name), "%.*s", (int)group.bytes,
			    group.at);
			nearest_offer(&nearest, name);
		}
		nearest_question(&nearest, "", question, sizeof(question));
	}
	/* It exists, and has no runs in the window. */
	if (nearest.count > 0 && nearest.at[0].distance == 0)
		question[0] = '\0';
	return err_set(err, "no runs of a matching group in partition %s%s",
	    text_quote(in, sizeof(in), runs->partition), question);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct runs_options *options = &asked->values->runs;
	struct runs runs;
	struct asking asking = { .runs = &runs,
		.clock = (enum run_clock)options->time,
		.answer = answer };
	uint32_t count = 0;
	int rc =
	    runs_open(&runs, asked->source, asked->partition, options, err);

	string_table_init(&asking.texts);
	if (rc == 0) {
		run_rows_put_head(&runs, options, "groups of runs", answer);
		rc = runs_groups_each(
		    &runs, text_of(options->group), put, &asking, &count, err);
	}
	if (rc == 0 && count == 0)
		rc = refuse(&runs, options->group, err);
	if (rc == 0)
		put_kept(&asking);
	string_table_clear(&asking.texts);
	free(asking.steps);
	free(asking.requestors);
	free(asking.unfinished);
	runs_clear(&runs);
	return rc;
}

const struct question question_groups = { .word = "groups",
	.summary = "test runs by group: states, errors, times of steps",
	.options = "model time group start gap from to sort top columns",
	.examples = "poolscope stats groups -p 'acct$farm'\n"
		    "poolscope stats groups --table steps --format csv\n",
	.tables = tables,
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_ENTITY,
	.check = question_check_runs,
	.ask = ask };
