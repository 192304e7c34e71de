/*
 * poolscope-import - imports data from older tools, and dumps of stores.
 *
 * Exit status 0 means that the aggregator has every row on its disk.
 * Importing the same file again is acknowledged and stores nothing; of a file
 * that has grown, the aggregator keeps the new rows.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/delivery/uplink_loop.h"
#include "agents/import/formats/format.h"
#include "agents/import/formats/testrun.h"
#include "agents/import/send.h"
#include "proto/auth/client_key.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

struct options {
	const char *partition; /* NULL, or `name` once it is checked */
	char name[INSTANCE_PATH_BYTES];
	struct opt_list broker;
	struct client_key_values key;
	bool strict;
	int64_t timeout_ns;
	struct import_format_options input;
};

static const struct options defaults = { .timeout_ns = 60 * NS_PER_SECOND };

enum { TOPICS_MAX = 16 };

static const struct opt table[] = {
	{ "partition", 'p', OPT_TEXT, OPT_TO(struct options, partition), "NAME",
	    "import all rows into this partition, account$pool (required "
	    "except for cascade and records)" },
	{ "node", 'n', OPT_TEXT, OPT_TO(struct options, input.node), "NAME",
	    "set the node that imports (default: from the batch system or the "
	    "host name); testrun: the node of the events" },
	{ "broker", 0, OPT_LIST, OPT_TO(struct options, broker), "ENDPOINT",
	    "send to this broker (default: ipc://DIR/run/broker.ipc); repeat "
	    "for failover, in order" },
	{ "key", 0, OPT_TEXT, OPT_TO(struct options, key.key), "FILE",
	    "use this key for a TCP broker (default: DIR/keys/agent.key)" },
	{ "insecure", 0, OPT_FLAG, OPT_TO(struct options, key.insecure), NULL,
	    "connect to a TCP broker without a key, unencrypted" },
	{ "strict", 0, OPT_FLAG, OPT_TO(struct options, strict), NULL,
	    "import nothing if any input is invalid" },
	{ "timeout", 0, OPT_DURATION, OPT_TO(struct options, timeout_ns),
	    "DURATION",
	    "fail after this long without progress (default: 60s)" },
	{ "job", 0, OPT_TEXT, OPT_TO(struct options, input.job), "ID|NAME",
	    "scanner: import this job of the database" },
	{ "subsample", 0, OPT_COUNT, OPT_TO(struct options, input.subsample),
	    "K", "scanner: import only K workers, chosen at random" },
	{ "seed", 0, OPT_COUNT, OPT_TO(struct options, input.seed), "S",
	    "scanner: set the seed of that choice (default: 0)" },
	{ 0 },
};

static const struct import_format *
get_format(const struct options *options, const char *word)
{
	const struct import_format *format = import_format_find(word);

	if (format->without_partition != NULL && options->partition == NULL)
		opt_usage("%s have no partition of their own: --partition is "
			  "missing",
		    format->without_partition);
	return format;
}

static void
check_format(const struct import_format *format, const struct options *options)
{
	const char *wrong = NULL;

	if (format->check != NULL)
		wrong = format->check(&options->input);
	if (wrong != NULL)
		opt_usage("%s", wrong);
}

/* Usage errors that the option table cannot detect. */
static void
check_usage(struct options *options, const struct opt_operands *operands,
    const struct import_format *format)
{
	struct err err = { 0 };
	uint32_t from_stdin = 0;

	if (options->partition != NULL) {
		if (instance_read_partition(
			options->name, options->partition, &err) != 0)
			opt_usage("%s", err.text);
		options->partition = options->name;
	}
	if (options->timeout_ns <= 0)
		opt_usage("--timeout must be greater than 0");
	if (broker_link_check(&options->broker, &err) != 0)
		opt_usage("--broker: %s", err.text);
	for (uint32_t i = 1; i < operands->count; i++)
		from_stdin += strcmp(operands->at[i], "-") == 0;
	if (from_stdin > 0 && format->not_stdin != NULL)
		opt_usage("%s takes %s, not standard input", format->word,
		    format->not_stdin);
	if (from_stdin > 1 ||
	    (from_stdin == 1 && options->strict && operands->count > 2))
		opt_usage("standard input can be read only once");
}

/* With --strict every file is read completely before the first row is sent. */
static int
check_all(const struct options *options, const struct opt_operands *operands,
    const struct import_format *format, struct err *err)
{
	for (uint32_t i = 1; i < operands->count; i++) {
		struct import_source source;
		int rc;

		if (strcmp(operands->at[i], "-") == 0)
			continue; /* checked after the download */
		if (format->open(
			&source, operands->at[i], &options->input, err) != 0)
			return -1;
		rc = import_check(&source, err);
		import_source_close(&source);
		if (rc != 0)
			return -1;
	}
	return 0;
}

static int
import_one(const struct options *options, const char *path,
    const struct import_format *format, const struct import_options *how,
    struct uplink_loop *uplink, struct import_result *result, struct err *err)
{
	struct import_source source;
	int rc = 0;

	if (format->open(&source, path, &options->input, err) != 0)
		return -1;
	if (options->strict && strcmp(path, "-") == 0)
		rc = import_check(&source, err);
	if (rc == 0)
		rc = import_send(&source, how, uplink, result, err);
	import_source_close(&source);
	return rc;
}

static int
import_files(const struct options *options, const struct opt_operands *operands,
    const struct import_format *format, const struct import_options *how,
    struct import_result *result, struct err *err)
{
	struct uplink_loop uplink;
	int rc = 0;

	if (options->strict && check_all(options, operands, format, err) != 0) {
		log_fail(err);
		return err_set(err, "nothing was imported (--strict)");
	}
	rc = uplink_loop_open(&uplink, &options->broker, &options->key, err);
	for (uint32_t i = 1; rc == 0 && i < operands->count; i++)
		rc = import_one(options, operands->at[i], format, how, &uplink,
		    result, err);
	uplink_loop_close(&uplink);
	return rc;
}

/* Import what was checked when it was opened. */
static int
import_checked(const struct options *options, const char *path,
    const struct import_format *format, const struct import_options *how,
    struct import_result *result, struct err *err)
{
	struct uplink_loop uplink = { .loop = NULL };
	struct import_source source;
	int rc = 0;

	if (format->open(&source, path, &options->input, err) != 0)
		return -1;
	if (options->strict && source.bad > 0)
		rc = err_set(err, "nothing was imported (--strict)");
	if (rc == 0)
		rc = uplink_loop_open(
		    &uplink, &options->broker, &options->key, err);
	if (rc == 0)
		rc = import_send(&source, how, &uplink, result, err);
	uplink_loop_close(&uplink);
	result->bad += source.bad;
	import_source_close(&source);
	return rc;
}

/* Input is read in the sandbox.  A download is complete before: another
 * program performs it. */
static void
enter_sandbox(
    const struct options *options, const struct opt_operands *operands)
{
	struct sandbox sandbox;

	sandbox_begin(&sandbox);
	sandbox_sockets();
	for (uint32_t i = 1; i < operands->count; i++)
		import_file_sandbox(&sandbox, operands->at[i]);
	sandbox_read_or(&sandbox, options->key.key, "keys/agent.key");
	sandbox_close(&sandbox, false);
}

/* Read the rows of a download as if from a file. */
static int
import_download(struct options *options, struct opt_operands *operands,
    const struct import_format *format, const struct import_options *how,
    struct import_result *result, struct err *err)
{
	char shown[128], path[64];
	char *argv[] = { operands->at[0], path };
	struct opt_operands file = { argv, 2 };
	int fd = format->fetch(
	    operands->at[1], options->partition, opt_common_values.quiet, err);
	int rc;

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(shown, sizeof(shown), "%s:%s", format->word, operands->at[1]);
	options->input.name = shown;
	enter_sandbox(options, &file);
	rc = import_files(options, &file, format, how, result, err);
	close(fd);
	return rc;
}

static int
import(struct options *options, struct opt_operands *operands,
    const struct import_format *format, const struct import_options *how,
    struct import_result *result, struct err *err)
{
	if (format->fetch != NULL)
		return import_download(
		    options, operands, format, how, result, err);
	enter_sandbox(options, operands);
	if (format->is_checked_by_open)
		return import_checked(
		    options, operands->at[1], format, how, result, err);
	return import_files(options, operands, format, how, result, err);
}

/* Of "bad lines": without the last letter, if there is one of them. */
static int
word_bytes(const char *words, uint64_t count)
{
	return (int)strlen(words) - (count == 1);
}

/* Print what was imported; returns the exit status. */
static int
print_result(
    const struct import_format *format, const struct import_result *result)
{
	struct err err = { 0 };

	if (!opt_common_values.quiet) {
		printf("%" PRIu64 " %.*s, %" PRIu64 " %.*s", result->events,
		    word_bytes(format->rows, result->events), format->rows,
		    result->bad, word_bytes(format->bad_rows, result->bad),
		    format->bad_rows);
		if (result->already > 0)
			printf(", %" PRIu64 " already there", result->already);
		putchar('\n');
	}
	if (result->bad == 0)
		return EXIT_SUCCESS;
	err_set(&err, "%" PRIu64 " %.*s %s left out", result->bad,
	    word_bytes(format->bad_rows, result->bad), format->bad_rows,
	    result->bad == 1 ? "was" : "were");
	log_fail(&err);
	return EXIT_FAILURE;
}

/* Their texts live as long as the process, and so must what points to them. */
static struct opt_topic topics[TOPICS_MAX];

static void
make_topics(struct opt_topic to[static TOPICS_MAX])
{
	uint32_t count = 0;

	for (; import_formats[count] != NULL; count++)
		to[count] = (struct opt_topic){
			.word = import_formats[count]->word,
			.synopsis = import_formats[count]->operands,
			.summary = import_formats[count]->summary,
			.options = memory_format("partition node broker key "
						 "insecure strict timeout %s",
			    import_formats[count]->options),
		};
	to[count] = (struct opt_topic){ .word = NULL };
}

static void
parse(struct options *options, int argc, char **argv,
    struct opt_operands *operands)
{
	const struct opt_table tables[] = { { table, options },
		{ opt_common, NULL }, { NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-import",
		.synopsis = "WHAT [options]",
		.summary =
		    "import data from older tools, or a dump; WHAT is one "
		    "of",
		.examples =
		    "poolscope import cascade -p 'acct$pool' rows.jsonl\n"
		    "poolscope import records dump.jsonl\n"
		    "poolscope import testrun -p 'acct$farm' runs/\n",
		.tables = tables,
		.topics = topics,
	};

	make_topics(topics);
	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct options options = defaults;
	char node[INSTANCE_PATH_BYTES];
	struct import_result result = { 0, 0, 0 };
	struct import_options how = { .partition = { NULL, 0 } };
	struct opt_operands operands;
	const struct import_format *format;
	const char *why;
	struct err err = { 0 };
	int rc;

	parse(&options, argc, argv, &operands);
	format = get_format(&options, operands.at[0]);
	check_format(format, &options);
	check_usage(&options, &operands, format);
	if (instance_node(node, options.input.node, &why, &err) != 0)
		opt_usage("%s", err.text);
	how.partition = text_of(options.partition);
	/* The node of its rows imports: it is none of the pool. */
	how.node =
	    strcmp(format->word, "testrun") == 0 && options.input.node == NULL
		? text_of(IMPORT_TESTRUN_NODE)
		: text_of(node);
	how.timeout_ns = options.timeout_ns;
	how.once = !format->is_whole;
	how.progress = !opt_common_values.quiet && progress_is_wanted();
	rc = import(&options, &operands, format, &how, &result, &err);
	if (rc != 0)
		return log_fail(&err);
	return print_result(format, &result);
}
