/*
 * series_private - what series.c, which adds lines, and series_put.c, which
 * makes their numbers, know of a series.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_STATSD_SERIES_PRIVATE_H
#define AGENTS_RECEIVER_STATSD_SERIES_PRIVATE_H

#include "agents/receiver/statsd/budget.h"
#include "agents/receiver/statsd/series.h"
#include "agents/receiver/statsd/values.h"
#include "proto/hash/hash.h"
#include "proto/hash/string_table.h"

enum {
	STATSD_TIMER_COLUMNS = 5,
	/* A length of two bytes and a name; two lengths of a byte, and both
	 * texts of each label. */
	STATSD_KEY_BYTES_MAX =
	    2 + STATSD_LONG_LINE_BYTES_MAX +
	    DYNAMIC_LABELS_MAX * 2 * (1 + DYNAMIC_LABEL_BYTES_MAX),
	/* Columns of a group, so that its definition and its sample fit a
	 * submission to an agent together. */
	STATSD_GROUP_COLUMNS_MAX = 256,
	STATSD_GROUP_BYTES_MAX = 16 << 10,
	STATSD_ROOM_BYTES =
	    2 * (DYNAMIC_LABELS_BYTES_MAX + STATSD_GROUP_BYTES_MAX) +
	    STATSD_GROUP_COLUMNS_MAX * 64,
};

struct statsd_one {
	enum statsd_type type;
	bool has_group;
	bool is_timed; /* has had values with a time: a group of its own */
	int64_t heard_ns;
	struct text name[STATSD_TIMER_COLUMNS]; /* of its columns */
	uint32_t tag_set;
	double value; /* of a counter or gauge */
	struct statsd_timer timer;
	struct statsd_distinct distinct;
};

struct statsd_tag_set {
	struct dynamic_label label[DYNAMIC_LABELS_MAX];
	uint32_t labels;
	bool has_group;
	uint32_t group; /* the last one */
};

struct statsd_group {
	uint32_t tag_set;
	uint32_t *member; /* series */
	uint32_t members, room;
	uint32_t columns, bytes; /* of their names */
	bool is_published;
	int64_t refused_ns; /* 0: it is not */
};

struct statsd_timed {
	uint32_t series;
	int64_t time_ns;
	double value;
};

struct statsd_series {
	struct string_table keys; /* of series, in their order */
	struct statsd_one *one;
	uint32_t one_room;
	struct string_table tag_keys; /* the keys without the names */
	struct statsd_tag_set *tag_set;
	uint32_t tag_set_room;
	struct statsd_group *group;
	uint32_t groups, group_room;
	struct statsd_budget budget;
	struct statsd_timed *timed;
	uint32_t timed_count, timed_room;
	uint32_t all_distinct;
	uint64_t random;
	struct hash_key hash;
	char key[STATSD_KEY_BYTES_MAX];
	struct dynamic_number number[STATSD_GROUP_COLUMNS_MAX];
	unsigned char bytes[STATSD_ROOM_BYTES];
};

static inline bool
statsd_is_timer(enum statsd_type type)
{
	return type == STATSD_TIMER || type == STATSD_HISTOGRAM;
}

static inline uint32_t
statsd_columns_of(const struct statsd_one *one)
{
	return statsd_is_timer(one->type) ? STATSD_TIMER_COLUMNS : 1;
}

static inline bool
statsd_is_silent(const struct statsd_one *one, int64_t now_ns)
{
	return now_ns - one->heard_ns > STATSD_SILENT_NS;
}

/* Are all its series silent? */
bool statsd_group_has_ended(const struct statsd_series *series,
    const struct statsd_group *group, int64_t now_ns);

#endif
