/*
 * question - what can be asked of a source: one table of questions.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/question/question.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/plot/look.h"
#include "exporters/runs/runs.h"
#include "exporters/source/known.h"
#include "proto/base/memory.h"
#include "proto/base/nearest.h"
#include "proto/os/clock.h"

const struct question *const questions[] = {
	&question_breakdown,
	&question_cascade,
	&question_clocks,
	&question_compare,
	&question_critical,
	&question_deltas,
	&question_groups,
	&question_iterations,
	&question_metrics,
	&question_nodes,
	&question_perf,
	&question_phases,
	&question_pools,
	&question_reports,
	&question_runs,
	&question_samples,
	&question_scanner,
	&question_series,
	&question_skew,
	&question_slow,
	&question_spans,
	&question_starts,
	&question_status,
	&question_stragglers,
	&question_timeline,
	&question_usage,
	&question_whatif,
	&question_why,
	NULL,
};

const struct question *
question_find(const char *word)
{
	for (int i = 0; questions[i] != NULL; i++)
		if (strcmp(questions[i]->word, word) == 0)
			return questions[i];
	return NULL;
}

struct model_row {
	struct text model;
};

const struct answer_column question_model_columns[] = {
	{ "model", "MODEL", ANSWER_AT_TEXT(struct model_row, model),
	    "a model that the partition has" },
	{ .key = NULL },
};

void
question_put_models(const struct string_table *models, struct answer *answer)
{
	answer_begin_table(answer, "models");
	for (uint32_t i = 0; i < models->count; i++)
		answer_row(
		    answer, &(struct model_row){ models->names[i] }, NULL);
}

const char *
question_model(const struct question_values *values)
{
	return question_is_given(values, "model") ? values->runs.model : NULL;
}

struct starts_query
question_starts_query(const struct question_values *values, bool falls_back)
{
	return (struct starts_query){ .model = question_model(values),
		.falls_back = falls_back,
		.from_ns = values->window.from_ns,
		.to_ns = values->window.to_ns,
		.gap_ns = values->starts.gap_ns };
}

int
question_check_runs(const struct question_values *values, struct err *err)
{
	return run_rows_check(&values->runs, err);
}

struct wire_query
question_query(const struct question_asked *asked, uint32_t kinds)
{
	struct wire_query query = source_query(kinds);

	query.node = text_of(asked->values->window.node.list);
	query.from_ns = asked->values->window.from_ns;
	query.to_ns = asked->values->window.to_ns;
	if (asked->jobs != NULL)
		job_intervals_narrow(asked->jobs, &query);
	return query;
}

const struct answer_column question_window_head[] = {
	{ "step", ANSWER_HEAD(ANSWER_DURATION),
	    "the time that one number was made of", "s" },
	{ "rollup", ANSWER_HEAD(ANSWER_TEXT),
	    "what the numbers were made from: raw, 1min or 1h" },
	QUESTION_CLOCK_MEMBER,
	{ .key = NULL },
};

uint64_t
question_colour(uint8_t place)
{
	return place < PALETTE_NONE ? place : ANSWER_NO_COUNT;
}

const char *
question_put_clock(char to[static QUESTION_CLOCK_BYTES],
    const struct question_asked *asked, struct answer *answer)
{
	char *words = to + strlen("; ");

	strcpy(to, "; ");
	source_clock_words(words, source_clock(asked->source));
	answer_head(
	    answer, "clock", answer_string(*words != '\0' ? words : NULL));
	return *words != '\0' ? to : "";
}

void
question_put_window(const struct question *question,
    const struct question_asked *asked, const struct question_window *window,
    struct answer *answer)
{
	struct answer_cell step = answer_duration(
	    window->step_ns > 0 ? window->step_ns : ANSWER_NO_NS);
	char shown[300], steps[ANSWER_SHOWN_BYTES];
	char from[CLOCK_TEXT_BYTES], to[CLOCK_TEXT_BYTES];
	char clock[QUESTION_CLOCK_BYTES];
	struct text rollup = window->rollup;

	if (rollup.bytes == 0)
		rollup.at = NULL;
	answer_head(answer, "from", answer_time(window->from_ns));
	answer_head(answer, "to", answer_time(window->to_ns));
	answer_head(answer, "step", step);
	answer_head(answer, "rollup", answer_text(rollup));
	answer_title(answer, "%s of %s, %s to %s%s%.*s%s%s%s", question->word,
	    text_quote(shown, sizeof(shown), asked->partition),
	    clock_text(from, window->from_ns, 0),
	    clock_text(to, window->to_ns, 0), rollup.bytes > 0 ? ", from " : "",
	    (int)rollup.bytes, rollup.at,
	    window->step_ns > 0 ? " in steps of " : "",
	    window->step_ns > 0 ? answer_shown(&step, steps).at : "",
	    question_put_clock(clock, asked, answer));
}

/* ---- --by ---- */

/* The number of the word in "pool|node"; -1: it is none of them. */
static int
find_word(const char *words, const char *word)
{
	size_t bytes = strlen(word);

	for (int number = 0; *words != '\0'; number++) {
		size_t length = strcspn(words, "|");

		if (length == bytes && memcmp(words, word, bytes) == 0)
			return number;
		words += length + (words[length] == '|');
	}
	return -1;
}

int
question_by(
    const struct question *question, const struct question_values *values)
{
	return values->by == NULL ? 0 : find_word(question->by, values->by);
}

int
question_check(const struct question *question,
    const struct question_values *values, struct err *err)
{
	const char *model = question_model(values);

	if (answer_options_check(&values->answer, question->tables, err) != 0)
		return -1;
	if (model != NULL && model[0] == '\0')
		return err_set_option(err, "model", "is empty: name a model");
	if (values->by != NULL && question->by != NULL &&
	    find_word(question->by, values->by) < 0)
		return err_set_option(err, "by",
		    "of %s must be one of %s, not '%.40s'", question->word,
		    question->by, values->by);
	return question->check != NULL ? question->check(values, err) : 0;
}

/* ---- what was lost ---- */

/* note_doubts will follow. */
static void
ahead_of_gaps(const struct question_asked *asked)
{
	const struct wire_query query = question_query(asked, 1u << RECORD_GAP);

	source_ahead_clocks(asked->source, asked->partition, &query);
	source_ahead(asked->source, SOURCE_RECORDS, asked->partition, &query);
}

struct lost {
	uint64_t gaps, records;
	bool is_known; /* how many records they lack */
};

static int
count_lost(
    struct lost *lost, const struct question_asked *asked, struct err *err)
{
	const struct wire_query query = question_query(asked, 1u << RECORD_GAP);
	struct record record;
	int rc;

	*lost = (struct lost){ .is_known = true };
	if (source_select(asked->source, SOURCE_RECORDS, asked->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(asked->source, &record, err)) > 0) {
		lost->gaps++;
		lost->records += record.count;
		lost->is_known = lost->is_known && record.count > 0;
	}
	return rc;
}

/* A new sentence, without a full stop; NULL: nothing was. */
static char *
lost_words(const struct lost *lost)
{
	const char *plural = lost->gaps == 1 ? "" : "s";

	if (lost->gaps == 0)
		return NULL;
	if (lost->records == 0)
		return memory_format(
		    "records of this time may be lost (%" PRIu64
		    " gap%s): poolscope dump --kind gap shows why",
		    lost->gaps, plural);
	return memory_format("%s%" PRIu64
			     " record%s of this time %s lost (%" PRIu64
			     " gap%s): poolscope dump --kind gap shows which",
	    lost->is_known ? "" : "more than ", lost->records,
	    lost->records == 1 ? "" : "s", lost->records == 1 ? "was" : "were",
	    lost->gaps, plural);
}

#define CLOCK_DOUBT                                                            \
	": what lasted across that may be off by as much (poolscope stats "    \
	"clocks)"

/* The estimates are those of the query before. */
static char *
clock_words(const struct question_asked *asked)
{
	const struct time_window_options *window = &asked->values->window;
	const struct source_clock *clock = source_clock(asked->source);
	struct clock_map_sets sets = { .nodes = 0 };
	char by[ANSWER_SHOWN_BYTES], shown[300];
	struct answer_cell step;

	if (clock->map != NULL)
		sets = clock_map_find_sets(
		    clock->map, window->from_ns, window->to_ns);
	if (sets.nodes == 0)
		return NULL;
	step = answer_duration(sets.by_ns);
	text_quote(shown, sizeof(shown), sets.node);
	answer_shown(&step, by);
	if (sets.nodes == 1)
		return memory_format(
		    "the clock of %s was set by %s in this time" CLOCK_DOUBT,
		    shown, by);
	return memory_format("the clocks of %" PRIu32
			     " nodes were set in this time, that of %s by "
			     "%s" CLOCK_DOUBT,
	    sets.nodes, shown, by);
}

int
question_doubts_read(const struct question_asked *asked,
    struct question_doubts *doubts, struct err *err)
{
	struct lost lost;

	if (count_lost(&lost, asked, err) != 0)
		return -1;
	doubts->lost = lost_words(&lost);
	doubts->clocks = clock_words(asked);
	return 0;
}

void
question_doubts_clear(struct question_doubts *doubts)
{
	free(doubts->lost);
	free(doubts->clocks);
}

static int
note_doubts(
    const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct lost lost;
	char *words;

	if (count_lost(&lost, asked, err) != 0)
		return -1;
	words = lost_words(&lost);
	if (words != NULL)
		answer_note(answer, "lost",
		    lost.is_known ? lost.records : ANSWER_NO_COUNT, "%s",
		    words);
	free(words);
	words = clock_words(asked);
	if (words != NULL)
		answer_note(answer, "clock_set", ANSWER_NO_COUNT, "%s", words);
	free(words);
	return 0;
}

/* ---- asking ---- */

static void
put_start(const struct starts_chosen *chosen, struct answer *answer)
{
	bool is_one = chosen->begin_ns != START_UNKNOWN;
	char words[STARTS_WORDS_BYTES], end[STARTS_WORDS_BYTES + 2];

	answer_head(answer, "start",
	    answer_time(is_one ? chosen->begin_ns : ANSWER_NO_NS));
	answer_head(answer, "start_number",
	    answer_count(is_one ? chosen->number : ANSWER_NO_COUNT));
	answer_head(answer, "starts",
	    answer_count(is_one ? chosen->count : ANSWER_NO_COUNT));
	if (*starts_words(words, chosen) == '\0')
		return;
	snprintf(end, sizeof(end), "; %s", words);
	answer_title_end(answer, end);
}

static void
put_head(const struct question *question, const struct question_asked *asked,
    struct answer *answer)
{
	const struct time_window_options *window = &asked->values->window;

	answer_head(answer, "question", answer_string(question->word));
	if (question->is_of_all)
		return;
	answer_head(answer, "partition", answer_text(asked->partition));
	answer_head(answer, "from",
	    answer_time(window->from_ns == TIME_MIN_NS ? ANSWER_NO_NS
						       : window->from_ns));
	answer_head(answer, "to",
	    answer_time(
		window->to_ns == TIME_MAX_NS ? ANSWER_NO_NS : window->to_ns));
}

/* The answer, and what was lost in its time. */
static int
ask(const struct question *question, const struct question_asked *asked,
    struct answer *answer, struct err *err)
{
	int rc;

	if (!question->is_of_all)
		ahead_of_gaps(asked);
	rc = question->ask(asked, answer, err);
	if (question->is_of_all)
		return rc;
	rc = known_check_partition(asked->source, asked->partition, rc, err);
	return rc == 0 ? note_doubts(asked, answer, err) : rc;
}

static int
ask_of_jobs(const struct question *question, struct question_asked *asked,
    struct answer *answer, struct err *err)
{
	const struct job_options *options = &asked->values->window.jobs;
	struct job_intervals jobs;
	int rc;

	if (!question->is_of_records || !job_options_given(options))
		return ask(question, asked, answer, err);
	rc = job_intervals_read(
	    &jobs, asked->source, asked->partition, options, err);
	if (rc == 0) {
		asked->jobs = &jobs;
		job_intervals_limit(&jobs, asked->source);
		rc = ask(question, asked, answer, err);
		job_intervals_limit(NULL, asked->source);
	}
	job_intervals_clear(&jobs);
	return rc;
}

int
question_answer(const struct question *question, struct question_asked *asked,
    FILE *file, struct err *err)
{
	struct question_values values = *asked->values;
	struct question_asked found = *asked;
	struct starts_chosen start;
	struct source *source = asked->source;
	struct answer *answer;
	int rc = 0;

	found.values = &values;
	if (!question->is_of_all) {
		rc = known_check_nodes(source, asked->partition,
		    text_of(values.window.node.list), err);
		if (rc == 0)
			rc = starts_choose(&start, source, asked->partition,
			    &values.starts, question_model(&values),
			    question->is_of_start &&
				!job_options_given(&values.window.jobs),
			    &values.window.from_ns, &values.window.to_ns, err);
		if (rc != 0)
			return known_check_partition(
			    source, asked->partition, rc, err);
		found.is_of_start = start.begin_ns != START_UNKNOWN;
		values.runs.from_ns = values.window.from_ns;
		values.runs.to_ns = values.window.to_ns;
	}
	if (question->write != NULL && !question->is_of_all)
		rc = known_check_partition(source, asked->partition, 0, err);
	if (question->write != NULL && rc == 0)
		rc = question->write(&found, file, err);
	if (question->write != NULL && rc <= 0)
		return rc;
	answer = answer_new(file, &values.answer, question->tables);
	put_head(question, &found, answer);
	if (question->is_of_start)
		put_start(&start, answer);
	rc = ask_of_jobs(question, &found, answer, err);
	rc = source_end_answer(source, answer, rc, err);
	answer_free(&answer);
	return rc;
}
