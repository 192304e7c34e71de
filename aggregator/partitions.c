/*
 * poolscope-partitions - which store keeps which partition, and moves one.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/admin_private.h"
#include "aggregator/move.h"
#include "aggregator/names.h"
#include "aggregator/owner.h"
#include "proto/clock.h"
#include "proto/instance.h"
#include "proto/log.h"
#include "proto/opt.h"
#include "proto/partitions.h"

static struct {
	const char *store, *to, *endpoint, *table;
	int64_t timeout_ns;
	bool cancel;
} values = { .timeout_ns = 60 * NS_PER_SECOND };

static const struct opt options[] = {
	{ "store", 0, OPT_TEXT, &values.store, "DIR",
	    "the store that is asked, or that gives; default store in the "
	    "instance",
	    NULL, false },
	{ "to", 0, OPT_TEXT, &values.to, "DIR",
	    "move: the store that takes; made when it is not there", NULL,
	    false },
	{ "endpoint", 0, OPT_TEXT, &values.endpoint, "ENDPOINT",
	    "move: where brokers reach its aggregator; default: the table "
	    "stays",
	    NULL, false },
	{ "table", 0, OPT_TEXT, &values.table, "FILE",
	    "the brokers' table, default partitions in the instance", NULL,
	    false },
	{ "timeout", 0, OPT_DURATION, &values.timeout_ns, "TIME",
	    "move: how long the giving store may fold nothing; default 60s",
	    NULL, false },
	{ "cancel", 0, OPT_FLAG, &values.cancel, NULL,
	    "move: give up one that has begun and is not past its switch", NULL,
	    false },
	{ .name = NULL },
};

static const struct opt *const tables[] = { options, opt_common, NULL };

static const struct opt_program program = {
	.name = "poolscope-partitions",
	.synopsis = "list [options] | move PARTITION --to DIR [options]",
	.summary = "say which store keeps which partition, and move one",
	.tables = tables,
	.operands_min = 1,
	.operands_max = 2,
};

/* ---- list ---- */

struct listing {
	struct db_txn *names; /* of the tables */
};

static void
print_owner(void *arg, struct text partition, const struct owner *owner)
{
	const struct listing *listing = arg;
	char name[4 * NAME_BYTES_MAX];
	char when[CLOCK_TEXT_BYTES];
	struct partition_counts counts = { .nodes = 0 };
	uint32_t number = names_find(listing->names, 0, partition);
	uint64_t records = 0;

	if (number != 0)
		tables_get_counts(listing->names, number, &counts);
	for (int kind = 0; number != 0 && kind < RECORD_KINDS; kind++)
		records += counts.records[kind];
	printf("%-30s  %-6s  %12" PRIu64 "  %-20s  %s%s\n",
	    text_quote(name, sizeof(name), partition), owner_word(owner->state),
	    records, clock_text(when, owner->since_ns, 0),
	    owner->state == OWNER_OWN ? "" : owner->place,
	    owner->state == OWNER_GONE && !owner->tidied ? " (to be tidied)"
							 : "");
}

static int
list_store(const char *store, struct err *err)
{
	struct admin_both both;
	struct listing listing;
	struct db_txn *journal;
	int rc;

	if (admin_both_open(&both, store, true, err) != 0)
		return -1;
	rc = db_begin(both.tables, false, &listing.names, err);
	if (rc == 0) {
		rc = db_begin(journal_db(both.journal), false, &journal, err);
		if (rc == 0) {
			printf("%-30s  %-6s  %12s  %-20s  %s\n", "PARTITION",
			    "STATE", "RECORDS", "SINCE", "STORE");
			owner_each(journal, print_owner, &listing);
			db_abort(&journal);
		}
		db_abort(&listing.names);
	}
	admin_both_close(&both);
	return rc;
}

static int
list_table(const char *path, struct err *err)
{
	struct partitions *table = malloc(sizeof(*table));
	char pattern[4 * NAME_BYTES_MAX], endpoint[4 * NAME_BYTES_MAX];

	if (table == NULL)
		abort();
	if (partitions_read(table, path, err) != 0) {
		free(table);
		return -1;
	}
	if (table->version > 0)
		printf("\nversion %" PRIu64 " of %s\n", table->version, path);
	for (uint32_t i = 0; i < table->count; i++)
		printf("%-30s  %s\n",
		    text_quote(pattern, sizeof(pattern), table->row[i].pattern),
		    text_quote(
			endpoint, sizeof(endpoint), table->row[i].endpoint));
	partitions_clear(table);
	free(table);
	return 0;
}

/* ---- verbs ---- */

static int
list(const char *store, const char *table, struct err *err)
{
	if (list_store(store, err) != 0 || list_table(table, err) != 0)
		return -1;
	if (fflush(stdout) != 0)
		return err_set(err, "standard output cannot be written");
	return 0;
}

static int
move(const char *partition, const char *store, const char *table,
    struct err *err)
{
	const struct move_options how = { .from = store,
		.to = values.to,
		.partition = text_of(partition),
		.endpoint = values.endpoint,
		.table = table,
		.timeout_ns = values.timeout_ns };
	char name[4 * NAME_BYTES_MAX];

	text_quote(name, sizeof(name), how.partition);
	if ((values.cancel ? move_cancel : move_partition)(&how, err) != 0)
		return err_prefix(err, "partition %s", name);
	if (values.cancel)
		log_info("partition %s stays in %s", name, store);
	else
		log_info("partition %s is in %s", name, values.to);
	return 0;
}

static void
check_values(const struct opt_operands *operands)
{
	const char *verb = operands->at[0];
	enum text_fault fault;

	if (strcmp(verb, "list") != 0 && strcmp(verb, "move") != 0)
		opt_usage("%s is neither list nor move", verb);
	if (strcmp(verb, "list") == 0) {
		if (operands->count > 1 || values.to != NULL)
			opt_usage("list takes no partition and no --to");
		return;
	}
	if (operands->count < 2)
		opt_usage("move which partition?");
	fault = text_check_name(text_of(operands->at[1]));
	if (fault != TEXT_OK)
		opt_usage("the partition %s", text_fault_words(fault));
	if (values.to == NULL)
		opt_usage("move where? --to DIR");
	if (values.endpoint != NULL &&
	    text_check_name(text_of(values.endpoint)) != TEXT_OK)
		opt_usage("--endpoint %s", text_fault_words(text_check_name(
					       text_of(values.endpoint))));
}

int
main(int argc, char **argv)
{
	char store[INSTANCE_PATH_BYTES], table[INSTANCE_PATH_BYTES];
	struct opt_operands operands;
	struct err err = { "" };
	int rc = 0;

	opt_parse(&program, argc, argv, &operands);
	check_values(&operands);
	if (values.store == NULL) {
		rc = instance_path(store, "store", &err);
		values.store = store;
	}
	if (rc == 0 && values.table == NULL) {
		rc = instance_path(table, "partitions", &err);
		values.table = table;
	}
	if (rc == 0 && operands.count == 1)
		rc = list(values.store, values.table, &err);
	else if (rc == 0)
		rc = move(operands.at[1], values.store, values.table, &err);
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
