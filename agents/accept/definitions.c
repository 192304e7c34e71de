/*
 * definitions - what users have defined.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/definitions.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/accept/series_limit.h"
#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/metric/definition.h"
#include "proto/metric/labels.h"
#include "proto/metric/metric_groups.h"
#include "proto/os/clock.h"
#include "proto/record/counter_rate.h"

enum {
	KEY_ROOM = sizeof(uid_t) + 1 + 2 * NAME_BYTES_MAX,
	SHOWN_BYTES = 64,
};

/* Key, names, units and types, one behind the other. */
struct slot {
	char *at;
	uint32_t key_bytes, names_bytes, units_bytes, types_bytes;
};

struct definitions {
	struct hash_key hash_key;
	struct slot slot[DEFINITIONS_SLOTS];
	size_t bytes;
	struct series_limit *limit;
};

void
definitions_new(struct definitions **definitions)
{
	*definitions = memory_zero(1, sizeof(**definitions));
	(*definitions)->hash_key = hash_key_random();
	series_limit_new(&(*definitions)->limit);
}

static size_t
bytes_of(const struct slot *slot)
{
	return (size_t)slot->key_bytes + slot->names_bytes + slot->units_bytes +
	       slot->types_bytes;
}

static void
forget(struct definitions *definitions, struct slot *slot)
{
	definitions->bytes -= bytes_of(slot);
	free(slot->at);
	*slot = (struct slot){ .at = NULL };
}

static void
forget_all(struct definitions *definitions)
{
	for (int i = 0; i < DEFINITIONS_SLOTS; i++)
		forget(definitions, &definitions->slot[i]);
}

void
definitions_free(struct definitions **definitions)
{
	if (*definitions == NULL)
		return;
	forget_all(*definitions);
	series_limit_free(&(*definitions)->limit);
	free(*definitions);
	*definitions = NULL;
}

static char *
append(char *to, struct text text)
{
	if (text.bytes > 0)
		memcpy(to, text.at, text.bytes);
	return to + text.bytes;
}

static struct text
key_of(char to[static KEY_ROOM], uid_t uid, const struct wire_header *header,
    struct text name)
{
	char *end = to;

	memcpy(end, &uid, sizeof(uid));
	end += sizeof(uid);
	*end++ = (char)header->partition.bytes;
	end = append(end, header->partition);
	end = append(end, name);
	return (struct text){ to, (uint32_t)(end - to) };
}

static struct slot *
slot_of(struct definitions *definitions, struct text key)
{
	return &definitions->slot[hash_bytes(definitions->hash_key, key.at,
				      key.bytes) %
				  DEFINITIONS_SLOTS];
}

/* Without names when it is not known. */
static struct definition
held_in(const struct slot *slot, struct text key)
{
	static const struct text none = { "", 0 };
	const char *names;

	if (!text_equal((struct text){ slot->at, slot->key_bytes }, key))
		return (struct definition){ none, none, none };
	names = slot->at + slot->key_bytes;
	return (struct definition){
		{ names, slot->names_bytes },
		{ names + slot->names_bytes, slot->units_bytes },
		{ names + slot->names_bytes + slot->units_bytes,
		    slot->types_bytes },
	};
}

static void
put(struct definitions *definitions, struct slot *slot, struct text key,
    const struct definition *fresh)
{
	struct slot made = { NULL, key.bytes, fresh->names.bytes,
		fresh->units.bytes, fresh->types.bytes };
	char *end;

	forget(definitions, slot);
	if (definitions->bytes + bytes_of(&made) > DEFINITIONS_BYTES_MAX)
		forget_all(definitions);
	made.at = end = memory_alloc(bytes_of(&made));
	end = append(end, key);
	end = append(end, fresh->names);
	end = append(end, fresh->units);
	append(end, fresh->types);
	definitions->bytes += bytes_of(&made);
	*slot = made;
}

/* Count the columns of a group that is not the agent's own.  A boot costs
 * nothing next to its counters; alone it is a series. */
static int
take_series(struct definitions *definitions, uid_t uid,
    const struct wire_header *header, struct text group, struct text names,
    struct err *err)
{
	uint32_t columns = 0, boots = 0;
	struct text name;

	if (metric_group_find(group) != NULL)
		return 0;
	while ((name = text_next_word(&names)).bytes > 0) {
		bool boot = text_equal(name, text_of(COUNTER_RATE_BOOT_COLUMN));

		columns += !boot;
		boots += boot;
	}
	return series_limit_take(definitions->limit, uid, header->partition,
	    group, columns > 0 ? columns : boots, clock_monotonic_ns(), err);
}

static int
check_labels(const struct record *record, struct err *err)
{
	struct value labels;
	char shown[SHOWN_BYTES];

	if (record->kind != RECORD_ENTITY ||
	    !text_equal(record->source, text_of("set")) ||
	    !record_find_attribute(record, text_of("labels"), &labels))
		return 0;
	if (labels.type != VALUE_TEXT)
		err_set(err, "the labels are not a text");
	else if (labels_check(labels.is.text, err) == 0)
		return 0;
	return err_prefix(err, "metric group %s",
	    text_quote(shown, sizeof(shown), record->name));
}

/* Check the definitions, or note them. */
static int
walk(struct definitions *definitions, uid_t uid,
    const struct wire_header *header, struct text plain, bool note,
    struct err *err)
{
	enum definition_sender sender =
	    uid == geteuid() ? DEFINITION_BY_AGENT : DEFINITION_BY_USER;
	struct definition fresh, held;
	enum definition_change change;
	struct wire_cursor cursor;
	struct record record;
	char room[KEY_ROOM];

	wire_cursor_init(&cursor, header, plain);
	while (wire_next(&cursor, &record)) {
		struct text key;
		struct slot *slot;

		if (!note && check_labels(&record, err) != 0)
			return -1;
		if (!definition_of(&record, &fresh))
			continue;
		key = key_of(room, uid, header, record.name);
		slot = slot_of(definitions, key);
		held = held_in(slot, key);
		change =
		    definition_compare(record.name, &held, &fresh, sender, err);
		if (!note && (change == DEFINITION_REFUSED ||
				 take_series(definitions, uid, header,
				     record.name, fresh.names, err) != 0))
			return -1;
		if (change == DEFINITION_GROWN && note)
			put(definitions, slot, key, &fresh);
	}
	return 0;
}

int
definitions_check(struct definitions *definitions, uid_t uid,
    const struct wire_header *header, struct text plain, struct err *err)
{
	return walk(definitions, uid, header, plain, false, err);
}

void
definitions_note(struct definitions *definitions, uid_t uid,
    const struct wire_header *header, struct text plain)
{
	walk(definitions, uid, header, plain, true, NULL);
}
