/*
 * db_txn_pages - damage that a transaction meets, and the pages that it will
 * change.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/txn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *
table_name(const struct db_txn *txn, unsigned table)
{
	if (txn->db->shared == NULL)
		return txn->db->path;
	return txn->db->shared->names[txn->db->dbi_index[table]];
}

static void
note(struct db_txn *txn, uint64_t id, bool is_row)
{
	db_damage_add(&txn->damage, id);
	if (txn->db->shared != NULL)
		db_damage_list_add(txn->db->shared->damage, id, is_row);
}

void
db_note_damage(struct db_txn *txn, unsigned table, struct text key)
{
	note(txn, db_damage_row_id(table_name(txn, table), key), true);
	txn->damaged = true;
}

const struct db_damage *
db_damage_met(const struct db_txn *txn)
{
	return &txn->damage;
}

void
db_txn_damage(struct db_txn *txn, unsigned table, uint64_t page)
{
	note(txn, db_damage_page_id(table_name(txn, table), page), false);
}

void
db_txn_refuse(struct db_txn *txn, unsigned table, uint64_t page)
{
	db_txn_damage(txn, table, page);
	if (txn->rc != 0)
		return;
	snprintf(txn->why, sizeof(txn->why),
	    "page %" PRIu64 " (table %s) is damaged; poolscope-admin verify "
	    "lists what is lost, restore installs a backup",
	    page, table_name(txn, table));
	db_txn_fail(txn, MDB_CORRUPTED, txn->why);
}

void
db_txn_refuse_row(struct db_txn *txn, unsigned table)
{
	if (txn->rc != 0)
		return;
	snprintf(txn->why, sizeof(txn->why),
	    "a required row (table %s) is damaged; poolscope-admin verify "
	    "lists what is lost, restore installs a backup",
	    table_name(txn, table));
	db_txn_fail(txn, MDB_CORRUPTED, txn->why);
}

/* A table without a tree was made by this transaction. */
void
db_txn_path(struct db_txn *txn, unsigned table, struct snapshot_path *path)
{
	if (!txn->has_tree[table]) {
		txn->has_tree[table] = true;
		if (!snapshot_tree(&txn->snapshot, table_name(txn, table),
			&txn->tree[table]))
			txn->tree[table] =
			    (struct page_tree){ .root = PAGE_NONE };
	}
	snapshot_path_begin(path, &txn->snapshot, &txn->tree[table]);
}

MDB_val
db_txn_stored(const struct db_txn *txn, const void *leaf, unsigned row)
{
	const struct snapshot *snapshot = &txn->snapshot;
	struct page_value at = page_value(leaf, row);
	const unsigned char *from = at.at;

	if (from == NULL)
		from = snapshot->base +
		       at.number * snapshot->limits.page_bytes +
		       PAGE_HEAD_BYTES;
	return (MDB_val){ at.bytes, (void *)(uintptr_t)from };
}

static bool
check_row(struct db_txn *txn, unsigned table, const void *leaf, unsigned row)
{
	struct text value;

	return db_txn_check(txn, table, db_val(page_key(leaf, row)),
	    db_txn_stored(txn, leaf, row), &value);
}

/* Is this the row of `key`, although its own key is another? */
static bool
was_row_of(struct db_txn *txn, unsigned table, const void *leaf, unsigned row,
    struct text key)
{
	struct text its = page_key(leaf, row);
	MDB_val value = db_txn_stored(txn, leaf, row);
	uint32_t common = its.bytes < key.bytes ? its.bytes : key.bytes;

	if (text_equal(its, key))
		return false; /* this transaction has deleted it */
	/* Where the length of a key is wrong, its value begins elsewhere. */
	return db_txn_checksum_is(txn, table, key, value) ||
	       (memcmp(its.at, key.at, common) == 0 &&
		   !db_txn_checksum_is(txn, table, its, value));
}

static bool
check_edge(struct db_txn *txn, unsigned table, const struct snapshot_path *path)
{
	uint64_t bad;

	if (snapshot_path_edge(path, &bad) == WAY_LEAF)
		return true;
	db_txn_damage(txn, table, bad);
	return false;
}

bool
db_txn_check_before(
    struct db_txn *txn, unsigned table, const struct snapshot_path *path)
{
	unsigned row;

	if (path->depth == 0)
		return true;
	row = path->at[path->depth - 1].index;
	return row == 0
		   ? check_edge(txn, table, path)
		   : check_row(txn, table, snapshot_path_leaf(path), row - 1);
}

/* A reader counts each damaged row that it meets.  A writer goes on next to
 * one, unless it is the row that it looks for. */
bool
db_txn_lacks(struct db_txn *txn, unsigned table, struct text key,
    const struct snapshot_path *path)
{
	const void *leaf;
	unsigned row;

	if (path->depth == 0)
		return true;
	leaf = snapshot_path_leaf(path);
	row = path->at[path->depth - 1].index;
	if (!check_edge(txn, table, path))
		return false;
	for (unsigned i = row > 0 ? row - 1 : 0;
	     i <= row && i < page_count(leaf); i++) {
		if (!txn->write ? check_row(txn, table, leaf, i)
				: !was_row_of(txn, table, leaf, i, key))
			continue;
		if (txn->write)
			db_note_damage(txn, table, page_key(leaf, i));
		return false;
	}
	return true;
}

bool
db_txn_prepare(
    struct db_txn *txn, unsigned table, struct text key, enum db_change change)
{
	struct snapshot_path path;
	enum snapshot_way way;
	uint64_t bad = 0;

	if (txn->rc != 0)
		return false;
	db_txn_path(txn, table, &path);
	/* To append, LMDB goes to the last row. */
	way = change == CHANGE_APPEND ? snapshot_path_last(&path)
				      : snapshot_path_seek(&path, key);
	if (way == WAY_NONE)
		return true;
	bad = path.bad;
	if (way == WAY_LEAF && change == CHANGE_DELETE)
		way = snapshot_path_neighbours(&path, &bad);
	if (way == WAY_LEAF && change != CHANGE_APPEND) {
		if (!snapshot_path_may_write(&path, key, &bad))
			way = WAY_DAMAGED;
		else
			way = snapshot_path_edge(&path, &bad);
	}
	if (way != WAY_LEAF)
		db_txn_refuse(txn, table, bad);
	return txn->rc == 0;
}
