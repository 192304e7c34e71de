/*
 * verify - is every row of the tables what it should be?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/fold.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/seal_rows.h"
#include "aggregator/store.h"
#include "aggregator/tier.h"

struct check {
	struct db_txn *txn;
	struct store store;
	struct stats *kept; /* as the table of statistics has it */
	struct {
		uint64_t of[RECORD_KINDS];
	} * records; /* of each partition */
	uint32_t partitions;
	struct seal_rows rows;
	int64_t wrong;
	void (*report)(void *arg, const char *sentence);
	void *arg;
};

static void __attribute__((format(printf, 2, 3)))
complain(struct check *check, const char *format, ...)
{
	char sentence[512];
	va_list args;

	check->wrong++;
	if (check->report == NULL)
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	check->report(check->arg, sentence);
}

/* ---- heads ---- */

static bool
row_is_good(const struct key_head *head, struct text value)
{
	struct head_item item, last = { .time_ns = INT64_MIN };
	struct head_rows rows;
	struct head_body body;

	if (head->kind == RECORD_CONTEXT || head->kind >= RECORD_KINDS ||
	    !head_open(&rows, value, head->first_ns) || rows.left == 0)
		return false;
	while (head_next(&rows, &item)) {
		if (head_compare(&last, &item) >= 0 ||
		    key_bucket(item.time_ns) != head->bucket ||
		    !head_get_body(item.body, head->kind, item.time_ns, &body))
			return false;
		last = item;
	}
	return !rows.bytes.bad && rows.bytes.at == rows.bytes.end &&
	       last.time_ns == rows.last_ns;
}

/* A good row was found. */
static void
count_rows(struct check *check, const struct key_head *head, uint64_t records)
{
	if (head->partition <= check->partitions)
		check->records[head->partition].of[head->kind] += records;
	else
		complain(check, "rows of partition %u, which has no name",
		    head->partition);
}

static void
check_counts(struct check *check, uint32_t partition)
{
	const uint64_t *records = check->records[partition].of;
	struct partition_counts counts;
	int kind;

	tables_get_counts(check->txn, partition, &counts);
	for (kind = RECORD_EVENT; kind < RECORD_KINDS; kind++) {
		if (kind == RECORD_ENTITY || kind == RECORD_PHASE ||
		    counts.records[kind] == records[kind])
			continue;
		complain(check,
		    "partition %u has %llu records of kind %s, but counts %llu",
		    partition, (unsigned long long)records[kind],
		    record_kind_name((enum record_kind)kind),
		    (unsigned long long)counts.records[kind]);
	}
}

static void
check_heads(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_HEADS);
	struct text key, value, all = { NULL, 0 };
	struct key_head head = { .partition = 0 };
	bool more = db_seek(cursor, all, &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		if (!key_get_head(key, &head))
			complain(check, "heads: a key of %u bytes", key.bytes);
		else if (row_is_good(&head, value))
			count_rows(check, &head, head_count(value));
		else
			complain(check,
			    "heads: row %llu of partition %u "
			    "cannot be understood",
			    (unsigned long long)head.row, head.partition);
	}
	db_cursor_close(&cursor);
}

/* ---- sealed runs ---- */

static bool
item_is_good(const struct key_head *key, const struct seal_head *head,
    const struct seal_item *before, const struct seal_item *item)
{
	struct head_body body;

	return seal_compare(before, item) < 0 &&
	       key_bucket(item->head.time_ns) == key->bucket &&
	       item->head.time_ns >= head->least_ns &&
	       item->head.time_ns <= head->most_ns &&
	       head_get_body(item->head.body, (enum record_kind)key->kind,
		   item->head.time_ns, &body);
}

/* `last`: of the chunk before in the same run; of this one afterwards. */
static bool
chunk_is_good(struct check *check, const struct key_head *key,
    struct text value, struct seal_item *last)
{
	struct seal_rows *rows = &check->rows;
	struct seal_item item;

	if (key->kind == RECORD_CONTEXT || key->kind >= RECORD_KINDS ||
	    !seal_open(rows, value) || !seal_read_bodies(rows))
		return false;
	for (uint32_t b = 0; b < rows->bands; b++) {
		item.node = rows->band[b].node;
		item.track = rows->band[b].track;
		for (uint32_t i = rows->band[b].from; i < rows->band[b].to;
		     i++) {
			seal_get(rows, i, &item.head);
			if (!item_is_good(key, &rows->head, last, &item))
				return false;
			*last = item;
		}
	}
	return rows->head.node == rows->band[0].node &&
	       rows->head.track == rows->band[0].track &&
	       rows->head.first_ns == rows->time_ns[0] &&
	       key->node == last->node && key->track == last->track &&
	       key->first_ns == last->head.time_ns;
}

static void
check_chunks(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_CHUNKS);
	struct text key, value, all = { NULL, 0 };
	struct key_head head, run = { .partition = 0 };
	struct seal_item last = { .node = 0 };
	bool more = db_seek(cursor, all, &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		if (!key_get_head(key, &head)) {
			complain(check, "chunks: a key of %u bytes", key.bytes);
			continue;
		}
		if (head.partition != run.partition || head.kind != run.kind ||
		    head.bucket != run.bucket || head.run != run.run)
			last = (struct seal_item){ .head.time_ns = INT64_MIN };
		run = head;
		if (chunk_is_good(check, &head, value, &last))
			count_rows(check, &head, check->rows.count);
		else
			complain(check,
			    "chunks: row %llu of partition %u cannot be "
			    "understood",
			    (unsigned long long)head.row, head.partition);
	}
	db_cursor_close(&cursor);
}

static void
check_records(struct check *check)
{
	check->partitions = names_last(check->txn, 0);
	check->records =
	    calloc((size_t)check->partitions + 1, sizeof(*check->records));
	if (check->records == NULL)
		abort();
	check_heads(check);
	check_chunks(check);
	for (uint32_t i = 1; i <= check->partitions; i++)
		check_counts(check, i);
	free(check->records);
	seal_rows_clear(&check->rows);
}

/* ---- tiers ---- */

static bool
tier_is_good(
    struct tier_row *row, const struct key_head *key, struct text value)
{
	struct bucket buckets[TIER_BUCKETS];
	uint32_t steps;

	if (key->kind != RECORD_SAMPLE ||
	    key->first_ns != (int64_t)key->bucket * KEY_BUCKET_NS)
		return false;
	if (tier_is_mark(value))
		return true;
	if (!tier_open(row, value))
		return false;
	steps = (uint32_t)(KEY_BUCKET_NS / tier_step_ns(key->run));
	if (row->step[row->count - 1] >= steps)
		return false;
	for (uint32_t m = 0; m < row->metrics; m++)
		if (!tier_read(row, m, buckets))
			return false;
	return true;
}

static void
check_tier(struct check *check, struct tier_row *row, enum tier_step tier)
{
	struct db_cursor *cursor =
	    db_cursor_open(check->txn, tables_tier(tier));
	struct text key, value, all = { NULL, 0 };
	struct key_head head;
	bool more = db_seek(cursor, all, &key, &value);

	for (; more; more = db_next(cursor, &key, &value))
		if (!key_get_head(key, &head) || head.run != tier ||
		    !tier_is_good(row, &head, value))
			complain(check, "tiers: a row cannot be understood");
	db_cursor_close(&cursor);
}

static void
check_tiers(struct check *check)
{
	struct tier_row *row = calloc(1, sizeof(*row));

	if (row == NULL)
		abort();
	for (enum tier_step tier = TIER_10S; tier < TIERS; tier++)
		check_tier(check, row, tier);
	tier_row_clear(row);
	free(row);
}

/* ---- phases and statistics ---- */

static bool
sealed_is_good(const struct key_phase *phase, struct text value)
{
	struct phase_entry start, end;
	struct phase_sealed pairs;

	if (!phase_open_sealed(&pairs, value, phase->scope))
		return false;
	while (phase_next_sealed(&pairs, &start, &end))
		;
	return !pairs.bytes.bad && pairs.bytes.at == pairs.bytes.end;
}

static void
check_phases(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_PHASES);
	struct text key, value, all = { NULL, 0 };
	struct key_phase phase, at = { 0, 0, 0, 0 };
	bool more = db_seek(cursor, all, &key, &value), good;

	for (; more; more = db_next(cursor, &key, &value)) {
		struct text front = { key.at, KEY_PHASE_BYTES };

		good = key.bytes == KEY_PHASE_BYTES ||
		       key.bytes == KEY_SEALED_BYTES;
		good = good && key_get_phase(front, &phase);
		if (good && key.bytes == KEY_SEALED_BYTES)
			good = sealed_is_good(&phase, value);
		else if (good)
			good = phase_state_decode(
			    &check->store.state, value, phase.scope);
		if (!good) {
			complain(check, "phases: a row cannot be understood");
			continue;
		}
		if (phase.partition == at.partition && phase.phase == at.phase)
			continue;
		at = phase;
		store_get_stats(
		    check->txn, at.partition, at.phase, check->kept);
		if (stats_is_empty(check->kept))
			complain(check,
			    "stats: phase %u of partition %u has "
			    "states and no statistics",
			    at.phase, at.partition);
	}
	db_cursor_close(&cursor);
}

static void
check_stats(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_STATS);
	struct text key, value, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		struct unpack u = unpack_of(value);

		stats_reset(check->kept);
		stats_decode(check->kept, &u);
		if (key.bytes != 8 || u.bad || u.at != u.end) {
			complain(check, "stats: a row cannot be understood");
			continue;
		}
		store_sum_states(&check->store, check->txn, get_u32_be(key.at),
		    get_u32_be(key.at + 4), check->store.stats);
		if (check->kept->loose) {
			/* Retention is on its way through the phase. */
			check->kept->min = check->store.stats->min;
			check->kept->max = check->store.stats->max;
		}
		if (!stats_equal(check->kept, check->store.stats))
			complain(check,
			    "stats: phase %u of partition %u is "
			    "not what its states sum up to",
			    get_u32_be(key.at + 4), get_u32_be(key.at));
	}
	db_cursor_close(&cursor);
}

/* ---- the small tables ---- */

static void
check_names(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_NAMES);
	struct text key, value, text, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		uint32_t partition, number;

		if (key.bytes < 5 || key.at[0] != 't')
			continue;
		partition = get_u32_be(key.at + 1);
		number = value.bytes == 4 ? get_u32_be(value.at) : 0;
		if (!names_text(check->txn, partition, number, &text) ||
		    !text_equal(
			text, (struct text){ key.at + 5, key.bytes - 5 }))
			complain(check,
			    "names: number %u of partition %u is "
			    "another name",
			    number, partition);
	}
	db_cursor_close(&cursor);
}

static void
check_entities(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_ENTITIES);
	struct text key, value, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);
	struct head_attribute attribute;
	int i;

	for (; more; more = db_next(cursor, &key, &value)) {
		struct unpack u = unpack_of(value);
		struct text rest;
		uint32_t count;

		for (i = 0; i < 5; i++)
			get_varint(&u);
		rest = get_bytes(&u, unpack_left(&u));
		count = head_attribute_count(&rest);
		while (count > 0 && head_next_attribute(&rest, &attribute))
			count--;
		if (u.bad || count != 0 || rest.bytes != 0)
			complain(check, "entities: a row cannot be understood");
	}
	db_cursor_close(&cursor);
}

int64_t
tables_verify(struct db *tables,
    void (*report)(void *arg, const char *sentence), void *arg, struct err *err)
{
	struct check check = { .report = report, .arg = arg };
	struct db_status before, after;

	if (db_status(tables, &before, err) != 0 ||
	    db_begin(tables, false, &check.txn, err) != 0)
		return -1;
	store_init(&check.store);
	check.kept = malloc(sizeof(*check.kept));
	if (check.kept == NULL)
		abort();
	stats_init(check.kept);
	check_names(&check);
	check_records(&check);
	check_tiers(&check);
	check_entities(&check);
	check_phases(&check);
	check_stats(&check);
	free(check.kept);
	store_clear(&check.store);
	if (db_failed(check.txn)) {
		db_commit(&check.txn, err);
		return -1;
	}
	db_abort(&check.txn);
	if (db_status(tables, &after, err) != 0)
		return -1;
	if (after.damaged > before.damaged)
		complain(&check, "%llu rows whose checksum is wrong",
		    (unsigned long long)(after.damaged - before.damaged));
	return check.wrong;
}
