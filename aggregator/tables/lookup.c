/*
 * lookup - numbers as names.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/lookup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/memory.h"

struct lookup_slot {
	uint32_t partition, number; /* number 0: empty */
	uint32_t bytes, room;
	char *at;
	uint32_t next; /* slot that has memory, plus 1; 0: none */
};

void
lookup_clear(struct lookup *lookup)
{
	/* Not all slots: a short query uses few of them. */
	for (uint32_t i = lookup->used; i != 0; i = lookup->slots[i - 1].next)
		free(lookup->slots[i - 1].at);
	free(lookup->slots);
	buffer_clear(&lookup->pairs);
	*lookup = (struct lookup){ .txn = NULL };
}

void
lookup_use(struct lookup *lookup, struct db_txn *txn, uint32_t partition)
{
	lookup->txn = txn;
	lookup->partition = partition;
	if (lookup->slots != NULL)
		return;
	lookup->slots = memory_zero(LOOKUP_SLOTS, sizeof(*lookup->slots));
}

static void
fill(struct lookup *lookup, struct lookup_slot *slot, struct text text)
{
	if (slot->at == NULL) {
		slot->next = lookup->used;
		lookup->used = (uint32_t)(slot - lookup->slots) + 1;
	}
	if (slot->at == NULL || text.bytes > slot->room) {
		slot->room = text.bytes < 24 ? 24 : text.bytes;
		free(slot->at);
		slot->at = memory_alloc(slot->room);
	}
	if (text.bytes > 0)
		memcpy(slot->at, text.at, text.bytes);
	slot->bytes = text.bytes;
}

struct text
lookup_number(struct lookup *lookup, uint32_t number)
{
	struct lookup_slot *slot = &lookup->slots[number % LOOKUP_SLOTS];
	struct text text;

	if (number == 0)
		return (struct text){ NULL, 0 };
	if (slot->number != number || slot->partition != lookup->partition) {
		if (!dictionary_text(
			lookup->txn, lookup->partition, number, &text)) {
			dictionary_note_lost(
			    lookup->txn, lookup->partition, number);
			return (struct text){ NULL, 0 };
		}
		/* The caller may still use the text in the slot. */
		if (slot->number != 0 && slot->partition == lookup->partition)
			return text;
		fill(lookup, slot, text);
		slot->number = number;
		slot->partition = lookup->partition;
	}
	return (struct text){ slot->at, slot->bytes };
}

struct text
lookup_name(struct lookup *lookup, const struct row_block_name *name)
{
	return name->number == 0 ? name->text
				 : lookup_number(lookup, name->number);
}

struct text
lookup_key(struct lookup *lookup, const struct row_block_name *name,
    char room[static LOOKUP_KEY_BYTES])
{
	struct text text = lookup_name(lookup, name);

	if (text.bytes > 0 || name->number == 0)
		return text;
	snprintf(room, LOOKUP_KEY_BYTES, "?%" PRIu32, name->number);
	return text_of(room);
}

bool
lookup_session(
    struct lookup *lookup, uint32_t stream, struct session_id *session)
{
	return dictionary_session(lookup_number(lookup, stream), session);
}

struct text
lookup_pairs(struct lookup *lookup, struct text attributes, uint32_t *count)
{
	size_t room = 2 * (size_t)attributes.bytes +
		      (size_t)RECORD_ATTRIBUTES_MAX * (NAME_BYTES_MAX + 8);
	struct row_block_attribute attribute;
	struct wire_writer w;
	struct value value;

	lookup->pairs.bytes = 0;
	wire_writer_init(&w, buffer_need(&lookup->pairs, room), room);
	row_block_attribute_count(&attributes);
	*count = 0;
	while (*count < RECORD_ATTRIBUTES_MAX &&
	       row_block_next_attribute(&attributes, &attribute)) {
		char room_of_key[LOOKUP_KEY_BYTES];
		struct text key =
		    lookup_key(lookup, &attribute.key, room_of_key);
		struct text bytes = attribute.value;

		if (record_next_value(&bytes, &value) && key.bytes > 0 &&
		    wire_put_attribute(&w, key, &value))
			++*count;
	}
	return (struct text){ (const char *)w.at, (uint32_t)w.bytes };
}
