/*
 * view_list - the content of a spool's directory as an answer.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "agents/spool/view/commands.h"
#include "agents/spool/view/summary.h"

struct segment_row {
	uint64_t number, bytes_used, batches, records;
	struct text session, state;
	double bytes;
};

static const struct answer_column segment_columns[] = {
	{ "number", "SEGMENT", ANSWER_AT_COUNT(struct segment_row, number),
	    "the number in the name of the file" },
	{ "session", "SESSION", ANSWER_AT_TEXT(struct segment_row, session),
	    "the start of the agent that wrote it" },
	{ "bytes", "SIZE", ANSWER_AT_BYTES(struct segment_row, bytes),
	    "of the file" },
	{ "used_bytes", "USED", ANSWER_AT_COUNT(struct segment_row, bytes_used),
	    "up to the end of its frames", "By" },
	{ "batches", "BATCHES", ANSWER_AT_COUNT(struct segment_row, batches),
	    "batches in it" },
	{ "records", "RECORDS", ANSWER_AT_COUNT(struct segment_row, records),
	    "records in them" },
	{ "state", "STATE", ANSWER_AT_TEXT(struct segment_row, state),
	    "open, sealed, unused, damaged, unreadable, foreign or empty" },
	{ .key = NULL },
};

struct stream_row {
	struct text partition, session;
	uint64_t first, last, acknowledged, batches, records, missing;
};

static const struct answer_column stream_columns[] = {
	{ "partition", "PARTITION",
	    ANSWER_AT_TEXT(struct stream_row, partition), "account$pool" },
	{ "session", "SESSION", ANSWER_AT_TEXT(struct stream_row, session),
	    "the start of the agent that began it" },
	{ "first", "FIRST", ANSWER_AT_COUNT(struct stream_row, first),
	    "the lowest number of a batch" },
	{ "last", "LAST", ANSWER_AT_COUNT(struct stream_row, last),
	    "the highest" },
	{ "acknowledged", "ACKED",
	    ANSWER_AT_COUNT(struct stream_row, acknowledged),
	    "the last number that the aggregator acknowledged" },
	{ "batches", "BATCHES", ANSWER_AT_COUNT(struct stream_row, batches),
	    "batches in the directory" },
	{ "records", "RECORDS", ANSWER_AT_COUNT(struct stream_row, records),
	    "records in them" },
	{ "missing", "MISSING", ANSWER_AT_COUNT(struct stream_row, missing),
	    "numbers that no batch has although later ones exist" },
	{ .key = NULL },
};

struct hole_row {
	struct text partition, session;
	uint64_t first, last;
};

static const struct answer_column hole_columns[] = {
	{ "partition", "PARTITION", ANSWER_AT_TEXT(struct hole_row, partition),
	    "of which stream" },
	{ "session", "SESSION", ANSWER_AT_TEXT(struct hole_row, session),
	    "of which stream" },
	{ "first", "FIRST", ANSWER_AT_COUNT(struct hole_row, first),
	    "the first number that is missing" },
	{ "last", "LAST", ANSWER_AT_COUNT(struct hole_row, last),
	    "the last one" },
	{ .key = NULL },
};

const struct answer_table view_list_tables[] = {
	{ "segments", segment_columns }, { "streams", stream_columns },
	{ "missing", hole_columns }, { .name = NULL }
};

enum { SESSION_ROOM = 33, SESSION_SHOWN = 8 };

/* The first digits tell sessions apart; programs get them all. */
static struct text
session_of(const struct answer *answer, const struct session_id *session,
    char to[static SESSION_ROOM])
{
	struct text text = { NULL, 0 };

	if (session_is_known(session))
		text = text_of(session_text(to, session));
	if (answer_is_for_people(answer) && text.at != NULL)
		text.bytes = SESSION_SHOWN;
	return text;
}

static void
put_segments(
    struct answer *answer, struct view *view, const struct summary *summary)
{
	char session[SESSION_ROOM];

	for (uint32_t i = 0; i < view_segments(view); i++) {
		const struct spool_entry *s = view_segment(view, i);
		const struct summary_segment *in = &summary->segments[i];
		/* Nobody has looked for frames in the others. */
		bool read =
		    spool_entry_has_frames(s) || s->state == SPOOL_ENTRY_EMPTY;
		const struct segment_row row = { s->number,
			read ? s->extent.end : ANSWER_NO_COUNT,
			read ? in->batches : ANSWER_NO_COUNT,
			read ? in->records : ANSWER_NO_COUNT,
			session_of(answer, &s->head.session, session),
			text_of(view_state_name(s->state)),
			s->why != 0 && s->bytes == 0 ? NAN : (double)s->bytes };

		answer_row(answer, &row, NULL);
	}
}

/* The holes of a stream: their numbers, or with `put` a row each. */
static uint64_t
count_missing(struct answer *answer, struct view *view,
    const struct summary *summary, uint32_t stream, bool put)
{
	uint64_t count = 0, from = 0;
	struct coverage_interval hole;
	char session[SESSION_ROOM];

	while (summary_next_missing(
	    &summary->streams[stream], view_acked(view, stream), from, &hole)) {
		const struct hole_row row = { view_partition(view, stream),
			session_of(answer, view_session(view, stream), session),
			hole.first, hole.last };

		if (put)
			answer_row(answer, &row, NULL);
		count += hole.last - hole.first + 1;
		if (hole.last == UINT64_MAX)
			break;
		from = hole.last + 1;
	}
	return count;
}

static void
put_streams(
    struct answer *answer, struct view *view, const struct summary *summary)
{
	char session[SESSION_ROOM];

	for (uint32_t i = 0; i < view_streams(view); i++) {
		const struct summary_stream *s = &summary->streams[i];
		bool has = s->first > 0;
		const struct stream_row row = { view_partition(view, i),
			session_of(answer, view_session(view, i), session),
			has ? s->first : ANSWER_NO_COUNT,
			has ? s->last : ANSWER_NO_COUNT,
			view_has_acked(view) ? view_acked(view, i)
					     : ANSWER_NO_COUNT,
			s->batches, s->records,
			count_missing(answer, view, summary, i, false) };

		answer_row(answer, &row, NULL);
	}
}

int
view_list(
    struct view *view, const char *dir, struct answer *answer, struct err *err)
{
	bool has_acked = view_has_acked(view);
	struct summary summary = { .streams = NULL };
	int rc = summary_make(&summary, view, err);

	if (rc == 0) {
		answer_head(answer, "directory", answer_string(dir));
		answer_head(answer, "acked", answer_flag(has_acked));
		answer_head(answer, "starts",
		    answer_count(
			has_acked ? view_start_count(view) : ANSWER_NO_COUNT));
		if (has_acked)
			answer_title(answer, "%s, starts of the agent: %llu",
			    dir, (unsigned long long)view_start_count(view));
		else
			answer_title(answer,
			    "%s: ACKED is absent or damaged, so nobody knows "
			    "what is acknowledged",
			    dir);
		put_segments(answer, view, &summary);
		answer_begin_table(answer, "streams");
		put_streams(answer, view, &summary);
		answer_begin_table(answer, "missing");
		for (uint32_t i = 0; i < view_streams(view); i++)
			count_missing(answer, view, &summary, i, true);
		if (summary.incomplete)
			answer_note(answer, "incomplete", ANSWER_NO_COUNT,
			    "there are more missing numbers than are counted");
	}
	summary_clear(&summary);
	return rc;
}
