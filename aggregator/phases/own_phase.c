/*
 * own_phase - phases without a model.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/own_phase.h"

#include <string.h>

#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/row_block.h"
#include "proto/record/kv.h"

/* The marks: keys of starts, keys of ends, endings of starts, endings of ends,
 * keys of which a start and an end had the same value. */
enum {
	KEYS = (1 << OWN_PHASE_KEYS) - 1,
	END_KEYS_AT = OWN_PHASE_KEYS,
	ENDINGS_AT = 8,
	ENDINGS = 6,
	STARTS = 15 << ENDINGS_AT,
	ENDS = 3 << (ENDINGS_AT + 4),
	SHARED_AT = ENDINGS_AT + ENDINGS,
};

static const struct ending {
	const char *text;
	bool is_end;
} endings[ENDINGS] = { { ":start", false }, { "-start", false },
	{ ":begin", false }, { "-begin", false }, { ":end", true },
	{ "-end", true } };

static const char *const key_names[OWN_PHASE_KEYS + 1] = { "id", "key", "img",
	"step", "message" };

#define PREFIX RECORD_NO_MODEL ":"

/* ---- names ---- */

/* An event without a source before the colon names nothing. */
static bool
ends_with(struct text source, struct text name, struct text ending)
{
	if (name.bytes + 1 < ending.bytes)
		return false;
	if (name.bytes + 1 == ending.bytes)
		return ending.at[0] == ':' && source.bytes > 0 &&
		       memcmp(name.at, ending.at + 1, name.bytes) == 0;
	return name.bytes > ending.bytes &&
	       memcmp(name.at + name.bytes - ending.bytes, ending.at,
		   ending.bytes) == 0;
}

static void
put_id(struct own_phase_event *event, struct text source, struct text name,
    uint32_t ending)
{
	uint32_t front = sizeof(PREFIX) - 1, kept = source.bytes;

	if (name.bytes + 1 > ending)
		kept += 1 + name.bytes - ending;
	event->id = (struct text){ event->room, front + kept };
	if (event->id.bytes > NAME_BYTES_MAX)
		return;
	memcpy(event->room, PREFIX, front);
	memcpy(event->room + front, source.at, source.bytes);
	if (kept == source.bytes)
		return;
	event->room[front + source.bytes] = ':';
	memcpy(event->room + front + source.bytes + 1, name.at,
	    kept - source.bytes - 1);
}

bool
own_phase_of(
    struct own_phase_event *event, struct text source, struct text name)
{
	for (unsigned i = 0; i < ENDINGS; i++) {
		struct text ending = text_of(endings[i].text);

		if (!ends_with(source, name, ending))
			continue;
		event->is_end = endings[i].is_end;
		event->mark = 1u << (ENDINGS_AT + i);
		put_id(event, source, name, ending.bytes);
		return true;
	}
	return false;
}

bool
own_phase_is(struct text id)
{
	return id.bytes > sizeof(PREFIX) - 1 &&
	       memcmp(id.at, PREFIX, sizeof(PREFIX) - 1) == 0;
}

struct text
own_phase_event_text(struct text id, uint32_t marks, bool is_end, char *room)
{
	struct text name = { id.at + sizeof(PREFIX) - 1,
		id.bytes - (uint32_t)(sizeof(PREFIX) - 1) };

	memcpy(room, name.at, name.bytes);
	for (unsigned i = 0; i < ENDINGS; i++) {
		struct text ending = text_of(endings[i].text);

		if (endings[i].is_end != is_end ||
		    (marks & 1u << (ENDINGS_AT + i)) == 0)
			continue;
		memcpy(room + name.bytes, ending.at, ending.bytes);
		return (struct text){ room, name.bytes + ending.bytes };
	}
	return text_of("");
}

/* ---- the key ---- */

void
own_phase_words_find(
    struct own_phase_words *words, struct db_txn *txn, uint32_t partition)
{
	words->partition = partition;
	for (unsigned i = 0; i <= OWN_PHASE_KEYS; i++)
		words->number[i] =
		    dictionary_find(txn, partition, text_of(key_names[i]));
}

/* Which of the words is the name?  Behind them: none. */
static unsigned
word_of(const struct own_phase_words *words, const struct row_block_name *name)
{
	unsigned i = 0;

	while (i <= OWN_PHASE_KEYS &&
	       (name->number != 0
		       ? name->number != words->number[i]
		       : !text_equal(name->text, text_of(key_names[i]))))
		i++;
	return i;
}

/* Attributes of the event itself take precedence. */
static void
take_message(struct own_phase_values *values, struct text message)
{
	struct kv_pair pair;

	for (unsigned i = 0; i < OWN_PHASE_KEYS; i++) {
		if (values->at[i].bytes > 0 ||
		    !kv_find(message, text_of(key_names[i]), &pair))
			continue;
		values->at[i] = pair.value;
		if (pair.escaped && pair.value.bytes <= OWN_PHASE_VALUE_BYTES)
			values->at[i] = kv_unescape(&pair, values->room[i]);
	}
}

void
own_phase_get_values(struct own_phase_values *values,
    const struct own_phase_words *words, struct text attributes)
{
	struct row_block_attribute attribute;
	struct text message = { NULL, 0 };
	struct value value;

	for (unsigned i = 0; i < OWN_PHASE_KEYS; i++)
		values->at[i] = (struct text){ NULL, 0 };
	row_block_attribute_count(&attributes);
	while (row_block_next_attribute(&attributes, &attribute)) {
		unsigned word = word_of(words, &attribute.key);

		if (word > OWN_PHASE_KEYS ||
		    !record_next_value(&attribute.value, &value))
			continue;
		if (word < OWN_PHASE_KEYS)
			values->at[word] =
			    value_as_text(&value, values->room[word]);
		else if (value.type == VALUE_TEXT)
			message = value.is.text;
	}
	if (message.bytes > 0)
		take_message(values, message);
}

uint32_t
own_phase_carried(const struct own_phase_values *values, bool is_end)
{
	uint32_t marks = 0;

	for (unsigned i = 0; i < OWN_PHASE_KEYS; i++)
		if (values->at[i].bytes > 0)
			marks |= 1u << (is_end ? END_KEYS_AT + i : i);
	return marks;
}

uint32_t
own_phase_shared(unsigned key)
{
	return 1u << (SHARED_AT + key);
}

unsigned
own_phase_key(uint32_t marks)
{
	uint32_t keys = marks >> SHARED_AT;

	if (keys == 0)
		keys = ((marks & STARTS) != 0 ? marks : KEYS) &
		       ((marks & ENDS) != 0 ? marks >> END_KEYS_AT : KEYS) &
		       KEYS;
	return (unsigned)__builtin_ctz(keys | 1u << OWN_PHASE_KEYS);
}

uint32_t
own_phase_candidates(uint32_t marks, uint32_t carried, uint64_t events)
{
	uint32_t shared = marks >> SHARED_AT;
	uint32_t both = marks & marks >> END_KEYS_AT & KEYS;

	if (events > (shared != 0 ? OWN_PHASE_PAIRED_EVENTS : OWN_PHASE_EVENTS))
		return 0;
	/* An only one is the key anyway. */
	if (shared == 0 && (both & (both - 1)) == 0)
		return 0;
	/* Those before the first that is shared; without one, all. */
	return both & ((shared & -shared) - 1) &
	       (carried | carried >> END_KEYS_AT);
}
