/*
 * poolscope-import - imports data from older tools.
 *
 * Exit status 0 means that the aggregator has every row on its disk.
 * Importing the same file again is acknowledged and stores nothing.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/delivery/uplink_loop.h"
#include "agents/import/azure_table.h"
#include "agents/import/scanner/job.h"
#include "agents/import/send.h"
#include "proto/auth/client_key.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

static struct {
	const char *partition, *node;
	struct opt_list connect;
	struct client_key_values key;
	bool strict;
	int64_t timeout_ns;
	const char *job;
	uint64_t subsample, seed;
	const char *shown; /* source of rows that come from no file */
} options = { .timeout_ns = 60 * NS_PER_SECOND };

static const struct opt table[] = {
	{ "partition", 'p', OPT_TEXT, &options.partition, "NAME",
	    "import all rows into this partition, account$pool (required "
	    "except for "
	    "cascade)",
	    NULL, false },
	{ "node", 'n', OPT_TEXT, &options.node, "NAME",
	    "set the node that imports (default: the host name); testrun: the "
	    "node of the events",
	    NULL, false },
	{ "connect", 0, OPT_LIST, &options.connect, "ENDPOINT",
	    "send to this broker (default: ipc://DIR/run/broker.ipc); repeat "
	    "for failover, in order",
	    NULL, false },
	{ "key", 0, OPT_TEXT, &options.key.key, "FILE",
	    "use this key for a TCP broker (default: DIR/keys/agent.key)", NULL,
	    false },
	{ "insecure", 0, OPT_FLAG, &options.key.insecure, NULL,
	    "connect to a TCP broker without a key, unencrypted", NULL, false },
	{ "strict", 0, OPT_FLAG, &options.strict, NULL,
	    "import nothing if any input is invalid", NULL, false },
	{ "timeout", 0, OPT_DURATION, &options.timeout_ns, "DURATION",
	    "fail after this long without progress (default: 60s)", NULL,
	    false },
	{ "job", 0, OPT_TEXT, &options.job, "ID|NAME",
	    "scanner: import this job of the database", NULL, false },
	{ "subsample", 0, OPT_COUNT, &options.subsample, "K",
	    "scanner: import only K workers, chosen at random", NULL, false },
	{ "seed", 0, OPT_COUNT, &options.seed, "S",
	    "scanner: set the seed of that choice (default: 0)", NULL, false },
	{ 0 },
};
static const struct opt_table tables[] = { { table, NULL },
	{ opt_common, NULL }, { NULL, NULL } };
static const struct opt_program program = {
	.name = "poolscope-import",
	.synopsis = "[options] cascade|emits|perf FILE... | scanner DBDIR | "
		    "testrun DIR... | azure-table NAME",
	.summary = "import data from older tools",
	.tables = tables,
	.operands_min = 2,
	.operands_max = 65535,
};

static enum import_kind
get_kind(const char *word)
{
	static const char *const words[] = {
		[IMPORT_CASCADE] = "cascade",
		[IMPORT_EMITS] = "emits",
		[IMPORT_PERF] = "perf",
		[IMPORT_SCANNER] = "scanner",
		[IMPORT_TESTRUN] = "testrun",
	};
	static const char *const rows[] = {
		[IMPORT_EMITS] = "emits",
		[IMPORT_PERF] = "reports",
		[IMPORT_SCANNER] = "profiles",
		[IMPORT_TESTRUN] = "test runs",
	};
	size_t kind = 0;

	if (strcmp(word, "azure-table") == 0)
		word = words[IMPORT_CASCADE]; /* its rows are the same */
	while (kind < sizeof(words) / sizeof(*words) &&
	       strcmp(word, words[kind]) != 0)
		kind++;
	if (kind == sizeof(words) / sizeof(*words))
		opt_usage(
		    "the kind of input must be \"cascade\", \"emits\", "
		    "\"perf\", \"scanner\", \"testrun\" or \"azure-table\"");
	if (kind != IMPORT_CASCADE && options.partition == NULL)
		opt_usage("%s have no partition of their own: --partition is "
			  "required",
		    rows[kind]);
	return (enum import_kind)kind;
}

/* The options of scanner apply only to it, and it needs --job. */
static void
check_scanner(const struct opt_operands *operands, bool is_scanner)
{
	static const char *const only[] = { "job", "subsample", "seed" };

	for (const struct opt *o = table; o->name != NULL && !is_scanner; o++)
		for (size_t i = 0; i < sizeof(only) / sizeof(*only); i++)
			if (strcmp(o->name, only[i]) == 0 &&
			    opt_origin(o) == OPT_COMMAND_LINE)
				opt_usage(
				    "--%s applies to scanner, not to %.64s",
				    o->name, operands->at[0]);
	if (!is_scanner)
		return;
	if (operands->count != 2)
		opt_usage("scanner takes one database directory");
	if (options.job == NULL || *options.job == '\0')
		opt_usage(
		    "scanner needs the job of the database: --job is missing");
}

static bool
is_table(const struct opt_operands *operands)
{
	return strcmp(operands->at[0], "azure-table") == 0;
}

/* Usage errors that the option table cannot detect. */
static void
check_usage(const struct opt_operands *operands, enum import_kind kind)
{
	char name[INSTANCE_PATH_BYTES];
	const char *why;
	struct err err = { 0 };
	uint32_t from_stdin = 0;

	if (options.partition != NULL &&
	    instance_partition(name, options.partition, &why, &err) != 0)
		opt_usage("%s", err.text);
	if (is_table(operands) &&
	    (operands->count != 2 || options.partition == NULL))
		opt_usage("azure-table takes one table and one --partition");
	if (options.timeout_ns <= 0)
		opt_usage("--timeout must be above 0");
	if (broker_link_check(&options.connect, &err) != 0)
		opt_usage("--connect: %s", err.text);
	for (uint32_t i = 1; i < operands->count; i++)
		from_stdin += strcmp(operands->at[i], "-") == 0;
	if (from_stdin > 0 && kind == IMPORT_TESTRUN)
		opt_usage("testrun takes directories, not standard input");
	if (from_stdin > 1 ||
	    (from_stdin == 1 && options.strict && operands->count > 2))
		opt_usage("standard input can be read only once");
}

/* The pool and node of rows that do not name them. */
static struct text
get_rows_node(void)
{
	return text_of(
	    options.node != NULL ? options.node : IMPORT_TESTRUN_NODE);
}

static int
open_rows(struct import_rows *rows, enum import_kind kind, const char *path,
    struct err *err)
{
	if (import_rows_open(rows, kind, path, get_rows_node(), err) != 0)
		return -1;
	if (options.shown != NULL)
		rows->name = rows->file[0].name = options.shown;
	return 0;
}

/* With --strict every file is read completely before the first row is sent. */
static int
check_all(
    const struct opt_operands *operands, enum import_kind kind, struct err *err)
{
	for (uint32_t i = 1; i < operands->count; i++) {
		struct import_source source;
		struct import_rows rows;
		int rc;

		if (strcmp(operands->at[i], "-") == 0)
			continue; /* checked after the download */
		if (open_rows(&rows, kind, operands->at[i], err) != 0)
			return -1;
		source = import_rows_source(&rows);
		rc = import_check(&source, err);
		import_rows_close(&rows);
		if (rc != 0)
			return -1;
	}
	return 0;
}

static int
import_one(const char *path, enum import_kind kind,
    const struct import_options *how, struct uplink_loop *line,
    struct import_result *result, struct err *err)
{
	struct import_source source;
	struct import_rows rows;
	int rc = 0;

	if (open_rows(&rows, kind, path, err) != 0)
		return -1;
	source = import_rows_source(&rows);
	if (options.strict && strcmp(path, "-") == 0)
		rc = import_check(&source, err);
	if (rc == 0)
		rc = import_send(&source, how, line, result, err);
	import_rows_close(&rows);
	return rc;
}

static int
import_files(const struct opt_operands *operands, enum import_kind kind,
    const struct import_options *how, struct import_result *result,
    struct err *err)
{
	struct uplink_loop line;
	int rc = 0;

	if (options.strict && check_all(operands, kind, err) != 0) {
		log_fail(err);
		return err_set(err, "nothing was imported (--strict)");
	}
	rc = uplink_loop_open(&line, &options.connect, &options.key, err);
	for (uint32_t i = 1; rc == 0 && i < operands->count; i++)
		rc = import_one(operands->at[i], kind, how, &line, result, err);
	uplink_loop_close(&line);
	return rc;
}

static int
import_job(const char *db, const struct import_options *how,
    struct import_result *result, struct err *err)
{
	const struct import_scanner_options which = { options.job,
		options.subsample, options.seed };
	struct uplink_loop line = { .loop = NULL };
	struct import_scanner *scanner = NULL;
	struct import_source source;
	int rc = import_scanner_open(&scanner, db, &which, err);

	if (rc == 0 && options.strict && import_scanner_bad(scanner) > 0)
		rc = err_set(err, "nothing was imported (--strict)");
	if (rc == 0)
		rc = uplink_loop_open(
		    &line, &options.connect, &options.key, err);
	if (rc == 0) {
		source = import_scanner_source(scanner);
		rc = import_send(&source, how, &line, result, err);
		result->bad += import_scanner_bad(scanner);
	}
	uplink_loop_close(&line);
	import_scanner_close(&scanner);
	return rc;
}

/* All input is read in the sandbox; a table after its download, which another
 * program performs. */
static void
enter_sandbox(const struct opt_operands *operands)
{
	struct sandbox sandbox;

	sandbox_begin(&sandbox);
	sandbox_sockets();
	for (uint32_t i = 1; i < operands->count; i++)
		import_file_sandbox(&sandbox, operands->at[i]);
	sandbox_read_or(&sandbox, options.key.key, "keys/agent.key");
	sandbox_close(&sandbox, false);
}

/* Read the rows of a table as if from a file. */
static int
import_table(struct opt_operands *operands, const struct import_options *how,
    struct import_result *result, struct err *err)
{
	static char shown[128], path[64];
	char *argv[] = { operands->at[0], path };
	struct opt_operands file = { argv, 2 };
	int fd = import_azure_table_fetch(
	    operands->at[1], options.partition, opt_common_values.quiet, err);
	int rc;

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(shown, sizeof(shown), "azure-table:%s", operands->at[1]);
	options.shown = shown;
	enter_sandbox(&file);
	rc = import_files(&file, IMPORT_CASCADE, how, result, err);
	close(fd);
	return rc;
}

/* Print what was imported; returns the exit status. */
static int
say(enum import_kind kind, const struct import_result *result)
{
	static const char *const rows[] = {
		[IMPORT_CASCADE] = "events",
		[IMPORT_EMITS] = "events",
		[IMPORT_PERF] = "reports",
		[IMPORT_SCANNER] = "intervals",
		[IMPORT_TESTRUN] = "rows",
	};
	static const char *const bad[] = {
		[IMPORT_CASCADE] = "bad lines",
		[IMPORT_EMITS] = "bad lines",
		[IMPORT_PERF] = "bad reports",
		[IMPORT_SCANNER] = "damaged places",
		[IMPORT_TESTRUN] = "bad lines",
	};
	struct err err = { 0 };

	if (!opt_common_values.quiet)
		printf("%" PRIu64 " %s, %" PRIu64 " %s, %" PRIu64
		       " already there\n",
		    result->events, rows[kind], result->bad, bad[kind],
		    result->already);
	if (result->bad == 0)
		return EXIT_SUCCESS;
	err_set(&err, "%" PRIu64 " %s were left out", result->bad, bad[kind]);
	log_fail(&err);
	return EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
	static char node[INSTANCE_PATH_BYTES];
	struct import_result result = { 0, 0, 0 };
	struct import_options how = { .partition = { NULL, 0 } };
	struct opt_operands operands;
	enum import_kind kind;
	const char *why;
	struct err err = { 0 };
	int rc;

	opt_parse(&program, argc, argv, &operands);
	kind = get_kind(operands.at[0]);
	check_scanner(&operands, kind == IMPORT_SCANNER);
	check_usage(&operands, kind);
	if (instance_node(node, options.node, &why, &err) != 0)
		opt_usage("%s", err.text);
	how.partition = text_of(options.partition);
	how.node = text_of(node);
	how.timeout_ns = options.timeout_ns;
	how.progress = !opt_common_values.quiet && progress_is_wanted();
	if (is_table(&operands)) {
		rc = import_table(&operands, &how, &result, &err);
	} else {
		enter_sandbox(&operands);
		rc = kind == IMPORT_SCANNER
			 ? import_job(operands.at[1], &how, &result, &err)
			 : import_files(&operands, kind, &how, &result, &err);
	}
	if (rc != 0) {
		log_fail(&err);
		return EXIT_FAILURE;
	}
	return say(kind, &result);
}
