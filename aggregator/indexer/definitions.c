/*
 * definitions - which definitions of metric groups are stored.
 *
 * Entities are written at the end of a transaction, so the definitions that
 * grew in it are kept here until then.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/indexer/collect.h"
#include "aggregator/tables/group_definition.h"
#include "proto/base/memory.h"
#include "proto/base/varint.h"
#include "proto/os/log.h"
#include "proto/wire/wire.h"

enum { KEY_ROOM = 4 + NAME_BYTES_MAX };

static struct text
key_of(char to[static KEY_ROOM], uint32_t partition, struct text name)
{
	varint_put_u32_be((unsigned char *)to, partition);
	memcpy(to + 4, name.at, name.bytes);
	return (struct text){ to, 4 + name.bytes };
}

struct definition
collect_definition(struct collect *collect, struct db_txn *txn,
    uint32_t partition, struct text name)
{
	struct definition held;
	char key[KEY_ROOM];
	uint32_t number;

	if (collect->grown_names.count > 0 &&
	    string_table_find(
		&collect->grown_names, key_of(key, partition, name), &number))
		return collect->grown[number];
	(void)group_definition_find(txn, partition, name, &held);
	return held;
}

static void
note_grown(struct collect *collect, uint32_t partition, struct text name,
    const struct definition *fresh)
{
	struct arena *arena = &collect->arena;
	char key[KEY_ROOM];
	uint32_t number;

	if (collect->grown_names.count == 0)
		string_table_init(&collect->grown_names);
	number = string_table_add(
	    &collect->grown_names, key_of(key, partition, name));
	MEMORY_GROW(collect->grown, collect->grown_room, number);
	collect->grown[number] =
	    (struct definition){ arena_text(arena, fresh->names),
		    arena_text(arena, fresh->units),
		    arena_text(arena, fresh->types) };
}

static bool
is_list(struct text key)
{
	return text_equal(key, text_of("names")) ||
	       text_equal(key, text_of("units")) ||
	       text_equal(key, text_of("types"));
}

/* Take the lists out of the record: those that are stored stay. */
static void
drop_lists(struct collect *collect, struct record *record)
{
	struct record_attribute attribute;
	struct text rest = record->pairs;
	struct wire_writer w;

	wire_writer_init(
	    &w, arena_room(&collect->arena, rest.bytes + 1), rest.bytes + 1);
	record->attributes = 0;
	while (record_next_attribute(&rest, &attribute))
		if (!is_list(attribute.key) &&
		    wire_put_attribute(&w, attribute.key, &attribute.value))
			record->attributes++;
	arena_keep(&collect->arena, w.bytes);
	record->pairs = (struct text){ (const char *)w.at, (uint32_t)w.bytes };
}

/* The same refusal comes again with every session of its sender. */
static bool
is_logged(struct collect *collect, uint32_t partition, struct text name)
{
	char key[KEY_ROOM];
	struct text text = key_of(key, partition, name);
	uint64_t hash =
	    hash_bytes((struct hash_key){ 0, 0 }, text.at, text.bytes);
	uint32_t i = 0;

	while (i < collect->logged && collect->logged_group[i] != hash)
		i++;
	if (i < collect->logged || i == COLLECT_LOGGED_GROUPS)
		return true;
	collect->logged_group[collect->logged++] = hash;
	return false;
}

bool
collect_define(struct collect *collect, struct db_txn *txn, uint32_t partition,
    struct text sender, struct record *record, struct err *err)
{
	struct definition fresh, held;

	if (!definition_of(record, &fresh))
		return true;
	held = collect_definition(collect, txn, partition, record->name);
	switch (definition_compare(
	    record->name, &held, &fresh, definition_sender_of(record), err)) {
	case DEFINITION_KEPT: drop_lists(collect, record); return true;
	case DEFINITION_GROWN:
		note_grown(collect, partition, record->name, &fresh);
		return true;
	default: break;
	}
	collect->groups_refused++;
	if (!is_logged(collect, partition, record->name))
		log_warn("indexer: refused a definition from node %.*s, its "
			 "samples are stored: %s",
		    (int)sender.bytes, sender.at, err->text);
	return false;
}

void
collect_reset_definitions(struct collect *collect)
{
	if (collect->grown_names.count == 0)
		return;
	string_table_clear(&collect->grown_names);
	collect->grown_names.count = 0;
}
