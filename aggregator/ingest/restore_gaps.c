/*
 * restore_gaps - batches that a restored store lacks.
 *
 * The row `missing_since` of journal/meta says that streams may have missing
 * batches, and since when; without it nobody searches for them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/restore_gaps.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "proto/os/log.h"

enum {
	ROWS_AT_ONCE = 4096, /* rows read in one transaction */
	REPORTED_AT_ONCE = 64,
};

/* A stream with missing batches, copied from its row. */
struct incomplete_stream {
	struct session_id session;
	char partition[NAME_BYTES_MAX], node[NAME_BYTES_MAX];
	uint32_t partition_bytes, node_bytes;
};

static bool
key_read(struct text key, struct session_id *session, struct text *partition)
{
	if (key.bytes <= sizeof(session->bytes) ||
	    key.bytes > sizeof(session->bytes) + NAME_BYTES_MAX)
		return false;
	memcpy(session->bytes, key.at, sizeof(session->bytes));
	*partition = (struct text){ key.at + sizeof(session->bytes),
		key.bytes - (uint32_t)sizeof(session->bytes) };
	return true;
}

/* Streams may have missing batches from now on. */
static void
note(struct db_txn *txn, int64_t now_ns)
{
	uint64_t value = htole64((uint64_t)now_ns);

	db_put(txn, JOURNAL_META, text_of("missing_since"),
	    (struct text){ (const char *)&value, sizeof(value) });
}

/* Since when batches may be missing; 0: none are. */
static int64_t
get_noted(struct db_txn *txn)
{
	struct text value;
	uint64_t since;

	if (!db_get(txn, JOURNAL_META, text_of("missing_since"), &value) ||
	    value.bytes != sizeof(since))
		return 0;
	memcpy(&since, value.at, sizeof(since));
	return (int64_t)le64toh(since);
}

/* ---- when a store is restored ------------------------------------------- */

/* `before` is the stream in the replaced store. */
static void
carry_one(struct journal *to, const struct session_id *session,
    struct text partition, const struct journal_stream *before,
    struct restore_gaps_sum *sum)
{
	struct journal_stream stream;
	uint64_t missing = before->last_seq,
		 hash = journal_running_hash(before, missing);
	enum journal_found found =
	    journal_stream_get(to, session, partition, &stream);

	if (before->missing > missing) {
		missing = before->missing;
		hash = before->missing_hash;
	}
	if (found == JOURNAL_DAMAGED || missing <= stream.last_seq)
		return;
	if (found == JOURNAL_ABSENT) {
		stream.first_ns = before->first_ns;
		stream.last_ns = before->last_ns;
		stream.node = before->node;
	}
	/* A start count that was superseded there is superseded here, too. */
	if (stream.start_count < before->start_count)
		stream.start_count = before->start_count;
	if (missing > stream.missing) {
		stream.missing = missing;
		stream.missing_hash = hash;
	}
	sum->streams++;
	sum->batches += stream.missing - stream.last_seq;
	journal_stream_put(to, session, partition, &stream);
}

static void
carry_all(struct journal *to, struct db_txn *from, struct restore_gaps_sum *sum)
{
	struct db_cursor *cursor = db_cursor_open(from, JOURNAL_STREAMS);
	struct text key, value, partition, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);
	struct journal_stream stream;
	struct session_id session;

	for (; more; more = db_next(cursor, &key, &value)) {
		if (!key_read(key, &session, &partition) ||
		    !journal_stream_decode(value, &stream))
			sum->damaged++;
		else
			carry_one(to, &session, partition, &stream, sum);
	}
	db_cursor_close(&cursor);
}

int
restore_gaps_carry(struct journal *to, struct journal *from, int64_t now_ns,
    struct restore_gaps_sum *sum, struct err *err)
{
	struct db_txn *txn;

	*sum = (struct restore_gaps_sum){ 0 };
	if (db_begin(journal_db(from), false, &txn, err) != 0)
		return -1;
	if (journal_begin(to, err) != 0) {
		db_abort(&txn);
		return -1;
	}
	carry_all(to, txn, sum);
	if (sum->streams > 0)
		note(journal_txn(to), now_ns);
	db_abort(&txn);
	return journal_commit(to, err) == DB_OK ? 0 : -1;
}

/* ---- afterwards --------------------------------------------------------- */

/* How many batches of the stream are missing. */
static uint64_t
missing_of(struct text key, struct text value, struct journal_stream *stream)
{
	struct session_id session;
	struct text partition;

	if (!key_read(key, &session, &partition) ||
	    !journal_stream_decode(value, stream) ||
	    stream->missing <= stream->last_seq)
		return 0;
	return stream->missing - stream->last_seq;
}

void
restore_gaps_count(struct restore_gaps *restore_gaps)
{
	struct text key, value, all = { NULL, 0 };
	struct journal_stream stream;
	struct db_cursor *cursor;
	struct db_txn *txn;

	if (db_begin(journal_db(restore_gaps->journal), false, &txn, NULL) != 0)
		return;
	restore_gaps->since_ns = get_noted(txn);
	restore_gaps->batches = 0;
	if (restore_gaps->since_ns != 0) {
		bool more;

		cursor = db_cursor_open(txn, JOURNAL_STREAMS);
		more = db_seek(cursor, all, &key, &value);
		for (; more; more = db_next(cursor, &key, &value))
			restore_gaps->batches +=
			    missing_of(key, value, &stream);
		db_cursor_close(&cursor);
	}
	db_abort(&txn);
}

bool
restore_gaps_is_due(const struct restore_gaps *restore_gaps, int64_t now_ns)
{
	return restore_gaps->since_ns != 0 &&
	       now_ns - restore_gaps->since_ns >= restore_gaps->wait_ns;
}

static void
copy_stream(struct incomplete_stream *stream_copy, struct text key,
    const struct journal_stream *s)
{
	struct text partition = { "", 0 };

	key_read(key, &stream_copy->session, &partition);
	memcpy(stream_copy->partition, partition.at, partition.bytes);
	stream_copy->partition_bytes = partition.bytes;
	memcpy(stream_copy->node, s->node.at, s->node.bytes);
	stream_copy->node_bytes = s->node.bytes;
}

/* Find the next streams with missing batches, from the position of the pass
 * on; at the end of the table the position returns to the start. */
static uint32_t
find_incomplete(struct restore_gaps *restore_gaps,
    struct incomplete_stream found[static REPORTED_AT_ONCE])
{
	struct db_txn *txn = journal_txn(restore_gaps->journal);
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_STREAMS);
	struct text from = { (const char *)restore_gaps->at,
		restore_gaps->at_bytes };
	struct text key, value;
	bool more = db_seek(cursor, from, &key, &value);
	struct journal_stream stream;
	uint32_t count = 0;

	for (int rows = 0;
	     more && rows < ROWS_AT_ONCE && count < REPORTED_AT_ONCE; rows++) {
		if (missing_of(key, value, &stream) > 0)
			copy_stream(&found[count++], key, &stream);
		more = db_next(cursor, &key, &value);
	}
	restore_gaps->at_bytes = 0;
	if (more && key.bytes <= sizeof(restore_gaps->at)) {
		memcpy(restore_gaps->at, key.at, key.bytes);
		restore_gaps->at_bytes = key.bytes;
	}
	db_cursor_close(&cursor);
	return count;
}

/* Record a gap in a stream of the store's own, as if it had been sent.  The
 * numbers of the incomplete stream stay free for a sender that resends them
 * later. */
static bool
send_gap(struct restore_gaps *restore_gaps, struct receiver *receiver,
    const struct incomplete_stream *stream_copy, uint64_t count, int64_t now_ns)
{
	static const char name[8] = "restored";
	unsigned char frame[WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX];
	struct wire_header answer, gap = { .type = WIRE_GAP,
		.partition = { stream_copy->partition,
		    stream_copy->partition_bytes },
		.node = { stream_copy->node, stream_copy->node_bytes },
		.sent_ns = now_ns,
		.reason = WIRE_GAP_RESTORED,
		.start_count = 1 };
	uint64_t generation =
	    htole64(journal_generation(restore_gaps->journal));
	struct journal_stream own;
	struct text whole = { (const char *)frame, 0 };

	memcpy(gap.session.bytes, &generation, sizeof(generation));
	memcpy(gap.session.bytes + sizeof(generation), name, sizeof(name));
	if (journal_stream_get(restore_gaps->journal, &gap.session,
		gap.partition, &own) == JOURNAL_DAMAGED)
		return false;
	gap.seq = own.last_seq + 1;
	gap.last_seq = own.last_seq + count;
	gap.chain = journal_running_hash(&own, own.last_seq);
	whole.bytes = (uint32_t)wire_frame(
	    frame, sizeof(frame), &gap, (struct text){ NULL, 0 });
	return whole.bytes > 0 &&
	       receiver_take(receiver, whole, now_ns, RECEIVER_ROOM, &answer) &&
	       answer.type == WIRE_ACK;
}

static void
report_one(struct restore_gaps *restore_gaps, struct receiver *receiver,
    const struct incomplete_stream *stream_copy, int64_t now_ns)
{
	struct text partition = { stream_copy->partition,
		stream_copy->partition_bytes };
	struct journal_stream s;
	uint64_t count;

	if (journal_stream_get(restore_gaps->journal, &stream_copy->session,
		partition, &s) != JOURNAL_FOUND)
		return;
	count = s.missing - s.last_seq;
	if (!send_gap(restore_gaps, receiver, stream_copy, count, now_ns))
		return; /* not now: the next pass finds it again */
	/* The views into the page may be invalid after a write. */
	s.node = (struct text){ stream_copy->node, stream_copy->node_bytes };
	s.missing = s.missing_hash = 0;
	journal_stream_put(
	    restore_gaps->journal, &stream_copy->session, partition, &s);
}

void
restore_gaps_report(struct restore_gaps *restore_gaps,
    struct receiver *receiver, int64_t now_ns)
{
	struct incomplete_stream found[REPORTED_AT_ONCE];
	uint32_t count;

	if (restore_gaps->at_bytes == 0)
		restore_gaps->found = 0;
	count = find_incomplete(restore_gaps, found);
	restore_gaps->found += count;
	for (uint32_t i = 0; i < count; i++)
		report_one(restore_gaps, receiver, &found[i], now_ns);
	/* Only a complete pass without findings shows that none are missing. */
	if (restore_gaps->at_bytes == 0 && restore_gaps->found == 0)
		db_del(journal_txn(restore_gaps->journal), JOURNAL_META,
		    text_of("missing_since"));
}

uint64_t
restore_gaps_reported(struct restore_gaps *restore_gaps, uint64_t before)
{
	uint64_t reported;

	restore_gaps_count(restore_gaps);
	reported =
	    before > restore_gaps->batches ? before - restore_gaps->batches : 0;
	if (reported > 0)
		log_warn("restore incomplete: %" PRIu64
			 " batches were not resent; recorded as gaps",
		    reported);
	return reported;
}
