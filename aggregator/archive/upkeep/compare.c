/*
 * compare - does each replica have what was committed?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/upkeep/compare.h"

#include <string.h>

#include "aggregator/archive/kept.h"
#include "aggregator/archive/partitions.h"
#include "aggregator/archive/question.h"
#include "aggregator/archive/read/expected.h"
#include "aggregator/archive/rows/typed.h"
#include "aggregator/archive/schema/archive_id.h"
#include "aggregator/archive/upkeep/repair.h"
#include "aggregator/marks/marks.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/tables.h"
#include "proto/os/log.h"

struct row {
	struct text partition, table, replica, state;
	int64_t hour;
	uint64_t shard, committed, archive;
};

static const struct answer_column columns[] = {
	{ "partition", "PARTITION", ANSWER_AT_TEXT(struct row, partition),
	    "account$pool" },
	{ "table", "TABLE", ANSWER_AT_TEXT(struct row, table),
	    "of the archive" },
	{ "hour", "HOUR", ANSWER_AT_TIME(struct row, hour),
	    "when it begins; none: all of them" },
	{ "shard", "SHARD", ANSWER_AT_COUNT(struct row, shard),
	    "its number, from 1 on" },
	{ "replica", "REPLICA", ANSWER_AT_TEXT(struct row, replica),
	    "the name of the server" },
	{ "committed", "COMMITTED", ANSWER_AT_COUNT(struct row, committed),
	    "rows that it must have" },
	{ "archive", "ARCHIVE", ANSWER_AT_COUNT(struct row, archive),
	    "rows that it has" },
	{ "state", "STATE", ANSWER_AT_TEXT(struct row, state),
	    "lacking: the store has them; waiting for the aggregator, which "
	    "sends them again; or lost: the store does not have them" },
	{ .key = NULL },
};

const struct answer_table compare_tables[] = { { "hours", columns },
	{ .name = NULL } };

struct compare {
	struct clickhouse *client;
	const struct clickhouse_cluster *cluster;
	struct db_txn *txn;
	struct answer *answer;
	struct kept kept; /* what the archive has not deleted */
	/* The partition. */
	uint64_t part;
	struct text name;
	uint32_t partition;   /* in the store; 0: it has none */
	struct repair repair; /* the hours that are lacking */
	bool has_other;       /* rows of other tables are lacking, too */
	bool is_other;        /* the store had another archive */
	uint64_t compared, lacking, lost, waiting;
};

/* ---- what the store has ---- */

/* The kind of the records of a table; RECORD_KINDS: they are none. */
static uint8_t
kind_of(uint32_t table)
{
	uint8_t kind = 0;

	while (kind < RECORD_KINDS &&
	       typed_of_kind((enum record_kind)kind) != &schema_tables[table])
		kind++;
	return kind;
}

static bool
has_hour(const struct compare *self, const struct key_row_block *of)
{
	const unsigned tables[] = { TABLES_ROW_BLOCKS, TABLES_CHUNKS };
	unsigned char front[KEY_ROW_BLOCK_BYTES];
	bool found = false;

	key_put_row_block(front, of);
	for (unsigned i = 0; i < 2; i++) {
		struct db_cursor *cursor = db_cursor_open(self->txn, tables[i]);
		struct text key;

		found |=
		    db_seek_key(cursor,
			(struct text){ (char *)front, KEY_HOUR_BYTES }, &key) &&
		    key.bytes >= KEY_HOUR_BYTES &&
		    memcmp(key.at, front, KEY_HOUR_BYTES) == 0;
		db_cursor_close(&cursor);
	}
	return found;
}

static const char *
lack_hour(struct compare *self, const struct key_row_block *of)
{
	const struct repair *repair = &self->repair;
	const struct key_row_block *last =
	    repair->hours > 0 ? &repair->hour[repair->hours - 1] : NULL;

	if (self->partition == 0 || !has_hour(self, of)) {
		self->lost++;
		return "lost";
	}
	if (marks_hold_records(self->txn, of)) {
		self->waiting++;
		return "waiting";
	}
	self->lacking++;
	if (last == NULL || last->partition != of->partition ||
	    last->kind != of->kind || last->hour != of->hour)
		repair_add(&self->repair, of);
	return "lacking";
}

/* A replica has fewer rows, or others. */
static void
put_lack(struct compare *self, const struct expected_rows *rows,
    const char *replica, uint64_t has)
{
	const struct key_row_block of = { .partition = self->partition,
		.kind = kind_of(rows->table),
		.hour = rows->hour,
		.first_ns = INT64_MIN };
	struct row row = { self->name, text_of(schema_tables[rows->table].name),
		text_of(replica), text_of("lacking"), ANSWER_NO_NS,
		rows->shard + 1, rows->rows, has };

	if (schema_is_by_hour(rows->table))
		row.hour = (int64_t)rows->hour * KEY_HOUR_NS;
	if (of.kind < RECORD_KINDS) {
		row.state = text_of(lack_hour(self, &of));
	} else if (self->partition == 0) {
		row.state = text_of("lost");
		self->lost++;
	} else {
		self->lacking++;
		self->has_other = true;
	}
	answer_row(self->answer, &row, NULL);
}

/* ---- what the archive has ---- */

static int
check_rows(struct compare *self, struct expected_rows *rows, struct err *err)
{
	const struct clickhouse_shard *shard =
	    &self->cluster->shard[rows->shard];

	for (unsigned r = 0; r < shard->replicas; r++) {
		uint64_t has;
		int rc = expected_is_there(
		    rows, self->client, self->part, r, &has, err);

		if (rc < 0)
			return -1;
		if (rc == 0)
			put_lack(self, rows, shard->replica[r].name, has);
	}
	return 0;
}

/* The events of a phase are on all shards: from those replicas that have most
 * of them. */
static int
check_phase(
    struct compare *self, const struct expected_rows *rows, struct err *err)
{
	uint64_t all = 0;

	for (unsigned s = 0; s < self->cluster->shards; s++) {
		uint64_t most = 0, has;

		for (unsigned r = 0; r < self->cluster->shard[s].replicas;
		     r++) {
			const struct question question = { self->client, s, r };

			if (question_numbers(&question, &has, 1, err,
				"SELECT count() FROM (SELECT DISTINCT %s FROM "
				"%s.phases WHERE part = %llu AND "
				"sipHash64(phase) = %llu AND form = %llu)",
				schema_tables[SCHEMA_PHASES].order,
				clickhouse_database(self->client),
				(unsigned long long)self->part,
				(unsigned long long)rows->name,
				(unsigned long long)rows->hash) != 0)
				return -1;
			if (has > most)
				most = has;
		}
		all += most;
	}
	if (all < rows->rows)
		put_lack(self, rows, "all", all);
	return 0;
}

static int
check_partition(
    struct compare *self, const struct partitions_item *of, struct err *err)
{
	struct expected expected = { .at = NULL };
	int rc = expected_read(&expected, self->client, of->part, err);

	self->part = of->part;
	self->name = text_of(of->name);
	self->partition = dictionary_find(self->txn, 0, self->name);
	for (uint32_t i = 0; rc == 0 && i < expected.count; i++) {
		struct expected_rows *rows = &expected.at[i];

		if (rows->table < SCHEMA_PHASES &&
		    rows->hour < kept_from(&self->kept, self->part))
			continue;
		self->compared++;
		rc = rows->table == SCHEMA_PHASES ? check_phase(self, rows, err)
						  : check_rows(self, rows, err);
	}
	expected_clear(&expected);
	return rc;
}

static int
check_all(struct compare *self, struct err *err)
{
	struct partitions partitions = { .at = NULL };
	int rc = partitions_read(&partitions, self->client, NULL, err);

	for (uint32_t i = 0; rc == 0 && i < partitions.count; i++)
		rc = check_partition(self, &partitions.at[i], err);
	partitions_clear(&partitions);
	return rc;
}

static int
compare_open(struct compare *self, struct db *db, struct err *err)
{
	int rc;

	if (db_begin(db, false, &self->txn, err) != 0)
		return -1;
	rc = check_all(self, err);
	db_abort(&self->txn);
	if (rc == 0)
		log_info("%llu hours of tables, and phases: %llu times a "
			 "replica is not equal, %llu times it waits for the "
			 "aggregator",
		    (unsigned long long)self->compared,
		    (unsigned long long)(self->lacking + self->lost),
		    (unsigned long long)self->waiting);
	return rc;
}

/* ---- repair ---- */

/* Rows that change are not known by hour. */
static int
repair_everything(struct compare *self, struct db *db, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(db, true, &txn, err) != 0)
		return -1;
	if (!marks_are_kept(txn)) {
		db_abort(&txn);
		return err_set(err, "the store has no archive");
	}
	marks_begin_again(txn);
	if (db_commit(&txn, err) != DB_OK)
		return -1;
	log_info("everything that the store has is sent again when the "
		 "aggregator runs");
	self->lacking = 0;
	return 0;
}

static int
repair_open(struct compare *self, struct db *db, struct err *err)
{
	if (self->has_other)
		return repair_everything(self, db, err);
	if (self->repair.hours == 0)
		return 0;
	if (repair_mark(&self->repair, db, err) != 0)
		return -1;
	log_info("%u hours are sent again when the aggregator runs",
	    self->repair.hours);
	self->lacking = 0;
	return 0;
}

static int
see_archive(struct compare *self, struct db *db, struct err *err)
{
	struct db_txn *txn;
	uint64_t id, known;

	if (archive_id_read(self->client, &id, err) != 0 ||
	    db_begin(db, false, &txn, err) != 0)
		return -1;
	known = tables_fact(txn, FACT_ARCHIVE_ID);
	db_abort(&txn);
	self->is_other = known != 0 && known != id;
	if (self->is_other)
		log_error("this is not the archive that the store had, or "
			  "tables of it were made again: the aggregator sends "
			  "everything again when it starts");
	return 0;
}

int
compare_store(struct clickhouse *clickhouse, const char *store, bool repair,
    struct answer *answer, struct err *err)
{
	struct compare self = { .client = clickhouse,
		.answer = answer,
		.cluster = clickhouse_cluster(clickhouse) };
	struct db_options how = { .read_only = !repair, .keep_map = !repair };
	struct db *db = NULL;
	int rc;

	if (tables_open(&db, store, &how, err) != 0)
		return -1;
	rc = kept_read(&self.kept, clickhouse, err);
	if (rc == 0)
		rc = see_archive(&self, db, err);
	if (rc == 0)
		rc = compare_open(&self, db, err);
	if (rc == 0 && repair)
		rc = repair_open(&self, db, err);
	repair_clear(&self.repair);
	kept_clear(&self.kept);
	db_close(&db);
	if (rc != 0)
		return -1;
	return self.lacking > 0 || self.lost > 0 || self.is_other;
}
