/*
 * poolscope-upload - upload results, files, records and metrics to other
 * services.  poolscope-upload(1).
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/upload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/select/time_option.h"
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
	&upload_events,  /**/
	NULL,
};

static const struct upload_command *
get_command(const char *word)
{
	uint32_t i = 0;

	while (commands[i] != NULL && strcmp(commands[i]->word, word) != 0)
		i++;
	if (commands[i] == NULL)
		opt_refuse_word(
		    word, "results, file, metrics, samples, events");
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

/* Name several commands, as in "samples and events". */
static void
name_commands(char *to, size_t room, const struct opt *table)
{
	size_t used = 0;

	for (uint32_t i = 0; commands[i] != NULL; i++)
		if (commands[i]->options == table && used < room)
			used += (size_t)snprintf(to + used, room - used, "%s%s",
			    used > 0 ? " and " : "", commands[i]->word);
}

static void
refuse_options(const struct opt *table, const char *whose, const char *word)
{
	for (const struct opt *o = table; o != NULL && o->name != NULL; o++)
		if (opt_origin(o) == OPT_COMMAND_LINE)
			opt_usage("--%s applies to %s, not to %s", o->name,
			    whose, word);
}

/* Options of other commands are rejected. */
static void
check_options(const struct upload_command *command)
{
	char owners[80];

	for (uint32_t i = 0; commands[i] != NULL; i++) {
		if (commands[i]->options == command->options)
			continue;
		name_commands(owners, sizeof(owners), commands[i]->options);
		refuse_options(commands[i]->options, owners, command->word);
	}
	if (!command->ranged)
		refuse_options(range_options,
		    "commands that select records by node and time",
		    command->word);
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
		.synopsis = "[options] results | file FILE | samples | events "
			    "| metrics",
		.summary = "upload results, files, records and metrics to "
			   "other services",
		.examples = "poolscope upload file report.json --target "
			    "s3:bucket/report.json\n"
			    "poolscope upload samples --from -1h --target "
			    "influx:http://db:8428\n",
		.tables = tables,
		.operands_min = 1,
		.operands_max = 64,
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
	if (operands.count < command->operands_min ||
	    operands.count > command->operands_max)
		opt_usage("%s %s", command->word, command->arguments);
	check_options(command);
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
