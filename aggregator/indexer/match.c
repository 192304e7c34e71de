/*
 * match - find the phases that an event starts or ends.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/collect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/clock.h"
#include "proto/record/kv.h"

enum { CACHE_SLOTS = 1024 };

struct role {
	uint32_t phase;  /* name number of "model:phase" */
	uint16_t number; /* index in the model set */
	bool is_end;
};

struct match_roles_slot {
	uint32_t partition, source, name; /* partition 0: empty */
	uint32_t roles;
	struct role role[MODEL_ROLES_MAX];
	/* The runs that the event belongs to. */
	uint32_t runs;
	struct run_of {
		uint32_t event; /* number of "source:name"; 0: not looked up */
		uint16_t place; /* index in the model set */
		bool other;     /* the model does not name the event */
	} run[MODEL_ROLES_MAX];
};

void
match_forget(struct collect *collect)
{
	if (collect->cache != NULL)
		memset(
		    collect->cache, 0, CACHE_SLOTS * sizeof(*collect->cache));
}

void
match_clear(struct collect *collect)
{
	free(collect->cache);
	collect->cache = NULL;
}

/* ---- the roles of an event ---- */

static bool
is_event(struct text event, const struct match_event *is)
{
	struct text source = is->source_text, name = is->name_text;

	return event.bytes == source.bytes + 1 + name.bytes &&
	       memcmp(event.at, source.at, source.bytes) == 0 &&
	       event.at[source.bytes] == ':' &&
	       memcmp(event.at + source.bytes + 1, name.at, name.bytes) == 0;
}

static void
find_roles(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, struct match_roles_slot *slot)
{
	unsigned i;
	int side;

	*slot = (struct match_roles_slot){ .partition = event->partition,
		.source = event->source,
		.name = event->name };
	for (i = 0; i < collect->models->phases; i++) {
		const struct model_phase *phase = &collect->models->phase[i];

		if (model_is_step(collect->models, phase->id))
			continue; /* stored with its run */
		for (side = 0; side < 2; side++) {
			if (slot->roles == MODEL_ROLES_MAX ||
			    !is_event(side ? phase->end : phase->start, event))
				continue;
			slot->role[slot->roles++] = (struct role){
				dictionary_number_always(collect->dictionary,
				    txn, event->partition, phase->id),
				(uint16_t)i, side == 1
			};
		}
	}
}

/* Does an event of the run come from this source? */
static bool
has_source(const struct model_run *run, struct text source)
{
	for (unsigned role = 0; role < run->events; role++) {
		struct text event = run->event[role];

		if (event.bytes > source.bytes &&
		    memcmp(event.at, source.at, source.bytes) == 0 &&
		    event.at[source.bytes] == ':')
			return true;
	}
	return false;
}

/* Find the runs that the event may belong to: those with an event of its
 * source. */
static void
find_runs(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, struct match_roles_slot *slot)
{
	const struct model_set *models = collect->models;

	for (unsigned i = 0; i < models->runs; i++) {
		const struct model_run *run = &models->run[i];
		struct run_of of = { .place = (uint16_t)i };
		unsigned role = 0;

		while (role < run->events && !is_event(run->event[role], event))
			role++;
		of.other = role == run->events;
		if (slot->runs == MODEL_ROLES_MAX ||
		    (of.other && !has_source(run, event->source_text)))
			continue;
		if (!of.other)
			of.event = dictionary_number_always(collect->dictionary,
			    txn, event->partition, run->event[role]);
		slot->run[slot->runs++] = of;
	}
}

/* The number of the name of an event that no model has.  Names of runs' events
 * are counted against the limit of names, because senders choose them. */
static uint32_t
number_of_other(struct collect *collect, struct db_txn *txn,
    const struct match_event *event)
{
	char name[RUN_NAME_BYTES_MAX];
	struct text source = event->source_text, own = event->name_text;
	uint32_t bytes = source.bytes + 1 + own.bytes;

	if (bytes > sizeof(name))
		return dictionary_number_always(collect->dictionary, txn,
		    event->partition, text_of(DICTIONARY_OTHER));
	memcpy(name, source.at, source.bytes);
	name[source.bytes] = ':';
	memcpy(name + source.bytes + 1, own.at, own.bytes);
	return dictionary_number_or_other(collect->dictionary, txn,
	    event->partition, (struct text){ name, bytes });
}

static struct match_roles_slot *
roles_of(struct collect *collect, struct db_txn *txn,
    const struct match_event *event)
{
	struct match_roles_slot *slot;
	uint32_t place;

	if (collect->cache == NULL)
		collect->cache =
		    memory_zero(CACHE_SLOTS, sizeof(*collect->cache));
	place = event->partition * UINT32_C(0x9e3779b1) ^
		event->source * UINT32_C(0x85ebca6b) ^
		event->name * UINT32_C(0xc2b2ae35);
	slot = &collect->cache[(place ^ place >> 15) % CACHE_SLOTS];
	/* An event without numbers cannot be recognized in the cache. */
	if (slot->partition != event->partition ||
	    slot->source != event->source || slot->name != event->name ||
	    event->source == 0 || event->name == 0) {
		find_roles(collect, txn, event, slot);
		find_runs(collect, txn, event, slot);
	}
	return slot;
}

/* ---- attributes ---- */

/* The value of an attribute as text: from the attributes, else from the
 * message. `room` has COLLECT_KEY_BYTES bytes; a longer value is truncated. */
static bool
find_text(const struct match_event *event, bool kv, struct text key, char *room,
    struct text *out)
{
	struct record record = { .pairs = event->pairs };
	struct value value;
	struct kv_pair pair;

	if (record_find_attribute(&record, key, &value)) {
		char number[NUMBER_BYTES];

		switch (value.type) {
		case VALUE_TEXT: *out = value.is.text; return true;
		case VALUE_INT:
			out->bytes = (uint32_t)snprintf(
			    room, NUMBER_BYTES, "%lld", (long long)value.is.i);
			break;
		case VALUE_UINT:
			out->bytes = (uint32_t)snprintf(room, NUMBER_BYTES,
			    "%llu", (unsigned long long)value.is.u);
			break;
		case VALUE_FLOAT:
			out->bytes = (uint32_t)number_repr(number, value.is.f);
			memcpy(room, number, out->bytes);
			break;
		case VALUE_BOOL:
			*out = text_of(value.is.boolean ? "true" : "false");
			return true;
		default: *out = (struct text){ NULL, 0 }; return true;
		}
		out->at = room;
		return true;
	}
	if (!kv ||
	    !record_find_attribute(&record, text_of("message"), &value) ||
	    value.type != VALUE_TEXT || !kv_find(value.is.text, key, &pair))
		return false;
	*out = pair.value;
	if (pair.escaped && pair.value.bytes <= COLLECT_KEY_BYTES)
		*out = kv_unescape(&pair, room);
	return true;
}

static bool
seconds_to_ns(double seconds, int64_t *ns)
{
	double value = seconds * 1e9;

	if (!(value >= 0 && value < 9.2e18))
		return false;
	*ns = (int64_t)llrint(value);
	return true;
}

/* The duration that the end event itself gives, as measured by its sender: a
 * number of seconds, from 0 on. */
static bool
find_measured(
    const struct match_event *event, bool kv, struct text key, int64_t *ns)
{
	struct record record = { .pairs = event->pairs };
	char room[COLLECT_KEY_BYTES];
	struct value value;
	struct text t;
	double seconds;

	if (key.bytes == 0)
		return false;
	if (record_find_attribute(&record, key, &value)) {
		if (value.type == VALUE_FLOAT)
			return seconds_to_ns(value.is.f, ns);
		if (value.type == VALUE_INT)
			return value.is.i >= 0 &&
			       !__builtin_mul_overflow(
				   value.is.i, NS_PER_SECOND, ns);
		if (value.type != VALUE_TEXT)
			return false;
	}
	if (!find_text(event, kv, key, room, &t))
		return false;
	if (clock_parse_seconds(t, ns, NULL) == 0)
		return *ns >= 0;
	return number_parse_double(t, &seconds, NULL) == 0 &&
	       seconds_to_ns(seconds, ns);
}

/* The attributes of an event that a state stores: all, or those that fit.  The
 * event itself still has the others. */
static struct text
stored_attributes(struct collect *collect, struct text attributes)
{
	struct text rest = attributes;
	struct row_block_attribute attribute;
	unsigned char *to;
	struct buffer stored;
	uint32_t count = 0, bytes = 0, left;

	if (attributes.bytes <= PHASE_ATTRIBUTES_BYTES_MAX)
		return attributes;
	to = arena_room(&collect->arena, 2 * PHASE_ATTRIBUTES_BYTES_MAX);
	/* The first byte is the count, which is at most 64. */
	stored = (struct buffer){ to, 1, 2 * PHASE_ATTRIBUTES_BYTES_MAX };
	row_block_attribute_count(&rest);
	for (left = rest.bytes; row_block_next_attribute(&rest, &attribute);
	     left = rest.bytes) {
		bytes = left - rest.bytes;
		if (stored.bytes + bytes > PHASE_ATTRIBUTES_BYTES_MAX)
			continue;
		row_block_put_attribute(&stored, &attribute);
		count++;
	}
	to[0] = (unsigned char)count;
	arena_keep(&collect->arena, stored.bytes);
	return buffer_text(&stored);
}

/* ---- events ---- */

static struct collect_role *
new_role(struct collect *collect)
{
	collect->role = memory_grow(collect->role, &collect->role_room,
	    collect->roles, sizeof(*collect->role));
	return &collect->role[collect->roles++];
}

uint32_t
collect_add_role(struct collect *collect, const struct collect_role *role)
{
	*new_role(collect) = *role;
	return collect->roles - 1;
}

/* Returns the number of the node or run; 0 when the event does not name its
 * run. */
static uint32_t
scope_of(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, const struct model_phase *phase)
{
	char room[COLLECT_KEY_BYTES];
	struct text run;

	if (phase->run.bytes == 0)
		return event->node;
	if (!find_text(event, phase->kv, phase->run, room, &run) ||
	    text_check_name(run) != TEXT_OK) {
		collect->no_run_id++;
		return 0;
	}
	return dictionary_number_or_other(
	    collect->dictionary, txn, event->partition, run);
}

static struct text
key_of(struct collect *collect, const struct match_event *event,
    const struct model_phase *phase, uint64_t *hash)
{
	char room[COLLECT_KEY_BYTES];
	struct text key = { NULL, 0 };

	if (phase->key.bytes > 0)
		find_text(event, phase->kv, phase->key, room, &key);
	*hash = hash_bytes(collect->hash_key, key.at, key.bytes);
	if (key.bytes == 0)
		return (struct text){ NULL, 0 };
	/* Long keys are distinguished by their hash.  Truncate at the start of
	 * a character. */
	if (key.bytes > COLLECT_KEY_BYTES) {
		key.bytes = COLLECT_KEY_BYTES;
		while (key.bytes > 0 && (key.at[key.bytes] & 0xc0) == 0x80)
			key.bytes--;
	}
	return arena_text(&collect->arena, key);
}

static void
add_role(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, const struct role *role)
{
	const struct model_phase *phase = &collect->models->phase[role->number];
	uint32_t scope = scope_of(collect, txn, event, phase), number;
	struct collect_role to = { { .id = event->id,
				       .node = event->node,
				       .is_end = role->is_end },
		{ NULL, 0 }, phase->fifo };
	struct group *group;
	uint64_t hash;

	if (scope == 0)
		return;
	to.key = key_of(collect, event, phase, &hash);
	to.entry.id.body = stored_attributes(collect, event->id.body);
	if (role->is_end)
		to.entry.measured = find_measured(
		    event, phase->kv, phase->measured, &to.entry.measured_ns);
	number = collect_add_role(collect, &to);
	group = group_of(&collect->states,
	    (uint32_t[]){ event->partition, role->phase, (uint32_t)(hash >> 32),
		(uint32_t)hash, scope });
	if (group->count > 0 &&
	    phase_compare(&to.entry, &collect->role[group->last].entry) < 0)
		group->mixed = true;
	group_append(&collect->states, group, number);
}

static void
add_to_run(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, struct run_of *of)
{
	const struct model_run *run = &collect->models->run[of->place];
	struct record record = { .pairs = event->pairs };
	struct collect_run what = { .other = of->other };
	struct record_attribute attribute;
	char room[COLLECT_KEY_BYTES];
	bool extends = false;

	if (!find_text(event, false, run->attribute, room, &what.run) ||
	    text_check_name(what.run) != TEXT_OK) {
		collect->no_run_id += !of->other;
		return;
	}
	if (of->event == 0)
		of->event = number_of_other(collect, txn, event);
	what.event = of->event;
	collect_run_event(collect, txn, event, of->place, what);
	while (record_next_attribute(&record.pairs, &attribute))
		extends = extends || collect_run_property(run, attribute.key);
	if (extends)
		collect_extend(collect, txn, event, run, what.run);
}

void
match_event(struct collect *collect, struct db_txn *txn,
    const struct match_event *event)
{
	struct match_roles_slot *slot = roles_of(collect, txn, event);
	uint32_t i;

	for (i = 0; i < slot->roles; i++)
		add_role(collect, txn, event, &slot->role[i]);
	for (i = 0; i < slot->runs; i++)
		add_to_run(collect, txn, event, &slot->run[i]);
}

struct key_phase
match_key(const struct group *group)
{
	return (struct key_phase){ group->key[0], group->key[1],
		(uint64_t)group->key[2] << 32 | group->key[3], group->key[4] };
}
