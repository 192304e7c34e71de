/*
 * dynamic_group - metric groups that programs make up: numbers of one moment,
 * with labels.
 *
 * The name of such a group is its origin and a hash of its definition (labels,
 * names, units, types), so that a name never has two definitions and a sender
 * needs no memory.  proto/wire.md, "Dynamic groups", has the rule.  Uses libc
 * and allocates nothing: libpoolscope has it, too.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_METRIC_DYNAMIC_GROUP_H
#define PROTO_METRIC_DYNAMIC_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/record/record.h"

enum {
	DYNAMIC_LABELS_MAX = 16,
	DYNAMIC_LABEL_BYTES_MAX = 128, /* of a key, and of a value */
	/* Labels as JSON: each byte may be \uXXXX. */
	DYNAMIC_LABELS_BYTES_MAX =
	    DYNAMIC_LABELS_MAX * (2 * 6 * DYNAMIC_LABEL_BYTES_MAX + 6) + 2,
	DYNAMIC_DIGITS = 12, /* of the hash in a name */
};

/* A label with an empty value is no label. */
struct dynamic_label {
	struct text key, value;
};

struct dynamic_number {
	struct text name; /* one word */
	struct text unit; /* one word (UCUM), or empty: unknown */
	bool counter;
	struct value value;
};

struct dynamic_group {
	struct text origin; /* "app/PROGRAM", "emit" ...: a name */
	/* The caller's arrays, which are sorted. */
	struct dynamic_label *label;
	struct dynamic_number *number;
	uint32_t labels, numbers;
	int64_t time_ns;
	/* With counters: what they count from (0: unknown); another number
	 * says that they started again. */
	uint64_t boot;

	/* Made of these; the records are views of `name` and of the room. */
	char name[NAME_BYTES_MAX + 1];
	struct record definition, sample;
};

/* Check labels and numbers, and make name, definition and sample, for
 * wire_put_record.  -1: a sentence names the label or number that is wrong, or
 * says that it does not fit into the room. */
int dynamic_group_make(
    struct dynamic_group *group, void *room, size_t bytes, struct err *err);

/* Is it the name of a dynamic group, by its form? */
bool dynamic_group_is(struct text name);

/* What dynamic_group_make checks of each label and number. */
int dynamic_group_check_label(
    const struct dynamic_label *label, struct err *err);
int dynamic_group_check_number(
    const struct dynamic_number *number, struct err *err);

/* Sort labels and write them as JSON, as the property `labels` has them; `*end`
 * is behind it.  Nothing is written if there are none. */
int dynamic_group_put_labels(char **end, size_t room,
    struct dynamic_label *label, uint32_t labels, struct err *err);

#endif
