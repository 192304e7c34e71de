/*
 * poolscope-upload - sends results, files, records and metrics to where they
 * are looked at.  poolscope-upload(1).
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/source.h"
#include "exporters/upload_metrics.h"
#include "exporters/upload_rows.h"
#include "proto/clock.h"
#include "proto/log.h"

struct upload_values upload_values = {
	.node = "", .from_ns = TIME_MIN_NS, .until_ns = TIME_MAX_NS
};

static const struct opt options[] = {
	{ "partition", 'p', OPT_TEXT, &upload_values.partition, "NAME",
	    "account$pool", NULL, false },
	{ "to", 0, OPT_LIST, &upload_values.to, "TARGET",
	    "where to: scheme:rest; may be repeated", NULL, true },
	{ "broker", 0, OPT_TEXT, &upload_values.connect, "ENDPOINT",
	    "where to keep what is kept (default: ipc://DIR/run/broker.ipc)",
	    NULL, false },
	{ .name = NULL },
};

static const struct opt range_options[] = {
	{ "node", 'n', OPT_TEXT, &upload_values.node, "PATTERN",
	    "only of nodes like this (* and ?)", NULL, false },
	{ "from", 0, OPT_TIME, &upload_values.from_ns, "TIME",
	    "only from then on: -1h, 2026-11-20T10:00:00Z, epoch seconds", NULL,
	    false },
	{ "until", 0, OPT_TIME, &upload_values.until_ns, "TIME", "only before",
	    NULL, false },
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

/* Those of the commands go between. */
static const struct opt *const tables[] = {
	options,                /**/
	range_options,          /**/
	upload_rows_options,    /**/
	upload_results_options, /**/
	upload_metrics_options, /**/
	http_options,           /**/
	source_options,         /**/
	opt_common,             /**/
	NULL,
};

static const struct opt_program program = {
	.name = "poolscope-upload",
	.synopsis =
	    "[options] results | file FILE | samples | events | metrics",
	.summary = "send results, files, records and metrics to other services",
	.tables = tables,
	.operands_min = 1,
	.operands_max = 64,
};

static const struct upload_command *
get_command(const char *word)
{
	uint32_t i = 0;

	while (commands[i] != NULL && strcmp(commands[i]->word, word) != 0)
		i++;
	if (commands[i] == NULL)
		opt_usage("'%.64s' is nothing to upload", word);
	return commands[i];
}

static void
refuse_options(const struct opt *table, const char *whose, const char *word)
{
	for (const struct opt *o = table; o != NULL && o->name != NULL; o++)
		if (opt_origin(o) == OPT_COMMAND_LINE)
			opt_usage(
			    "--%s is for %s, not for %s", o->name, whose, word);
}

/* An option of another command is a mistake. */
static void
check_options(const struct upload_command *command)
{
	for (uint32_t i = 0; commands[i] != NULL; i++)
		if (commands[i] != command &&
		    commands[i]->options != command->options)
			refuse_options(commands[i]->options, commands[i]->word,
			    command->word);
	if (!command->ranged)
		refuse_options(
		    range_options, "what has nodes and times", command->word);
}

int
main(int argc, char **argv)
{
	const struct upload_command *command;
	struct opt_operands operands;
	struct err err = { "" };
	int status;

	opt_parse(&program, argc, argv, &operands);
	command = get_command(operands.at[0]);
	operands.at++;
	operands.count--;
	if (operands.count < command->operands_min ||
	    operands.count > command->operands_max)
		opt_usage("%s %s", command->word, command->arguments);
	check_options(command);
	if (command->check != NULL)
		command->check(&operands);
	status = command->run(&operands, &err);
	if (err.text[0] != '\0')
		log_fail(&err);
	return status;
}
