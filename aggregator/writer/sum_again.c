/*
 * sum_again - make statistics those of the events and test runs that are there.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/phases/run_sum.h"
#include "aggregator/writer/writer_private.h"
#include "proto/base/memory.h"
#include "proto/os/heartbeat.h"

enum { CHANGES = 1 << 16 }; /* to groups, at once */

/* ---- phases ---- */

/* The list is put again, so that the archive gets the statistics. */
static void
sum(struct indexer_write *write, struct db_txn *txn, struct part_list *list,
    struct duration_stats *before)
{
	uint32_t partition = list->partition, phase = list->phase;

	indexer_write_get_stats(txn, partition, phase, before);
	indexer_write_sum_phase(write, txn, partition, phase, write->stats);
	if (duration_stats_equal(before, write->stats))
		return;
	indexer_write_put_stats(write, txn, partition, phase, write->stats);
	part_list_put(list, txn);
}

static enum db_result
sum_phases(struct writer *writer, struct err *err)
{
	struct part_list list = { .partition = 0 };
	uint32_t partition = 0, phase = 0;
	struct duration_stats *before;
	struct db_cursor *cursor;
	struct db_txn *txn;

	if (db_begin(writer->db, true, &txn, err) != 0)
		return DB_BROKEN;
	before = memory_alloc(sizeof(*before));
	duration_stats_init(before);
	cursor = db_cursor_open(txn, TABLES_PHASES);
	while (part_list_find(cursor, &partition, &phase)) {
		if (part_list_get(&list, txn, partition, phase))
			sum(&writer->indexer_write, txn, &list, before);
		if (++phase == 0)
			partition++;
	}
	db_cursor_close(&cursor);
	part_list_clear(&list);
	free(before);
	return db_commit(&txn, err);
}

/* ---- groups of test runs ---- */

static void
sum_runs(struct indexer_write *write, struct db_txn *txn,
    const struct run_sum_form *form)
{
	struct packed_cursor *cursor = packed_cursor_open(txn, tables_runs);
	struct run_row_key of = { form->partition, form->number, 0 };
	unsigned char bytes[RUN_ROW_KEY_BYTES];
	struct text key = { (const char *)bytes, sizeof(bytes) }, value;
	bool more;

	run_row_put_key(bytes, &of);
	more = packed_seek(cursor, key, &key, &value);
	for (; more && run_row_get_key(key, &of) &&
	       of.partition == form->partition && of.model == form->number;
	     more = packed_next(cursor, &key, &value)) {
		heartbeat_beat();
		if (run_row_decode(write->run, value))
			run_sum(
			    &write->changes, form, write->run, of.run, false);
		if (write->changes.count >= CHANGES)
			indexer_write_run_changes(write, txn, form);
	}
	packed_cursor_close(&cursor);
	indexer_write_run_changes(write, txn, form);
}

static enum db_result
sum_group(struct writer *writer, uint32_t partition,
    const struct model_run *model, struct err *err)
{
	struct run_sum_form form;
	struct db_txn *txn;

	if (db_begin(writer->db, true, &txn, err) != 0)
		return DB_BROKEN;
	run_sum_form_make(&form, NULL, txn, partition, model);
	if (form.number != 0)
		sum_runs(&writer->indexer_write, txn, &form);
	return db_commit(&txn, err);
}

static enum db_result
sum_groups(struct writer *writer, struct err *err)
{
	const struct model_set *models = &writer->models;
	enum db_result result = DB_OK;
	uint32_t partitions;
	struct db_txn *txn;

	if (db_begin(writer->db, false, &txn, err) != 0)
		return DB_BROKEN;
	partitions = dictionary_last(txn, 0);
	db_abort(&txn);
	for (uint32_t p = 1; p <= partitions; p++)
		for (unsigned i = 0; i < models->runs && result == DB_OK; i++)
			result = sum_group(writer, p, &models->run[i], err);
	return result;
}

enum db_result
sum_again(struct writer *writer, struct err *err)
{
	enum db_result result = sum_phases(writer, err);

	phase_memory_forget(&writer->indexer_write.memory);
	if (result == DB_OK)
		result =
		    rebuild_clear(writer, TABLES_GROUPS, REBUILD_SUMS, err);
	if (result == DB_OK)
		result = sum_groups(writer, err);
	return result == DB_OK ? rebuild_end(writer, err) : result;
}
