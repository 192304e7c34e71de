/*
 * poolscope-emit - publishes events and samples from the command line.
 *
 * The arguments are those of Batch Shipyard's recorder.  Exit status 0 means
 * that the records are on disk: in the agent's spool, or in the fallback queue,
 * which the agent reads when it starts.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "agents/submit/compose.h"
#include "agents/submit/event_lines.h"
#include "agents/submit/samples.h"
#include "agents/submit/submit.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/record/counter_rate.h"

enum wait_for { WAIT_ACCEPTED, WAIT_STORED };

struct options {
	const char *message, *prefix, *run, *receive_ts;
	struct opt_list attributes;
	bool from_stdin;
	struct samples_options samples; /* also the time of an event */
	int wait;
	struct submit_options how;
};

static const struct options defaults = { .wait = WAIT_ACCEPTED,
	.how = { .timeout_ns = 10 * NS_PER_SECOND,
	    .free_bytes = SUBMIT_FREE_BYTES } };

static const struct opt table[] = {
	{ "ts", 0, OPT_TEXT, OPT_TO(struct options, samples.ts), "SECONDS",
	    "set the time of the event or sample, in seconds since the epoch "
	    "(default: now)" },
	{ "message", 0, OPT_TEXT, OPT_TO(struct options, message), "TEXT",
	    "set the attribute \"message\"; ignored if empty" },
	{ "prefix", 0, OPT_TEXT, OPT_TO(struct options, prefix), "TEXT",
	    "set the table prefix of the old recorder, stored as an "
	    "attribute" },
	{ "attr", 0, OPT_LIST, OPT_TO(struct options, attributes), "KEY=VALUE",
	    "add an attribute; may be repeated" },
	{ "run", 0, OPT_TEXT, OPT_TO(struct options, run), "ID",
	    "assign the event to this test run" },
	{ "receive-ts", 0, OPT_TEXT, OPT_TO(struct options, receive_ts),
	    "SECONDS", "set the original receive time of an imported event" },
	{ "partition", 'p', OPT_TEXT, OPT_TO(struct options, how.partition),
	    "NAME",
	    "publish in this partition, account$pool (default: the agent's)" },
	{ "node", 'n', OPT_TEXT, OPT_TO(struct options, how.node), "NAME",
	    "publish for this node (default: the agent's)" },
	{ "stdin", 0, OPT_FLAG, OPT_TO(struct options, from_stdin), NULL,
	    "read events from standard input, one a line" },
	{ "sample", 0, OPT_LIST, OPT_TO(struct options, samples.samples),
	    "NAME=VALUE",
	    "publish this number instead of an event; may be repeated" },
	{ "unit", 0, OPT_LIST, OPT_TO(struct options, samples.units),
	    "NAME=UNIT", "set the unit of a sample (UCUM); may be repeated" },
	{ "counter", 0, OPT_LIST, OPT_TO(struct options, samples.counters),
	    "NAME", "the sample of this name only grows; may be repeated" },
	{ "label", 0, OPT_LIST, OPT_TO(struct options, samples.labels),
	    "KEY=VALUE", "add a label to all samples; may be repeated" },
	{ "prometheus", 0, OPT_TEXT, OPT_TO(struct options, samples.page),
	    "FILE",
	    "publish the samples of a file in Prometheus' text format (-: "
	    "standard input)" },
	{ "buckets", 0, OPT_FLAG, OPT_TO(struct options, samples.buckets), NULL,
	    "with --prometheus, also publish the buckets of histograms" },
	{ "wait", 0, OPT_CHOICE, OPT_TO(struct options, wait), "WHAT",
	    "return when the agent has accepted (default) or the aggregator "
	    "has stored the event",
	    "accepted|stored" },
	{ "timeout", 0, OPT_DURATION, OPT_TO(struct options, how.timeout_ns),
	    "DURATION", "wait this long for an answer (default: 10s)" },
	{ "socket", 0, OPT_TEXT, OPT_TO(struct options, how.socket), "PATH",
	    "connect to this agent socket (default: DIR/run/agent.sock)" },
	{ "fallback", 0, OPT_TEXT, OPT_TO(struct options, how.fallback), "PATH",
	    "without an agent, write events to this queue (default: "
	    "DIR/fallback)" },
	{ "free-bytes", 0, OPT_BYTES, OPT_TO(struct options, how.free_bytes),
	    "BYTES",
	    "leave this much of the queue's file system free (default: "
	    "64MiB)" },
	{ 0 },
};

/* The event that the arguments describe. */
static int
from_arguments(const struct options *options, struct compose *compose,
    const struct opt_operands *operands, struct err *err)
{
	struct value prefix = { .type = VALUE_TEXT };
	struct text source = text_of(operands->at[0]), event;

	event = operands->count > 1 ? text_of(operands->at[1])
				    : text_after(source, ':');
	if (operands->count == 1)
		source = text_before(source, ':');
	if (compose_event(compose, source, event, err) != 0)
		return -1;
	if (options->samples.ts != NULL &&
	    compose_time(compose, text_of(options->samples.ts), err) != 0)
		return err_prefix_option(err, "ts");
	if (options->run != NULL &&
	    compose_run(compose, text_of(options->run), err) != 0)
		return err_prefix_option(err, "run");
	if (options->receive_ts != NULL &&
	    compose_received(compose, text_of(options->receive_ts), err) != 0)
		return err_prefix_option(err, "receive-ts");
	if (options->message != NULL &&
	    compose_message(compose, text_of(options->message), err) != 0)
		return err_prefix_option(err, "message");
	if (options->prefix != NULL && *options->prefix != '\0' &&
	    strcmp(options->prefix, "shipyard") != 0) {
		prefix.is.text = text_of(options->prefix);
		if (compose_attribute(
			compose, text_of("prefix"), &prefix, err) != 0)
			return err_prefix_option(err, "prefix");
	}
	for (uint32_t i = 0; i < options->attributes.count; i++)
		if (compose_pair(
			compose, text_of(options->attributes.at[i]), err) != 0)
			return err_prefix_option(err, "attr");
	return compose_end(compose, err);
}

/* Report the failed request on stderr and return the exit status. */
static int
failed(enum submit_result result, const struct err *err)
{
	log_fail(err);
	switch (result) {
	case SUBMIT_LATER: return EX_TEMPFAIL;
	case SUBMIT_FORBIDDEN: return EX_NOPERM;
	default: return EXIT_FAILURE;
	}
}

static int
emit_one(const struct options *options, struct submit *submit,
    struct compose *compose, const struct opt_operands *operands)
{
	enum submit_result result;
	struct err err = { 0 };

	if (from_arguments(options, compose, operands, &err) != 0)
		opt_usage("%s", err.text);
	result = submit_add(submit, compose, &err);
	if (result == SUBMIT_DONE)
		result = submit_finish(submit, &err);
	return result == SUBMIT_DONE ? EXIT_SUCCESS : failed(result, &err);
}

/* What the agent has refused of a page. */
struct refusals {
	uint64_t groups, numbers;
	char first[NAME_BYTES_MAX + 1]; /* name of a metric */
	struct err err;
};

static void
on_refused(void *arg, const struct record *definition, const struct err *err)
{
	struct refusals *refusals = arg;
	struct text names = { "", 0 }, labels = { "", 0 }, name;

	record_find_text(definition, "names", &names);
	record_find_text(definition, "labels", &labels);
	name = text_next_word(&names);
	if (text_equal(name, text_of(COUNTER_RATE_BOOT_COLUMN)))
		name = text_next_word(&names);
	do
		refusals->numbers++;
	while (text_next_word(&names).bytes > 0);
	log_debug("refused: %.*s%.*s: %s", (int)name.bytes, name.at,
	    (int)labels.bytes, labels.at, err->text);
	if (refusals->groups++ > 0)
		return;
	snprintf(refusals->first, sizeof(refusals->first), "%.*s%.*s",
	    (int)name.bytes, name.at, (int)labels.bytes, labels.at);
	refusals->err = *err;
}

static void
report_refusals(const struct submit *submit, const struct refusals *refusals)
{
	/* A definition and a sample each. */
	uint64_t taken = submit_events(submit) / 2;

	log_error("%llu of %llu metric groups of the page are not published, "
		  "the others are; the first is that of %s, %s",
	    (unsigned long long)refusals->groups,
	    (unsigned long long)(refusals->groups + taken), refusals->first,
	    refusals->err.text);
}

static int
emit_samples(const struct options *options, struct submit *submit,
    struct compose *compose, const struct refusals *refusals)
{
	const struct samples_options *how = &options->samples;
	struct prometheus_page page = { .bad = 0 };
	enum submit_result result;
	struct samples samples;
	struct err err = { 0 };
	uint64_t numbers;

	if (samples_take(&samples, how, &err) != 0)
		opt_usage("%s", err.text);
	if (how->page != NULL)
		result = samples_submit_page(
		    &samples, how, submit, compose, &page, &err);
	else if (samples_submit(&samples, submit, compose, &result, &err) != 0)
		opt_usage("%s", err.text);
	if (result == SUBMIT_DONE)
		result = submit_finish(submit, &err);
	if (result != SUBMIT_DONE) {
		if (submit_events(submit) > 0) /* a definition and a sample */
			err_prefix(&err, "%llu metric group%s published",
			    (unsigned long long)submit_events(submit) / 2,
			    submit_events(submit) == 2 ? "" : "s");
		return failed(result, &err);
	}
	numbers = page.numbers - refusals->numbers;
	if (refusals->groups > 0)
		report_refusals(submit, refusals);
	if (page.bad > 0)
		fprintf(stderr,
		    "poolscope-emit: %llu number%s published, %llu line%s left "
		    "out\n",
		    (unsigned long long)numbers, numbers == 1 ? "" : "s",
		    (unsigned long long)page.bad, page.bad == 1 ? "" : "s");
	return page.bad > 0 || refusals->groups > 0 ? EXIT_FAILURE
						    : EXIT_SUCCESS;
}

/* Standard input, line by line. */
struct lines {
	struct submit *submit;
	struct compose *compose;
	struct json_fields object;
	uint64_t number, bad;
	bool too_long; /* skipping the rest of a line that is */
	char buffer[EVENT_LINE_BYTES_MAX];
	size_t used;
};

static void
complain(struct lines *lines, const char *what)
{
	lines->bad++;
	fprintf(stderr, "stdin:%llu: %s\n", (unsigned long long)lines->number,
	    what);
}

static enum submit_result
take_line(struct lines *lines, struct text line, struct err *err)
{
	lines->number++;
	if (lines->too_long) {
		lines->too_long = false;
		return SUBMIT_DONE;
	}
	if (line.bytes > 0 && line.at[line.bytes - 1] == '\r')
		line.bytes--;
	if (line.bytes == 0)
		return SUBMIT_DONE;
	if (event_line_read(&lines->object, lines->compose, line, err) != 0) {
		complain(lines, err->text);
		return SUBMIT_DONE;
	}
	return submit_add(lines->submit, lines->compose, err);
}

/* Process the complete lines of the buffer; at the end also a last line
 * without newline. */
static enum submit_result
take_lines(struct lines *lines, bool at_end, struct err *err)
{
	enum submit_result result = SUBMIT_DONE;
	size_t from = 0;

	while (result == SUBMIT_DONE && from < lines->used) {
		char *at = lines->buffer + from;
		char *newline = memchr(at, '\n', lines->used - from);
		size_t bytes =
		    newline ? (size_t)(newline - at) : lines->used - from;

		if (newline == NULL && !at_end)
			break;
		result =
		    take_line(lines, (struct text){ at, (uint32_t)bytes }, err);
		from += bytes + (newline != NULL);
	}
	lines->used -= from;
	memmove(lines->buffer, lines->buffer + from, lines->used);
	if (lines->used == sizeof(lines->buffer)) {
		if (!lines->too_long) {
			lines->number++;
			complain(lines, "is longer than 128 KiB");
			lines->number--;
		}
		lines->too_long = true;
		lines->used = 0;
	}
	return result;
}

/* No more input is available now: do not delay the events read so far. */
static bool
is_pausing(void)
{
	struct pollfd pollfd = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 0;
}

static int
emit_lines(struct submit *submit, struct compose *compose)
{
	struct lines lines = { .submit = submit, .compose = compose };
	enum submit_result result = SUBMIT_DONE;
	struct err err = { 0 };
	ssize_t n = 1;

	while (result == SUBMIT_DONE && n > 0) {
		if (is_pausing())
			result = submit_flush(submit, &err);
		do
			n = read(STDIN_FILENO, lines.buffer + lines.used,
			    sizeof(lines.buffer) - lines.used);
		while (n < 0 && errno == EINTR);
		if (n > 0)
			lines.used += (size_t)n;
		if (result == SUBMIT_DONE)
			result = take_lines(&lines, n <= 0, &err);
	}
	json_fields_clear(&lines.object);
	if (result == SUBMIT_DONE)
		result = submit_finish(submit, &err);
	if (result != SUBMIT_DONE) {
		err_prefix(&err, "stdin:%llu: %llu event%s published",
		    (unsigned long long)lines.number,
		    (unsigned long long)submit_events(submit),
		    submit_events(submit) == 1 ? "" : "s");
		return failed(result, &err);
	}
	if (n < 0)
		perror("poolscope-emit: stdin");
	return n < 0 || lines.bad > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool
has_samples(const struct options *options)
{
	return options->samples.samples.count > 0 ||
	       options->samples.page != NULL;
}

static void
check_samples(
    const struct options *options, const struct opt_operands *operands)
{
	const struct samples_options *samples = &options->samples;
	bool more = samples->units.count > 0 || samples->counters.count > 0;

	if (!has_samples(options)) {
		if (more || samples->labels.count > 0 || samples->buckets)
			opt_usage("--unit, --counter, --label and --buckets "
				  "belong to --sample or --prometheus");
		return;
	}
	if (operands->count > 0 || options->from_stdin || options->message ||
	    options->prefix || options->run || options->receive_ts ||
	    options->attributes.count > 0)
		opt_usage("a sample is no event: publish them one after the "
			  "other, as in 'poolscope emit --sample "
			  "queue.length=17 --label rank=3'");
	if (samples->page != NULL && (samples->samples.count > 0 || more))
		opt_usage("--prometheus takes samples, units and types from "
			  "the file");
	if (samples->page == NULL && samples->buckets)
		opt_usage("--buckets belongs to --prometheus");
}

/* Usage errors that the option table cannot detect. */
static void
check_usage(struct options *options, const struct opt_operands *operands)
{
	struct err err = { 0 };

	check_samples(options, operands);
	if (options->from_stdin && operands->count > 0)
		opt_usage("--stdin takes no SOURCE and EVENT operands");
	if (options->from_stdin &&
	    (options->samples.ts || options->message || options->prefix ||
		options->run || options->receive_ts ||
		options->attributes.count > 0))
		opt_usage(
		    "with --stdin, write --ts, --message, --prefix, --run, "
		    "--receive-ts and --attr as members of the lines");
	if (!options->from_stdin && !has_samples(options) &&
	    operands->count != 2 &&
	    (operands->count == 0 || strchr(operands->at[0], ':') == NULL))
		opt_usage("SOURCE and EVENT are missing");
	if (submit_check(&options->how, &err) != 0)
		opt_usage("%s", err.text);
}

static void
parse(struct options *options, int argc, char **argv,
    struct opt_operands *operands)
{
	const struct opt_table tables[] = { { table, options },
		{ opt_common, NULL }, { NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-emit",
		.synopsis = "[options] SOURCE EVENT | SOURCE:EVENT | --sample "
			    "NAME=VALUE",
		.summary = "publish an event, or numbers",
		.examples = "poolscope emit build:start\n"
			    "poolscope emit build:end\n"
			    "poolscope emit backup done --attr bytes=123 "
			    "--wait stored\n"
			    "poolscope emit --sample queue.length=17 --label "
			    "rank=3\n"
			    "curl -s localhost:9100/metrics | poolscope emit "
			    "--prometheus -\n",
		.tables = tables,
		.operands_min = 0,
		.operands_max = 2,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct options options = defaults;
	char socket[INSTANCE_PATH_BYTES], fallback[INSTANCE_PATH_BYTES];
	struct compose compose = { 0 };
	struct submit_options *how = &options.how;
	struct refusals refusals = { .groups = 0 };
	struct submit *submit;
	struct opt_operands operands;
	struct err err = { 0 };
	int status;

	parse(&options, argc, argv, &operands);
	check_usage(&options, &operands);
	if ((how->socket == NULL &&
		instance_path(socket, "run/agent.sock", &err) != 0) ||
	    (how->fallback == NULL &&
		instance_path(fallback, "fallback", &err) != 0)) {
		log_fail(&err);
		return EXIT_FAILURE;
	}
	how->socket = how->socket ? how->socket : socket;
	how->fallback = how->fallback ? how->fallback : fallback;
	how->stored = options.wait == WAIT_STORED;
	how->quiet = opt_common_values.quiet;
	if (options.samples.page != NULL)
		how->on_refused = on_refused;
	how->arg = &refusals;
	submit_new(&submit, how);
	status = options.from_stdin ? emit_lines(submit, &compose)
		 : has_samples(&options)
		     ? emit_samples(&options, submit, &compose, &refusals)
		     : emit_one(&options, submit, &compose, &operands);
	submit_free(&submit);
	return status;
}
