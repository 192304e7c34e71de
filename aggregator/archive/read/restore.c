/*
 * restore - make a store of what the archive has.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/restore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/archive/commits.h"
#include "aggregator/archive/kept.h"
#include "aggregator/archive/read/read_private.h"
#include "aggregator/archive/read/restore_rows.h"
#include "aggregator/archive/rows/common.h"
#include "aggregator/archive/schema/archive_id.h"
#include "aggregator/journal/journal.h"
#include "aggregator/tables/stream_row.h"
#include "proto/config/instance.h"

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
find_first_new(struct restore_place *place)
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
restore_place(struct restore_place *place, const char *dir, struct err *err)
{
	*place = (struct restore_place){ .made = "" };
	if (durable_dir_with_suffix(place->dir, dir, "", err) != 0 ||
	    durable_dir_with_suffix(place->copy, dir, ".restoring", err) != 0)
		return -1;
	if (!durable_dir_is_empty(dir))
		return err_set(err, "%s exists: give another directory", dir);
	find_first_new(place);
	/* With its parents; it is empty, so the rename replaces it. */
	if (instance_make_dir(place->dir, err) == 0)
		return 0;
	restore_give_up(place);
	return -1;
}

void
restore_give_up(const struct restore_place *place)
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
restore_install(const struct restore_place *place, struct err *err)
{
	return durable_dir_rename(place->copy, place->dir, err);
}

/* ---- streams, origin ---- */

static int
put_stream(struct db_txn *txn, struct journal *journal, struct text key,
    struct text value, struct err *err)
{
	struct session_id session;
	struct stream_row row;
	struct journal_stream stream;
	struct text partition;
	uint32_t number;

	if (!stream_row_get_key(key, &number, &session) ||
	    !stream_row_decode(value, &row) ||
	    !dictionary_text(txn, 0, number, &partition))
		return err_set(err, "archive: a malformed stream");
	/* What the numbers before its last one contain only the lost journal
	 * knew. */
	stream = (struct journal_stream){ .first_ns = row.receive_ns,
		.last_ns = row.receive_ns,
		.forgotten = row.hash != 0 ? row.last_seq - 1 : row.last_seq,
		.derived = row.derived,
		.owner = row.owner,
		.node = row.node };
	journal_stream_advance(
	    journal, &session, partition, &stream, row.last_seq, row.hash);
	journal_stream_put(journal, &session, partition, &stream);
	return 0;
}

static int
put_all(struct db_txn *txn, struct journal *journal, struct err *err)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_STREAMS);
	const struct text all = { NULL, 0 };
	struct text key, value;
	int rc = 0;

	for (bool more = db_seek(cursor, all, &key, &value); more && rc == 0;
	     more = db_next(cursor, &key, &value))
		rc = put_stream(txn, journal, key, value, err);
	db_cursor_close(&cursor);
	return rc;
}

static int
put_streams(struct db *tables, struct journal *journal, struct err *err)
{
	struct db_txn *txn;
	int rc;

	if (db_begin(tables, false, &txn, err) != 0)
		return -1;
	rc = journal_begin(journal, err);
	if (rc == 0) {
		rc = put_all(txn, journal, err);
		if (rc != 0)
			journal_abort(journal);
		else if (journal_commit(journal, err) != DB_OK)
			rc = -1;
	}
	db_abort(&txn);
	return rc;
}

/* Who takes over has all that was committed then. */
static void
put_origin(struct db_txn *txn, const struct commits_ends *ends)
{
	struct buffer value = { NULL, 0, 0 };

	for (uint32_t i = 0; i < ends->count; i++) {
		const struct commits_end *end = &ends->at[i];

		varint_put(&value, end->epoch);
		varint_put(
		    &value, pass_position(end->epoch, end->place.change));
	}
	db_put(txn, TABLES_META, text_of(FACT_ORIGIN), buffer_text(&value));
	buffer_clear(&value);
}

/* ---- the store ---- */

struct restore {
	const struct restore_options *options;
	struct archive_read *read;
	struct clickhouse *client; /* not owned */
	struct commits_ends ends;
	struct kept kept;
	int64_t kept_hour; /* all partitions may lack records before this */
	struct journal *journal;
	/* Rows that are not of the last commit, or of several stores, or not of
	 * all events. */
	bool is_ahead;
	bool is_behind;   /* ... and events to derive them from were deleted */
	uint64_t lacking; /* records that were counted */
	uint32_t lost;    /* partitions that are left out */
	uint64_t common;  /* hash of the models; 0: none yet */
	struct text common_of; /* the partition that had them */
	struct restore_rows rows;
};

static int
open_store(struct restore *restore, const char *copy, struct err *err)
{
	const struct journal_options journal = { .read_only = false };
	struct db_options tables = { .read_only = false };

	remove_store(copy);
	if (mkdir(copy, 0700) != 0)
		return err_set(err, "%s: %s", copy, strerror(errno));
	if (durable_dir_refuse_network(copy, err) != 0 ||
	    journal_open(&restore->journal, copy, &journal, err) != 0)
		return -1;
	return tables_open(&restore->rows.tables, copy, &tables, err);
}

/* What all partitions of a store share must be so of these. */
static int
check_common(struct restore *restore, struct text name, struct err *err)
{
	struct db_txn *txn;
	uint64_t hash;

	if (db_begin(restore->rows.tables, false, &txn, err) != 0)
		return -1;
	hash = common_hash(txn);
	db_abort(&txn);
	if (restore->common != 0 && restore->common != hash)
		return err_set(err,
		    "partitions %.*s and %.*s have different models, or hashes "
		    "of different keys: restore them one by one with -p",
		    (int)restore->common_of.bytes, restore->common_of.at,
		    (int)name.bytes, name.at);
	restore->common = hash;
	restore->common_of = name;
	return 0;
}

/* -1: records are lacking that the aggregator counted.  Counts that were sent
 * after the last commit are of records that are left out. */
static int
check_counts(struct restore *restore, const struct read_partition *of,
    uint32_t ahead, struct err *err)
{
	const struct restore_options *options = restore->options;

	if ((ahead >> SCHEMA_PARTITIONS & 1) != 0 ||
	    options->since_ns != INT64_MIN ||
	    kept_from(&restore->kept, of->part) != INT64_MIN)
		return 0;
	for (unsigned i = 0; i < ARCHIVE_KINDS; i++) {
		enum record_kind kind = archive_kinds[i];
		uint64_t found = restore->rows.found.records[kind];
		uint64_t counted = of->counts.records[kind];

		if (found >= counted)
			continue;
		err_set(err,
		    "archive: only %llu of %llu %s of %.*s are there: start "
		    "all "
		    "replicas and try again; if the rest is lost its store may "
		    "have it (poolscope archive verify --repair)",
		    (unsigned long long)found, (unsigned long long)counted,
		    typed_of_kind(kind)->name, (int)of->name.bytes,
		    of->name.at);
		if (options->on_lack == NULL)
			return -1;
		options->on_lack(err->text);
		restore->lacking += counted - found;
	}
	return 0;
}

/* Statistics are those of the newest store, test runs and events of all. */
static int
see_names(struct restore *restore, uint32_t number, struct err *err)
{
	const struct read_partition *of =
	    archive_read_partition(restore->read, number, err);

	if (of == NULL)
		return -1;
	restore->is_ahead |= names_were_made_again(of->names);
	return 0;
}

static int
restore_partition(struct restore *restore, uint32_t number, struct err *err)
{
	const struct read_partition *of = &restore->read->partition[number - 1];
	int64_t kept_hour = kept_from(&restore->kept, of->part);
	struct read_covered covered = { .part = of->part,
		.all = &restore->ends };
	uint32_t ahead = 0;
	int rc = read_covered_find(&covered, restore->client, err);

	if (kept_hour < restore->kept_hour)
		restore->kept_hour = kept_hour;
	restore->read->covered = &covered;
	if (rc == 0)
		rc = read_ahead(restore->read, &ahead, err);
	restore->is_ahead |= ahead != 0;
	if (rc == 0)
		rc = restore_rows(&restore->rows, number, err);
	if (rc == 0)
		rc = see_names(restore, number, err);
	restore->is_ahead |= expected_is_damaged(&of->expected);
	free(covered.ends.at);
	free(covered.last_seq);
	restore->read->covered = NULL;
	return rc == 0 && check_common(restore, of->name, err) == 0
		   ? check_counts(restore, of, ahead, err)
		   : -1;
}

/* 0: it is left out, and that was reported. */
static int
leave_lost(struct restore *restore, struct text name, struct err *err)
{
	(void)look_refuse(name, err);
	if (restore->options->on_lack == NULL)
		return -1;
	restore->options->on_lack(err->text);
	restore->lost++;
	return 0;
}

static int
restore_all(
    struct restore *restore, struct restore_report *report, struct err *err)
{
	const struct restore_options *options = restore->options;
	const struct archive_read *read = restore->read;

	for (uint32_t i = 0; i < read->partitions; i++) {
		const struct read_partition *of = &read->partition[i];

		if (options->pattern != NULL &&
		    !text_match_partition(text_of(options->pattern), of->name))
			continue;
		if (options->progress)
			fprintf(stderr, "\r%u of %u partitions, %llu records ",
			    i, read->partitions,
			    (unsigned long long)restore->rows.records);
		if ((of->is_lost ? leave_lost(restore, of->name, err)
				 : restore_partition(restore, i + 1, err)) != 0)
			return -1;
		report->partitions += !of->is_lost;
	}
	if (options->progress)
		fputc('\n', stderr);
	if (report->partitions == 0 && restore->lost > 0)
		return err_set(err,
		    "archive: no partition is left to restore: the rows of "
		    "%u were deleted or lost; see poolscope archive verify",
		    restore->lost);
	if (report->partitions == 0 && options->pattern == NULL)
		return err_set(err, "the archive is empty");
	if (report->partitions == 0)
		return err_set(err,
		    "no partition of the archive matches %.200s: poolscope "
		    "stats pools --connect lists them",
		    options->pattern);
	return 0;
}

/* What is missing on purpose was deleted; everything else is in the archive. */
static int
finish(struct restore *restore, struct err *err)
{
	int32_t from = restore->rows.from_hour;
	bool is_all = from == INT32_MIN;
	struct db_txn *txn;
	uint64_t id;

	/* Of hours before, rollups do without samples. */
	if (restore->kept_hour > from && restore->kept_hour <= INT32_MAX)
		from = (int32_t)restore->kept_hour;
	if (archive_id_read(restore->client, &id, err) != 0 ||
	    put_streams(restore->rows.tables, restore->journal, err) != 0 ||
	    db_begin(restore->rows.tables, true, &txn, err) != 0)
		return -1;
	if (from != INT32_MIN) {
		tables_put_fact(txn, FACT_RETAINED, varint_zigzag(from));
		tables_put_cut(txn, 0, from);
	}
	/* An aggregator was lost while it committed: what follows from events
	 * may be of more than there are; or of fewer, where a partition was
	 * made again.  Where events were deleted, only statistics can be made
	 * again. */
	restore->is_behind =
	    restore->is_ahead && !(is_all && kept_is_all(&restore->kept));
	if (restore->is_ahead)
		tables_put_fact(txn, FACT_REBUILD,
		    restore->is_behind ? REBUILD_SUMS : REBUILD_EVENTS);
	put_origin(txn, &restore->ends);
	tables_put_fact(txn, FACT_ROW, restore->rows.row);
	tables_put_fact(txn, FACT_RECORDS, restore->rows.records);
	tables_put_fact(txn, FACT_CHANGE, 1);
	tables_put_fact(txn, FACT_ARCHIVE, 1);
	tables_put_fact(txn, FACT_ARCHIVE_ID, id);
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

/* How far the epochs count is read first: who takes over has all of that. */
static int
make(struct restore *restore, const char *copy, struct restore_report *report,
    struct err *err)
{
	const struct archive_read_options how = { .clickhouse =
						      restore->options->archive,
		.option = "from",
		.on_lack = restore->options->on_lack };

	if (commits_read(&restore->ends, restore->client, err) != 0 ||
	    kept_read(&restore->kept, restore->client, err) != 0 ||
	    archive_read_new(&restore->read, &how, err) != 0)
		return -1;
	restore->rows.read = restore->read;
	return open_store(restore, copy, err) == 0 &&
		       restore_all(restore, report, err) == 0
		   ? finish(restore, err)
		   : -1;
}

int
restore_store(struct clickhouse *client, const char *copy,
    const struct restore_options *options, struct restore_report *report,
    struct err *err)
{
	struct restore restore = { .options = options,
		.client = client,
		.kept_hour = INT64_MAX,
		.rows = { .from_hour = options->since_ns == INT64_MIN
					   ? INT32_MIN
					   : key_hour(options->since_ns),
		    .last_ns = INT64_MIN } };
	int rc;

	*report = (struct restore_report){ .partitions = 0 };
	rc = make(&restore, copy, report, err);
	report->records = restore.rows.records;
	report->rows = restore.rows.rows;
	report->last_ns = restore.rows.last_ns;
	report->lacking = restore.lacking;
	report->is_behind = restore.is_behind;
	report->is_short = restore.lacking > 0 || restore.lost > 0;
	for (unsigned i = 0; restore.read != NULL && i < SCHEMA_TYPED; i++)
		report->is_short |= restore.read->fetch.is_reported[i];
	if (restore.read != NULL)
		archive_read_free(restore.read);
	db_close(&restore.rows.tables);
	journal_close(&restore.journal);
	free(restore.ends.at);
	kept_clear(&restore.kept);
	return rc;
}
