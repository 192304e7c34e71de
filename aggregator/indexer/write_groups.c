/*
 * write_groups - apply the changes of test runs to the statistics of their
 * groups.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/indexer/write_records.h"

/* The rows of one model in a partition. */
struct at {
	struct indexer_write *indexer_write;
	struct db_txn *txn;
	const struct run_sum_form *form;
	unsigned char bytes[RUN_SUM_KEY_BYTES];
	struct text key;
};

static struct run_sum_key
set_key(struct at *at, const struct run_sum_change *change)
{
	const struct run_sum_key key = { at->form->partition, at->form->number,
		change->group, change->part, change->which, change->number };

	run_sum_put_key(at->bytes, &key);
	at->key = (struct text){ (const char *)at->bytes, sizeof(at->bytes) };
	return key;
}

static void
put(struct at *at)
{
	db_put(at->txn, TABLES_GROUPS, at->key,
	    buffer_text(&at->indexer_write->value));
	at->indexer_write->bytes +=
	    at->key.bytes + at->indexer_write->value.bytes;
}

/* ---- one row, changed by from..to ---- */

static void
change_counts(struct at *at, const struct run_sum_change *from,
    const struct run_sum_change *to, unsigned numbers)
{
	uint64_t counts[RUN_SUM_COUNTS] = { 0 }, all = 0;
	struct text value;

	if (db_get(at->txn, TABLES_GROUPS, at->key, &value))
		run_sum_get_counts(value, numbers, counts);
	for (; from < to; from++)
		counts[from->value] += from->removed ? UINT64_MAX : 1;
	at->indexer_write->value.bytes = 0;
	for (unsigned i = 0; i < numbers; i++) {
		all |= counts[i];
		varint_put(&at->indexer_write->value, counts[i]);
	}
	if (all == 0)
		db_del(at->txn, TABLES_GROUPS, at->key);
	else
		put(at);
}

static void
change_list(struct at *at, const struct run_sum_change *change)
{
	if (change->removed) {
		db_del(at->txn, TABLES_GROUPS, at->key);
		return;
	}
	at->indexer_write->value.bytes = 0;
	varint_put(&at->indexer_write->value, 1);
	put(at);
}

/* Recompute the statistics of the group and step of `of` from all its runs. */
static void
indexer_write_sum_runs(struct indexer_write *indexer_write, struct db_txn *txn,
    const struct run_sum_form *form, const struct run_sum_change *of,
    struct duration_stats *stats)
{
	struct packed_cursor *cursor = packed_cursor_open(txn, tables_runs);
	struct run_row_key run = { form->partition, form->number, 0 };
	unsigned char bytes[RUN_ROW_KEY_BYTES];
	struct text key, value;
	bool more;

	duration_stats_reset(stats);
	run_row_put_key(bytes, &run);
	more = packed_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	for (; more && run_row_get_key(key, &run) &&
	       run.partition == form->partition && run.model == form->number;
	     more = packed_next(cursor, &key, &value)) {
		if (!run_row_decode(indexer_write->other_run, value))
			continue;
		if (of->group == (indexer_write->other_run->known
					 ? indexer_write->other_run->group
					 : RUN_SUM_GROUP_UNKNOWN))
			run_sum_step(stats, form, indexer_write->other_run,
			    of->number, of->which);
	}
	packed_cursor_close(&cursor);
}

static void
change_step(struct at *at, const struct run_sum_change *from,
    const struct run_sum_change *to)
{
	struct duration_stats *stats = at->indexer_write->stats;
	const struct run_sum_change *change;
	struct text value;
	struct varint_reader u;

	duration_stats_reset(stats);
	if (db_get(at->txn, TABLES_GROUPS, at->key, &value)) {
		u = varint_reader_of(value);
		duration_stats_decode(stats, &u);
	}
	/* Add first: a new value may become the bound when an old extreme
	 * goes. */
	for (change = from; change < to; change++)
		if (!change->removed)
			duration_stats_add(stats, change->value);
	for (change = from; change < to; change++)
		if (change->removed)
			duration_stats_remove(stats, change->value);
	if (stats->loose && stats->sums.count > 0)
		indexer_write_sum_runs(
		    at->indexer_write, at->txn, at->form, from, stats);
	if (stats->sums.count == 0) {
		db_del(at->txn, TABLES_GROUPS, at->key);
		return;
	}
	at->indexer_write->value.bytes = 0;
	duration_stats_encode(stats, &at->indexer_write->value);
	put(at);
}

/* ---- all rows ---- */

static int
compare(const void *left, const void *right)
{
	const struct run_sum_change *a = left, *b = right;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->removed - b->removed;
}

/* A value that is both removed and added cancels out. */
static void
cancel(struct run_sum_changes *line)
{
	uint32_t kept = 0;

	qsort(line->at, line->count, sizeof(*line->at), compare);
	/* Of equal values the added ones come first. */
	for (uint32_t i = 0; i < line->count; i++) {
		if (kept > 0 && line->at[i].removed &&
		    !line->at[kept - 1].removed &&
		    line->at[kept - 1].value == line->at[i].value)
			kept--;
		else
			line->at[kept++] = line->at[i];
	}
	line->count = kept;
}

/* Copy the changes of a row to consecutive places. */
static void
line_up(struct indexer_write *indexer_write, const struct group *group)
{
	struct run_sum_changes *line = &indexer_write->line;
	bool some_removed = false;
	uint32_t member;

	line->count = 0;
	for (member = group->first; member != GROUP_END;
	     member = group_next(&indexer_write->rows, member)) {
		run_sum_changes_add(line, &indexer_write->changes.at[member]);
		some_removed =
		    some_removed || indexer_write->changes.at[member].removed;
	}
	if (some_removed)
		cancel(line);
}

static void
change_row(struct at *at, const struct run_sum_changes *line)
{
	const struct run_sum_change *from = line->at, *to = from + line->count;
	struct run_sum_key key = set_key(at, from);
	unsigned numbers = run_sum_numbers(&key);

	if (key.part == RUN_SUM_PART_LIST)
		change_list(at, from);
	else if (numbers > 0)
		change_counts(at, from, to, numbers);
	else
		change_step(at, from, to);
}

void
indexer_write_run_changes(struct indexer_write *indexer_write,
    struct db_txn *txn, const struct run_sum_form *form)
{
	struct at at = {
		.indexer_write = indexer_write, .txn = txn, .form = form
	};
	struct run_sum_changes *changes = &indexer_write->changes;

	groups_reset(&indexer_write->rows);
	for (uint32_t i = 0; i < changes->count; i++) {
		const struct run_sum_change *change = &changes->at[i];

		group_append(&indexer_write->rows,
		    group_of(&indexer_write->rows,
			(uint32_t[]){ change->group, change->part,
			    change->number, change->which, 0 }),
		    i);
	}
	groups_sort(&indexer_write->rows);
	for (uint32_t i = 0; i < indexer_write->rows.count; i++) {
		line_up(indexer_write, &indexer_write->rows.at[i]);
		if (indexer_write->line.count > 0)
			change_row(&at, &indexer_write->line);
	}
	changes->count = 0;
}
