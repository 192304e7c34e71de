/*
 * items - what a transaction of the indexer writes: records, entities, and
 * events of test runs.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/collect.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

/* ---- records and entities ---- */

struct collect_item *
collect_new_item(struct collect *collect)
{
	return MEMORY_ADD(collect->item, collect->item_room, collect->items);
}

void
collect_add_entity(struct collect *collect, struct db_txn *txn,
    uint32_t partition, const struct record *record)
{
	struct collect_entity *entity;

	entity = MEMORY_ADD(
	    collect->entity, collect->entity_room, collect->entities);
	entity->item = collect->items - 1;
	entity->partition = partition;
	entity->by_receipt = false;
	entity->kind = dictionary_number_or_other(
	    collect->dictionary, txn, partition, record->source);
	entity->id = arena_text(&collect->arena, record->name);
	collect_run_entity(collect, txn, partition, record->source, entity->id);
}

void
collect_extend(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, const struct model_run *run,
    struct text id)
{
	struct row_block_writer writer = { collect->dictionary, txn,
		event->partition };
	struct record entity = {
		.kind = RECORD_ENTITY, .source = run->kind, .name = id
	};
	struct text rest = event->pairs;
	unsigned char *pairs, *body, *end;
	struct record_attribute attribute;
	struct wire_writer w;

	pairs = arena_room(&collect->arena, event->pairs.bytes);
	wire_writer_init(&w, pairs, event->pairs.bytes);
	while (record_next_attribute(&rest, &attribute))
		if (collect_run_property(run, attribute.key) &&
		    wire_put_attribute(&w, attribute.key, &attribute.value))
			entity.attributes++;
	arena_keep(&collect->arena, w.bytes);
	entity.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	body = arena_room(&collect->arena, row_block_body_bound(&entity));
	end = row_block_put_body(body, &entity, &writer, NULL);
	arena_keep(&collect->arena, (size_t)(end - body));
	*collect_new_item(collect) =
	    (struct collect_item){ .record = event->id, .node = event->node };
	collect->item[collect->items - 1].record.body =
	    (struct text){ (const char *)body, (uint32_t)(end - body) };
	collect_add_entity(collect, txn, event->partition, &entity);
	/* A rebuild knows no other order. */
	collect->entity[collect->entities - 1].by_receipt = true;
}

/* ---- events of runs ---- */

static void
append(struct collect *collect, struct db_txn *txn, uint32_t partition,
    unsigned place, const struct collect_run *what)
{
	uint32_t run =
	    dictionary_run(collect->dictionary, txn, partition, what->run);
	struct group *group = group_of(
	    &collect->of_runs, (uint32_t[]){ partition, place + 1, run, 0, 0 });

	MEMORY_GROW(collect->run, collect->run_room, collect->runs);
	collect->run[collect->runs] = *what;
	/* The first event of a run copies its id for all of them. */
	if (group->count == 0)
		collect->run[collect->runs].run =
		    arena_text(&collect->arena, what->run);
	group_append(&collect->of_runs, group, collect->runs++);
}

void
collect_run_event(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, unsigned place, struct collect_run what)
{
	struct record record = { .pairs = event->pairs };
	struct value value;

	what.id = event->id;
	what.node = event->node;
	what.id.body = (struct text){ NULL, 0 };
	/* Imported history gives its original receive time. */
	if (record_find_attribute(&record, text_of("receive_ns"), &value) &&
	    value.type == VALUE_INT && value.is.i >= TIME_MIN_NS &&
	    value.is.i <= TIME_MAX_NS)
		what.id.receive_ns = value.is.i;
	append(collect, txn, event->partition, place, &what);
}

void
collect_run_entity(struct collect *collect, struct db_txn *txn,
    uint32_t partition, struct text kind, struct text id)
{
	const struct collect_run what = { .event = 0, .run = id };

	for (unsigned i = 0; i < collect->models->runs; i++)
		if (text_equal(collect->models->run[i].kind, kind))
			append(collect, txn, partition, i, &what);
}

bool
collect_run_property(const struct model_run *run, struct text key)
{
	unsigned i = 0;

	while (i < run->properties && !text_equal(run->property[i], key))
		i++;
	return i < run->properties;
}
