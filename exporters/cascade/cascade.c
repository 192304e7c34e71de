/*
 * cascade - collect the startup phases of the nodes of a pool.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/cascade.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/cascade/image_size.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

const struct cascade_names cascade_names[CASCADE_PHASES] = {
	[CASCADE_NODEPREP] = { "nodeprep", "nodeprep:start", "nodeprep:end",
	    "nodeprep", false },
	[CASCADE_DOCKER] = { "docker-install", "nodeprep:start",
	    "privateregistry:start", "docker_install", false },
	[CASCADE_REGISTRY] = { "private-registry", "privateregistry:start",
	    "privateregistry:end", "private_registry_setup", false },
	[CASCADE_SHIPYARD] = { "shipyard-pull", "shipyard:pull-start",
	    "shipyard:pull-end", "docker_shipyard_container_pull", false },
	[CASCADE_GLOBAL] = { "global-resources", "cascade:start",
	    "cascade:gr-done", "global_resources_loaded", false },
	[CASCADE_PULL] = { "pull", "cascade:pull-start", "cascade:pull-end",
	    "pull", true },
	[CASCADE_SAVE] = { "save", "cascade:save-start", "cascade:save-end",
	    "save", true },
	[CASCADE_LOAD] = { "load", "cascade:load-start", "cascade:load-end",
	    "load", true },
	[CASCADE_TORRENT] = { "torrent", "cascade:torrent-start",
	    "cascade:load-start", "torrent", false },
};

void
cascade_init(struct cascade *cascade)
{
	memset(cascade, 0, sizeof(*cascade));
	string_table_init(&cascade->node_names);
	string_table_init(&cascade->images);
	cascade->last_node = cascade->last_image = UINT32_MAX;
}

void
cascade_clear(struct cascade *cascade)
{
	string_table_clear(&cascade->node_names);
	string_table_clear(&cascade->images);
	free(cascade->nodes);
	free(cascade->pairs);
	free(cascade->image_bytes);
	memset(cascade, 0, sizeof(*cascade));
}

/* ---- numbers ---- */

/* The times of the older tool were whole microseconds. */
static double
seconds_of(const struct record *record)
{
	if (!record->has_time || !record->has_duration)
		return 0;
	if (record->count & RECORD_PHASE_MEASURED)
		return (double)record->duration_ns / NS_PER_SECOND;
	return (double)cascade_us(record->duration_ns) / 1e6;
}

static uint64_t
size_of(struct cascade *cascade, const struct record *record)
{
	struct value size;
	uint64_t bytes;

	if (!record_find_attribute(record, text_of("size"), &size))
		return CASCADE_NO_SIZE;
	if (size.type == VALUE_INT && size.is.i >= 0)
		return (uint64_t)size.is.i;
	if (size.type == VALUE_TEXT &&
	    image_size_parse(size.is.text, &bytes) == 0)
		return bytes;
	cascade->unread_sizes++;
	return CASCADE_NO_SIZE;
}

/* ---- adding records ---- */

static struct cascade_node *
node_of(struct cascade *cascade, struct text name)
{
	uint32_t i = cascade->last_node, tries;
	struct cascade_node *node;

	/* The nodes of each image arrive in the same order: the node is mostly
	 * the last one found, or the next. */
	for (tries = 0; tries < 2 && cascade->node_count > 0; tries++, i++) {
		i = i < cascade->node_count ? i : 0;
		if (text_equal(cascade->nodes[i].name, name)) {
			cascade->last_node = i;
			return &cascade->nodes[i];
		}
	}
	i = string_table_add(&cascade->node_names, name);
	cascade->last_node = i;
	if (i < cascade->node_count)
		return &cascade->nodes[i];
	if (cascade->node_count == cascade->node_room) {
		cascade->node_room += cascade->node_room / 2 + 64;
		cascade->nodes = memory_resize_array(cascade->nodes,
		    cascade->node_room, sizeof(struct cascade_node));
	}
	node = &cascade->nodes[cascade->node_count++];
	memset(node, 0, sizeof(*node));
	node->name = cascade->node_names.names[i];
	return node;
}

static struct cascade_pair
pair_of(struct cascade *cascade, const struct record *record, bool sized)
{
	return (struct cascade_pair){
		.begin_ns = record->has_time ? record->time_ns : 0,
		.end_ns = record->has_end ? record->end_ns : 0,
		.duration_ns = record->duration_ns,
		.seconds = seconds_of(record),
		.bytes = sized ? size_of(cascade, record) : CASCADE_NO_SIZE,
		.has_begin = record->has_time,
		.has_end = record->has_end,
	};
}

/* Offer and sku come from the node that started first. */
static void
note_offer(struct cascade *cascade, const struct record *record)
{
	int64_t ns = record->time_ns;
	struct text text;

	if (!record->has_time)
		return;
	if (cascade->offer_node.bytes != 0 &&
	    (cascade->offer_ns < ns ||
		(cascade->offer_ns == ns &&
		    text_compare(cascade->offer_node, record->node) <= 0)))
		return;
	cascade->offer_ns = ns;
	cascade->offer_node = string_table_keep(&cascade->images, record->node);
	cascade->offer = cascade->sku = (struct text){ NULL, 0 };
	if (record_find_text(record, "offer", &text))
		cascade->offer = string_table_keep(&cascade->images, text);
	if (record_find_text(record, "sku", &text))
		cascade->sku = string_table_keep(&cascade->images, text);
}

static uint32_t
image_of(struct cascade *cascade, struct text key)
{
	uint32_t last = cascade->last_image;

	if (last >= cascade->images.count ||
	    !text_equal(cascade->images.names[last], key))
		cascade->last_image = string_table_add(&cascade->images, key);
	return cascade->last_image;
}

/* Append the pair; cascade_finish gives it to a try of its node. */
static void
add_pair(struct cascade *cascade, const struct cascade_node *node,
    enum cascade_phase phase, const struct record *record)
{
	struct cascade_pair *pair;

	if (cascade->pair_count == cascade->pair_room) {
		cascade->pair_room += cascade->pair_room / 2 + 256;
		cascade->pairs = memory_resize_array(cascade->pairs,
		    cascade->pair_room, sizeof(struct cascade_pair));
	}
	pair = &cascade->pairs[cascade->pair_count++];
	*pair = pair_of(cascade, record, cascade_names[phase].sized);
	pair->image = phase < CASCADE_ONCE ? CASCADE_NO_IMAGE
					   : image_of(cascade, record->key);
	pair->place = (uint32_t)(node - cascade->nodes);
	pair->phase = (uint8_t)phase;
}

/* -1: not a phase of this model. */
static int
phase_of(struct cascade *cascade, const struct record *record)
{
	int last = cascade->last_phase;

	if (record->kind != RECORD_PHASE ||
	    !text_equal(record->source, text_of("cascade")))
		return -1;
	/* Records arrive phase by phase. */
	if (text_equal(record->name, text_of(cascade_names[last].name)))
		return last;
	for (int i = 0; i < CASCADE_PHASES; i++) {
		if (text_equal(record->name, text_of(cascade_names[i].name))) {
			cascade->last_phase = i;
			return i;
		}
	}
	return -1;
}

void
cascade_add(struct cascade *cascade, const struct record *record)
{
	int phase = phase_of(cascade, record);

	if (phase < 0 || record->node.bytes == 0)
		return;
	add_pair(cascade, node_of(cascade, record->node),
	    (enum cascade_phase)phase, record);
	if (phase == CASCADE_NODEPREP)
		note_offer(cascade, record);
}
