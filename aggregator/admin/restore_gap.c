/*
 * admin_restore_gap - say in a restored store what it may lack.
 *
 * What senders delivered after the backup they bring again, as far as they
 * still have it, or count it as lost.  Of senders that are gone nobody knows.
 * So each partition gets one gap record, from the newest record of the backup
 * to the restore, whose count is unknown.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/admin_private.h"

#include <endian.h>
#include <string.h>
#include <sys/utsname.h>

#include "aggregator/tables/dictionary.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

struct noted {
	struct journal *journal;
	int64_t from_ns, now_ns;
	struct text node;
	bool failed;
};

/* When the newest entry of any stream arrived; 0: there is none. */
static int64_t
newest_ns(struct db_txn *txn)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_STREAMS);
	struct text key, value;
	struct journal_stream stream;
	int64_t newest = 0;
	bool more = db_seek(cursor, (struct text){ NULL, 0 }, &key, &value);

	for (; more; more = db_next(cursor, &key, &value))
		if (journal_stream_decode(value, &stream) &&
		    stream.last_ns > newest)
			newest = stream.last_ns;
	db_cursor_close(&cursor);
	return newest;
}

/* A stream of the store's own, named after its generation. */
static void
note(struct noted *noted, struct text partition)
{
	static const char name[8] = "restored";
	unsigned char frame[WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX];
	struct wire_header gap = { .type = WIRE_GAP,
		.partition = partition,
		.node = noted->node,
		.seq = 1,
		.last_seq = 1,
		.sent_ns = noted->from_ns,
		.reason = WIRE_GAP_SINCE_BACKUP };
	const struct journal_note how = { .seq = 1,
		.receive_ns = noted->now_ns };
	struct journal_stream stream = { .first_ns = noted->now_ns,
		.last_ns = noted->now_ns,
		.node = noted->node };
	uint64_t generation = htole64(journal_generation(noted->journal));
	struct text whole = { (const char *)frame, 0 };

	memcpy(gap.session.bytes, &generation, sizeof(generation));
	memcpy(gap.session.bytes + sizeof(generation), name, sizeof(name));
	whole.bytes = (uint32_t)wire_frame(
	    frame, sizeof(frame), &gap, (struct text){ NULL, 0 });
	if (whole.bytes == 0) {
		noted->failed = true;
		return;
	}
	journal_append(noted->journal, whole, &how);
	journal_stream_advance(
	    noted->journal, &gap.session, partition, &stream, 1, 0);
	journal_stream_put(noted->journal, &gap.session, partition, &stream);
}

/* Each partition that the tables name. */
static void
note_all(struct noted *noted, struct db_txn *tables)
{
	uint32_t last = dictionary_last(tables, 0);
	struct text partition;

	for (uint32_t i = 1; i <= last && noted->from_ns != 0; i++)
		if (dictionary_text(tables, 0, i, &partition) &&
		    text_check_name(partition) == TEXT_OK)
			note(noted, partition);
}

int
admin_note_restore(const char *store, struct err *err)
{
	struct noted noted = { .now_ns = clock_wall_ns() };
	struct admin_both both;
	struct db_txn *tables;
	struct utsname host;
	int rc;

	if (admin_both_open(&both, store, false, err) != 0)
		return -1;
	noted.journal = both.journal;
	noted.node = text_of(uname(&host) == 0 ? host.nodename : "");
	if (text_check_name(noted.node) != TEXT_OK)
		noted.node = text_of("aggregator");
	rc = db_begin(both.tables, false, &tables, err);
	if (rc == 0) {
		rc = journal_begin(both.journal, err);
		if (rc == 0) {
			noted.from_ns = newest_ns(journal_txn(both.journal));
			note_all(&noted, tables);
			rc =
			    journal_commit(both.journal, err) == DB_OK ? 0 : -1;
		}
		db_abort(&tables);
	}
	admin_both_close(&both);
	if (rc == 0 && noted.failed)
		rc = err_set(err, "%s: a gap record has no room", store);
	return rc;
}
