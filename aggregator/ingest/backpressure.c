/*
 * backpressure - is there room in the journal for more?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/backpressure.h"

#include "proto/os/clock.h"
#include "proto/os/log.h"

#define RETRY_NS    NS_PER_SECOND
#define QUIET_NS    (10 * NS_PER_SECOND)
#define COMPLAIN_NS (60 * NS_PER_SECOND)

/* Is more than allowed not folded yet?  Once it is, room is given again a
 * quarter below, so that it does not flicker; the log hears at most one line a
 * minute of it. */
static bool
is_behind(struct room *room, int64_t now_ns)
{
	uint64_t limit = room->journal_bytes;

	if (room->behind)
		return room->behind_bytes > limit - limit / 4;
	if (room->behind_bytes <= limit)
		return false;
	if (room->complained_ns == 0 ||
	    now_ns - room->complained_ns >= COMPLAIN_NS) {
		log_warn("the fold is behind, senders wait");
		room->complained_ns = now_ns;
	}
	return true;
}

enum keep_room
room_look(struct room *room, int64_t now_ns)
{
	room->behind_bytes = journal_bytes_behind(
	    room->journal, room->follower.position(room->follower.arg));
	room->behind = is_behind(room, now_ns);
	if (room->full && now_ns < room->retry_ns)
		return KEEP_FULL;
	return room->behind ? KEEP_BEHIND : KEEP_ROOM;
}

void
room_is_full(struct room *room, int64_t now_ns, const struct err *err)
{
	room->failures++;
	room->retry_ns = now_ns + RETRY_NS;
	if (!room->full)
		log_error(
		    "no room for the journal, senders wait: %s", err->text);
	room->full = true;
}

void
room_is_there(struct room *room)
{
	if (room->full)
		log_info("there is room for the journal again");
	room->full = false;
}

uint32_t
room_purge(struct room *room, uint32_t entries)
{
	uint64_t upto = room->follower.position(room->follower.arg);
	int64_t before_ns = clock_wall_ns() - room->keep_ns;

	/* Without room nothing that was folded is kept for followers. */
	if (room->full)
		before_ns = INT64_MAX;
	return journal_purge(
	    room->journal, upto, before_ns, room->journal_bytes, entries);
}

static enum db_result
purge_alone(struct room *room, uint32_t entries, struct err *err)
{
	enum db_result result;
	uint32_t gone;
	bool quiet;

	if (journal_begin(room->journal, err) != 0)
		return DB_BROKEN;
	gone = room_purge(room, entries);
	result = journal_commit(room->journal, err);
	if (result != DB_OK)
		return result;
	room->purged += gone;
	if (!room->full)
		return DB_OK;
	quiet = clock_monotonic_ns() - room->retry_ns >= QUIET_NS;
	if (gone == 0 && !quiet)
		return DB_OK;
	result = journal_turn(room->journal, err);
	/* No sender comes to find out, and nothing was in the way. */
	if (result == DB_OK && quiet)
		room_is_there(room);
	return result;
}

enum db_result
room_purge_alone(struct room *room, uint32_t entries, struct err *err)
{
	enum db_result result = purge_alone(room, entries, err);

	if (result == DB_FULL)
		room_is_full(room, clock_monotonic_ns(), err);
	return result;
}
