/*
 * mutate - see mutate.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fuzz/main/mutate.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/hash/prng.h"

enum {
	CHANGES_MAX = 8,
	PIECE_BYTES_MAX = 64,
	BYTES_OF_A_RUN = 512, /* what an empty one costs */
	SHARE = 1 << 30,
};

struct work {
	const struct corpus *corpus;
	uint64_t random;
	uint8_t *at;
	size_t bytes, room;
};

static uint64_t
next(struct work *w)
{
	return prng_bits(&w->random);
}

static size_t
below(struct work *w, size_t limit)
{
	return limit == 0 ? 0 : (size_t)(next(w) % limit);
}

/* Short ones are likelier, long ones possible. */
static size_t
piece(struct work *w, size_t limit)
{
	size_t most = next(w) % 8 == 0 ? limit : PIECE_BYTES_MAX;

	return below(w, (most < limit ? most : limit) + 1);
}

void
mutate_share(struct corpus *corpus)
{
	uint64_t all = 0;

	for (size_t i = 0; i < corpus->count; i++) {
		all += SHARE / (BYTES_OF_A_RUN + corpus->inputs[i].bytes) + 1;
		corpus->inputs[i].up_to = all;
	}
}

static const struct input *
any_input(struct work *w)
{
	const struct input *inputs = w->corpus->inputs;
	size_t low = 0, high = w->corpus->count - 1;
	uint64_t place = next(w) % inputs[high].up_to;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (place < inputs[middle].up_to)
			high = middle;
		else
			low = middle + 1;
	}
	return &inputs[low];
}

static void
copy_in(struct work *w, size_t to, const uint8_t *from, size_t bytes)
{
	if (bytes > w->room - to)
		bytes = w->room - to;
	memmove(w->at + to, from, bytes);
	if (to + bytes > w->bytes)
		w->bytes = to + bytes;
}

/* ---- the changes ---- */

static void
flip_bit(struct work *w)
{
	if (w->bytes > 0)
		w->at[below(w, w->bytes)] ^= (uint8_t)(1U << next(w) % 8);
}

static void
set_byte(struct work *w)
{
	static const uint8_t telling[] = { 0x00, 0x01, 0x7f, 0x80, 0xff, 0xc0,
		0x0a, 0x0d, 0x09, ' ', '"', '\'', '\\', '/', '.', ',', ':', ';',
		'-', '+', '=', '%', '{', '}', '[', ']', '<', '>', '@', '#', '0',
		'9', 'e' };
	bool any = next(w) % 2 == 0;

	if (w->bytes > 0)
		w->at[below(w, w->bytes)] =
		    any ? (uint8_t)next(w) : telling[below(w, sizeof(telling))];
}

/* 1, 2, 4 or 8 bytes as a number of either order, at a limit or near itself. */
static void
set_number(struct work *w)
{
	size_t bytes = (size_t)1 << next(w) % 4;
	bool big = next(w) % 2 == 0;
	uint64_t value = 0;
	uint8_t *at;

	if (w->bytes < bytes)
		return;
	at = w->at + below(w, w->bytes - bytes + 1);
	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * (big ? bytes - 1 - i : i);
	if (next(w) % 2 == 0)
		value = UINT64_C(1) << next(w) % 64;
	value += next(w) % 33 - 16;
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i));
}

/* Digits of decimal text become another number. */
static void
set_digits(struct work *w)
{
	static const char *const numbers[] = { "0", "-1", "1", "255", "256",
		"65535", "65536", "2147483647", "2147483648", "4294967295",
		"4294967296", "9223372036854775807", "9223372036854775808",
		"18446744073709551615", "18446744073709551616", "1e308",
		"1e-400", "0.1", "nan", "inf", "-0", "00012" };
	const char *number =
	    numbers[below(w, sizeof(numbers) / sizeof(*numbers))];
	size_t from = below(w, w->bytes), end = from;

	while (end < w->bytes && w->at[end] >= '0' && w->at[end] <= '9')
		end++;
	if (end == from || w->bytes - (end - from) + 24 > w->room)
		return;
	memmove(w->at + from + strlen(number), w->at + end, w->bytes - end);
	memcpy(w->at + from, number, strlen(number));
	w->bytes = w->bytes - (end - from) + strlen(number);
}

static void
cut_out(struct work *w)
{
	size_t from = below(w, w->bytes), bytes = piece(w, w->bytes - from);

	memmove(w->at + from, w->at + from + bytes, w->bytes - from - bytes);
	w->bytes -= bytes;
}

static void
cut_end(struct work *w)
{
	w->bytes = below(w, w->bytes + 1);
}

/* Room for some bytes more; 0 when there is none. */
static size_t
open_gap(struct work *w, size_t from, size_t bytes)
{
	if (bytes > w->room - w->bytes)
		bytes = w->room - w->bytes;
	memmove(w->at + from + bytes, w->at + from, w->bytes - from);
	w->bytes += bytes;
	return bytes;
}

static void
repeat(struct work *w)
{
	size_t from = below(w, w->bytes), bytes = piece(w, w->bytes - from);

	bytes = open_gap(w, from, bytes);
	/* What was there has moved by `bytes`; both are it now. */
	memmove(w->at + from, w->at + from + bytes, bytes);
}

static void
insert_bytes(struct work *w)
{
	size_t from = below(w, w->bytes + 1);
	size_t bytes = open_gap(w, from, piece(w, PIECE_BYTES_MAX));
	uint8_t same = (uint8_t)next(w);
	bool any = next(w) % 2 == 0;

	for (size_t i = 0; i < bytes; i++)
		w->at[from + i] = any ? (uint8_t)next(w) : same;
}

/* A piece of this or another input, in between or over what is there. */
static void
splice(struct work *w)
{
	const struct input *other = any_input(w);
	size_t from = below(w, other->bytes);
	size_t bytes = piece(w, other->bytes - from);
	size_t to = below(w, w->bytes + 1);

	if (next(w) % 2 == 0)
		bytes = open_gap(w, to, bytes);
	copy_in(w, to, other->at + from, bytes);
}

static void
move(struct work *w)
{
	size_t from = below(w, w->bytes), bytes = piece(w, w->bytes - from);

	copy_in(w, below(w, w->bytes), w->at + from, bytes);
}

size_t
mutate(const struct corpus *corpus, uint64_t random, uint8_t *to, size_t room)
{
	static void (*const changes[])(struct work *) = { flip_bit, flip_bit,
		set_byte, set_byte, set_number, set_number, set_digits, cut_out,
		cut_end, repeat, insert_bytes, splice, splice, move };
	struct work w = { corpus, random, to, 0, room };
	const struct input *base = any_input(&w);
	size_t count = 1 + below(&w, 1 + below(&w, CHANGES_MAX));

	copy_in(&w, 0, base->at, base->bytes);
	while (count-- > 0)
		changes[below(&w, sizeof(changes) / sizeof(*changes))](&w);
	return w.bytes;
}
