/*
 * top_packed - the rows of nodes of a moment that is over.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/view/packed.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "proto/base/memory.h"

/* Two columns have the halves of a number of 32 bits. */
enum column {
	AGE,
	RECEIVED,
	SPOOL,
	CPU,
	IOWAIT,
	RECEIVE,
	PRESSURE,
	PHASE_AGE,
	PHASE_USUAL,
	NUMBERS, /* columns of numbers up to here */
	CLOCK = NUMBERS,
	PHASE = CLOCK + 2,
	FLAGS = PHASE + 2,
	COLUMNS
};

struct top_packed {
	size_t bytes;
	/* First of the column in `cells`; SAME: all rows have `same`. */
	uint32_t first[COLUMNS];
	uint16_t same[COLUMNS];
	uint16_t cells[];
};
#define SAME UINT32_MAX

/* A number is stored as the upper bits of a float from 2^-19 to 2^44, which is
 * a microsecond, and more bytes than there are. */
enum {
	DROPPED_BITS = 13,
	LEAST_EXPONENT = 127 - 19,
	LEAST = LEAST_EXPONENT << (23 - DROPPED_BITS),
	GREATEST_CODE = UINT16_MAX - 1,
	UNKNOWN_CODE = UINT16_MAX,
};

static uint32_t
bits_of(float number)
{
	uint32_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static float
float_of(uint32_t bits)
{
	float number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static uint16_t
code_of(float number)
{
	uint32_t upper;

	if (isnan(number))
		return UNKNOWN_CODE;
	if (!(number > 0))
		return 0;
	upper = (bits_of(number) + (1u << (DROPPED_BITS - 1))) >> DROPPED_BITS;
	if (upper <= LEAST)
		return 0;
	upper -= LEAST;
	return (uint16_t)(upper > GREATEST_CODE ? GREATEST_CODE : upper);
}

static float
number_of(uint16_t code)
{
	return code == UNKNOWN_CODE ? NAN
	       : code == 0          ? 0
			   : float_of((code + (uint32_t)LEAST) << DROPPED_BITS);
}

static void
put_row(uint16_t to[static COLUMNS], const struct top_node *node)
{
	uint32_t clock = bits_of(node->clock);

	to[AGE] = code_of(node->age);
	to[RECEIVED] = code_of(node->received);
	to[SPOOL] = code_of(node->spool);
	to[CPU] = code_of(node->cpu);
	to[IOWAIT] = code_of(node->iowait);
	to[RECEIVE] = code_of(node->receive);
	to[PRESSURE] = code_of(node->pressure);
	to[PHASE_AGE] = code_of(node->phase_age);
	to[PHASE_USUAL] = code_of(node->phase_usual);
	to[CLOCK] = (uint16_t)clock;
	to[CLOCK + 1] = (uint16_t)(clock >> 16);
	to[PHASE] = (uint16_t)node->phase;
	to[PHASE + 1] = (uint16_t)(node->phase >> 16);
	to[FLAGS] = (uint16_t)(node->condition | node->attention << 8);
}

/* Which columns differ; returns how many. */
static uint32_t
find_differences(
    bool differs[static COLUMNS], const struct top_node *nodes, uint32_t count)
{
	uint16_t first[COLUMNS], row[COLUMNS];
	uint32_t many = 0;

	memset(differs, 0, COLUMNS * sizeof(*differs));
	for (uint32_t i = 0; i < count; i++) {
		put_row(i == 0 ? first : row, &nodes[i]);
		for (int c = 0; i > 0 && c < COLUMNS; c++)
			if (row[c] != first[c] && !differs[c]) {
				differs[c] = true;
				many++;
			}
	}
	return many;
}

struct top_packed *
top_packed_new(const struct top_node *nodes, uint32_t count)
{
	bool differs[COLUMNS];
	size_t columns = find_differences(differs, nodes, count);
	size_t bytes =
	    sizeof(struct top_packed) + columns * count * sizeof(uint16_t);
	struct top_packed *to = memory_zero(1, bytes);
	uint16_t row[COLUMNS];
	uint32_t next = 0;

	to->bytes = bytes;
	for (int c = 0; c < COLUMNS; c++) {
		to->first[c] = differs[c] ? next : SAME;
		next += differs[c] ? count : 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		put_row(row, &nodes[i]);
		for (int c = 0; c < COLUMNS; c++)
			if (differs[c])
				to->cells[to->first[c] + i] = row[c];
			else
				to->same[c] = row[c];
	}
	return to;
}

struct top_node
top_packed_at(const struct top_packed *packed, uint32_t row)
{
	uint16_t of[COLUMNS];

	for (int c = 0; c < COLUMNS; c++)
		of[c] = packed->first[c] == SAME
			    ? packed->same[c]
			    : packed->cells[packed->first[c] + row];
	return (struct top_node){
		.age = number_of(of[AGE]),
		.received = number_of(of[RECEIVED]),
		.spool = number_of(of[SPOOL]),
		.cpu = number_of(of[CPU]),
		.iowait = number_of(of[IOWAIT]),
		.receive = number_of(of[RECEIVE]),
		.pressure = number_of(of[PRESSURE]),
		.phase_age = number_of(of[PHASE_AGE]),
		.phase_usual = number_of(of[PHASE_USUAL]),
		.clock = float_of((uint32_t)of[CLOCK + 1] << 16 | of[CLOCK]),
		.phase = (uint32_t)of[PHASE + 1] << 16 | of[PHASE],
		.condition = (uint8_t)of[FLAGS],
		.attention = (uint8_t)(of[FLAGS] >> 8),
	};
}

size_t
top_packed_bytes(const struct top_packed *packed)
{
	return packed->bytes;
}
