/*
 * poolscope-partitions - list the partitions of a store, move and drop them.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/move/drop.h"
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
	bool cancel, dry_run;
};

static const struct values defaults = { .timeout_ns = 60 * NS_PER_SECOND };

enum { FORMAT_ROW = 4 };

static const struct opt options[] = {
	{ "store", 0, OPT_TEXT, OPT_TO(struct values, store), "DIR",
	    "the store to list, or the source of the move (default: DIR/store)",
	    NULL, false },
	{ "target", 0, OPT_TEXT, OPT_TO(struct values, to), "DIR",
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
	    "move, drop: give up if the source indexes nothing for this time "
	    "(default: 60s)",
	    NULL, false },
	{ "cancel", 0, OPT_FLAG, OPT_TO(struct values, cancel), NULL,
	    "move: cancel a move before it has assigned the partition to the "
	    "target",
	    NULL, false },
	{ "dry-run", 0, OPT_FLAG, OPT_TO(struct values, dry_run), NULL,
	    "drop: only print what would be dropped", NULL, false },
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

/* What is, or would be, deleted. */
static void
say_dropped(
    const char *how, const char *name, const struct partition_counts *counts)
{
	uint64_t records = 0;

	for (int kind = 0; kind < RECORD_KINDS; kind++)
		records += counts->records[kind];
	printf("partition %s%s: %" PRIu64 " records of %" PRIu64 " nodes\n",
	    name, how, records, counts->nodes);
}

static int
drop(const struct values *values, const char *partition, const char *store,
    struct err *err)
{
	const struct move_options how = { .from = store,
		.partition = text_of(partition),
		.timeout_ns = values->timeout_ns };
	char name[4 * NAME_BYTES_MAX];
	struct partition_counts counts;

	text_quote(name, sizeof(name), how.partition);
	if (move_drop(&how, values->dry_run, &counts, err) != 0)
		return err_prefix(err, "partition %s", name);
	say_dropped(values->dry_run ? " would be dropped" : " was dropped",
	    name, &counts);
	return 0;
}

/* Only a mistake has no '$': it is dropped by its plain name. */
static const char *
get_partition(const char *verb, const char *word)
{
	static char name[INSTANCE_PATH_BYTES];
	enum text_fault fault = text_check_name(text_of(word));
	struct err err = { 0 };

	if (fault != TEXT_OK)
		opt_usage("the partition %s", text_fault_words(fault));
	if (instance_read_partition(name, word, &err) == 0)
		return name;
	if (strcmp(verb, "drop") != 0)
		opt_usage("%s", err.text);
	return word;
}

static void
check_drop(const struct values *values)
{
	if (values->to != NULL || values->endpoint != NULL || values->cancel)
		opt_usage("--target, --endpoint and --cancel are for move");
}

static void
check_move(const struct values *values)
{
	if (values->dry_run)
		opt_usage("--dry-run is for drop");
	if (values->to == NULL)
		opt_usage("move needs a target: --target DIR");
	if (values->endpoint != NULL &&
	    text_check_name(text_of(values->endpoint)) != TEXT_OK)
		opt_usage("--endpoint %s", text_fault_words(text_check_name(
					       text_of(values->endpoint))));
}

static void
check_values(const struct values *values, const struct opt_operands *operands)
{
	const char *verb = operands->at[0];
	bool is_drop = strcmp(verb, "drop") == 0;

	if (!is_drop && strcmp(verb, "list") != 0 && strcmp(verb, "move") != 0)
		opt_refuse_word(verb, "list, move, drop");
	if (strcmp(verb, "list") == 0) {
		if (operands->count > 1 || values->to != NULL ||
		    values->dry_run)
			opt_usage("list takes no partition, no --target and no "
				  "--dry-run");
		return;
	}
	if (opt_origin(&options[FORMAT_ROW]) == OPT_COMMAND_LINE)
		opt_usage("--format does not apply to %s", verb);
	if (operands->count < 2)
		opt_usage("%s needs the name of a partition", verb);
	(is_drop ? check_drop : check_move)(values);
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
		    "list [options] | move PARTITION --target DIR [options] | "
		    "drop PARTITION [--dry-run] [options]",
		.summary = "list the partitions of a store, move one to "
			   "another store, or drop one",
		.examples = "poolscope partition list\n"
			    "poolscope partition drop --dry-run 'acct$pool'\n",
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
	const char *partition = NULL;
	struct opt_operands operands;
	struct err err = { 0 };
	int rc = 0;

	parse(&values, argc, argv, &operands);
	check_values(&values, &operands);
	if (operands.count > 1)
		partition = get_partition(operands.at[0], operands.at[1]);
	if (values.store == NULL) {
		rc = instance_path(store, "store", &err);
		values.store = store;
	}
	if (rc == 0 && values.table == NULL) {
		rc = instance_path(table, "partitions", &err);
		values.table = table;
	}
	if (rc == 0 && partition == NULL)
		rc = list(&values, values.store, values.table, &err);
	else if (rc == 0 && strcmp(operands.at[0], "drop") == 0)
		rc = drop(&values, partition, values.store, &err);
	else if (rc == 0)
		rc = move(&values, partition, values.store, values.table, &err);
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
