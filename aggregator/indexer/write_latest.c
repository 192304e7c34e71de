/*
 * write_latest - keep what was last heard of each node.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/write_records.h"

#include <math.h>

#include "proto/base/memory.h"
#include "proto/record/counter_rate.h"

/* ---- the values of samples ---- */

/* The column of a metric in the samples of a group, and how many there are. */
static bool
find_column(struct indexer_write_column *column, struct definition definition,
    const char *metric)
{
	struct text name;
	bool found = false;

	for (column->columns = 0;
	     (name = text_next_word(&definition.names)).bytes > 0;
	     column->columns++)
		if (!found && text_equal(name, text_of(metric))) {
			column->index = column->columns;
			found = true;
		}
	return found;
}

/* Row blocks come in the order of their metric groups. */
static const struct indexer_write_column *
find_group(struct indexer_write *indexer_write, struct db_txn *txn,
    struct collect *collect, const struct group *group)
{
	struct indexer_write_column *column = &indexer_write->latest_column;
	uint32_t partition = group->key[0], track = group->key[3];
	const char *metric = NULL;
	struct text name;

	if (column->partition == partition && column->track == track)
		return column;
	*column = (struct indexer_write_column){ .partition = partition,
		.track = track };
	if (!dictionary_text(txn, partition, track, &name))
		return column;
	if (text_equal(name, text_of(LATEST_CLOCK_GROUP)))
		metric = LATEST_CLOCK_METRIC;
	else if (text_equal(name, text_of(LATEST_SPOOL_GROUP)))
		metric = LATEST_SPOOL_METRIC;
	column->is_clock =
	    metric != NULL && strcmp(metric, LATEST_CLOCK_METRIC) == 0;
	column->is_wanted =
	    metric != NULL &&
	    find_column(column,
		collect_definition(collect, txn, partition, name), metric);
	return column;
}

/* What the sample has there; false: no number that can be kept. */
static bool
value_of(const struct row_block_item *item,
    const struct indexer_write_column *column, int64_t *number)
{
	struct row_block_body body;
	struct value value;
	double found;

	if (!row_block_get_body(
		item->body, RECORD_SAMPLE, item->time_ns, &body) ||
	    body.values > column->columns || body.values <= column->index)
		return false;
	for (uint32_t i = 0; i <= column->index; i++)
		if (!record_next_value(&body.value_bytes, &value))
			return false;
	found = counter_rate_number(&value);
	if (isnan(found) || fabs(found) >= 0x1p62)
		return false;
	*number = (int64_t)found;
	return true;
}

static void
take_values(struct collect *collect, const struct group *group,
    const struct indexer_write_column *column, struct latest *last)
{
	uint32_t member;

	for (member = group->first; member != GROUP_END;
	     member = group_next(&collect->row_blocks, member)) {
		const struct row_block_item *item =
		    &collect->item[member].record;
		struct latest_value value = { .time_ns = item->time_ns };

		if (value_of(item, column, &value.value))
			latest_take_value(
			    column->is_clock ? &last->clock : &last->spool,
			    value);
	}
}

/* ---- the rows ---- */

static void
add_latest(struct indexer_write *indexer_write, uint32_t partition,
    uint32_t node, struct latest last)
{
	struct groups *rows = &indexer_write->latest_rows;
	uint32_t number = indexer_write->latest_count;

	MEMORY_GROW(indexer_write->latest, indexer_write->latest_room, number);
	indexer_write->latest[number] =
	    (struct indexer_write_latest){ node, last };
	indexer_write->latest_count++;
	group_append(rows,
	    group_of(
		rows, (uint32_t[]){ partition, node / LATEST_NODES, 0, 0, 0 }),
	    number);
}

void
indexer_write_note_latest(struct indexer_write *indexer_write,
    struct db_txn *txn, struct collect *collect, const struct group *group,
    struct latest last)
{
	const struct indexer_write_column *column;
	uint32_t partition = group->key[0], kind = group->key[1];
	uint32_t node = group->key[key_is_by_track((uint8_t)kind) ? 4 : 3];

	if (kind != RECORD_EVENT && kind != RECORD_SAMPLE &&
	    kind != RECORD_SPAN)
		return;
	if (kind == RECORD_SAMPLE) {
		column = find_group(indexer_write, txn, collect, group);
		last.sample_ns = collect->item[group->last].record.time_ns;
		if (column->is_wanted)
			take_values(collect, group, column, &last);
	}
	add_latest(indexer_write, partition, node, last);
}

/* Add the members of a row; true: it has changed. */
static bool
take(struct indexer_write *indexer_write, const struct group *group,
    struct latest_row *row)
{
	uint32_t member;
	bool changed = false;

	for (member = group->first; member != GROUP_END;
	     member = group_next(&indexer_write->latest_rows, member)) {
		const struct indexer_write_latest *of =
		    &indexer_write->latest[member];
		unsigned place = of->node % LATEST_NODES;

		if (of->last.receive_ns != INT64_MIN)
			row->has |= UINT64_C(1) << place;
		/* Of a node without a record nothing is kept. */
		if ((row->has >> place & 1) != 0)
			changed |= latest_take(&row->at[place], &of->last);
	}
	return changed;
}

void
indexer_write_latest(struct indexer_write *indexer_write, struct db_txn *txn,
    const struct collect *collect)
{
	struct groups *rows = &indexer_write->latest_rows;
	unsigned char bytes[LATEST_KEY_BYTES];
	struct text key = { (const char *)bytes, sizeof(bytes) };
	struct latest_row row;

	/* Behind the records. */
	for (uint32_t i = 0; i < collect->lives; i++) {
		struct latest last = LATEST_NONE;

		last.life = collect->life[i].life;
		add_latest(indexer_write, collect->life[i].partition,
		    collect->life[i].node, last);
	}
	groups_sort(rows);
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct group *group = &rows->at[i];

		latest_read(txn, group->key[0], group->key[1], &row);
		if (!take(indexer_write, group, &row))
			continue;
		indexer_write->value.bytes = 0;
		latest_encode(&row, &indexer_write->value);
		latest_put_key(bytes, group->key[0], group->key[1]);
		db_put(
		    txn, TABLES_NAMES, key, buffer_text(&indexer_write->value));
		indexer_write->bytes +=
		    sizeof(bytes) + indexer_write->value.bytes;
	}
	groups_reset(rows);
	indexer_write->latest_count = 0;
	/* Until the next transaction its group may get another definition. */
	indexer_write->latest_column =
	    (struct indexer_write_column){ .partition = 0 };
}
