/*
 * move_copy - copy the rows of a partition from one store to another, and
 * delete them.
 *
 * Keys begin with the number of the partition, and no value contains it: to
 * copy a row, replace the number in its key.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/move/move_private.h"

#include <string.h>

#include "aggregator/move/attempt.h"
#include "aggregator/tables/dictionary.h"
#include "proto/base/varint.h"
#include "proto/os/log.h"

enum {
	ROWS_AT_ONCE = 20000, /* in a transaction */
	BYTES_AT_ONCE = 8 << 20,
	SLICE_RECORDS = 64 << 10,
};

/* Tables that are copied; the others are derived from them. */
static const unsigned carried[] = { TABLES_ROW_BLOCKS, TABLES_CHUNKS,
	TABLES_ROLLUPS, TABLES_ROLLUPS + 1, TABLES_ROLLUPS + 2, TABLES_ENTITIES,
	TABLES_ONCE };
static const unsigned derived[] = { TABLES_PHASES, TABLES_STATS, TABLES_RUNS,
	TABLES_GROUPS };
enum {
	CARRIED = sizeof(carried) / sizeof(*carried),
	DERIVED = sizeof(derived) / sizeof(*derived),
};

static int
commit(struct db_txn **txn, const char *store, struct err *err)
{
	if (db_commit(txn, err) == DB_OK)
		return 0;
	return err_prefix(err, "%s", store);
}

/* ---- deleting ---- */

/* Prefixes of all keys of a partition in a table of names. */
static struct text
names_front(unsigned char to[static 5], char what, uint32_t number)
{
	to[0] = (unsigned char)what;
	varint_put_u32_be(to + 1, number);
	return (struct text){ (const char *)to, 5 };
}

static int
remove_front(
    struct move_end *end, unsigned table, struct text front, struct err *err)
{
	uint64_t removed;
	struct db_txn *txn;

	do {
		if (db_begin(end->tables, true, &txn, err) != 0)
			return -1;
		removed = tables_delete(txn, table, front, ROWS_AT_ONCE);
		if (commit(&txn, end->path, err) != 0)
			return -1;
	} while (removed == ROWS_AT_ONCE);
	return 0;
}

static int
remove_all(struct move_end *end, uint32_t number, struct err *err)
{
	unsigned char front[5];
	struct text of = { (const char *)front, 4 };
	int rc = 0;

	varint_put_u32_be(front, number);
	for (int i = 0; i < DERIVED && rc == 0; i++)
		rc = remove_front(end, derived[i], of, err);
	for (int i = 0; i < CARRIED && rc == 0; i++)
		rc = remove_front(end, carried[i], of, err);
	for (const char *what = "dnst"; *what != '\0' && rc == 0; what++)
		rc = remove_front(
		    end, TABLES_NAMES, names_front(front, *what, number), err);
	return rc;
}

int
move_delete_copy(struct move *move, struct err *err)
{
	struct move_end *to = &move->to;
	struct move_attempt attempt;
	struct db_txn *txn;

	if (db_begin(to->tables, false, &txn, err) != 0)
		return -1;
	attempt = move_attempt_get(txn, move->partition);
	db_abort(&txn);
	if (attempt.number == 0 ||
	    (attempt.whole &&
		memcmp(attempt.move, to->owner.move, OWNER_MOVE_BYTES) != 0))
		return 0;
	if (attempt.whole) {
		/* Readers and the indexer may know it: delete its name
		 * first. */
		if (db_begin(to->tables, true, &txn, err) != 0)
			return -1;
		dictionary_remove_partition(
		    txn, attempt.number, move->partition);
		tables_put_fact(
		    txn, FACT_MOVED, tables_fact(txn, FACT_MOVED) + 1);
		attempt.whole = false;
		move_attempt_put(txn, move->partition, &attempt);
		if (commit(&txn, to->path, err) != 0)
			return -1;
	}
	if (remove_all(to, attempt.number, err) != 0 ||
	    db_begin(to->tables, true, &txn, err) != 0)
		return -1;
	tables_delete_counts(txn, attempt.number);
	move_attempt_remove(txn, move->partition);
	return commit(&txn, to->path, err);
}

int
move_remove_rows(struct move *move, struct err *err)
{
	struct move_end *from = &move->from;
	struct db_txn *txn;
	uint32_t number;

	if (db_begin(from->tables, false, &txn, err) != 0)
		return -1;
	number = dictionary_find(txn, 0, move->partition);
	db_abort(&txn);
	if (number == 0)
		return 0;
	if (remove_all(from, number, err) != 0 ||
	    db_begin(from->tables, true, &txn, err) != 0)
		return -1;
	/* Delete the name last: after a crash it leads to the rows. */
	dictionary_remove_partition(txn, number, move->partition);
	tables_delete_counts(txn, number);
	tables_put_fact(txn, FACT_MOVED, tables_fact(txn, FACT_MOVED) + 1);
	return commit(&txn, from->path, err);
}

/* ---- copying ---- */

struct copy {
	struct move *move;
	struct db_txn *source; /* the snapshot */
	struct db_txn *target;
	uint32_t from, to; /* numbers of the partition in source and target */
	uint64_t rows, bytes;
	uint64_t rows_now, bytes_now; /* in this transaction */
};

/* Copy rows whose keys begin with `front`, from `*key` on, up to the size of a
 * transaction.  1: there are more. */
static int
copy_some(struct copy *copy, unsigned table, struct text front,
    unsigned char *key, uint32_t *key_bytes, struct err *err)
{
	struct move_end *to = &copy->move->to;
	struct db_cursor *cursor = db_cursor_open(copy->source, table), *out;
	struct text at = { (const char *)key, *key_bytes }, value;
	unsigned char other[DB_KEY_BYTES_MAX];
	bool more;

	if (db_begin(to->tables, true, &copy->target, err) != 0) {
		db_cursor_close(&cursor);
		return -1;
	}
	out = db_cursor_open(copy->target, table);
	copy->rows_now = copy->bytes_now = 0;
	more = db_seek(cursor, at, &at, &value);
	while (more && at.bytes >= front.bytes &&
	       memcmp(at.at, front.at, front.bytes) == 0) {
		if (copy->rows_now == ROWS_AT_ONCE ||
		    copy->bytes_now >= BYTES_AT_ONCE)
			break;
		memcpy(other, at.at, at.bytes);
		varint_put_u32_be(other + front.bytes - 4, copy->to);
		db_cursor_put(
		    out, (struct text){ (const char *)other, at.bytes }, value);
		copy->rows_now++;
		copy->bytes_now += at.bytes + value.bytes;
		more = db_next(cursor, &at, &value);
	}
	more = more && at.bytes >= front.bytes &&
	       memcmp(at.at, front.at, front.bytes) == 0;
	if (more) {
		memcpy(key, at.at, at.bytes);
		*key_bytes = at.bytes;
	}
	db_cursor_close(&out);
	db_cursor_close(&cursor);
	if (commit(&copy->target, to->path, err) != 0)
		return -1;
	copy->rows += copy->rows_now;
	copy->bytes += copy->bytes_now;
	return more;
}

static int
copy_front(
    struct copy *copy, unsigned table, struct text front, struct err *err)
{
	unsigned char key[DB_KEY_BYTES_MAX];
	uint32_t key_bytes = front.bytes;
	int more;

	memcpy(key, front.at, front.bytes);
	do
		more = copy_some(copy, table, front, key, &key_bytes, err);
	while (more == 1);
	return more;
}

static int
copy_rows(struct copy *copy, struct err *err)
{
	unsigned char front[5];
	struct text of = { (const char *)front, 4 };
	int rc = 0;

	for (const char *what = "dnst"; *what != '\0' && rc == 0; what++)
		rc = copy_front(copy, TABLES_NAMES,
		    names_front(front, *what, copy->from), err);
	varint_put_u32_be(front, copy->from);
	for (int i = 0; i < CARRIED && rc == 0; i++)
		rc = copy_front(copy, carried[i], of, err);
	return rc;
}

static void
raise_fact(struct copy *copy, const char *name, uint64_t to)
{
	if (tables_fact(copy->target, name) < to)
		tables_put_fact(copy->target, name, to);
}

/* Choose a number for the partition in the target, and counters that continue
 * those of the source, so that no new row of the target gets the key of a
 * copied one. */
static int
begin_copy(struct copy *copy, struct err *err)
{
	struct move *move = copy->move;
	struct move_attempt attempt = { 0 };

	if (db_begin(move->to.tables, true, &copy->target, err) != 0)
		return -1;
	attempt.number = copy->to = dictionary_reserve(copy->target);
	memcpy(attempt.move, move->to.owner.move, OWNER_MOVE_BYTES);
	move_attempt_put(copy->target, move->partition, &attempt);
	raise_fact(copy, FACT_ROW, tables_fact(copy->source, FACT_ROW));
	raise_fact(
	    copy, FACT_COMPACTED, tables_fact(copy->source, FACT_COMPACTED));
	raise_fact(copy, FACT_RECORDS,
	    (tables_fact(copy->source, FACT_RECORDS) / SLICE_RECORDS + 1) *
		SLICE_RECORDS);
	return commit(&copy->target, move->to.path, err);
}

static int
end_copy(struct copy *copy, struct err *err)
{
	struct move *move = copy->move;
	struct move_attempt attempt = { .number = copy->to, .whole = true };
	struct partition_counts counts;
	struct db_txn *txn;
	uint64_t rebuild;

	if (db_begin(move->to.tables, true, &copy->target, err) != 0)
		return -1;
	txn = copy->target;
	memcpy(attempt.move, move->to.owner.move, OWNER_MOVE_BYTES);
	move_attempt_put(txn, move->partition, &attempt);
	if (copy->from != 0) {
		tables_get_counts(copy->source, copy->from, &counts);
		tables_put_counts(txn, copy->to, &counts);
		dictionary_add_partition(txn, copy->to, move->partition);
	}
	rebuild = tables_fact(txn, FACT_REBUILD);
	tables_put_fact(
	    txn, FACT_REBUILD, rebuild == 0 ? 1 + (uint64_t)copy->to : 1);
	tables_put_fact(txn, FACT_MOVED, tables_fact(txn, FACT_MOVED) + 1);
	return commit(&copy->target, move->to.path, err);
}

static int
copy_snapshot(struct copy *copy, struct err *err)
{
	struct move *move = copy->move;
	struct db_status before, after;

	copy->from = dictionary_find(copy->source, 0, move->partition);
	if (db_status(move->from.tables, &before, err) != 0 ||
	    begin_copy(copy, err) != 0 ||
	    (copy->from != 0 && copy_rows(copy, err) != 0) ||
	    db_status(move->from.tables, &after, err) != 0)
		return -1;
	/* Rows that cannot be read would be lost without notice. */
	if (after.damaged != before.damaged)
		return err_set(err,
		    "%s: %llu rows are damaged, nothing was moved; "
		    "poolscope-admin verify lists them",
		    move->from.path,
		    (unsigned long long)(after.damaged - before.damaged));
	return end_copy(copy, err);
}

int
move_copy(struct move *move, struct err *err)
{
	struct copy copy = { .move = move };
	struct move_attempt attempt;
	struct db_txn *txn;
	int rc;

	if (db_begin(move->to.tables, false, &txn, err) != 0)
		return -1;
	attempt = move_attempt_get(txn, move->partition);
	db_abort(&txn);
	if (attempt.whole &&
	    memcmp(attempt.move, move->to.owner.move, OWNER_MOVE_BYTES) == 0)
		return 0;
	if (move_delete_copy(move, err) != 0 ||
	    db_begin(move->from.tables, false, &copy.source, err) != 0)
		return -1;
	rc = copy_snapshot(&copy, err);
	db_abort(&copy.source);
	if (rc == 0)
		log_info("copied %llu rows, %llu bytes",
		    (unsigned long long)copy.rows,
		    (unsigned long long)copy.bytes);
	return rc;
}

int
move_is_named(
    struct move_end *end, struct text partition, bool *named, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(end->tables, false, &txn, err) != 0)
		return -1;
	*named = dictionary_find(txn, 0, partition) != 0;
	db_abort(&txn);
	return 0;
}
