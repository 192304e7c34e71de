/*
 * question_why - what is said of a pool, or of a node, job or run of it:
 * sentences, each with the command that proves it.
 *
 * They are made of what other questions answer (facts.h); so none says what
 * these do not.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/question/question.h"
#include "exporters/source/known.h"
#include "exporters/why/facts.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

struct row {
	struct text about, text, node, phase, key, command, address;
	int64_t time, usual;
};

#define TEXT(member)    ANSWER_AT_TEXT(struct row, member), NULL
#define SECONDS(member) ANSWER_AT_DURATION(struct row, member), "s"

static const struct answer_column columns[] = {
	{ "about", "ABOUT", TEXT(about),
	    "start, path, nodes, slow, help, runs, lost, untold or records",
	    ANSWER_IN_ORDER, NULL },
	{ "text", "TEXT", TEXT(text), "the sentence", 0, NULL },
	{ "node", NULL, TEXT(node), "the node that it is about", 0, NULL },
	{ "phase", NULL, TEXT(phase), "the phase that it is about", 0, NULL },
	{ "key", NULL, TEXT(key), "of which key", 0, NULL },
	{ "time", NULL, SECONDS(time), "the time that it names", 0, NULL },
	{ "usual", NULL, SECONDS(usual), "what is usual", 0, NULL },
	{ "command", "COMMAND", TEXT(command),
	    "what proves it; unknown: nothing has to", ANSWER_SPARE, NULL },
	{ "address", NULL, TEXT(address),
	    "the same on the page of poolscope web: what follows its address",
	    0, NULL },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	QUESTION_START_MEMBERS,
	QUESTION_CLOCK_MEMBER,
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "why", columns },
	{ "head", head }, { .name = NULL } };

/* ---- asking others ---- */

struct asking {
	const struct question_asked *asked;
	struct why_facts facts;
	struct why_help helps[WHY_HELPS];
	uint32_t help_count;
	char *no_help, *lost;
	char *options, *time; /* of commands and addresses */
	struct err *err;
};

/* As it was asked, for another question. */
static struct question_values
values_of(const struct asking *asking)
{
	struct question_values values = *asking->asked->values;

	values.answer =
	    (struct answer_options){ .format = ANSWER_FORMAT_JSONL };
	values.by = NULL;
	values.what = NULL;
	/* The start has been chosen: its window is set. */
	values.starts.start_ns = STARTS_ALL;
	return values;
}

/* Take its rows; `shown` is a column, as all are taken whichever are printed.
 * 1: it has no answer, because of `why`; -1: the source failed. */
static int
ask_one(struct asking *asking, const struct question *question,
    struct question_values *values, const char *shown, struct err *why)
{
	struct question_asked other = *asking->asked;
	const struct answer_taker taker = { why_take, &asking->facts };
	int status = 0, rc;
	char *text;
	size_t bytes;
	FILE *file = memory_stream(&text, &bytes);

	err_clear(why);
	values->answer.columns = shown;
	values->answer.taker = &taker;
	other.values = values;
	other.status = &status;
	other.pattern = other.partition;
	assert(question_check(question, values, why) == 0);
	rc = question_answer(question, &other, file, why);
	memory_stream_end(&file);
	free(text);
	if (rc != 0 && source_has_failed(other.source)) {
		*asking->err = *why;
		return -1;
	}
	return rc == 0 ? 0 : 1;
}

/* Those before the one that is asked for, too, whenever they were. */
static int
ask_starts(struct asking *asking, struct err *why)
{
	struct question_values values = values_of(asking);

	values.window.from_ns = TIME_MIN_NS;
	values.runs.newest = WHY_STARTS;
	return ask_one(asking, &question_starts, &values, "start", why);
}

/* How the nodes are now. */
static int
ask_nodes(struct asking *asking, struct err *why)
{
	struct question_values values = values_of(asking);
	int rc;

	values.window.from_ns = TIME_MIN_NS;
	values.window.to_ns = TIME_MAX_NS;
	values.answer.top = WHY_NAMED;
	rc = ask_one(asking, &question_nodes, &values, "node", why);
	if (rc < 0 || asking->facts.heard > 0)
		return rc;
	values.answer.top = 0;
	return ask_one(asking, &question_pools, &values, "partition", why);
}

static int
ask_help(struct asking *asking, struct why_help *help, struct err *why)
{
	struct question_values values = values_of(asking);
	struct opt_list *list =
	    strcmp(help->option, "places") == 0   ? &values.whatif.places
	    : strcmp(help->option, "length") == 0 ? &values.whatif.lengths
						  : &values.whatif.begins;
	struct why_facts *facts = &asking->facts;
	int rc;

	list->at[list->count++] = help->argument;
	facts->best_ns = facts->worst_ns = ANSWER_NO_NS;
	rc = ask_one(asking, &question_whatif, &values, "what", why);
	help->best_ns = facts->best_ns;
	help->worst_ns =
	    facts->worst_ns != ANSWER_NO_NS ? facts->worst_ns : facts->best_ns;
	return rc;
}

/* Of a model that says what phases wait for; else a replay means nothing. */
static int
ask_helps(struct asking *asking, struct err *why)
{
	int rc = 0;

	if (asking->facts.has_no_words)
		return 0;
	asking->help_count = why_helps_find(asking->helps, &asking->facts);
	for (uint32_t i = 0; rc == 0 && i < asking->help_count; i++)
		rc = ask_help(asking, &asking->helps[i], why);
	if (rc > 0)
		asking->no_help = memory_string(why->text);
	return rc;
}

/* One after another; that one has no answer is no fault. */
static int
ask_all(struct asking *asking)
{
	struct question_values values = values_of(asking);
	struct err why = { 0 };
	int rc = ask_starts(asking, &why);
	bool starts = rc == 0;

	if (starts)
		rc = ask_one(asking, &question_critical, &values, "kind", &why);
	if (starts && rc == 0)
		rc = ask_helps(asking, &why);
	if (rc >= 0)
		rc = ask_nodes(asking, &why);
	if (rc >= 0)
		rc = ask_one(asking, &question_slow, &values, "node", &why);
	if (rc >= 0)
		rc = ask_one(asking, &question_groups, &values, "group", &why);
	if (rc >= 0)
		rc = question_lost(asking->asked, &asking->lost, asking->err);
	return rc < 0 ? -1 : 0;
}

/* ---- the time, in commands and addresses ---- */

static void
put_time(FILE *options, FILE *address, const char *name, int64_t ns)
{
	char text[CLOCK_TEXT_BYTES];

	clock_utc_text(text, ns, ns % NS_PER_SECOND == 0 ? 0 : 9);
	fprintf(options, " --%s %s", name, text);
	fprintf(
	    address, "%c%s=%s", ftell(address) == 0 ? '?' : '&', name, text);
}

static void
find_time(struct asking *asking)
{
	const struct question_values *values = asking->asked->values;
	size_t bytes[2];
	FILE *options = memory_stream(&asking->options, &bytes[0]),
	     *address = memory_stream(&asking->time, &bytes[1]);

	if (values->starts.start_ns == STARTS_ALL) {
		fputs(" --start all", options);
		fputs("?start=all", address);
	} else if (question_is_given(values, "start")) {
		put_time(options, address, "start", values->window.from_ns);
	} else {
		if (question_is_given(values, "from"))
			put_time(
			    options, address, "from", values->window.from_ns);
		if (question_is_given(values, "to"))
			put_time(options, address, "to", values->window.to_ns);
	}
	memory_stream_end(&options);
	memory_stream_end(&address);
}

/* ---- the answer ---- */

static void
asking_clear(struct asking *asking)
{
	for (uint32_t i = 0; i < asking->help_count; i++) {
		free(asking->helps[i].argument);
		free(asking->helps[i].words);
	}
	free(asking->no_help);
	free(asking->lost);
	free(asking->options);
	free(asking->time);
	why_facts_clear(&asking->facts);
}

/* Clear `asking` and `all` in any case. */
static int
say(struct asking *asking, struct why_sentences *all)
{
	const struct question_values *values = asking->asked->values;

	find_time(asking);
	all->partition = asking->asked->partition;
	all->options = asking->options;
	all->time = asking->time;
	if (ask_all(asking) != 0)
		return -1;
	why_say_pool(all,
	    &(struct why_pool){ .facts = &asking->facts,
		.helps = asking->helps,
		.help_count = asking->no_help == NULL ? asking->help_count : 0,
		.no_help = asking->no_help,
		.lost = asking->lost,
		.from_ns = values->window.from_ns });
	return 0;
}

static struct text
or_unknown(const char *text)
{
	return text != NULL ? text_of(text) : (struct text){ NULL, 0 };
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct asking asking = { .asked = asked, .err = err };
	struct why_sentences all = { .at = NULL };
	char words[QUESTION_CLOCK_BYTES];
	int rc = say(&asking, &all);

	(void)question_put_clock(words, asked, answer);
	for (uint32_t i = 0; rc == 0 && i < all.count; i++) {
		const struct why_sentence *of = &all.at[i];
		const struct row row = { .about = text_of(
					     why_about_words[of->about]),
			.text = text_of(of->text),
			.node = or_unknown(of->node),
			.phase = or_unknown(of->phase),
			.key = or_unknown(of->key),
			.command = or_unknown(of->command),
			.address = or_unknown(of->address),
			.time = of->time_ns,
			.usual = of->usual_ns };

		answer_row(answer, &row, NULL);
	}
	why_clear(&all);
	asking_clear(&asking);
	return rc;
}

/* For somebody at a terminal, or in a mail. */
static int
write_lines(const struct question_asked *asked, FILE *file, struct err *err)
{
	const struct answer_options *how = &asked->values->answer;
	struct asking asking = { .asked = asked, .err = err };
	struct why_sentences all = { .at = NULL };
	int rc;

	if (how->format != ANSWER_FORMAT_TABLE || how->columns != NULL ||
	    how->sort != NULL || how->top > 0 || how->table != NULL)
		return 1;
	rc = say(&asking, &all);
	rc = known_check_partition(asked->source, asked->partition, rc, err);
	if (rc == 0)
		why_print(file, &all);
	why_clear(&all);
	asking_clear(&asking);
	return rc;
}

const struct question question_why = { .word = "why",
	.summary = "what the numbers of a pool mean, in sentences",
	.options = "model start gap from to sort top columns",
	.examples = "poolscope why -p 'acct$pool'\n"
		    "poolscope why --start 2026-11-28T07:15:50Z\n",
	.tables = tables,
	.is_of_start = true,
	.ages = true,
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_SAMPLE | 1u << RECORD_SPAN,
	.ask = ask,
	.write = write_lines };
