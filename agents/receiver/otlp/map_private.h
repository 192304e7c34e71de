/*
 * otlp_map_private - for those that map a kind of request.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_OTLP_MAP_PRIVATE_H
#define AGENTS_RECEIVER_OTLP_MAP_PRIVATE_H

#include "agents/receiver/otlp/map.h"

struct otlp_map_items {
	int (*on_item)(struct otlp_map *map, struct text item);
	/* After the last item of a resource; may be NULL. */
	int (*on_end)(struct otlp_map *map);
};

/* Call them for each item of the request, with service, scope and kept
 * attributes set.  Returns what they did. */
int otlp_map_each(struct otlp_map *map, struct text request,
    const struct otlp_map_items *items);

/* The last field of this number that has bytes; NULL: there is none. */
struct text otlp_map_find(struct text message, uint32_t number);

/* A value; texts that are made of it live as long as `texts`. */
struct value otlp_map_value(struct arena *texts, struct text any);
struct text otlp_map_hex(struct arena *texts, struct text bytes);

/* A record: begin it, put attributes, set its fields, end it.  The first
 * attribute of a name counts; those beyond OTLP_ATTRIBUTES_MAX are left out. */
void otlp_map_begin_record(struct otlp_map *map, enum record_kind kind);
void otlp_map_put(struct otlp_map *map, struct text key, struct value value);
void otlp_map_put_text(struct otlp_map *map, const char *key, struct text text);
void otlp_map_put_id(
    struct otlp_map *map, const char *key, struct text id, uint32_t bytes);
/* Those of the message, in fields of this number. */
void otlp_map_put_attributes(
    struct otlp_map *map, struct text message, uint32_t number);
/* Those of the resource. */
void otlp_map_put_kept(struct otlp_map *map);
int otlp_map_end_record(struct otlp_map *map);

/* False: it is none that a record may have. */
bool otlp_map_take_time(int64_t *to, uint64_t time_ns);

/* Count an item that is no record; the first sentence is kept. */
void otlp_map_refuse(struct otlp_map *map, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
