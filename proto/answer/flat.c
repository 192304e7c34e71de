/*
 * flat - write a FlatBuffer, from its end to its beginning.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/flat.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum { ROOM_MIN = 1024 };

static unsigned char *
place_of(const struct flat *f, uint32_t place)
{
	return f->memory + f->room - place;
}

static void
put_bytes(struct flat *f, const void *from, uint32_t bytes)
{
	if (f->room - f->used < bytes) {
		uint32_t room = 2 * (f->room + bytes) + ROOM_MIN;
		unsigned char *memory = memory_zero(room, 1);

		if (f->used > 0)
			memcpy(memory + room - f->used, place_of(f, f->used),
			    f->used);
		free(f->memory);
		f->memory = memory;
		f->room = room;
	}
	f->used += bytes;
	if (bytes > 0)
		memcpy(place_of(f, f->used), from, bytes);
}

static void
set_number(unsigned char *at, uint64_t number, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		at[i] = (unsigned char)(number >> 8 * i);
}

void
flat_clear(struct flat *f)
{
	free(f->memory);
	*f = (struct flat){ .memory = NULL };
}

void
flat_align(struct flat *f, uint32_t size, uint32_t more)
{
	static const unsigned char zeros[8];

	put_bytes(f, zeros, (size - (f->used + more) % size) % size);
}

void
flat_number(struct flat *f, uint64_t number, uint32_t bytes)
{
	unsigned char made[sizeof(number)];

	set_number(made, number, bytes);
	flat_align(f, bytes, bytes);
	put_bytes(f, made, bytes);
}

uint32_t
flat_text(struct flat *f, struct text text)
{
	flat_align(f, 4, text.bytes + 1);
	put_bytes(f, "", 1);
	put_bytes(f, text.at, text.bytes);
	flat_number(f, text.bytes, 4);
	return f->used;
}

static void
put_reference(struct flat *f, uint32_t place)
{
	flat_align(f, 4, 4);
	flat_number(f, f->used + 4 - place, 4);
}

uint32_t
flat_vector(struct flat *f, const uint32_t *places, uint32_t count)
{
	for (uint32_t i = count; i > 0; i--)
		put_reference(f, places[i - 1]);
	flat_number(f, count, 4);
	return f->used;
}

void
flat_begin(struct flat *f, struct flat_table *table)
{
	*table = (struct flat_table){ .end = f->used };
}

void
flat_add(struct flat *f, struct flat_table *table, uint32_t field,
    uint64_t number, uint32_t bytes)
{
	flat_number(f, number, bytes);
	table->fields[field] = f->used;
}

void
flat_refer(
    struct flat *f, struct flat_table *table, uint32_t field, uint32_t place)
{
	put_reference(f, place);
	table->fields[field] = f->used;
}

/* In front of a table stands where its fields are, which it refers to. */
uint32_t
flat_end(struct flat *f, const struct flat_table *table)
{
	uint32_t place;

	flat_number(f, 0, 4);
	place = f->used;
	for (uint32_t i = FLAT_FIELDS_MAX; i > 0; i--) {
		uint32_t field = table->fields[i - 1];

		flat_number(f, field == 0 ? 0 : place - field, 2);
	}
	flat_number(f, place - table->end, 2);
	flat_number(f, 2 * (FLAT_FIELDS_MAX + 2), 2);
	set_number(place_of(f, place), f->used - place, 4);
	return place;
}

struct text
flat_finish(struct flat *f, uint32_t root)
{
	flat_align(f, 8, 4);
	put_reference(f, root);
	return (struct text){ (const char *)place_of(f, f->used), f->used };
}
