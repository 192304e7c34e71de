/*
 * compare - does each replica have the records of a store, hour by hour?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/upkeep/compare.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/blocks/block_sender.h"
#include "aggregator/archive/kept.h"
#include "aggregator/archive/epochs.h"
#include "aggregator/archive/question.h"
#include "aggregator/archive/read/expected.h"
#include "aggregator/archive/schema/archive_id.h"
#include "aggregator/archive/upkeep/repair.h"
#include "aggregator/archive/rows/record_columns.h"
#include "aggregator/archive/slice.h"
#include "aggregator/marks/marks.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"

enum {
	HOURS = 24, /* compared with one question */
	HOUR_TEXT_BYTES = 32,
	FRONT_BYTES = KEY_HOUR_BYTES,
};

struct row {
	struct text partition, kind, replica, state;
	int64_t hour;
	uint64_t shard, store, archive;
};

static const struct answer_column columns[] = {
	{ "partition", "PARTITION", ANSWER_AT_TEXT(struct row, partition), NULL,
	    "account$pool", false, NULL },
	{ "kind", "KIND", ANSWER_AT_TEXT(struct row, kind), NULL,
	    "of the records", false, NULL },
	{ "hour", "HOUR", ANSWER_AT_TIME(struct row, hour), NULL,
	    "when it begins", false, NULL },
	{ "shard", "SHARD", ANSWER_AT_COUNT(struct row, shard), NULL,
	    "its number, from 1 on", false, NULL },
	{ "replica", "REPLICA", ANSWER_AT_TEXT(struct row, replica), NULL,
	    "the name of the server", false, NULL },
	{ "store", "STORE", ANSWER_AT_COUNT(struct row, store), NULL,
	    "records that the store has", false, NULL },
	{ "archive", "ARCHIVE", ANSWER_AT_COUNT(struct row, archive), NULL,
	    "records that the replica has", false, NULL },
	{ "state", "STATE", ANSWER_AT_TEXT(struct row, state), NULL,
	    "lacking, more, other, waiting for the archiver, or lost: fewer "
	    "than were committed, and the store has none to compare",
	    false, NULL },
	{ .key = NULL },
};

const struct answer_table compare_tables[] = { { "hours", columns },
	{ .name = NULL } };

struct total {
	uint64_t rows, hash;
};

struct hour {
	int32_t hour;
	bool is_waiting; /* it has marks */
	bool is_lacking; /* a replica lacks records of it */
	struct total shard[CLICKHOUSE_SHARDS_MAX];
};

struct compare {
	struct clickhouse *client;
	const struct clickhouse_cluster *cluster;
	struct db_txn *txn;
	struct compacted_cursor_cache cache;
	struct lookup names;
	struct answer *answer;
	/* Neighbouring hours of a partition and kind. */
	uint32_t partition;
	uint8_t kind;
	uint64_t part;
	struct text name;
	struct hour hour[HOURS];
	unsigned hours;
	struct repair repair; /* the hours that are lacking */
	struct kept kept;     /* what the archive has not deleted */
	uint64_t records, compared, lacking, unequal, waiting, damaged;
	bool is_other; /* the store had another archive */
	bool has_lost; /* rows that are no records of the store */
};

/* ---- the store ---- */

static int
add_record(void *arg, const struct key_row_block *of,
    const struct row_block_item *item, struct err *err)
{
	struct compare *self = arg;
	const struct archive_row_id id = { self->part, of->hour, of->node,
		of->track, 0 };
	struct hour *hour = &self->hour[self->hours];
	struct total *total = &hour->shard[typed_shard(self->cluster->shards,
	    self->part, lookup_number(&self->names, of->node), of->hour)];

	(void)err;
	total->rows++;
	total->hash +=
	    archive_hash((enum record_kind)of->kind, &id, item, &self->names);
	self->records++;
	return 0;
}

static struct text
view(const void *at, uint32_t bytes)
{
	return (struct text){ at, bytes };
}

/* The first key of a table after all that begin with `front`. */
static bool
key_after(struct db_txn *txn, unsigned table,
    const unsigned char front[static FRONT_BYTES],
    unsigned char next[static FRONT_BYTES])
{
	struct db_cursor *cursor = db_cursor_open(txn, table);
	unsigned char last[KEY_ROW_BLOCK_BYTES];
	struct text key;
	bool found;

	memset(last, 0xff, sizeof(last));
	memcpy(last, front, FRONT_BYTES);
	found = db_seek_key(cursor, view(last, sizeof(last)), &key) &&
		key.bytes >= FRONT_BYTES;
	if (found)
		memcpy(next, key.at, FRONT_BYTES);
	db_cursor_close(&cursor);
	return found;
}

/* The next hour that has row blocks or chunks. */
static bool
next_hour(struct compare *self, unsigned char front[static FRONT_BYTES])
{
	unsigned char blocks[FRONT_BYTES], chunks[FRONT_BYTES];
	bool has_blocks =
	    key_after(self->txn, TABLES_ROW_BLOCKS, front, blocks);
	bool has_chunks = key_after(self->txn, TABLES_CHUNKS, front, chunks);

	if (!has_blocks && !has_chunks)
		return false;
	if (has_blocks &&
	    (!has_chunks || memcmp(blocks, chunks, FRONT_BYTES) < 0))
		memcpy(front, blocks, FRONT_BYTES);
	else
		memcpy(front, chunks, FRONT_BYTES);
	return true;
}

/* The compacted slices of an hour, each once. */
static int
add_chunks(struct compare *self, struct slice_reader *reader, struct text front,
    struct err *err)
{
	unsigned char at[KEY_ROW_BLOCK_BYTES] = { 0 };
	struct db_cursor *cursor = db_cursor_open(self->txn, TABLES_CHUNKS);
	struct text key;
	int rc = 0;

	memcpy(at, front.at, front.bytes);
	while (rc == 0 && db_seek_key(cursor, view(at, sizeof(at)), &key) &&
	       key.bytes >= SLICE_FRONT_BYTES &&
	       memcmp(key.at, front.at, front.bytes) == 0) {
		memset(at, 0xff, sizeof(at));
		memcpy(at, key.at, SLICE_FRONT_BYTES);
		rc = slice_compacted(reader, view(at, SLICE_FRONT_BYTES), err);
	}
	db_cursor_close(&cursor);
	return rc;
}

static int
add_hour(struct compare *self, const unsigned char *front,
    const struct key_row_block *of, struct err *err)
{
	struct slice_reader reader = { self->txn, &self->cache, add_record,
		self, 0 };
	struct hour *hour = &self->hour[self->hours];
	const struct text key = view(front, FRONT_BYTES);

	*hour = (struct hour){ .hour = of->hour,
		.is_waiting = marks_hold_records(self->txn, of) };
	if (slice_row_blocks(&reader, key, 0, UINT32_MAX, err) != 0 ||
	    add_chunks(self, &reader, key, err) != 0)
		return -1;
	self->damaged += reader.damaged;
	self->hours++;
	return 0;
}

/* ---- the archive ---- */

static void
put_hour(struct compare *self, const struct hour *hour, unsigned shard,
    const char *replica, const struct total *have)
{
	const struct total *want = &hour->shard[shard];

	const struct row row = { self->name,
		text_of(typed_of_kind((enum record_kind)self->kind)->name),
		text_of(replica),
		text_of(hour->is_waiting          ? "waiting"
			: have->rows < want->rows ? "lacking"
			: have->rows > want->rows ? "more"
						  : "other"),
		(int64_t)hour->hour * KEY_HOUR_NS, shard + 1, want->rows,
		have->rows };

	answer_row(self->answer, &row, NULL);
}

static int
ask_replica(struct compare *self, const struct question *question,
    struct total have[static HOURS], struct err *err)
{
	const char *database = clickhouse_database(self->client);
	struct text answer;
	uint64_t row[3];
	const struct schema_table *table =
	    typed_of_kind((enum record_kind)self->kind);
	char *identity = typed_identity_sql(table);
	char *hash = typed_hash_sql(table);
	int rc;

	memset(have, 0, HOURS * sizeof(*have));
	rc = question_ask(question, &answer, err,
	    "SELECT hour, count(), sum(%s) FROM (SELECT DISTINCT %s FROM %s.%s "
	    "WHERE part = %llu AND hour >= %d AND hour <= %d) GROUP BY hour",
	    hash, identity, database, table->name,
	    (unsigned long long)self->part, self->hour[0].hour,
	    self->hour[self->hours - 1].hour);
	free(hash);
	free(identity);
	if (rc != 0)
		return -1;
	while ((rc = question_row(question, &answer, row, 3, err)) > 0)
		for (unsigned i = 0; i < self->hours; i++)
			if (self->hour[i].hour == (int32_t)(int64_t)row[0])
				have[i] = (struct total){ row[1], row[2] };
	return rc;
}

static int
compare_replica(
    struct compare *self, const struct question *question, struct err *err)
{
	struct total have[HOURS];
	const struct clickhouse_replica *replica =
	    &self->cluster->shard[question->shard].replica[question->replica];

	if (ask_replica(self, question, have, err) != 0)
		return -1;
	for (unsigned i = 0; i < self->hours; i++) {
		struct hour *hour = &self->hour[i];
		const struct total *want = &hour->shard[question->shard];

		if (have[i].rows == want->rows && have[i].hash == want->hash)
			continue;
		put_hour(self, hour, question->shard, replica->name, &have[i]);
		if (hour->is_waiting)
			self->waiting++;
		else if (have[i].rows > want->rows)
			self->unequal++;
		else {
			self->lacking++;
			hour->is_lacking = true;
		}
	}
	return 0;
}

/* Compare the hours that were read. */
static int
compare_hours(struct compare *self, struct err *err)
{
	if (self->hours == 0)
		return 0;
	for (unsigned s = 0; s < self->cluster->shards; s++)
		for (unsigned r = 0; r < self->cluster->shard[s].replicas;
		     r++) {
			const struct question question = { self->client, s, r };

			if (compare_replica(self, &question, err) != 0)
				return -1;
		}
	for (unsigned i = 0; i < self->hours; i++) {
		const struct key_row_block of = { .partition = self->partition,
			.kind = self->kind,
			.hour = self->hour[i].hour };

		if (self->hour[i].is_lacking)
			repair_add(&self->repair, &of);
	}
	self->compared += self->hours;
	self->hours = 0;
	return 0;
}

/* ---- all of it ---- */

static bool
is_neighbour(const struct compare *self, const struct key_row_block *of)
{
	return self->hours > 0 && self->hours < HOURS &&
	       of->partition == self->partition && of->kind == self->kind &&
	       (int64_t)of->hour - self->hour[0].hour < HOURS;
}

static int
compare_all(struct compare *self, struct err *err)
{
	unsigned char front[FRONT_BYTES] = { 0 };

	while (next_hour(self, front)) {
		unsigned char key[KEY_ROW_BLOCK_BYTES] = { 0 };
		struct key_row_block of;
		struct text name;

		memcpy(key, front, sizeof(front));
		if (!key_get_row_block(view(key, sizeof(key)), &of) ||
		    typed_of_kind((enum record_kind)of.kind) == NULL ||
		    !dictionary_text(self->txn, 0, of.partition, &name)) {
			self->damaged++;
			continue;
		}
		if (!is_neighbour(self, &of) && compare_hours(self, err) != 0)
			return -1;
		self->partition = of.partition;
		self->name = name;
		self->kind = of.kind;
		self->part = typed_hash(self->name);
		lookup_use(&self->names, self->txn, self->partition);
		if (of.hour < kept_from(&self->kept, self->part))
			continue;
		if (add_hour(self, front, &of, err) != 0)
			return -1;
	}
	return compare_hours(self, err);
}

/* ---- what was committed ---- */

/* Has the store this hour?  Then it was compared. */
static bool
is_compared(struct compare *self, const struct expected_rows *rows)
{
	const struct key_row_block of = {
		.partition = self->partition,
		.kind = self->kind,
		.hour = rows->hour,
		.first_ns = INT64_MIN,
	};
	unsigned char front[KEY_ROW_BLOCK_BYTES], next[FRONT_BYTES] = { 0 };
	const unsigned tables[] = { TABLES_ROW_BLOCKS, TABLES_CHUNKS };
	bool found = false;

	key_put_row_block(front, &of);
	for (unsigned i = 0; i < 2; i++) {
		struct db_cursor *cursor = db_cursor_open(self->txn, tables[i]);
		struct text key;

		found |= db_seek_key(cursor, view(front, FRONT_BYTES), &key) &&
			 key.bytes >= FRONT_BYTES &&
			 memcmp(key.at, front, sizeof(next)) == 0;
		db_cursor_close(&cursor);
	}
	return found;
}

static void
put_lost(struct compare *self, const struct expected_rows *rows,
    const char *replica, uint64_t has)
{
	const struct row row = { self->name,
		text_of(schema_tables[rows->table].name), text_of(replica),
		text_of("lost"), (int64_t)rows->hour * KEY_HOUR_NS,
		rows->shard + 1, rows->rows, has };

	answer_row(self->answer, &row, NULL);
	self->lacking++;
	self->has_lost = true;
}

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
			put_lost(self, rows, shard->replica[r].name, has);
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
		put_lost(self, rows, "all", all);
	return 0;
}

/* Everything that the archive says it has of a partition. */
static int
check_partition(
    struct compare *self, const struct epochs_partition *of, struct err *err)
{
	struct expected expected = { .at = NULL };
	int rc = expected_read(&expected, self->client, of->part, err);

	self->part = of->part;
	self->name = text_of(of->name);
	self->partition = dictionary_find(self->txn, 0, self->name);
	for (uint32_t i = 0; rc == 0 && i < expected.count; i++) {
		struct expected_rows *rows = &expected.at[i];

		self->kind = 0;
		while (self->kind < RECORD_KINDS &&
		       typed_of_kind((enum record_kind)self->kind) !=
			   &schema_tables[rows->table])
			self->kind++;
		if (rows->table == SCHEMA_PHASES)
			rc = check_phase(self, rows, err);
		else if (self->kind == RECORD_KINDS ||
			 (rows->hour >= kept_from(&self->kept, self->part) &&
			     !is_compared(self, rows)))
			rc = check_rows(self, rows, err);
	}
	expected_clear(&expected);
	return rc;
}

static int
check_committed(struct compare *self, struct err *err)
{
	struct epochs epochs;
	int rc = epochs_read(&epochs, self->client, NULL, err);

	for (uint32_t i = 0; rc == 0 && i < epochs.partitions; i++)
		rc = check_partition(self, &epochs.partition[i], err);
	epochs_clear(&epochs);
	return rc;
}

static void
log_result(const struct compare *self)
{
	log_info("%llu records of %llu hours: %llu times a replica is not "
		 "equal, %llu times it waits for the archiver; %llu rows of "
		 "the store are damaged",
	    (unsigned long long)self->records,
	    (unsigned long long)self->compared,
	    (unsigned long long)(self->lacking + self->unequal),
	    (unsigned long long)self->waiting,
	    (unsigned long long)self->damaged);
}

static int
compare_open(struct compare *self, struct db *db, struct err *err)
{
	int rc;

	if (db_begin(db, false, &self->txn, err) != 0)
		return -1;
	rc = compare_all(self, err);
	if (rc == 0)
		rc = check_committed(self, err);
	compacted_cursor_cache_clear(&self->cache);
	lookup_clear(&self->names);
	db_abort(&self->txn);
	if (rc == 0)
		log_result(self);
	return rc;
}

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
	if (self->has_lost)
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

/* The records are compared all the same; of the rest only the aggregator knows
 * what is lacking. */
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
	return self.lacking > 0 || self.unequal > 0 || self.damaged > 0 ||
	       self.is_other;
}
