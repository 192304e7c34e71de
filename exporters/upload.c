/*
 * poolscope-upload - upload results, files, records and metrics to other
 * services.  poolscope-upload(1).
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/upload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/source/select_options.h"
#include "exporters/source/source.h"
#include "exporters/upload/metrics.h"
#include "exporters/upload/record_commands.h"
#include "exporters/upload/records.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

static const struct opt options[] = {
	{ "target", 0, OPT_LIST, OPT_TO(struct upload_values, targets),
	    "TARGET", "upload to this target (scheme:rest); may be repeated",
	    NULL, false },
	{ "broker", 0, OPT_LIST, OPT_TO(struct upload_values, broker),
	    "ENDPOINT",
	    "send records of uploads to this broker (default: "
	    "ipc://DIR/run/broker.ipc); may be repeated for failover",
	    NULL, false },
	{ .name = NULL },
};

static const struct opt range_options[] = {
	NODE_OPTION(struct upload_values, node),
	{ "from", 0, OPT_TEXT, OPT_TO(struct upload_values, from), "TIME",
	    "upload only records from this time on: -1h, 2026-11-20T10:00:00Z, "
	    "epoch seconds",
	    NULL, false },
	{ "to", 0, OPT_TEXT, OPT_TO(struct upload_values, to), "TIME",
	    "upload only records before this time", NULL, false },
	{ .name = NULL },
};

static const struct upload_command *const commands[] = {
	&upload_results, /**/
	&upload_file,    /**/
	&upload_metrics, /**/
	&upload_samples, /**/
	&upload_events,
};

#define ALL                                                                    \
	"partition configdir credentials config-json pool target broker "      \
	"cacert retry-time dry-run "
#define RANGE ALL "node from to "
static const struct opt_topic topics[] = {
	{ "results", "", "files of benchmark results",
	    ALL "datadir archivedir settle strict refuse watch timeout",
	    "poolscope upload results -d results -a sent --target store\n" },
	{ "file", " FILE|-", "a file, or standard input", ALL,
	    "poolscope upload file report.json --target s3:bucket/r.json\n" },
	{ "metrics", "", "metrics of nodes, as a run of an experiment",
	    RANGE "style prefix step cpu-count param artifact",
	    "poolscope upload metrics --from -1h --target "
	    "mlflow:RUN\n" },
	{ "samples", "", "samples of metrics", RANGE "name follow cursor",
	    "poolscope upload samples --from -1h --target "
	    "influx:http://db:8428\n" },
	{ "events", "", "events", RANGE "name follow cursor",
	    "poolscope upload events --from -1h --target http:http://h/e\n" },
	{ .word = NULL },
};

/* The word is one of the topics. */
static const struct upload_command *
get_command(const char *word)
{
	uint32_t i = 0;

	while (strcmp(commands[i]->word, word) != 0)
		i++;
	return commands[i];
}

static void
take_time(const char *name, const char *word, int64_t *ns)
{
	struct err err;

	if (*word != '\0' &&
	    clock_parse_time(text_of(word), clock_wall_ns(), ns, &err) != 0)
		opt_usage("--%s: %s", name, err.text);
}

static void
enter_sandbox(const struct upload_values *upload,
    const struct upload_command *command, const struct opt_operands *operands)
{
	struct sandbox sandbox;

	sandbox_begin(&sandbox);
	http_sandbox(&sandbox, &upload->http);
	sandbox_read_or(&sandbox, upload->source.key.key, "keys/agent.key");
	command->allow_files(upload, &sandbox, operands);
	sandbox_close(&sandbox, false);
}

static void
parse(struct upload_values *upload, int argc, char **argv,
    struct opt_operands *operands)
{
	/* The options of the commands are inserted here. */
	const struct opt_table tables[] = { { pool_options, &upload->pool },
		{ options, upload }, { range_options, upload },
		{ upload_records_options, &upload->records },
		{ upload_results_options, &upload->results },
		{ upload_metrics_options, &upload->metrics },
		{ http_options, &upload->http },
		{ source_options, &upload->source }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-upload",
		.synopsis = "WHAT [options]",
		.summary = "upload results, files, records and metrics to "
			   "other services; WHAT is one of",
		.examples = "poolscope upload file report.json --target "
			    "s3:bucket/report.json\n"
			    "poolscope upload samples --from -1h --target "
			    "influx:http://db:8428\n",
		.tables = tables,
		.topics = topics,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct upload_values upload = upload_default;
	const struct upload_command *command;
	struct opt_operands operands;
	struct err err = { 0 };
	int status = EXIT_FAILURE;

	parse(&upload, argc, argv, &operands);
	command = get_command(operands.at[0]);
	if (upload.targets.count == 0)
		opt_usage("--target TARGET is required");
	operands.at++;
	operands.count--;
	node_option_check(&upload.node);
	take_time("from", upload.from, &upload.from_ns);
	take_time("to", upload.to, &upload.to_ns);
	time_options_check(upload.from_ns, upload.to_ns);
	/* Services get all times in UTC. */
	clock_set_zone("UTC", NULL);
	if (command->check != NULL)
		command->check(&upload, &operands);
	if (command == &upload_file ||
	    pool_partition(upload.partition, &upload.pool, &err) == 0) {
		enter_sandbox(&upload, command, &operands);
		status = command->run(&upload, &operands, &err);
	}
	if (err.code != ERR_NONE)
		log_fail(&err);
	return status;
}
