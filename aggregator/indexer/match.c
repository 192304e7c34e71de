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
#include "proto/os/log.h"
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
	/* What it is of a phase without a model. */
	uint32_t own;      /* name number of the phase; 0: it has none */
	uint32_t own_mark; /* of own_phase.h; 0: it is no event of a phase */
	bool own_is_end;
};

void
match_forget(struct collect *collect)
{
	if (collect->cache != NULL)
		memset(
		    collect->cache, 0, CACHE_SLOTS * sizeof(*collect->cache));
	collect->own_names = 0;
}

void
match_clear(struct collect *collect)
{
	free(collect->cache);
	free(collect->own_name);
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
		    (of.other &&
			!model_run_names_source(run, event->source_text)))
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

/* ---- phases without a model ---- */

/* The phases without a model that a partition has. */
static struct collect_own_names *
own_names_of(struct collect *collect, struct db_txn *txn, uint32_t partition)
{
	struct collect_own_names *names;
	struct part_list list = { .at = NULL };
	struct db_cursor *cursor;
	uint32_t at = partition, phase = 0, i = 0;

	while (i < collect->own_names &&
	       collect->own_name[i].partition != partition)
		i++;
	if (i < collect->own_names)
		return &collect->own_name[i];
	names = MEMORY_ADD(
	    collect->own_name, collect->own_name_room, collect->own_names);
	*names = (struct collect_own_names){ .partition = partition };
	cursor = db_cursor_open(txn, TABLES_PHASES);
	for (; names->count < OWN_PHASE_NAMES_MAX &&
	       part_list_find(cursor, &at, &phase) && at == partition;
	     phase++)
		if (part_list_get(&list, txn, partition, phase) &&
		    list.marks != 0)
			names->number[names->count++] = phase;
	db_cursor_close(&cursor);
	part_list_clear(&list);
	return names;
}

/* The number of the phase; 0: the partition has too many. */
static uint32_t
own_phase_number(struct collect *collect, struct db_txn *txn,
    uint32_t partition, struct text id)
{
	struct collect_own_names *names;
	char shown[4 * NAME_BYTES_MAX];
	struct text pool;
	uint32_t number;

	if (id.bytes > NAME_BYTES_MAX)
		return 0;
	names = own_names_of(collect, txn, partition);
	number = dictionary_find(txn, partition, id);
	for (uint32_t i = 0; number != 0 && i < names->count; i++)
		if (names->number[i] == number)
			return number;
	if (names->count < OWN_PHASE_NAMES_MAX) {
		number = dictionary_number_always(
		    collect->dictionary, txn, partition, id);
		names->number[names->count++] = number;
		return number;
	}
	if (!names->is_full && dictionary_text(txn, 0, partition, &pool))
		log_warn("indexer: partition %s has %d phases without a model, "
			 "the most: events of further names give none; put "
			 "what differs into the attribute id, or write a model "
			 "(poolscope-model(5))",
		    text_quote(shown, sizeof(shown), pool),
		    OWN_PHASE_NAMES_MAX);
	names->is_full = true;
	return 0;
}

static void
find_own(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, struct match_roles_slot *slot)
{
	struct own_phase_event own;

	if (!own_phase_of(&own, event->source_text, event->name_text) ||
	    model_names_source(collect->models, event->source_text))
		return;
	slot->own_mark = own.mark;
	slot->own_is_end = own.is_end;
	slot->own = own_phase_number(collect, txn, event->partition, own.id);
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
		find_own(collect, txn, event, slot);
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
		*out = value_as_text(&value, room);
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
	return MEMORY_ADD(collect->role, collect->role_room, collect->roles);
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

struct text
match_take_key(struct collect *collect, struct text key, uint64_t *hash)
{
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

static struct text
key_of(struct collect *collect, const struct match_event *event,
    const struct model_phase *phase, uint64_t *hash)
{
	char room[COLLECT_KEY_BYTES];
	struct text key = { NULL, 0 };

	if (phase->key.bytes > 0)
		find_text(event, phase->kv, phase->key, room, &key);
	return match_take_key(collect, key, hash);
}

void
match_add_to_state(
    struct collect *collect, const struct key_phase *key, uint32_t role)
{
	struct group *group = group_of(
	    &collect->states, (uint32_t[]){ key->partition, key->phase,
				  (uint32_t)(key->key_hash >> 32),
				  (uint32_t)key->key_hash, key->scope });

	if (group->count > 0 && phase_compare(&collect->role[role].entry,
				    &collect->role[group->last].entry) < 0)
		group->mixed = true;
	group_append(&collect->states, group, role);
}

static void
add_role(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, const struct role *role)
{
	const struct model_phase *phase = &collect->models->phase[role->number];
	uint32_t scope = scope_of(collect, txn, event, phase);
	struct collect_role to = { { .id = event->id,
				       .node = event->node,
				       .is_end = role->is_end },
		{ NULL, 0 }, phase->fifo };
	uint64_t hash;

	if (scope == 0)
		return;
	to.key = key_of(collect, event, phase, &hash);
	to.entry.id.body = stored_attributes(collect, event->id.body);
	if (role->is_end)
		to.entry.measured = find_measured(
		    event, phase->kv, phase->measured, &to.entry.measured_ns);
	match_add_to_state(collect,
	    &(struct key_phase){ event->partition, role->phase, hash, scope },
	    collect_add_role(collect, &to));
}

/* Which key it has is known when the transaction is written. */
static void
add_own(struct collect *collect, const struct match_event *event,
    const struct match_roles_slot *slot)
{
	struct collect_role to = { { .id = event->id,
				       .node = event->node,
				       .is_end = slot->own_is_end },
		{ NULL, 0 }, false };
	struct group *group;

	if (slot->own == 0) {
		collect->phase_names_over++;
		return;
	}
	to.entry.id.body = stored_attributes(collect, event->id.body);
	group =
	    group_of(&collect->own, (uint32_t[]){ event->partition, slot->own,
					slot->own_mark, 0, event->node });
	group_append(&collect->own, group, collect_add_role(collect, &to));
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
	if (slot->own_mark != 0)
		add_own(collect, event, slot);
}

struct key_phase
match_key(const struct group *group)
{
	return (struct key_phase){ group->key[0], group->key[1],
		(uint64_t)group->key[2] << 32 | group->key[3], group->key[4] };
}
