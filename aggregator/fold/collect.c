/*
 * collect - records of the journal on their way into the tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/fold/collect.h"

#include <stdlib.h>

#include "aggregator/fold/dead_letter.h"
#include "proto/wire/wire.h"

#define BUCKET_FLIP UINT32_C(0x80000000)

/* What is the same for all records of one journal entry. */
struct source {
	struct gather *gather;
	struct db_txn *txn;
	uint32_t partition, stream;
	struct text node_text; /* the last one looked up, by address */
	uint32_t node;
};

void
gather_init(struct gather *gather, struct names *names,
    const struct model_set *models, struct hash_key hash_key)
{
	*gather = (struct gather){ .names = names,
		.models = models,
		.hash_key = hash_key,
		.limit = GATHER_RECORDS / 4 };
}

void
gather_reset(struct gather *gather)
{
	arena_reset(&gather->arena);
	groups_reset(&gather->heads);
	groups_reset(&gather->states);
	groups_reset(&gather->of_runs);
	gather->items = gather->entities = gather->roles = gather->runs = 0;
	gather->partitions = 0;
	gather->records = gather->batches = gather->dead = 0;
	gather->unscoped = gather->dead_cut = 0;
}

void
gather_forget(struct gather *gather)
{
	names_forget(gather->names);
	match_forget(gather);
}

void
gather_clear(struct gather *gather)
{
	arena_clear(&gather->arena);
	wire_room_clear(&gather->room);
	groups_clear(&gather->heads);
	groups_clear(&gather->states);
	groups_clear(&gather->of_runs);
	free(gather->item);
	free(gather->entity);
	free(gather->role);
	free(gather->run);
	free(gather->partition);
	match_clear(gather);
}

bool
gather_is_full(const struct gather *gather)
{
	return gather->items >= gather->limit ||
	       gather->arena.used >= GATHER_BYTES;
}

void
gather_learn(struct gather *gather, uint64_t pages)
{
	uint64_t fits;

	if (pages == 0 || gather->items < GATHER_RECORDS_MIN / 2)
		return; /* too few to tell */
	fits = (uint64_t)gather->items * GATHER_PAGES / pages;
	if (fits > 2 * (uint64_t)gather->limit)
		fits = 2 * (uint64_t)gather->limit;
	if (fits > GATHER_RECORDS)
		fits = GATHER_RECORDS;
	if (fits < GATHER_RECORDS_MIN)
		fits = GATHER_RECORDS_MIN;
	gather->limit = (uint32_t)fits;
}

struct gather_partition *
gather_partition(struct gather *gather, uint32_t partition)
{
	uint32_t i = gather->partitions;

	while (i-- > 0) {
		if (gather->partition[i].partition == partition)
			return &gather->partition[i];
	}
	if (gather->partitions == gather->partition_room) {
		gather->partition_room = 2 * gather->partition_room + 4;
		gather->partition = realloc(gather->partition,
		    gather->partition_room * sizeof(*gather->partition));
		if (gather->partition == NULL)
			abort();
	}
	gather->partition[gather->partitions] =
	    (struct gather_partition){ partition,
		    { .first_ns = INT64_MAX, .last_ns = INT64_MIN } };
	return &gather->partition[gather->partitions++];
}

/* ---- one record ---- */

static uint32_t
node_of(struct source *source, const struct record *record)
{
	struct gather *gather = source->gather;
	bool fresh;

	/* Records of one context share the view of their node. */
	if (record->node.at == source->node_text.at &&
	    record->node.bytes == source->node_text.bytes && source->node != 0)
		return source->node;
	source->node = names_node(gather->names, source->txn, source->partition,
	    record->node, &fresh);
	source->node_text = record->node;
	if (fresh)
		gather_partition(gather, source->partition)->more.nodes++;
	return source->node;
}

static struct gather_item *
new_item(struct gather *gather)
{
	if (gather->items == gather->item_room) {
		gather->item_room =
		    gather->item_room
			? gather->item_room + gather->item_room / 2
			: 1024;
		gather->item = realloc(
		    gather->item, gather->item_room * sizeof(*gather->item));
		if (gather->item == NULL)
			abort();
	}
	return &gather->item[gather->items++];
}

static void
add_entity(struct gather *gather, struct db_txn *txn, uint32_t partition,
    const struct record *record)
{
	struct gather_entity *entity;

	if (gather->entities == gather->entity_room) {
		gather->entity_room = 2 * gather->entity_room + 8;
		gather->entity = realloc(gather->entity,
		    gather->entity_room * sizeof(*gather->entity));
		if (gather->entity == NULL)
			abort();
	}
	entity = &gather->entity[gather->entities++];
	entity->item = gather->items - 1;
	entity->partition = partition;
	entity->kind = names_number_or_other(
	    gather->names, txn, partition, record->source);
	entity->id = arena_text(&gather->arena, record->name);
	gather_run_entity(gather, txn, partition, record->source, entity->id);
}

void
gather_extend(struct gather *gather, struct db_txn *txn,
    const struct match_event *event, const struct model_run *run,
    struct text id)
{
	struct head_writer writer = { gather->names, txn, event->partition };
	struct record entity = {
		.kind = RECORD_ENTITY, .source = run->kind, .name = id
	};
	struct text rest = event->pairs;
	unsigned char *pairs, *body, *end;
	struct attribute attribute;
	struct wire_writer w;

	pairs = arena_room(&gather->arena, event->pairs.bytes);
	wire_writer_init(&w, pairs, event->pairs.bytes);
	while (record_next_attribute(&rest, &attribute))
		if (gather_run_property(run, attribute.key) &&
		    wire_put_attribute(&w, attribute.key, &attribute.value))
			entity.attributes++;
	arena_keep(&gather->arena, w.bytes);
	entity.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	body = arena_room(&gather->arena, head_body_bound(&entity));
	end = head_put_body(body, &entity, &writer, NULL);
	arena_keep(&gather->arena, (size_t)(end - body));
	*new_item(gather) =
	    (struct gather_item){ .head = event->id, .node = event->node };
	gather->item[gather->items - 1].head.body =
	    (struct text){ (const char *)body, (uint32_t)(end - body) };
	add_entity(gather, txn, event->partition, &entity);
}

/* Put the item under the row that it will be in. */
static void
add_head(struct source *source, const struct record *record)
{
	struct gather *gather = source->gather;
	uint32_t number = gather->items - 1, track = 0;
	struct group *group;

	if (record->kind == RECORD_SAMPLE || record->kind == RECORD_SPAN)
		track = names_number_or_other(gather->names, source->txn,
		    source->partition, record->source);
	group = group_of(&gather->heads,
	    (uint32_t[]){ source->partition, record->kind,
		(uint32_t)key_bucket(record->time_ns) ^ BUCKET_FLIP,
		gather->item[number].node, track });
	if (group->count > 0 && head_compare(&gather->item[number].head,
				    &gather->item[group->last].head) < 0)
		group->mixed = true;
	group_append(&gather->heads, group, number);
}

static void
take_record(struct source *source, const struct record *record)
{
	struct gather *gather = source->gather;
	struct head_writer writer = { gather->names, source->txn,
		source->partition };
	struct head_event event;
	unsigned char *body, *end;
	struct gather_item *item;

	body = arena_room(&gather->arena, head_body_bound(record));
	end = head_put_body(body, record, &writer, &event);
	arena_keep(&gather->arena, (size_t)(end - body));
	item = new_item(gather);
	*item = (struct gather_item){
		.head = { record->time_ns, record->receive_ns, record->id.seq,
		    source->stream, record->id.index,
		    { (const char *)body, (uint32_t)(end - body) } },
		.node = node_of(source, record),
	};
	gather->records++;
	if (record->kind == RECORD_ENTITY) {
		add_entity(gather, source->txn, source->partition, record);
		return;
	}
	add_head(source, record);
	if (record->kind == RECORD_EVENT && gather->models->phases > 0) {
		struct match_event match = {
			.partition = source->partition,
			.node = item->node,
			.source = event.source,
			.name = event.name,
			.source_text = record->source,
			.name_text = record->name,
			.id = item->head,
			.pairs = record->pairs,
		};

		match.id.body = (struct text){ (const char *)event.attributes,
			(uint32_t)(end - event.attributes) };
		match_event(gather, source->txn, &match);
	}
}

/* ---- one entry ---- */

static void
take_dead(struct source *source, const struct journal_entry *entry,
    const char *reason)
{
	struct gather *gather = source->gather;
	struct partition_counts counts, *more;
	char hash[DEAD_HASH_BYTES + 1];
	struct record record;
	uint64_t bytes;

	tables_get_counts(source->txn, source->partition, &counts);
	more = &gather_partition(gather, source->partition)->more;
	bytes = counts.dead_bytes + more->dead_bytes;
	record = dead_letter(entry, reason,
	    gather->dead_bytes > bytes ? gather->dead_bytes - bytes : 0, hash);
	more->dead_bytes += record.value_bytes.bytes;
	if (record.value_bytes.bytes < record.count) {
		more->dead_cut++;
		gather->dead_cut++;
	}
	gather->dead++;
	take_record(source, &record);
}

static void
take_gap(struct source *source, const struct journal_entry *entry)
{
	const struct record record = journal_gap(entry);

	take_record(source, &record);
}

static void
take_batch(struct source *source, const struct journal_entry *entry)
{
	struct wire_cursor cursor;
	enum wire_fault fault;
	struct record record;
	struct text plain;

	fault = wire_body(
	    &entry->header, entry->body, &source->gather->room, &plain);
	if (fault != WIRE_OK) {
		/* Passed the door once: an older or a newer door. */
		take_dead(source, entry, wire_fault_name(fault));
		return;
	}
	wire_cursor_init(&cursor, &entry->header, plain);
	cursor.receive_ns = entry->receive_ns;
	while (wire_next(&cursor, &record))
		take_record(source, &record);
}

void
gather_entry(struct gather *gather, struct db_txn *txn,
    const struct journal_entry *entry, bool poisoned)
{
	struct source source = { .gather = gather, .txn = txn };

	source.partition = names_number_or_other(
	    gather->names, txn, 0, entry->header.partition);
	source.stream = names_stream(
	    gather->names, txn, source.partition, &entry->header.session);
	names_sender(gather->names, source.partition, entry->header.node);
	gather->batches++;
	if (poisoned)
		take_dead(&source, entry, "poison");
	else if (entry->dead)
		take_dead(&source, entry, wire_fault_name(entry->fault));
	else if (entry->header.type == WIRE_GAP)
		take_gap(&source, entry);
	else
		take_batch(&source, entry);
	names_sender(gather->names, 0, (struct text){ NULL, 0 });
}
