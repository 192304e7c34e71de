/*
 * pass - send what the archive lacks of a snapshot of the store.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pass.h"

#include <endian.h>
#include <string.h>

#include "aggregator/archive/rows/common.h"
#include "aggregator/archive/rows/identity.h"
#include "aggregator/archive/rows/record_columns.h"
#include "aggregator/archive/rows/state_key.h"
#include "aggregator/archive/slice.h"
#include "aggregator/archive/typed_pass.h"
#include "aggregator/marks/marks.h"
#include "aggregator/tables/tables.h"
#include "proto/os/heartbeat.h"

enum {
	NAME_OF_NUMBER = 'n', /* begins the keys of names by number */
	NAME_KEY_BYTES = 9,
	STOP_RECORDS = 1024, /* look whether to stop after that many */
};

struct pass_place
pass_place(struct db_txn *txn)
{
	return (struct pass_place){
		.change = marks_last_change(txn),
		.row = marks_last_row(txn),
		.entry = tables_fact(txn, FACT_INDEXED),
	};
}

void
pass_clear(struct pass *pass)
{
	typed_pass_clear(&pass->typed);
	compacted_cursor_cache_clear(&pass->cache);
}

/* The number of a partition in the archive; false: it has no name any more. */
static bool
use_partition(struct pass *pass, uint32_t partition)
{
	struct text name;

	if (partition == pass->typed.partition)
		return true;
	if (!dictionary_text(pass->typed.txn, 0, partition, &name))
		return false;
	pass->typed.partition = partition;
	pass->typed.part = archive_part(name);
	lookup_use(&pass->typed.lookup, pass->typed.txn, partition);
	return true;
}

static bool
is_stopping(const struct pass *pass, struct err *err)
{
	heartbeat_beat();
	if (!atomic_load(pass->stop))
		return false;
	err_set(err, "the aggregator stops");
	return true;
}

/* ---- records ---- */

static int
send_record(void *arg, const struct key_row_block *of,
    const struct row_block_item *item, struct err *err)
{
	struct pass *pass = arg;
	struct archive_row_id id = { 0, of->hour, of->node, of->track,
		pass->typed.pos };
	unsigned shard;

	if (pass->records % STOP_RECORDS == 0 && is_stopping(pass, err))
		return -1;
	if (!use_partition(pass, of->partition))
		return 0;
	id.part = pass->typed.part;
	shard = archive_shard(
	    pass->typed.sender->cluster->shards, pass->typed.part, of->node);

	if (!archive_put_record(
		block_sender_block(pass->typed.sender, shard, of->kind),
		(enum record_kind)of->kind, &id, item, &pass->typed.lookup)) {
		pass->damaged++;
		return 0;
	}
	pass->records++;
	if (typed_pass_record(&pass->typed, &id, of->kind, item, err) != 0)
		return -1;
	return block_sender_added(pass->typed.sender, shard, of->kind,
	    archive_identity_hash(&id, item), of->hour, err);
}

/* ---- rows of other tables ---- */

static int
send_change(
    struct pass *pass, const struct archive_change *change, struct err *err)
{
	unsigned home = block_sender_home(pass->typed.sender, change->part);
	struct native_block *block =
	    block_sender_block(pass->typed.sender, home, BLOCK_SENDER_CHANGES);

	native_put_uint(block, 0, change->part);
	native_put_uint(block, 1, change->tbl);
	native_put_text(block, 2, change->k);
	native_put_text(block, 3, change->v);
	native_put_uint(block, 4, change->del);
	native_put_uint(block, 5, change->pos);
	pass->rows++;
	return block_sender_added(pass->typed.sender, home,
	    BLOCK_SENDER_CHANGES, archive_change_hash(change), 0, err);
}

/* Names also by number, for who asks in SQL. */
static int
send_name(
    struct pass *pass, struct text key, struct text value, struct err *err)
{
	unsigned home = block_sender_home(pass->typed.sender, pass->typed.part);
	struct native_block *block;
	uint32_t number;

	if (key.bytes != NAME_KEY_BYTES || key.at[0] != NAME_OF_NUMBER)
		return 0;
	memcpy(
	    &number, key.at + NAME_KEY_BYTES - sizeof(number), sizeof(number));
	number = be32toh(number);
	if (number == 0)
		return 0; /* how many there are */
	block =
	    block_sender_block(pass->typed.sender, home, BLOCK_SENDER_NAMES);
	native_put_uint(block, 0, pass->typed.part);
	native_put_uint(block, 1, number);
	native_put_text(block, 2, value);
	native_put_uint(block, 3, pass->typed.pos);
	return block_sender_added(
	    pass->typed.sender, home, BLOCK_SENDER_NAMES, 0, 0, err);
}

static int
send_row(struct pass *pass, unsigned table, struct text key, struct err *err)
{
	struct archive_change change = { .tbl = (uint8_t)table,
		.pos = pass->typed.pos };
	struct state_key of;
	struct text value = { NULL, 0 };
	bool is_there = db_get(pass->typed.txn, table, key, &value);

	if (!is_there && db_was_damaged(pass->typed.txn)) {
		pass->damaged++;
		return 0;
	}
	if (!state_key_split(&of, table, key)) {
		pass->damaged++;
		return 0;
	}
	if (of.is_common || of.partition == 0 ||
	    !use_partition(pass, of.partition))
		return 0;
	change.part = pass->typed.part;
	change.k = (struct text){ (const char *)of.rest, of.bytes };
	change.v = value;
	change.del = !is_there;
	if ((is_there || table == TABLES_GROUPS) &&
	    typed_pass_row(&pass->typed, table, key, value, err) != 0)
		return -1;
	if (table == TABLES_NAMES && is_there &&
	    send_name(pass, key, value, err) != 0)
		return -1;
	return send_change(pass, &change, err);
}

/* ---- what all partitions share ---- */

static int
send_common_row(void *arg, struct text key, struct text value, struct err *err)
{
	struct pass *pass = arg;
	const struct archive_change change = { .part = pass->typed.part,
		.tbl = TABLES_META,
		.k = key,
		.v = value,
		.pos = pass->typed.pos };

	if (typed_pass_common(&pass->typed, key, value, err) != 0)
		return -1;
	return send_change(pass, &change, err);
}

static int
send_common(struct pass *pass, struct err *err)
{
	uint64_t hash = common_hash(pass->typed.txn);
	uint32_t last = dictionary_last(pass->typed.txn, 0);
	uint32_t from = hash == pass->common ? pass->common_partitions + 1 : 1;

	for (uint32_t partition = from; partition <= last; partition++)
		if (use_partition(pass, partition) &&
		    common_each(pass->typed.txn, send_common_row, pass, err) !=
			0)
			return -1;
	pass->common = hash;
	pass->common_partitions = last;
	return 0;
}

/* ---- the pass ---- */

static int
send_mark(struct pass *pass, const struct mark *mark, struct err *err)
{
	struct slice_reader reader = { pass->typed.txn, &pass->cache,
		send_record, pass, 0 };
	uint32_t first_row = mark->first_row;
	int rc;

	switch (mark->table) {
	case TABLES_ROW_BLOCKS:
		if (first_row <= pass->from.row)
			first_row = pass->from.row + 1;
		rc = slice_row_blocks(
		    &reader, mark->key, first_row, UINT32_MAX, err);
		break;
	case TABLES_CHUNKS:
		/* Of the time before the store had an archive, or to be sent
		 * again; later row blocks have marks of their own, and no row
		 * may be sent twice by a pass. */
		rc = slice_compacted(&reader, mark->key, err);
		if (rc == 0)
			rc = slice_row_blocks(
			    &reader, mark->key, 0, pass->from.row, err);
		break;
	default: rc = send_row(pass, mark->table, mark->key, err);
	}
	pass->damaged += reader.damaged;
	return rc;
}

int
pass_send(struct pass *pass, struct db_txn *txn, const struct pass_place *from,
    uint32_t epoch, struct err *err)
{
	struct marks *marks;
	struct mark mark;
	int rc = 0;

	pass->typed.txn = txn;
	pass->typed.partition = 0;
	pass->from = *from;
	pass->to = pass_place(txn);
	pass->typed.pos = pass_position(epoch, pass->to.change);
	pass->records = pass->rows = pass->damaged = 0;
	marks = marks_open(txn);
	while (rc == 0 && marks_next(marks, &mark)) {
		if (mark.change <= from->change)
			continue;
		rc = is_stopping(pass, err) ? -1 : send_mark(pass, &mark, err);
	}
	marks_close(&marks);
	if (rc == 0 && send_common(pass, err) == 0 &&
	    block_sender_flush(pass->typed.sender, err) == 0)
		return 0;
	pass->common = 0;
	return -1;
}
