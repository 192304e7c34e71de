/*
 * question_why - what is reported of a pool, or of a node, job or run of it:
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
#include "proto/base/nearest.h"
#include "proto/base/quantile.h"
#include "proto/base/sort.h"
#include "proto/os/clock.h"
#include "proto/record/node_list.h"

struct row {
	struct text about, text, node, phase, key, cause, command, address;
	int64_t time, usual;
};

#define TEXT(member)    ANSWER_AT_TEXT(struct row, member)
#define SECONDS(member) ANSWER_AT_DURATION(struct row, member)

static const struct answer_column columns[] = {
	{ "about", "ABOUT", TEXT(about),
	    "start, path, nodes, slow, help, runs, lost, untold or records",
	    .traits = ANSWER_IN_ORDER },
	{ "text", "TEXT", TEXT(text), "the sentence" },
	{ "node", NULL, TEXT(node), "the node that it is about" },
	{ "phase", NULL, TEXT(phase), "the phase that it is about" },
	{ "key", NULL, TEXT(key), "of which key" },
	{ "cause", NULL, TEXT(cause),
	    "why it was slow, as stragglers says it; unknown: it is no "
	    "straggler" },
	{ "time", NULL, SECONDS(time), "the time that it names" },
	{ "usual", NULL, SECONDS(usual), "what is usual" },
	{ "command", "COMMAND", TEXT(command),
	    "what proves it; unknown: nothing has to", .traits = ANSWER_SPARE },
	{ "address", NULL, TEXT(address),
	    "the same on the page of poolscope web: what follows its address" },
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
	struct answer_taker taker; /* mostly of the facts */
	struct why_help helps[WHY_HELPS];
	uint32_t help_count;
	char *no_help;
	struct question_doubts doubts;
	char *options, *time; /* of commands and addresses */
	/* Of a node: as a list. */
	char list[2 * NAME_BYTES_MAX + 1];
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
	strcpy(values.window.node.list, asking->list);
	/* The start has been chosen: its window is set. */
	values.starts.start_ns = STARTS_ALL;
	values.no_drags = true;
	return values;
}

/* Take its rows; `shown` is a column, as all are taken whichever are printed.
 * 1: it has no answer, because of `why`; -1: the source failed. */
static int
ask_one(struct asking *asking, const struct question *question,
    struct question_values *values, const char *shown, struct err *why)
{
	struct question_asked other = *asking->asked;
	int status = 0, rc;
	char *text;
	size_t bytes;
	FILE *file = memory_stream(&text, &bytes);

	err_clear(why);
	values->answer.columns = shown;
	values->answer.taker = &asking->taker;
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

	values.window.from_ns = TIME_MIN_NS;
	values.window.to_ns = TIME_MAX_NS;
	values.answer.top = WHY_NAMED;
	return ask_one(asking, &question_nodes, &values, "node", why);
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

/* Of the start as such, as it is given or chosen: what began late is known only
 * of one. */
static int
ask_stragglers(struct asking *asking, struct err *why)
{
	struct question_values values = values_of(asking);

	if (asking->asked->is_of_start) {
		values.starts.start_ns = values.window.from_ns;
		values.window.from_ns = TIME_MIN_NS;
		values.window.to_ns = TIME_MAX_NS;
	}
	return ask_one(asking, &question_stragglers, &values, "node", why);
}

/* What it is about: one after another; that one has no answer is no fault. */
static int
ask_pool(struct asking *asking)
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
		rc = ask_stragglers(asking, &why);
	if (rc >= 0)
		rc = ask_one(asking, &question_slow, &values, "node", &why);
	if (rc >= 0)
		rc = ask_one(asking, &question_groups, &values, "group", &why);
	if (rc >= 0)
		rc = ask_one(
		    asking, &question_pools, &values, "partition", &why);
	return rc < 0 ? -1 : 0;
}

static int
ask_node(struct asking *asking)
{
	struct question_values values = values_of(asking);
	struct err why = { 0 };
	int rc = ask_one(asking, &question_critical, &values, "kind", &why);

	if (rc >= 0)
		rc = ask_nodes(asking, &why);
	if (rc >= 0)
		rc = ask_stragglers(asking, &why);
	values.by = "phase";
	if (rc >= 0)
		rc = ask_one(asking, &question_slow, &values, "node", &why);
	return rc < 0 ? -1 : 0;
}

/* A run is shown whole, whatever the time. */
static int
ask_run(struct asking *asking, const char *run)
{
	struct question_values values = values_of(asking);
	struct err why = { 0 };
	int rc;

	values.window.from_ns = TIME_MIN_NS;
	values.window.to_ns = TIME_MAX_NS;
	values.runs.ids = (struct opt_list){ .at = { run }, .count = 1 };
	rc = ask_one(asking, &question_runs, &values, "run", &why);
	values.runs.ids.count = 0;
	if (rc == 0)
		rc = ask_one(asking, &question_groups, &values, "group", &why);
	return rc < 0 ? -1 : 0;
}

static int
ask_job(struct asking *asking, const char *job)
{
	struct question_values values = values_of(asking);
	struct err why = { 0 };
	int rc;

	values.window.from_ns = TIME_MIN_NS;
	values.window.to_ns = TIME_MAX_NS;
	values.window.jobs.job = job;
	rc = ask_one(asking, &question_usage, &values, "node", &why);
	if (rc >= 0)
		rc = ask_one(asking, &question_spans, &values, "name", &why);
	if (rc >= 0)
		rc = ask_one(asking, &question_slow, &values, "node", &why);
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
	question_doubts_clear(&asking->doubts);
	free(asking->options);
	free(asking->time);
	why_facts_clear(&asking->facts);
}

static int
say_pool(struct asking *asking, struct why_sentences *all)
{
	int64_t from_ns = asking->asked->values->window.from_ns;

	if (ask_pool(asking) != 0)
		return -1;
	why_say_pool(all,
	    &(struct why_pool){ .facts = &asking->facts,
		.helps = asking->helps,
		.help_count = asking->no_help == NULL ? asking->help_count : 0,
		.no_help = asking->no_help,
		.lost = asking->doubts.lost,
		.clocks = asking->doubts.clocks,
		.from_ns = from_ns });
	return 0;
}

/* ---- one of a pool ---- */

/* When the nodes of the start were ready, and this one among them. */
static void
rank(struct why_one_node *node, const struct starts *starts)
{
	const struct start *start = &starts->at[starts->count - 1];
	int64_t *after_ns =
	    memory_zero((size_t)starts->nodes.count + 1, sizeof(*after_ns));

	for (uint32_t i = 0; i < starts->nodes.count; i++) {
		int64_t ready_ns = starts->ready_ns[i], ns;

		if (ready_ns == START_UNKNOWN || ready_ns == START_NONE ||
		    ready_ns < start->begin_ns)
			continue;
		ns = ready_ns - start->begin_ns;
		after_ns[node->of++] = ns;
		if (text_equal(starts->nodes.names[i], node->node))
			node->ready_ns = ns;
	}
	if (node->of > 0) {
		sort_i64(after_ns, node->of);
		node->median_ns = after_ns[quantile_index(node->of, 50)];
	}
	while (node->place < node->of && after_ns[node->place] < node->ready_ns)
		node->place++;
	node->place++;
	free(after_ns);
}

static int
say_node(struct asking *asking, struct why_sentences *all)
{
	const struct question_asked *asked = asking->asked;
	const struct question_values *values = asked->values;
	const struct starts_query query = question_starts_query(values, true);
	struct why_one_node node = { .facts = &asking->facts,
		.node = text_of(values->what),
		.ready_ns = ANSWER_NO_NS,
		.median_ns = ANSWER_NO_NS };
	struct starts starts;
	struct err why = { 0 };

	asking->facts.only = node.node;
	if (starts_read(
		&starts, asked->source, asked->partition, &query, &why) == 0)
		rank(&node, &starts);
	starts_clear(&starts);
	if (ask_node(asking) != 0)
		return -1;
	node.lost = asking->doubts.lost;
	node.clocks = asking->doubts.clocks;
	why_say_node(all, &node);
	return 0;
}

static void
say_job(struct why_sentences *all, const struct asking *asking,
    const struct job_intervals *jobs)
{
	struct why_job job = { .facts = &asking->facts,
		.job = text_of(asking->asked->values->what),
		.from_ns = INT64_MAX,
		.to_ns = INT64_MIN,
		.lost = asking->doubts.lost,
		.clocks = asking->doubts.clocks };

	for (uint32_t i = 0; i < jobs->count; i++) {
		const struct job_interval *each = &jobs->at[i];

		if (each->from_ns < job.from_ns)
			job.from_ns = each->from_ns;
		if (each->to_ns > job.to_ns)
			job.to_ns = each->to_ns;
		job.nodes +=
		    i == 0 || !text_equal(each->node, jobs->at[i - 1].node);
	}
	why_say_job(all, &job);
}

/* Offer what it may have meant: a name of the rows. */
static void
offer(void *arg, const struct answer_taken *row)
{
	const struct answer_cell *cell = answer_taken_cell(row, "run");
	char name[NAME_BYTES_MAX + 1];

	if (cell == NULL)
		cell = answer_taken_cell(row, "key");
	if (cell == NULL)
		cell = answer_taken_cell(row, "node");
	if (cell == NULL || cell->is.text.bytes == 0 ||
	    cell->is.text.bytes > NAME_BYTES_MAX ||
	    strcmp(row->table, "notes") == 0)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)cell->is.text.bytes,
	    cell->is.text.at);
	nearest_offer(arg, name);
}

static int
refuse(struct asking *asking)
{
	char more[3 * NEAREST_WORD_BYTES + 32], shown[80], where[300];
	struct question_values values = values_of(asking);
	struct nearest nearest;
	struct err why = { 0 };
	int rc;

	values.window.node.list[0] = '\0';
	values.window.from_ns = TIME_MIN_NS;
	values.window.to_ns = TIME_MAX_NS;
	nearest_begin(&nearest, asking->asked->values->what);
	asking->taker = (struct answer_taker){ offer, &nearest };
	rc = ask_one(asking, &question_nodes, &values, "node", &why);
	if (rc >= 0)
		rc = ask_one(asking, &question_runs, &values, "run", &why);
	values.by = "key";
	values.name = "job:run";
	if (rc >= 0)
		rc = ask_one(asking, &question_phases, &values, "key", &why);
	return rc < 0 ? -1
		      : err_set(asking->err,
			    "partition %s has no node, run or job '%s'%s",
			    text_quote(
				where, sizeof(where), asking->asked->partition),
			    text_quote(shown, sizeof(shown),
				text_of(asking->asked->values->what)),
			    nearest_question(&nearest, "", more, sizeof(more)));
}

/* A node, else a run, else a job. */
static int
say_one(struct asking *asking, struct why_sentences *all)
{
	const struct question_asked *asked = asking->asked;
	const char *what = asked->values->what;
	const struct job_options options = { .job = what };
	struct job_intervals jobs;
	struct err why = { 0 };
	int rc;

	if (known_check_nodes(asked->source, asked->partition,
		text_of(asking->list), &why) == 0)
		return say_node(asking, all);
	asking->list[0] = '\0';
	if (source_has_failed(asked->source) || ask_run(asking, what) != 0)
		return -1;
	if (asking->facts.run.run != NULL) {
		why_say_run(all, &asking->facts);
		return 0;
	}
	rc = job_intervals_read(
	    &jobs, asked->source, asked->partition, &options, &why);
	if (rc == 0)
		rc = ask_job(asking, what);
	else if (!source_has_failed(asked->source))
		rc = refuse(asking);
	if (rc == 0)
		say_job(all, asking, &jobs);
	job_intervals_clear(&jobs);
	return rc;
}

/* Clear `asking` and `all` in any case. */
static int
say(struct asking *asking, struct why_sentences *all)
{
	const struct question_asked *asked = asking->asked;
	struct text what = text_of(asked->values->what), list;

	asking->taker = (struct answer_taker){ why_take, &asking->facts };
	find_time(asking);
	all->partition = asked->partition;
	all->options = asking->options;
	all->time = asking->time;
	if (what.bytes > 0) {
		list = node_list_quote(asking->list, what, false);
		asking->list[list.bytes] = '\0';
	}
	if (question_doubts_read(asked, &asking->doubts, asking->err) != 0)
		return -1;
	return what.at == NULL ? say_pool(asking, all) : say_one(asking, all);
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
			.cause = or_unknown(of->cause),
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
	if (rc == 0)
		why_print(file, &all);
	why_clear(&all);
	asking_clear(&asking);
	return rc;
}

static int
check(const struct question_values *values, struct err *err)
{
	enum text_fault fault = values->what == NULL
				    ? TEXT_OK
				    : text_check_name(text_of(values->what));

	return fault == TEXT_OK ? 0
				: err_set(err,
				      "the name of a node, run or job "
				      "%s",
				      text_fault_words(fault));
}

const struct question question_why = { .word = "why",
	.summary = "what the numbers of a pool mean, in sentences",
	.options = "model start gap from to sort top columns",
	.operand = " [NODE|RUN|JOB]",
	.examples = "poolscope why -p 'acct$pool'\n"
		    "poolscope why -p 'acct$pool' cn037\n",
	.check = check,
	.tables = tables,
	.is_of_start = true,
	.ages = true,
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_SAMPLE | 1u << RECORD_SPAN,
	.ask = ask,
	.write = write_lines };
