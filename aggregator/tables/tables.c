/*
 * tables - STORE/tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/tables.h"

#include <stdio.h>

#include "aggregator/journal/journal.h"
#include "proto/base/varint.h"

const char *const tables_names[TABLES_COUNT + 1] = { "names", "row_blocks",
	"entities", "phases", "stats", "meta", "sort", "chunks", "rollup_1min",
	"rollup_1h", "runs", "run_times", "groups", "once", "entity_blocks",
	"run_blocks", "name_blocks", "time_blocks", "streams", "marks", NULL };

#define COUNTS_WORD "partition"

/* What goes to the archive.  Deleting row blocks is compaction, or retention,
 * and the archive keeps what it has.  Chunks have the same records again, rows
 * of `sort` do not stay, and the other facts of `meta` are those of this store
 * alone. */
enum { SLICE_BYTES = 13 };
#define ALL_CHANGES                                                            \
	{                                                                      \
		DB_MARK_WHOLE, true, NULL                                      \
	}
static const struct db_marking marking = {
	.marks = TABLES_MARKS,
	.meta = TABLES_META,
	.is_on = FACT_ARCHIVE,
	.counter = FACT_CHANGE,
	.of = { [TABLES_NAMES] = ALL_CHANGES,
	    [TABLES_ROW_BLOCKS] = { SLICE_BYTES, false, NULL },
	    [TABLES_ENTITIES] = ALL_CHANGES,
	    [TABLES_PHASES] = ALL_CHANGES,
	    [TABLES_STATS] = ALL_CHANGES,
	    [TABLES_META] = { DB_MARK_WHOLE, true, COUNTS_WORD },
	    [TABLES_ROLLUPS] = ALL_CHANGES,
	    [TABLES_ROLLUPS_END] = ALL_CHANGES,
	    [TABLES_RUNS] = ALL_CHANGES,
	    [TABLES_RUN_TIMES] = ALL_CHANGES,
	    [TABLES_GROUPS] = ALL_CHANGES,
	    [TABLES_ONCE] = ALL_CHANGES,
	    [TABLES_ENTITY_BLOCKS] = ALL_CHANGES,
	    [TABLES_RUN_BLOCKS] = ALL_CHANGES,
	    [TABLES_NAME_BLOCKS] = ALL_CHANGES,
	    [TABLES_TIME_BLOCKS] = ALL_CHANGES,
	    [TABLES_STREAMS] = ALL_CHANGES },
};

const struct db_marked *
tables_marked(unsigned table)
{
	return &marking.of[table];
}

int
tables_open(struct db **db, const char *store, struct db_options *options,
    struct err *err)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/tables", store) >=
	    (int)sizeof(path))
		return err_set(err, "%s: the path is too long", store);
	options->tables = tables_names;
	options->format = STORE_FORMAT;
	options->marking = &marking;
	return db_open(db, path, options, err);
}

uint64_t
tables_fact(struct db_txn *txn, const char *name)
{
	struct text value;
	struct varint_reader u;

	if (!db_need(txn, TABLES_META, text_of(name), &value))
		return 0;
	u = varint_reader_of(value);
	return varint_get(&u);
}

void
tables_put_fact(struct db_txn *txn, const char *name, uint64_t value)
{
	unsigned char bytes[VARINT_BYTES];

	db_put(txn, TABLES_META, text_of(name),
	    (struct text){ (const char *)bytes,
		(uint32_t)(varint_encode(bytes, value) - bytes) });
}

static const char *
cut_name(char to[static 8], unsigned rollup)
{
	snprintf(to, 8, FACT_CUT "%u", rollup % 10);
	return to;
}

int32_t
tables_cut(struct db_txn *txn, unsigned rollup)
{
	char name[8];
	uint64_t fact = tables_fact(txn, cut_name(name, rollup));

	/* 0 means that the fact is missing, so hour 0 is stored as 1. */
	return fact == 0 ? INT32_MIN : (int32_t)varint_unzigzag(fact - 1);
}

void
tables_put_cut(struct db_txn *txn, unsigned rollup, int32_t hour)
{
	char name[8];

	tables_put_fact(txn, cut_name(name, rollup), varint_zigzag(hour) + 1);
}

/* ---- counts of a partition ---- */

bool
tables_is_counts_key(struct text key, uint32_t *partition)
{
	const struct text word = text_of(COUNTS_WORD);

	*partition = 0;
	if (key.bytes < word.bytes || memcmp(key.at, word.at, word.bytes) != 0)
		return true;
	if (key.bytes != word.bytes + sizeof(*partition))
		return false;
	*partition = varint_get_u32_be(key.at + word.bytes);
	return true;
}

struct text
tables_counts_key(unsigned char to[static DB_KEY_BYTES_MAX], uint32_t partition)
{
	unsigned char number[4];

	varint_put_u32_be(number, partition);
	return db_word_key(to, COUNTS_WORD,
	    (struct text){ (const char *)number, sizeof(number) });
}

void
tables_get_counts(
    struct db_txn *txn, uint32_t partition, struct partition_counts *counts)
{
	unsigned char key[DB_KEY_BYTES_MAX];
	struct text value;
	struct varint_reader u;
	int i;

	*counts = (struct partition_counts){ .first_ns = INT64_MAX,
		.last_ns = INT64_MIN,
		.oldest_ns = INT64_MAX };
	if (!db_get(
		txn, TABLES_META, tables_counts_key(key, partition), &value))
		return;
	u = varint_reader_of(value);
	counts->nodes = varint_get(&u);
	counts->first_ns = varint_unzigzag(varint_get(&u));
	counts->last_ns = varint_unzigzag(varint_get(&u));
	for (i = 0; i < RECORD_KINDS; i++)
		counts->records[i] = varint_get(&u);
	counts->rejected_bytes = varint_get(&u);
	counts->rejected_cut = varint_get(&u);
	counts->last_entry = varint_get(&u);
	/* Rows of older versions end here. */
	counts->oldest_ns =
	    (int64_t)((uint64_t)counts->first_ns -
		      (varint_left(&u) > 0 ? varint_get(&u) : 0));
	for (i = 0; i < RECORD_KINDS && varint_left(&u) > 0; i++)
		counts->archived[i] = varint_get(&u);
}

struct text
tables_encode_counts(unsigned char value[static TABLES_COUNTS_BYTES],
    const struct partition_counts *counts)
{
	bool is_older = counts->oldest_ns < counts->first_ns;
	unsigned char *to = value;
	int i;

	to = varint_encode(to, counts->nodes);
	to = varint_encode(to, varint_zigzag(counts->first_ns));
	to = varint_encode(to, varint_zigzag(counts->last_ns));
	for (i = 0; i < RECORD_KINDS; i++)
		to = varint_encode(to, counts->records[i]);
	to = varint_encode(to, counts->rejected_bytes);
	to = varint_encode(to, counts->rejected_cut);
	to = varint_encode(to, counts->last_entry);
	to = varint_encode(to,
	    is_older ? (uint64_t)counts->first_ns - (uint64_t)counts->oldest_ns
		     : 0);
	for (i = 0; i < RECORD_KINDS; i++)
		to = varint_encode(to, counts->archived[i]);
	return (struct text){ (const char *)value, (uint32_t)(to - value) };
}

void
tables_put_counts(struct db_txn *txn, uint32_t partition,
    const struct partition_counts *counts)
{
	unsigned char key[DB_KEY_BYTES_MAX], value[TABLES_COUNTS_BYTES];

	db_put(txn, TABLES_META, tables_counts_key(key, partition),
	    tables_encode_counts(value, counts));
}

void
tables_delete_counts(struct db_txn *txn, uint32_t partition)
{
	unsigned char key[DB_KEY_BYTES_MAX];

	db_del(txn, TABLES_META, tables_counts_key(key, partition));
}

/* ---- models ---- */

#define PHASE_WORD "phase:"
#define RUN_WORD   "run:"

static void
put_key(struct buffer *key, const char *word, struct text id)
{
	key->bytes = 0;
	buffer_put(key, word, strlen(word));
	buffer_put(key, id.at, id.bytes);
}

void
tables_put_models(struct db_txn *txn, const struct model_set *set)
{
	struct buffer value = { NULL, 0, 0 }, key = { NULL, 0, 0 };
	unsigned i;

	tables_delete(txn, TABLES_META, text_of(PHASE_WORD), UINT64_MAX);
	tables_delete(txn, TABLES_META, text_of(RUN_WORD), UINT64_MAX);
	for (i = 0; i < set->phases; i++) {
		put_key(&key, PHASE_WORD, set->phase[i].id);
		value.bytes = 0;
		model_put_phase(&value, &set->phase[i]);
		db_put(
		    txn, TABLES_META, buffer_text(&key), buffer_text(&value));
	}
	for (i = 0; i < set->runs; i++) {
		put_key(&key, RUN_WORD, set->run[i].model);
		value.bytes = 0;
		model_put_run(&value, &set->run[i]);
		db_put(
		    txn, TABLES_META, buffer_text(&key), buffer_text(&value));
	}
	buffer_clear(&key);
	buffer_clear(&value);
	tables_put_fact(txn, FACT_MODELS, model_set_hash(set));
}

static bool
has_front(struct text key, struct text front)
{
	return key.bytes > front.bytes &&
	       memcmp(key.at, front.at, front.bytes) == 0;
}

void
tables_get_models(struct db_txn *txn, struct model_set *set)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_META);
	struct text prefix = text_of(PHASE_WORD), key, value;
	struct model_phase phase;
	bool more = db_seek(cursor, prefix, &key, &value);

	model_set_clear(set);
	for (; more && has_front(key, prefix);
	     more = db_next(cursor, &key, &value))
		if (model_get_phase(value, &phase))
			model_set_add(set, &phase);
	prefix = text_of(RUN_WORD);
	more = db_seek(cursor, prefix, &key, &value);
	for (; more && has_front(key, prefix);
	     more = db_next(cursor, &key, &value))
		model_get_run(set, value);
	db_cursor_close(&cursor);
}

uint64_t
tables_delete(
    struct db_txn *txn, unsigned table, struct text prefix, uint64_t limit)
{
	struct db_cursor *cursor = db_cursor_open(txn, table);
	uint64_t deleted = 0;
	struct text key;

	while (deleted < limit && db_seek_key(cursor, prefix, &key) &&
	       key.bytes >= prefix.bytes &&
	       (prefix.bytes == 0 ||
		   memcmp(key.at, prefix.at, prefix.bytes) == 0)) {
		db_cursor_del(cursor);
		deleted++;
	}
	db_cursor_close(&cursor);
	return deleted;
}
