/*
 * poolscope-partitions - list the partitions of a store, and drop one.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/admin/confirm.h"
#include "aggregator/admin/partitions.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

struct values {
	const char *store, *routes;
	int64_t timeout_ns;
	struct answer_options answer;
	bool dry_run, yes;
};

static const struct values defaults = { .timeout_ns = 60 * NS_PER_SECOND };

static const struct opt options[] = {
	{ "store", 0, OPT_TEXT, OPT_TO(struct values, store), "DIR",
	    "the store (default: DIR/store)" },
	{ "routes", 0, OPT_TEXT, OPT_TO(struct values, routes), "FILE",
	    "list: the partition table of the brokers (default: "
	    "DIR/partitions)" },
	{ "timeout", 0, OPT_DURATION, OPT_TO(struct values, timeout_ns), "TIME",
	    "drop: give up if the store indexes nothing for this time "
	    "(default: 60s)" },
	{ "dry-run", 0, OPT_FLAG, OPT_TO(struct values, dry_run), NULL,
	    "drop: only print what would be dropped" },
	{ "yes", 0, OPT_FLAG, OPT_TO(struct values, yes), NULL,
	    "drop: do not ask; required without a terminal",
	    .flags = OPT_COMMAND },
	{ .name = NULL },
};

/* ---- verbs ---- */

static int
give_list(void *arg, struct answer *answer, struct err *err)
{
	const struct values *values = arg;

	return partitions_list(answer, values->store, values->routes, err);
}

enum { COUNTED_BYTES = 96 };

static const char *
counted(char to[static COUNTED_BYTES], const struct partition_counts *counts)
{
	uint64_t records = 0;

	for (int kind = 0; kind < RECORD_KINDS; kind++)
		records += counts->records[kind];
	snprintf(to, COUNTED_BYTES, "%" PRIu64 " records of %" PRIu64 " nodes",
	    records, counts->nodes);
	return to;
}

/* On a terminal, after a look at what there is. */
static int
confirm(const struct partitions_drop *drop, const char *name, struct err *err)
{
	struct partitions_drop look = *drop;
	char question[5 * NAME_BYTES_MAX], records[COUNTED_BYTES];
	struct partition_counts counts;

	look.dry_run = true;
	if (partitions_drop(&look, &counts, err) != 0)
		return -1;
	snprintf(question, sizeof(question), "Delete partition %s of %s: %s?",
	    name, drop->store, counted(records, &counts));
	return confirm_ask(question) ? 0 : err_set(err, "nothing was deleted");
}

static int
drop(const struct values *values, const char *partition, struct err *err)
{
	const struct partitions_drop how = { .store = values->store,
		.partition = text_of(partition),
		.timeout_ns = values->timeout_ns,
		.dry_run = values->dry_run };
	char name[4 * NAME_BYTES_MAX], records[COUNTED_BYTES];
	struct partition_counts counts;

	text_quote(name, sizeof(name), how.partition);
	if ((!values->yes && !values->dry_run &&
		confirm(&how, name, err) != 0) ||
	    partitions_drop(&how, &counts, err) != 0)
		return err_prefix(err, "partition %s", name);
	printf("partition %s %s dropped: %s\n", name,
	    values->dry_run ? "would be" : "was", counted(records, &counts));
	return 0;
}

/* Only a mistake has no '$': it is dropped by its plain name. */
static const char *
get_partition(char name[static INSTANCE_PATH_BYTES], const char *word)
{
	enum text_fault fault = text_check_name(text_of(word));
	struct err err = { 0 };

	if (fault != TEXT_OK)
		opt_usage("the partition %s", text_fault_words(fault));
	return instance_read_partition(name, word, &err) == 0 ? name : word;
}

static const struct opt_topic topics[] = {
	{ "list", "", "the partitions of a store, and where brokers send them",
	    "store routes format sort top columns table",
	    "poolscope partition list\n"
	    "poolscope partition list --format csv --table routes\n" },
	{ "drop", " PARTITION", "delete a partition",
	    "store timeout dry-run yes",
	    "poolscope partition drop --dry-run 'acct$pool'\n" },
	{ .word = NULL },
};

static bool
is_list(const struct opt_operands *operands)
{
	return strcmp(operands->at[0], "list") == 0;
}

static void
check_values(const struct values *values, const struct opt_operands *operands)
{
	if (is_list(operands)) {
		answer_options_judge(&values->answer, partitions_tables);
		return;
	}
	if (!values->yes && !values->dry_run && !confirm_can_ask())
		opt_usage("drop deletes all records of the partition; without "
			  "a terminal confirm it with --yes");
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { options, values },
		{ answer_options, &values->answer }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-partitions",
		.synopsis = "WHAT [options]",
		.summary = "the partitions of a store; WHAT is one of",
		.examples = "poolscope partition list\n"
			    "poolscope partition drop --dry-run 'acct$pool'\n",
		.tables = tables,
		.topics = topics,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	char store[INSTANCE_PATH_BYTES], routes[INSTANCE_PATH_BYTES];
	char name[INSTANCE_PATH_BYTES];
	struct opt_operands operands;
	struct err err = { 0 };
	int rc = 0;

	parse(&values, argc, argv, &operands);
	check_values(&values, &operands);
	if (values.store == NULL) {
		rc = instance_path(store, "store", &err);
		values.store = store;
	}
	if (rc == 0 && values.routes == NULL) {
		rc = instance_path(routes, "partitions", &err);
		values.routes = routes;
	}
	if (rc == 0 && is_list(&operands))
		rc = answer_run(&values.answer, partitions_tables, give_list,
		    &values, &err);
	else if (rc == 0)
		rc = drop(&values, get_partition(name, operands.at[1]), &err);
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
