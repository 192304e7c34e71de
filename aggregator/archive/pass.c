/*
 * pass - send what the archive lacks of a snapshot of the store.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pass.h"

#include "aggregator/archive/rows/common.h"
#include "aggregator/archive/slice.h"
#include "aggregator/archive/typed_pass.h"
#include "aggregator/marks/marks.h"
#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"
#include "proto/os/heartbeat.h"

enum {
	/* Look whether to stop after that many, or as many marks. */
	STOP_RECORDS = 1024,
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
	pass->typed.part = typed_hash(name);
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

	if (pass->records % STOP_RECORDS == 0 && is_stopping(pass, err))
		return -1;
	if (!use_partition(pass, of->partition))
		return 0;
	id.part = pass->typed.part;
	pass->records++;
	return typed_pass_record(&pass->typed, &id, of->kind, item, err);
}

/* ---- rows of other tables ---- */

/* 0: of all of them, or of the list of partitions. */
static bool
partition_of(unsigned table, struct text key, uint32_t *partition)
{
	uint32_t before = table == TABLES_NAMES || table == TABLES_NAME_BLOCKS;

	if (table == TABLES_META)
		return tables_is_counts_key(key, partition);
	if (key.bytes < before + sizeof(*partition))
		return false;
	*partition = varint_get_u32_be(key.at + before);
	return true;
}

static int
send_row(struct pass *pass, unsigned table, struct text key, struct err *err)
{
	struct text value = { NULL, 0 };
	bool is_there = db_get(pass->typed.txn, table, key, &value);
	uint32_t partition;

	bool is_damaged = !is_there && db_was_damaged(pass->typed.txn);

	if (!partition_of(table, key, &partition)) {
		pass->typed.damaged++;
		return 0;
	}
	if (partition == 0 || !use_partition(pass, partition))
		return 0;
	if (is_damaged) {
		typed_pass_damaged(&pass->typed, table, key);
		return 0;
	}
	if (!is_there && table != TABLES_GROUPS && table != TABLES_PHASES)
		return 0;
	pass->rows++;
	return typed_pass_row(&pass->typed, table, key, value, err);
}

/* ---- what all partitions share ---- */

static int
send_common_row(void *arg, struct text key, struct text value, struct err *err)
{
	struct pass *pass = arg;

	pass->rows++;
	return typed_pass_common(&pass->typed, key, value, err);
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

static bool
is_to_send(const struct pass *pass, const struct mark *mark)
{
	return mark->change > pass->from.change ||
	       (pass->is_again && !marks_is_of_slice(mark->table));
}

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
		pass->typed.is_again = true;
		rc = slice_compacted(&reader, mark->key, err);
		if (rc == 0)
			rc = slice_row_blocks(
			    &reader, mark->key, 0, pass->from.row, err);
		pass->typed.is_again = false;
		break;
	default: rc = send_row(pass, mark->table, mark->key, err);
	}
	pass->typed.damaged += reader.damaged;
	return rc;
}

int
pass_send(struct pass *pass, struct db_txn *txn, const struct pass_place *from,
    uint32_t epoch, struct err *err)
{
	struct marks *marks;
	struct mark mark;
	uint64_t passed = 0;
	int rc = 0;

	pass->typed.txn = txn;
	pass->typed.partition = pass->typed.list.partition = 0;
	pass->from = *from;
	pass->to = pass_place(txn);
	pass->typed.pos = pass_position(epoch, pass->to.change);
	pass->records = pass->rows = pass->typed.damaged = 0;
	marks = marks_open(txn);
	while (rc == 0 && marks_next(marks, &mark)) {
		bool is_passed = !is_to_send(pass, &mark);

		if (is_passed && ++passed % STOP_RECORDS != 0)
			continue;
		rc = is_stopping(pass, err) ? -1
		     : is_passed            ? 0
					    : send_mark(pass, &mark, err);
	}
	marks_close(&marks);
	if (rc == 0 && send_common(pass, err) == 0 &&
	    block_sender_flush(pass->typed.sender, &schema_stages[0], err) == 0)
		return 0;
	pass->common = 0;
	return -1;
}
