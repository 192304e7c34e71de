/*
 * mirror_fetch - read hours of records.
 *
 * Of one node, if a question is about one: a day of it is an hour of 24 nodes.
 * Such records lie next to the mark that the hour is absent.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/mirror/mirror_private.h"

#include "aggregator/writer/compact_pass.h"

/* Nodes of an hour; then the whole hour is read. */
enum { NODES_MAX = 32 };

/* ---- whole hours ---- */

/* As the aggregator does, so that answers are made of the same rollups. */
static int
compact(struct mirror *mirror, const struct absent_hour *what, struct err *err)
{
	struct compact compact = { .job = {
				       .hour = { .partition = what->partition,
					   .kind = what->kind,
					   .hour = what->hour },
				       .choice = hour_cursor_all,
				       .level = COMPACTED_ROW_LEVEL_WHOLE,
				       .whole = true } };
	bool done = false;

	while (!done && !mirror->stop)
		if (compact_pass(&compact, mirror->tables, &done, err) !=
		    DB_OK) {
			compact_clear(&compact);
			return -1;
		}
	compact_clear(&compact);
	return 0;
}

/* The rollups that the archive has are made from the samples once more. */
static int
replace_rollups(
    struct mirror *mirror, const struct absent_hour *samples, struct err *err)
{
	struct absent_hour what = *samples;

	if (mirror_drop_rollups(mirror, samples, err) != 0 ||
	    compact(mirror, samples, err) != 0)
		return -1;
	for (unsigned i = ROLLUP_1MIN; i < ROLLUPS; i++) {
		what.kind = (uint8_t)(ABSENT_ROLLUP + i);
		if (mirror_put_state(mirror, &what, ABSENT_NOT, err) != 0)
			return -1;
	}
	return 0;
}

static int
pull(struct mirror *mirror, const struct absent_need *need, int32_t hours,
    struct mirror_hour *hour, struct err *err)
{
	const struct absent_hour *what = &need->first;
	struct mirror_partition *partition =
	    &mirror->partition[what->partition - 1];
	struct pull_hours got;
	int rc;

	mirror_begin(mirror, partition, &partition->claim);
	mirror->into.node = need->node;
	rc = pull_record_hours(&mirror->into, (enum record_kind)what->kind,
	    what->hour, hours, &got, err);
	mirror->into.node = 0;
	mirror_end(mirror);
	hour->bytes = got.bytes;
	hour->last_ns = got.last_ns;
	return rc != 0 ? -1 : mirror_complete(mirror, partition, err);
}

static int
fetch_whole(
    struct mirror *mirror, const struct absent_need *need, struct err *err)
{
	struct absent_need whole = { .first = need->first };
	struct mirror_hour hour = { .what = need->first };
	int has = mirror_has_rollups(mirror, &need->first, err);

	/* What an attempt that failed has left, and single nodes. */
	if (has < 0 || mirror_drop(mirror, &need->first, err) != 0 ||
	    pull(mirror, &whole, 1, &hour, err) != 0)
		return -1;
	if (has > 0 && replace_rollups(mirror, &need->first, err) != 0)
		return -1;
	hour.has_rollups = has > 0;
	return mirror_add_hours(mirror, &hour, 1, err);
}

/* ---- one node ---- */

static unsigned
nodes_of(const struct mirror *mirror, const struct absent_hour *what)
{
	unsigned nodes = 0;

	for (uint32_t i = 0; i < mirror->hours; i++)
		nodes += mirror_is_same(&mirror->hour[i].what, what);
	return nodes;
}

/* May the records of one node be read alone?  Not of an hour some of whose
 * samples the rollups lack: it must be compacted as a whole. */
static int
can_be_alone(struct mirror *mirror, const struct absent_hour *what,
    uint32_t node, struct err *err)
{
	enum absent_state state;
	struct db_txn *txn;
	bool is_here;
	int has;

	if (db_begin(mirror->tables, false, &txn, err) != 0)
		return -1;
	state = absent_get(txn, what);
	is_here = absent_has_node(txn, what, node);
	db_abort(&txn);
	if (state == ABSENT_NOT || is_here ||
	    nodes_of(mirror, what) >= NODES_MAX)
		return 0;
	if (state == ABSENT_ROLLED_UP || what->kind != RECORD_SAMPLE)
		return 1;
	has = mirror_has_rollups(mirror, what, err);
	return has < 0 ? -1 : !has;
}

/* How many hours from the first one on, at most `most`, can be read alone. */
static int
hours_alone(struct mirror *mirror, const struct absent_need *need, int32_t most,
    int32_t *hours, struct err *err)
{
	struct absent_hour what = need->first;
	int can = 1;

	for (*hours = 0; *hours < most && can > 0; what.hour++) {
		can = can_be_alone(mirror, &what, need->node, err);
		*hours += can > 0;
	}
	return can < 0 ? -1 : 0;
}

static int
fetch_hours_alone(struct mirror *mirror, const struct absent_need *need,
    int32_t hours, uint64_t *bytes, struct err *err)
{
	struct mirror_hour hour = { .what = need->first, .node = need->node };

	if (pull(mirror, need, hours, &hour, err) != 0)
		return -1;
	*bytes = hour.bytes;
	return mirror_add_hours(mirror, &hour, hours, err);
}

/* The first hour shows how large they are. */
static int
fetch_node(
    struct mirror *mirror, const struct absent_need *need, struct err *err)
{
	struct absent_need more = *need;
	uint64_t bytes = 0;
	int32_t hours;

	if (fetch_hours_alone(mirror, need, 1, &bytes, err) != 0)
		return -1;
	more.first.hour++;
	if (hours_alone(mirror, &more,
		mirror_more_hours(mirror, &need->first, need->end, bytes),
		&hours, err) != 0)
		return -1;
	return hours == 0
		   ? 0
		   : fetch_hours_alone(mirror, &more, hours, &bytes, err);
}

/* ---- both ---- */

int
mirror_fetch(
    struct mirror *mirror, const struct absent_need *need, struct err *err)
{
	bool asks = need->first.kind == RECORD_SAMPLE &&
		    (need->rollups_do || need->node != 0);
	enum absent_state state;
	int alone = 0;

	if (asks && mirror_roll_up(mirror, need, err) != 0)
		return -1;
	if (mirror_get_state(mirror, &need->first, &state, err) != 0)
		return -1;
	if (state == ABSENT_NOT ||
	    (need->rollups_do && state == ABSENT_ROLLED_UP))
		return 0;
	if (need->node != 0)
		alone = can_be_alone(mirror, &need->first, need->node, err);
	if (alone < 0)
		return -1;
	return alone ? fetch_node(mirror, need, err)
		     : fetch_whole(mirror, need, err);
}
