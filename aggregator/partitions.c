/*
 * poolscope-partitions - list the partitions of a store and move them.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "aggregator/move/list.h"
#include "aggregator/move/move.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

struct values {
	const char *store, *to, *endpoint, *table;
	int64_t timeout_ns;
	int format;
	bool cancel;
};

static const struct values defaults = { .timeout_ns = 60 * NS_PER_SECOND };

enum { FORMAT_ROW = 4 };

static const struct opt options[] = {
	{ "store", 0, OPT_TEXT, OPT_TO(struct values, store), "DIR",
	    "the store to list, or the source of the move (default: DIR/store)",
	    NULL, false },
	{ "to", 0, OPT_TEXT, OPT_TO(struct values, to), "DIR",
	    "move: the target store; created if it does not exist", NULL,
	    false },
	{ "endpoint", 0, OPT_TEXT, OPT_TO(struct values, endpoint), "ENDPOINT",
	    "move: write this endpoint of the target's aggregator to the "
	    "partition table (default: leave the table unchanged)",
	    NULL, false },
	{ "table", 0, OPT_TEXT, OPT_TO(struct values, table), "FILE",
	    "the partition table of the brokers (default: DIR/partitions)",
	    NULL, false },
	[FORMAT_ROW] = { "format", 0, OPT_CHOICE, OPT_TO(struct values, format),
	    "FORMAT", "list: print a table (default), json, jsonl or csv",
	    "table|json|jsonl|csv", false },
	{ "timeout", 0, OPT_DURATION, OPT_TO(struct values, timeout_ns), "TIME",
	    "move: give up if the source indexes nothing for this time "
	    "(default: 60s)",
	    NULL, false },
	{ "cancel", 0, OPT_FLAG, OPT_TO(struct values, cancel), NULL,
	    "move: cancel a move before it has assigned the partition to the "
	    "target",
	    NULL, false },
	{ .name = NULL },
};

/* ---- verbs ---- */

static int
list(const struct values *values, const char *store, const char *table,
    struct err *err)
{
	struct output output;
	int rc;

	if (output_open(&output, "-", err) != 0)
		return -1;
	rc = partitions_list(
	    (enum report_format)values->format, output.file, store, table, err);
	if (rc == 0)
		return output_commit(&output, err);
	output_abort(&output);
	return rc;
}

static int
move(const struct values *values, const char *partition, const char *store,
    const char *table, struct err *err)
{
	const struct move_options how = { .from = store,
		.to = values->to,
		.partition = text_of(partition),
		.endpoint = values->endpoint,
		.table = table,
		.timeout_ns = values->timeout_ns };
	char name[4 * NAME_BYTES_MAX];

	text_quote(name, sizeof(name), how.partition);
	if ((values->cancel ? move_cancel : move_partition)(&how, err) != 0)
		return err_prefix(err, "partition %s", name);
	if (values->cancel)
		log_info("partition %s stays in %s", name, store);
	else
		log_info("partition %s is in %s", name, values->to);
	return 0;
}

static void
check_values(const struct values *values, const struct opt_operands *operands)
{
	const char *verb = operands->at[0];
	enum text_fault fault;

	if (strcmp(verb, "list") != 0 && strcmp(verb, "move") != 0)
		opt_usage("unknown verb %s; use list or move", verb);
	if (strcmp(verb, "list") == 0) {
		if (operands->count > 1 || values->to != NULL)
			opt_usage("list takes no partition and no --to");
		return;
	}
	if (opt_origin(&options[FORMAT_ROW]) == OPT_COMMAND_LINE)
		opt_usage("--format does not apply to move");
	if (operands->count < 2)
		opt_usage("move needs the name of a partition");
	fault = text_check_name(text_of(operands->at[1]));
	if (fault != TEXT_OK)
		opt_usage("the partition %s", text_fault_words(fault));
	if (values->to == NULL)
		opt_usage("move needs a target: --to DIR");
	if (values->endpoint != NULL &&
	    text_check_name(text_of(values->endpoint)) != TEXT_OK)
		opt_usage("--endpoint %s", text_fault_words(text_check_name(
					       text_of(values->endpoint))));
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { options, values },
		{ opt_common, NULL }, { NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-partitions",
		.synopsis =
		    "list [options] | move PARTITION --to DIR [options]",
		.summary = "list the partitions of a store, and move one to "
			   "another store",
		.examples = "poolscope partition list\n"
			    "poolscope partition move 'acct$pool' --to "
			    "/srv/other/store\n",
		.tables = tables,
		.operands_min = 1,
		.operands_max = 2,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	char store[INSTANCE_PATH_BYTES], table[INSTANCE_PATH_BYTES];
	struct opt_operands operands;
	struct err err = { 0 };
	int rc = 0;

	parse(&values, argc, argv, &operands);
	check_values(&values, &operands);
	if (values.store == NULL) {
		rc = instance_path(store, "store", &err);
		values.store = store;
	}
	if (rc == 0 && values.table == NULL) {
		rc = instance_path(table, "partitions", &err);
		values.table = table;
	}
	if (rc == 0 && operands.count == 1)
		rc = list(&values, values.store, values.table, &err);
	else if (rc == 0)
		rc = move(
		    &values, operands.at[1], values.store, values.table, &err);
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
