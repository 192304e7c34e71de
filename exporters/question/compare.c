/*
 * question_compare - are new runs slower than old ones?  A row a number.
 *
 * exporters/compare says what a run is, and when it is called worse.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/compare/read.h"
#include "exporters/compare/report.h"
#include "exporters/question/question.h"
#include "proto/base/memory.h"

enum { OLD = 20, NEW = 5, SHOWN_BYTES = 300 };

struct row {
	struct text metric, like, verdict, says;
	enum answer_flag decides;
	double ratio, low, high, wrong, likeness, visible, old, new;
	uint64_t old_runs, new_runs, needed;
};

#define TEXT(type, member) ANSWER_AT_TEXT(struct type, member)
#define NUMBER(member)     ANSWER_AT_NUMBER(struct row, member)
#define COUNT(member)      ANSWER_AT_COUNT(struct row, member)

static const struct answer_column columns[] = {
	{ "metric", "WHAT", TEXT(row, metric),
	    "ready, testrun, run, job or the name of an entry, which decide; "
	    "p50: and a phase, or a step, which explain" },
	{ "like", "OF", TEXT(row, like),
	    "what the runs have in common: they are compared only with those "
	    "that have it, too",
	    .traits = ANSWER_SPARE },
	{ "decides", NULL, ANSWER_AT_FLAG(struct row, decides),
	    "does it decide, or explain?" },
	{ "verdict", "VERDICT", TEXT(row, verdict),
	    "worse, better, same or undecided; unknown: it explains, and "
	    "chance may have made it differ" },
	{ "old", "OLD", NUMBER(old), "the median of the old runs", "s" },
	{ "new", "NEW", NUMBER(new), "the median of the new ones", "s" },
	{ "ratio", "RATIO", NUMBER(ratio),
	    "how many times as long a typical new run takes" },
	{ "low", "LOW", NUMBER(low),
	    "the true ratio is not below this; unknown: too few runs" },
	{ "high", "HIGH", NUMBER(high), "nor above this" },
	{ "wrong", NULL, NUMBER(wrong),
	    "in how many of all comparisons each of the two is wrong" },
	{ "old_runs", "OLD RUNS", COUNT(old_runs), "how many old runs have it",
	    .traits = ANSWER_SPARE },
	{ "new_runs", "NEW RUNS", COUNT(new_runs), "how many new ones",
	    .traits = ANSWER_SPARE },
	{ "visible", "VISIBLE", NUMBER(visible),
	    "the least ratio that would be called worse in 95 of 100 "
	    "comparisons of as many such runs; unknown: none",
	    .traits = ANSWER_SPARE },
	{ "needed", "NEEDED", COUNT(needed),
	    "about how many runs of each side would decide; unknown: it is "
	    "decided, or no number up to a million does",
	    .traits = ANSWER_SPARE },
	{ "likeness", NULL, NUMBER(likeness),
	    "of one that explains: how often chance makes such runs differ so "
	    "much" },
	{ "says", NULL, TEXT(row, says), "the same in one sentence" },
	{ .key = NULL },
};

struct run_row {
	struct text side, run, like;
	int64_t time;
};

static const struct answer_column run_columns[] = {
	{ "side", "SIDE", TEXT(run_row, side), "old or new" },
	{ "run", "RUN", TEXT(run_row, run), "the name of the run" },
	{ "time", NULL, ANSWER_AT_TIME(struct run_row, time), "when it began" },
	{ "like", "LIKE", TEXT(run_row, like),
	    "what it has in common with those that it is compared with",
	    .traits = ANSWER_SPARE },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "of", ANSWER_HEAD(ANSWER_TEXT),
	    "what is compared: start, run, result or job" },
	{ "verdict", ANSWER_HEAD(ANSWER_TEXT),
	    "of all that decide: worse if one is, else undecided if one is" },
	{ "worse", ANSWER_HEAD(ANSWER_NUMBER),
	    "what is more than this part longer is worse" },
	{ "old_runs", ANSWER_HEAD(ANSWER_COUNT), "how many old runs" },
	{ "new_runs", ANSWER_HEAD(ANSWER_COUNT), "how many new ones" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "compare", columns },
	{ "runs", run_columns }, { "head", head }, { .name = NULL } };

/* A comparison that has been made. */
struct made {
	struct compare_set set;
	struct compare_row *rows;
	uint32_t count;
	double worse;
	enum compare_verdict verdict;
	char lacks[sizeof(((struct err *)NULL)->text)];
};

/* ---- what is asked ---- */

/* "1%" is 0.01. */
static int
read_worse(const char *word, double *worse, struct err *err)
{
	char *end;

	*worse = 0.01;
	if (word == NULL)
		return 0;
	*worse = strtod(word, &end) / 100;
	if (word[0] >= '0' && word[0] <= '9' && strcmp(end, "%") == 0 &&
	    strspn(word, "0123456789.") == strlen(word) - 1 && *worse <= 10)
		return 0;
	return err_set_option(err, "worse",
	    "'%.40s' is not from 0%% to 1000%%, as in 2.5%%", word);
}

static int
read_choices(struct compare_choice to[static COMPARE_SIDES],
    const struct compare_values *values, struct err *err)
{
	if (compare_choice_make(
		&to[COMPARE_OLD], &values->base, OLD, "base", err) != 0)
		return -1;
	return compare_choice_make(
	    &to[COMPARE_NEW], &values->with, NEW, "with", err);
}

static int
check(const struct question_values *values, struct err *err)
{
	struct compare_choice choice[COMPARE_SIDES];
	int unit = question_by(&question_compare, values);
	bool has_test = values->test != NULL;
	double worse;

	if (read_worse(values->compare.worse, &worse, err) != 0 ||
	    read_choices(choice, &values->compare, err) != 0)
		return -1;
	if (unit == COMPARE_RESULTS && (!has_test || values->test[0] == '\0'))
		return err_set_option(
		    err, "test", "is required with --by result");
	if (unit != COMPARE_RESULTS && (has_test || values->entry != NULL))
		return err_set_option(
		    err, "test", "and --entry go with --by result");
	if (values->entry != NULL && values->entry[0] == '\0')
		return err_set_option(err, "entry", "a name is empty");
	if (values->compare.store != NULL && values->compare.store[0] == '\0')
		return err_set_option(
		    err, "with-store", "name the directory of a store");
	return question_check_runs(values, err);
}

struct source_options
question_other_store(
    const struct question_values *values, const struct source_options *options)
{
	struct source_options other = *options;

	other.store = values->compare.store;
	other.connect.count = 0;
	return other;
}

/* ---- the comparison ---- */

/* The new runs are those of another store.  That it cannot be read is no reason
 * to say nothing of this one. */
static void
read_other(struct made *made, const struct question_asked *asked,
    const struct compare_query *query)
{
	const struct source_options options =
	    question_other_store(asked->values, asked->options);
	struct source *other = NULL;
	struct err err = { 0 };
	int rc = source_open(&other, &options, &err);

	made->set.is_one_sided = true;
	made->set.side = COMPARE_NEW;
	if (rc == 0)
		rc = compare_read(&made->set, query, other, &err);
	made->set.side = COMPARE_OLD;
	if (source_finish(&other, rc, &err) != 0)
		snprintf(made->lacks, sizeof(made->lacks), "%s", err.text);
}

static int
make(struct made *made, const struct question_asked *asked, struct err *err)
{
	const struct question_values *values = asked->values;
	const struct compare_query query = { .unit =
						 (enum compare_unit)question_by(
						     &question_compare, values),
		.partition = asked->partition,
		.model = question_model(values),
		.test = values->test,
		.entry = values->entry,
		.pattern = values->name,
		.runs = &values->runs,
		.from_ns = values->window.from_ns,
		.to_ns = values->window.to_ns,
		.gap_ns = values->starts.gap_ns };
	struct compare_choice choice[COMPARE_SIDES];
	struct compare_judged *judged;

	*made = (struct made){ .rows = NULL };
	if (read_choices(choice, &values->compare, err) != 0 ||
	    read_worse(values->compare.worse, &made->worse, err) != 0)
		return -1;
	compare_set_init(&made->set, choice, values->compare.mixed);
	if (values->compare.store != NULL)
		read_other(made, asked, &query);
	if (compare_read(&made->set, &query, asked->source, err) != 0)
		return -1;
	made->rows = compare_set_judge(&made->set, made->worse, &made->count);
	judged = memory_zero((size_t)made->count + 1, sizeof(*judged));
	for (uint32_t i = 0; i < made->count; i++)
		judged[i] = made->rows[i].of;
	made->verdict = compare_of_all(judged, made->count);
	free(judged);
	if (made->verdict == COMPARE_WORSE)
		*asked->status = STATUS_FOUND;
	/* What could not be read may be what is slower. */
	else if (made->verdict == COMPARE_UNDECIDED || made->lacks[0] != '\0')
		*asked->status = STATUS_UNDECIDED;
	return 0;
}

static void
made_clear(struct made *made)
{
	compare_rows_free(made->rows, made->count);
	compare_set_clear(&made->set);
}

/* ---- rows ---- */

static void
put_row(const struct made *made, const struct compare_row *from,
    struct answer *answer)
{
	const struct compare_judged *of = &from->of;
	struct text like = made->set.likes.names[from->like];
	char says[COMPARE_WORDS_BYTES];
	struct row row = { .metric = made->set.metrics.names[from->metric],
		.verdict = text_of(compare_verdict_words[of->verdict]),
		.decides = of->gates ? ANSWER_YES : ANSWER_NO,
		.ratio = of->ratio,
		.low = of->low,
		.high = of->high,
		.wrong = of->wrong,
		.likeness = of->likeness,
		.visible = of->visible,
		.old = from->median[COMPARE_OLD],
		.new = from->median[COMPARE_NEW],
		.old_runs = of->old_count,
		.new_runs = of->new_count,
		.needed = of->needed > 0 ? of->needed : ANSWER_NO_COUNT };

	if (compare_verdict_words[of->verdict] == NULL)
		row.verdict = (struct text){ NULL, 0 };
	if (like.bytes > 0)
		row.like = like;
	compare_words(says, of);
	row.says = text_of(says);
	answer_row(answer, &row, NULL);
}

static void
put_runs(const struct made *made, struct answer *answer)
{
	answer_begin_table(answer, "runs");
	for (uint32_t i = 0; i < made->set.run_count; i++) {
		const struct compare_run *run = &made->set.runs[i];
		struct text like = made->set.likes.names[run->like];
		const struct run_row row = {
			.side =
			    text_of(run->side == COMPARE_NEW ? "new" : "old"),
			.run = run->name,
			.like =
			    like.bytes > 0 ? like : (struct text){ NULL, 0 },
			.time = run->time_ns
		};

		answer_row(answer, &row, NULL);
	}
}

static void
note_names(const struct made *made, struct answer *answer)
{
	for (int side = 0; side < COMPARE_SIDES; side++) {
		const struct opt_list *list = made->set.choice[side].names;

		for (uint32_t i = 0; list != NULL && i < list->count; i++)
			if (!made->set.met[side][i])
				answer_note(answer, "no_run", ANSWER_NO_COUNT,
				    "--%s: there is no run '%.64s' that has "
				    "ended well",
				    side == COMPARE_OLD ? "base" : "with",
				    list->at[i]);
	}
}

/* The first number that should decide and does not. */
static void
note_undecided(const struct made *made, struct answer *answer)
{
	const struct compare_row *first = NULL;
	char says[COMPARE_WORDS_BYTES];
	char metric[SHOWN_BYTES], like[SHOWN_BYTES];
	struct text text;
	uint64_t count = 0;

	for (uint32_t i = made->count; i-- > 0;)
		if (made->rows[i].of.verdict == COMPARE_UNDECIDED) {
			first = &made->rows[i];
			count++;
		}
	if (first == NULL)
		return;
	compare_words(says, &first->of);
	text = made->set.likes.names[first->like];
	answer_note(answer, "undecided", count, "%s%s%s is %s%s",
	    text_quote(
		metric, sizeof(metric), made->set.metrics.names[first->metric]),
	    text.bytes > 0 ? " of " : "", text_quote(like, sizeof(like), text),
	    says, count > 1 ? "; others are undecided, too" : "");
}

static void
put_notes(const struct made *made, struct answer *answer)
{
	const struct compare_set *set = &made->set;

	if (made->lacks[0] != '\0')
		answer_note(
		    answer, "no_store", ANSWER_NO_COUNT, "%s", made->lacks);
	note_names(made, answer);
	if ((set->count[COMPARE_OLD] == 0) != (set->count[COMPARE_NEW] == 0))
		answer_note(answer, "one_sided", ANSWER_NO_COUNT,
		    "there is nothing to compare with: 7 old and 7 new runs, "
		    "or 9 and 5, are the least that can decide");
	else
		note_undecided(made, answer);
	if (set->unlike > 0)
		answer_note(answer, "unlike", set->unlike,
		    "%" PRIu64 " older run%s not compared, because no new one "
		    "is like %s (--mixed compares all)",
		    set->unlike, set->unlike == 1 ? " is" : "s are",
		    set->unlike == 1 ? "it" : "them");
	if (set->unfinished > 0)
		answer_note(answer, "unfinished", set->unfinished,
		    "%" PRIu64 " run%s failed or did not end: not compared",
		    set->unfinished, set->unfinished == 1 ? "" : "s");
	if (set->no_time > 0)
		answer_note(answer, "no_time", set->no_time,
		    "%" PRIu64 " duration%s of 0 or less, or no number: not "
		    "compared",
		    set->no_time, set->no_time == 1 ? "" : "s");
	if (set->twice > 0)
		answer_note(answer, "twice", set->twice,
		    "%" PRIu64 " run%s old and new: not compared with %s",
		    set->twice, set->twice == 1 ? " is" : "s are",
		    set->twice == 1 ? "itself" : "themselves");
	if (set->run_count == 0)
		answer_note(answer, "none", ANSWER_NO_COUNT,
		    "no run of this kind in that time");
}

static const char *
unit_of(const struct question_asked *asked)
{
	static const char *const words[] = { "start", "run", "result", "job" };

	return words[question_by(&question_compare, asked->values)];
}

static void
put_head(const struct made *made, const struct question_asked *asked,
    struct answer *answer)
{
	const char *verdict = compare_verdict_words[made->verdict];
	const struct compare_set *set = &made->set;
	char shown[SHOWN_BYTES];

	answer_head(answer, "of", answer_string(unit_of(asked)));
	answer_head(answer, "verdict", answer_string(verdict));
	answer_head(answer, "worse", answer_number(made->worse));
	answer_head(answer, "old_runs", answer_count(set->count[COMPARE_OLD]));
	answer_head(answer, "new_runs", answer_count(set->count[COMPARE_NEW]));
	answer_title(answer,
	    "%ss of %s: %" PRIu32 " new and %" PRIu32
	    " old, in seconds, worse from %g %% on: %s",
	    unit_of(asked), text_quote(shown, sizeof(shown), asked->partition),
	    set->count[COMPARE_NEW], set->count[COMPARE_OLD], 100 * made->worse,
	    verdict);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct made made;
	int rc = make(&made, asked, err);

	if (rc == 0) {
		put_head(&made, asked, answer);
		for (uint32_t i = 0; i < made.count; i++)
			put_row(&made, &made.rows[i], answer);
		put_runs(&made, answer);
		put_notes(&made, answer);
	}
	made_clear(&made);
	return rc;
}

static int
write_report(const struct question_asked *asked, FILE *file, struct err *err)
{
	int report = asked->values->compare.report, rc;
	char suite[SHOWN_BYTES + 20], shown[SHOWN_BYTES];
	struct made made;

	if (report == COMPARE_NO_REPORT)
		return 1;
	rc = make(&made, asked, err);
	snprintf(suite, sizeof(suite), "%ss of %s", unit_of(asked),
	    text_quote(shown, sizeof(shown), asked->partition));
	if (rc == 0) {
		const struct compare_case of = { suite, &made.set, made.rows,
			made.count, made.lacks[0] != '\0' ? made.lacks : NULL };

		compare_report_write(&of, (enum compare_report)report, file);
	}
	made_clear(&made);
	return rc;
}

const struct question question_compare = { .word = "compare",
	.summary = "are new runs slower than old ones?",
	.options = "by base with with-store worse mixed report test entry "
		   "name model group queue configuration requestor gap from "
		   "to sort top columns",
	.examples = "poolscope compare -p 'acct$pool' --with last:5\n"
		    "poolscope compare --by run --base last:40 --worse 2%\n"
		    "poolscope compare --by result --test //bench:test "
		    "--report junit -o compare.xml\n",
	.tables = tables,
	.by = "start|run|result|job",
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_ENTITY,
	.check = check,
	.ask = ask,
	.write = write_report };
