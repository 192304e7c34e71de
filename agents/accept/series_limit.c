/*
 * series_limit - how many series programs may define.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/series_limit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

enum {
	SLOTS = 1 << 18,
	KEY_ROOM = sizeof(uid_t) + 1 + 2 * NAME_BYTES_MAX,
	SHOWN_BYTES = 64,
};
/* Each group has a column at least. */
_Static_assert(SLOTS > 2 * SERIES_LIMIT_ALL, "a slot is always free");

#define KEPT_NS  (INT64_C(3600) * NS_PER_SECOND)
#define SWEEP_NS (60 * NS_PER_SECOND)

/* Hashes are of names; two names do not have one. */
struct group {
	uint64_t hash, origin;
	uint32_t series; /* 0: the slot is free */
	int64_t heard_ns;
};
struct origin {
	uint64_t hash;
	uint32_t series, groups; /* 0: the slot is free */
};

struct series_limit {
	struct hash_key key;
	/* SLOTS of each; memory that is not used is not touched. */
	struct group *groups;
	struct origin *origins;
	uint32_t series;
	int64_t swept_ns;
};

void
series_limit_new(struct series_limit **limit)
{
	*limit = memory_zero(1, sizeof(**limit));
	(*limit)->key = hash_key_random();
	(*limit)->groups = memory_zero(SLOTS, sizeof(struct group));
	(*limit)->origins = memory_zero(SLOTS, sizeof(struct origin));
}

void
series_limit_free(struct series_limit **limit)
{
	if (*limit == NULL)
		return;
	free((*limit)->groups);
	free((*limit)->origins);
	free(*limit);
	*limit = NULL;
}

static uint64_t
hash_of(struct hash_key key, uid_t uid, struct text partition, struct text name)
{
	unsigned char room[KEY_ROOM], *end = room;

	memcpy(end, &uid, sizeof(uid));
	end += sizeof(uid);
	*end++ = (unsigned char)partition.bytes;
	end = text_copy_short(end, partition.at, partition.bytes);
	end = text_copy_short(end, name.at, name.bytes);
	return hash_bytes(key, room, (size_t)(end - room));
}

/* Those of the hash, or free ones. */
static struct group *
group_of(struct series_limit *limit, uint64_t hash)
{
	uint64_t i = hash % SLOTS;

	while (limit->groups[i].series > 0 && limit->groups[i].hash != hash)
		i = (i + 1) % SLOTS;
	return &limit->groups[i];
}

static struct origin *
origin_of(struct series_limit *limit, uint64_t hash)
{
	uint64_t i = hash % SLOTS;

	while (limit->origins[i].groups > 0 && limit->origins[i].hash != hash)
		i = (i + 1) % SLOTS;
	return &limit->origins[i];
}

/* Up to the last slash; a name without one is its own origin. */
static struct text
origin_name(struct text group)
{
	struct text origin = group;

	while (origin.bytes > 0 && origin.at[origin.bytes - 1] != '/')
		origin.bytes--;
	return origin.bytes > 0 ? origin : group;
}

/* Count a group, or what it has more. */
static void
count(struct series_limit *limit, const struct group *fresh)
{
	struct group *group = group_of(limit, fresh->hash);
	struct origin *origin = origin_of(limit, fresh->origin);
	uint32_t more = fresh->series - group->series;

	origin->hash = fresh->origin;
	origin->groups += group->series == 0;
	origin->series += more;
	limit->series += more;
	*group = *fresh;
}

/* Forget what was not defined for an hour. */
static void
sweep(struct series_limit *limit, int64_t now_ns)
{
	struct group *before = limit->groups;

	limit->swept_ns = now_ns;
	limit->series = 0;
	limit->groups = memory_zero(SLOTS, sizeof(*limit->groups));
	free(limit->origins);
	limit->origins = memory_zero(SLOTS, sizeof(*limit->origins));
	for (uint32_t i = 0; i < SLOTS; i++)
		if (before[i].series > 0 &&
		    now_ns - before[i].heard_ns < KEPT_NS)
			count(limit, &before[i]);
	free(before);
}

/* Which limit would `fresh` exceed?  NULL: none. */
static const char *
excess(struct series_limit *limit, const struct group *fresh, int *most)
{
	const struct group *group = group_of(limit, fresh->hash);
	const struct origin *origin = origin_of(limit, fresh->origin);
	uint32_t more = fresh->series - group->series;

	*most = SERIES_LIMIT_ORIGIN;
	if (origin->series + more > SERIES_LIMIT_ORIGIN)
		return "series of this origin";
	*most = SERIES_LIMIT_ALL;
	return limit->series + more > SERIES_LIMIT_ALL ? "series of this node"
						       : NULL;
}

int
series_limit_take(struct series_limit *limit, uid_t uid, struct text partition,
    struct text name, uint32_t columns, int64_t now_ns, struct err *err)
{
	struct group fresh = {
		.hash = hash_of(limit->key, uid, partition, name),
		.origin =
		    hash_of(limit->key, uid, partition, origin_name(name)),
		.series = columns,
		.heard_ns = now_ns,
	};
	uint32_t series = group_of(limit, fresh.hash)->series;
	char shown[SHOWN_BYTES];
	const char *what;
	int most;

	if (fresh.series < series)
		fresh.series = series;
	if (fresh.series == 0)
		return 0;
	if (fresh.series > series) {
		what = excess(limit, &fresh, &most);
		if (what != NULL && now_ns - limit->swept_ns >= SWEEP_NS) {
			sweep(limit, now_ns);
			what = excess(limit, &fresh, &most);
		}
		if (what != NULL)
			return err_set(err,
			    "metric group %s: more than %d %s in an hour",
			    text_quote(shown, sizeof(shown), name), most, what);
	}
	count(limit, &fresh);
	return 0;
}
