/*
 * write_records - write row blocks, entities and counts to the tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/write_records.h"

#include <stdlib.h>

#include "proto/base/memory.h"

enum { SLICE_RECORDS = 64 << 10 };

#define BUCKET_FLIP UINT32_C(0x80000000)

void
indexer_write_init(struct indexer_write *indexer_write)
{
	*indexer_write = (struct indexer_write){ .stats = memory_alloc(sizeof(
						     struct duration_stats)),
		.run = memory_alloc(sizeof(struct run_row)),
		.other_run = memory_alloc(sizeof(struct run_row)),
		.packed = packed_new(),
		.entities_max = INDEXER_WRITE_ENTITIES_MAX };
	duration_stats_init(indexer_write->stats);
}

void
indexer_write_clear(struct indexer_write *indexer_write)
{
	buffer_clear(&indexer_write->row.bytes);
	buffer_clear(&indexer_write->value);
	phase_memory_forget(&indexer_write->memory);
	part_cursor_clear(&indexer_write->parts);
	phase_items_clear(&indexer_write->items);
	free(indexer_write->item);
	part_row_clear(&indexer_write->newest);
	free(indexer_write->old);
	free(indexer_write->merged);
	pairer_clear(&indexer_write->pairer);
	pairer_clear(&indexer_write->other_pairer);
	phase_sum_clear(&indexer_write->before);
	phase_sum_clear(&indexer_write->after);
	free(indexer_write->stats);
	packed_free(&indexer_write->packed);
	free(indexer_write->run);
	free(indexer_write->other_run);
	run_sum_changes_clear(&indexer_write->changes);
	run_sum_changes_clear(&indexer_write->line);
	groups_clear(&indexer_write->rows);
	free(indexer_write->latest);
	groups_clear(&indexer_write->latest_rows);
}

/* ---- row blocks ---- */

static int
compare(const void *left, const void *right, void *arg)
{
	const struct collect *collect = arg;

	return row_block_compare(&collect->item[*(const uint32_t *)left].record,
	    &collect->item[*(const uint32_t *)right].record);
}

/* The position of the next row. */
struct place {
	struct db_cursor *row_blocks;
	uint32_t slice, row; /* the last row number given */
};

static void
put_row(struct indexer_write *indexer_write, struct place *place,
    const uint32_t *words)
{
	unsigned char key[KEY_ROW_BLOCK_BYTES];
	bool by_track = key_is_by_track((uint8_t)words[1]);
	struct key_row_block row_key = { .partition = words[0],
		.kind = (uint8_t)words[1],
		.hour = (int32_t)(words[2] ^ BUCKET_FLIP),
		.slice = place->slice,
		.node = words[by_track ? 4 : 3],
		.track = words[by_track ? 3 : 4],
		.first_ns = indexer_write->row.first_ns,
		.row = ++place->row };

	struct text value = row_block_finish(&indexer_write->row);

	key_put_row_block(key, &row_key);
	db_cursor_put(place->row_blocks,
	    (struct text){ (const char *)key, sizeof(key) }, value);
	indexer_write->bytes += sizeof(key) + value.bytes;
}

static void
count_group(struct collect *collect, const struct group *group)
{
	struct partition_counts *more =
	    &collect_partition(collect, group->key[0])->more;
	int64_t first = collect->item[group->first].record.time_ns;
	int64_t last = collect->item[group->last].record.time_ns;

	more->records[group->key[1]] += group->count;
	if (first < more->first_ns)
		more->first_ns = first;
	if (last > more->last_ns)
		more->last_ns = last;
}

void
indexer_write_row_blocks(struct indexer_write *indexer_write,
    struct db_txn *txn, struct collect *collect)
{
	struct place place = { .row_blocks =
				   db_cursor_open(txn, TABLES_ROW_BLOCKS),
		.row = (uint32_t)tables_fact(txn, FACT_ROW) };
	uint64_t records = tables_fact(txn, FACT_RECORDS);
	uint32_t i, member;

	/* Many small transactions share a slice; a large one has its own.
	 * Either way the rows of one transaction are stored together. */
	place.slice = (uint32_t)(records / SLICE_RECORDS);

	groups_sort(&collect->row_blocks);
	for (i = 0; i < collect->row_blocks.count; i++) {
		struct group *group = &collect->row_blocks.at[i];
		struct latest last = LATEST_NONE, heard = LATEST_NONE;

		if (group->mixed)
			group_order(
			    &collect->row_blocks, group, compare, collect);
		count_group(collect, group);
		records += group->count;
		row_block_begin(&indexer_write->row);
		for (member = group->first; member != GROUP_END;
		     member = group_next(&collect->row_blocks, member)) {
			const struct row_block_item *item =
			    &collect->item[member].record;

			heard.receive_ns = item->receive_ns;
			heard.time_ns = item->time_ns;
			latest_take(&last, &heard);
			if (row_block_add(&indexer_write->row, item))
				continue;
			put_row(indexer_write, &place, group->key);
			row_block_begin(&indexer_write->row);
			row_block_add(&indexer_write->row, item);
		}
		put_row(indexer_write, &place, group->key);
		indexer_write_note_latest(
		    indexer_write, txn, collect, group, last);
	}
	db_cursor_close(&place.row_blocks);
	indexer_write_latest(indexer_write, txn, collect);
	tables_put_fact(txn, FACT_ROW, place.row);
	tables_put_fact(txn, FACT_RECORDS, records);
}

/* ---- entities ---- */

static bool
same_key(const struct row_block_name *a, const struct row_block_name *b)
{
	return a->number == b->number &&
	       (a->number != 0 || text_equal(a->text, b->text));
}

/* Append the attributes of `from` that `but` does not have. */
static uint32_t
put_others(struct buffer *to, struct text from, struct text but, uint32_t room)
{
	struct row_block_attribute attribute, other;
	uint32_t put = 0;
	struct text rest;
	bool named;

	while (put < room && row_block_next_attribute(&from, &attribute)) {
		for (rest = but, named = false;
		     !named && row_block_next_attribute(&rest, &other);)
			named = same_key(&attribute.key, &other.key);
		if (named)
			continue;
		row_block_put_attribute(to, &attribute);
		put++;
	}
	return put;
}

/* An entity as stored; `attributes` is a view without the count. */
struct reported {
	uint64_t node, stream, seq, index;
	int64_t receive_ns;
	struct text attributes;
	uint32_t count;
};

static struct reported
reported_by(const struct collect_item *item)
{
	const struct row_block_item *record = &item->record;
	struct reported reported = { item->node, record->stream, record->seq,
		record->index, record->receive_ns, record->body, 0 };

	reported.count = row_block_attribute_count(&reported.attributes);
	return reported;
}

static struct reported
reported_before(struct text row)
{
	struct varint_reader u = varint_reader_of(row);
	struct reported reported = { .node = varint_get(&u) };

	reported.stream = varint_get(&u);
	reported.seq = varint_get(&u);
	reported.index = varint_get(&u);
	reported.receive_ns = varint_unzigzag(varint_get(&u));
	reported.attributes = varint_get_bytes(&u, varint_left(&u));
	reported.count = row_block_attribute_count(&reported.attributes);
	if (!u.bad && reported.count <= RECORD_ATTRIBUTES_MAX)
		return reported;
	return (struct reported){ .receive_ns = INT64_MIN };
}

static bool
is_later(const struct reported *a, const struct reported *b)
{
	if (a->receive_ns != b->receive_ns || a->stream != b->stream)
		return a->receive_ns > b->receive_ns;
	return a->seq != b->seq ? a->seq > b->seq : a->index > b->index;
}

/* A later entity replaces the attributes that it has.  The others stay, up to
 * RECORD_ATTRIBUTES_MAX in total. */
static void
put_entity(struct buffer *to, const struct reported *later,
    const struct reported *earlier)
{
	uint32_t count = later->count, place;

	to->bytes = 0;
	varint_put(to, later->node);
	varint_put(to, later->stream);
	varint_put(to, later->seq);
	varint_put(to, later->index);
	varint_put(to, varint_zigzag(later->receive_ns));
	/* The count takes one byte: it is at most 64. */
	varint_put(to, 0);
	place = (uint32_t)to->bytes - 1;
	buffer_put(to, later->attributes.at, later->attributes.bytes);
	if (earlier != NULL)
		count += put_others(to, earlier->attributes, later->attributes,
		    RECORD_ATTRIBUTES_MAX - count);
	to->at[place] = (unsigned char)count;
}

static void
merge_entity(struct indexer_write *indexer_write,
    const struct collect_item *item, struct text row, bool by_time)
{
	struct reported fresh = reported_by(item), old;

	if (row.bytes == 0) {
		put_entity(&indexer_write->value, &fresh, NULL);
		return;
	}
	old = reported_before(row);
	if (by_time && !is_later(&fresh, &old))
		put_entity(&indexer_write->value, &old, &fresh);
	else
		put_entity(&indexer_write->value, &fresh, &old);
}

static int
compare_entities(const void *a, const void *b, void *arg)
{
	const struct collect *collect = arg;
	const struct collect_entity *of[] = { a, b };
	struct reported one = reported_by(&collect->item[of[0]->item]);
	struct reported other = reported_by(&collect->item[of[1]->item]);

	return is_later(&one, &other) - is_later(&other, &one);
}

/* May the partition have one more entity? */
static bool
count_entity(struct indexer_write *indexer_write, struct db_txn *txn,
    struct collect *collect, uint32_t partition)
{
	uint64_t *more = collect_partition(collect, partition)->more.records;
	struct partition_counts counts;

	tables_get_counts(txn, partition, &counts);
	if (counts.records[RECORD_ENTITY] + more[RECORD_ENTITY] >=
	    indexer_write->entities_max) {
		indexer_write->entities_over++;
		return false;
	}
	more[RECORD_ENTITY]++;
	return true;
}

void
indexer_write_entities(struct indexer_write *indexer_write, struct db_txn *txn,
    struct collect *collect, bool again)
{
	unsigned char key[8 + NAME_BYTES_MAX];
	uint32_t i;

	if (again && collect->entities > 1)
		qsort_r(collect->entity, collect->entities,
		    sizeof(*collect->entity), compare_entities, collect);

	for (i = 0; i < collect->entities; i++) {
		const struct collect_entity *entity = &collect->entity[i];
		struct text name = { (const char *)key, 8 + entity->id.bytes };
		struct text old = { NULL, 0 };

		varint_put_u32_be(key, entity->partition);
		varint_put_u32_be(key + 4, entity->kind);
		memcpy(key + 8, entity->id.at, entity->id.bytes);
		if (!packed_get(indexer_write->packed, txn, tables_entities,
			name, &old) &&
		    !count_entity(
			indexer_write, txn, collect, entity->partition))
			continue;
		merge_entity(indexer_write, &collect->item[entity->item], old,
		    again || entity->by_receipt);
		if (!text_equal(buffer_text(&indexer_write->value), old))
			packed_put(indexer_write->packed, txn, tables_entities,
			    name, buffer_text(&indexer_write->value));
	}
}

/* ---- counts ---- */

void
indexer_write_counts(struct db_txn *txn, const struct collect *collect)
{
	struct partition_counts counts;
	uint32_t i;
	int kind;

	for (i = 0; i < collect->partitions; i++) {
		const struct partition_counts *more =
		    &collect->partition[i].more;

		tables_get_counts(
		    txn, collect->partition[i].partition, &counts);
		counts.nodes += more->nodes;
		if (more->first_ns < counts.first_ns)
			counts.first_ns = more->first_ns;
		if (more->last_ns > counts.last_ns)
			counts.last_ns = more->last_ns;
		for (kind = 0; kind < RECORD_KINDS; kind++)
			counts.records[kind] += more->records[kind];
		counts.rejected_bytes += more->rejected_bytes;
		counts.rejected_cut += more->rejected_cut;
		if (more->last_entry > 0)
			counts.last_entry = more->last_entry;
		tables_put_counts(
		    txn, collect->partition[i].partition, &counts);
	}
}
