/*
 * usual - how long the phases of a pool usually take, and from when on one
 * takes longer.  There is no other definition.
 *
 * Values are of the last USUAL_STARTS starts of the pool, or of the newest
 * in which USUAL_NODES nodes began, but of one at least: more would not change
 * the quantiles, only what they cost.  They are those of the phase with one
 * key, such as an image, where these are USUAL_VALUES_MIN, else those of the
 * phase with any key; of fewer nothing is known: of eleven, the percentile is
 * the greatest of them, and one odd value would decide.
 *
 * Longer than usual is more than three times the median, more than the 99th
 * percentile and more than USUAL_LEAST seconds, which is noise below.  Both
 * quantiles are of the nearest rank (proto/base/quantile.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PHASES_USUAL_H
#define EXPORTERS_PHASES_USUAL_H

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

enum {
	USUAL_VALUES_MIN = 12,
	USUAL_MEDIANS = 3,
	USUAL_LEAST = 30,
	USUAL_STARTS = 20,
	USUAL_NODES = 20000,
};

struct usual_starts {
	/* In the order of time; the first one is TIME_MIN_NS if no start was
	 * before it. */
	int64_t begin_ns[USUAL_STARTS];
	uint32_t count; /* 0: nothing says when nodes begin, or none did */
};
/* The last ones that began before `before_ns`. */
int usual_starts_read(struct usual_starts *starts, struct source *source,
    struct text partition, int64_t before_ns, struct err *err);
/* Of which start what began then is: its number from 1 on; 0: of none. */
uint32_t usual_start_of(const struct usual_starts *starts, int64_t begin_ns);

struct usual_value; /* opaque */

/* Zero it before the first use. */
struct usual_values {
	struct string_table phases, keys;
	struct usual_value *at, *any_key; /* sorted */
	uint32_t count, room;
};
void usual_init(struct usual_values *values);
void usual_clear(struct usual_values *values);
/* A phase that ended; `key` is empty if it has none. */
void usual_add(struct usual_values *values, struct text phase, struct text key,
    int64_t ns);
/* After the last value, before the first question. */
void usual_sort(struct usual_values *values);

struct usual {
	uint32_t count;    /* of how many values; 0: nothing is known */
	int64_t median_ns; /* what is usual */
	int64_t limit_ns;  /* more than that is longer */
	bool is_of_key;    /* of the phase with this key only */
};
struct usual usual_find(
    const struct usual_values *values, struct text phase, struct text key);

#endif
