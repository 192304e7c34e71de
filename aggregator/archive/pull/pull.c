/*
 * pull - make a store of what the archive has.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pull/pull.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/archive/owners.h"
#include "aggregator/archive/pull/pull_origin.h"
#include "aggregator/archive/pull/pull_records.h"
#include "aggregator/archive/pull/pull_state.h"
#include "aggregator/archive/pull/pull_streams.h"
#include "aggregator/archive/schema/archive_id.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/tables.h"
#include "proto/config/instance.h"

enum { ATTEMPTS = 5 };

/* ---- the directory ---- */

static void
remove_store(const char *copy)
{
	static const char *const parts[] = { "journal", "tables" };
	char path[DURABLE_DIR_PATH_BYTES];

	for (int i = 0; i < 2; i++)
		if (durable_dir_path(path, copy, parts[i], NULL) == 0)
			durable_dir_remove(path, NULL);
	durable_dir_remove(copy, NULL);
}

/* The first component of the path that does not exist; "": all do. */
static void
find_first_new(struct pull_place *place)
{
	struct stat st;

	snprintf(place->made, sizeof(place->made), "%s", place->dir);
	for (char *at = place->made + 1;; at++) {
		char was = *at;

		if (was != '/' && was != '\0')
			continue;
		*at = '\0';
		if (lstat(place->made, &st) != 0)
			return;
		*at = was;
		if (was == '\0')
			break;
	}
	place->made[0] = '\0';
}

int
pull_place(struct pull_place *place, const char *dir, struct err *err)
{
	*place = (struct pull_place){ .made = "" };
	if (durable_dir_with_suffix(place->dir, dir, "", err) != 0 ||
	    durable_dir_with_suffix(place->copy, dir, ".restoring", err) != 0)
		return -1;
	if (!durable_dir_is_empty(dir))
		return err_set(err, "%s exists: give another directory", dir);
	find_first_new(place);
	/* With its parents; it is empty, so the rename replaces it. */
	if (instance_make_dir(place->dir, err) == 0)
		return 0;
	pull_give_up(place);
	return -1;
}

void
pull_give_up(const struct pull_place *place)
{
	char path[DURABLE_DIR_PATH_BYTES];
	size_t least = strlen(place->made);
	char *end;

	remove_store(place->copy);
	if (least == 0)
		return;
	memcpy(path, place->dir, sizeof(path));
	while (strlen(path) >= least && (rmdir(path) == 0 || errno == ENOENT) &&
	       (end = strrchr(path, '/')) != NULL && end != path)
		*end = '\0';
}

int
pull_install(const struct pull_place *place, struct err *err)
{
	return durable_dir_rename(place->copy, place->dir, err);
}

/* ---- the store ---- */

struct pull {
	struct clickhouse *client;
	const struct pull_options *options;
	struct epochs claims;
	struct db *tables;
	struct journal *journal;
	struct pull_into into;
};

static int
open_store(struct pull *pull, const char *copy, struct err *err)
{
	const struct journal_options journal = { .read_only = false };
	struct db_options tables = { .read_only = false };

	remove_store(copy);
	if (mkdir(copy, 0700) != 0)
		return err_set(err, "%s: %s", copy, strerror(errno));
	if (durable_dir_refuse_network(copy, err) != 0 ||
	    journal_open(&pull->journal, copy, &journal, err) != 0)
		return -1;
	return tables_open(&pull->tables, copy, &tables, err);
}

/* Row numbers of the archive's stores are not given again. */
static int
begin_rows(struct pull *pull, struct err *err)
{
	struct db_txn *txn;
	uint32_t row = 0;

	for (uint32_t i = 0; i < pull->claims.epochs; i++)
		if (pull->claims.epoch[i].row > row)
			row = pull->claims.epoch[i].row;
	if (db_begin(pull->tables, true, &txn, err) != 0)
		return -1;
	tables_put_fact(txn, FACT_ROW, row);
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

static int
add_name(struct pull *pull, const char *name, struct err *err)
{
	struct dictionary *dictionary = dictionary_new(DICTIONARY_MAX);
	struct db_txn *txn;
	int rc = db_begin(pull->tables, true, &txn, err);

	if (rc == 0) {
		dictionary_set_sender(dictionary, 0, text_of(""));
		pull->into.number =
		    dictionary_number(dictionary, txn, 0, text_of(name));
		rc = db_commit(&txn, err) == DB_OK ? 0 : -1;
	}
	dictionary_free(&dictionary);
	if (rc == 0 && pull->into.number == 0)
		return err_set(err, "a store has room for %d partitions",
		    DICTIONARY_PARTITIONS_MAX);
	return rc;
}

static bool
has_rows(const struct epochs_partition *partition)
{
	for (unsigned i = 0; i < partition->epochs; i++)
		if (partition->epoch[i].until > 0)
			return true;
	return false;
}

static int
read_partition(
    struct pull *pull, const struct epochs_partition *partition, struct err *err)
{
	char *where;
	int rc;

	if (add_name(pull, partition->name, err) != 0)
		return -1;
	where = epochs_sql(partition);
	pull->into.partition = partition;
	pull->into.where = where;
	pull->into.newest_row = 0;
	rc = pull_state(&pull->into, err);
	if (rc == 0)
		rc = pull_records(&pull->into, err);
	free(where);
	return rc;
}

static int
read_all(struct pull *pull, struct pull_report *report, struct err *err)
{
	int rc = begin_rows(pull, err);

	for (uint32_t i = 0; rc == 0 && i < pull->claims.partitions; i++) {
		const struct epochs_partition *partition =
		    &pull->claims.partition[i];

		if (!has_rows(partition))
			continue;
		if (pull->options->progress)
			fprintf(stderr, "\r%u of %u partitions, %llu records ",
			    i, pull->claims.partitions,
			    (unsigned long long)pull->into.records);
		rc = read_partition(pull, partition, err);
		report->partitions++;
	}
	if (pull->options->progress)
		fputc('\n', stderr);
	if (rc == 0 && report->partitions == 0)
		return err_set(err, pull->options->pattern == NULL
					? "the archive is empty"
					: "no partition of the archive "
					  "matches");
	return rc;
}

/* What is missing on purpose was deleted; everything else is in the archive. */
static int
finish(struct pull *pull, struct err *err)
{
	int32_t from = pull->into.from_hour;
	struct db_txn *txn;
	uint64_t id;

	if (archive_id_read(pull->client, &id, err) != 0 ||
	    pull_streams(pull->tables, pull->journal, err) != 0 ||
	    db_begin(pull->tables, true, &txn, err) != 0)
		return -1;
	if (from != INT32_MIN) {
		tables_put_fact(txn, FACT_RETAINED, varint_zigzag(from));
		tables_put_cut(txn, 0, from);
	}
	pull_origin_put(txn, &pull->claims);
	tables_put_fact(txn, FACT_CHANGE, 1);
	tables_put_fact(txn, FACT_ARCHIVE, 1);
	tables_put_fact(txn, FACT_ARCHIVE_ID, id);
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

/* 1: the archive has gone on. */
static int
attempt(struct pull *pull, const char *copy, struct pull_report *report,
    struct err *err)
{
	int64_t since = pull->options->since_ns;
	int rc;

	*report = (struct pull_report){ .partitions = 0 };
	pull->into = (struct pull_into){ .client = pull->client,
		.on_lack = pull->options->on_lack,
		.from_hour = since == INT64_MIN ? INT32_MIN : key_hour(since),
		.last_ns = INT64_MIN };
	rc = epochs_read(
	    &pull->claims, pull->client, pull->options->pattern, err);
	if (rc == 0)
		rc = open_store(pull, copy, err);
	pull->into.tables = pull->tables;
	if (rc == 0)
		rc = read_all(pull, report, err);
	if (rc == 0)
		rc = finish(pull, err);
	report->records = pull->into.records;
	report->rows = pull->into.rows;
	report->last_ns = pull->into.last_ns;
	buffer_clear(&pull->into.common);
	db_close(&pull->tables);
	journal_close(&pull->journal);
	epochs_clear(&pull->claims);
	return rc;
}

int
pull_store(struct clickhouse *client, const char *copy,
    const struct pull_options *options, struct pull_report *report,
    struct err *err)
{
	struct pull pull = { .client = client, .options = options };
	int rc = 1;

	for (int i = 0; rc > 0 && i < ATTEMPTS; i++)
		rc = attempt(&pull, copy, report, err);
	if (rc > 0)
		rc = err_set(err,
		    "the archive goes on faster than it can be read: give "
		    "fewer partitions with -p");
	return rc;
}
