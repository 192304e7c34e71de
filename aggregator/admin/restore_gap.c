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
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "aggregator/tables/dictionary.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

struct noted {
	struct journal *journal;
	int64_t from_ns, now_ns;
	struct text node;
	/* Names that the tables do not have yet. */
	char (*unindexed)[NAME_BYTES_MAX + 1];
	uint32_t unindexed_count, unindexed_room;
	bool failed;
};

/* When the last entry arrived; 0: there is none. */
static int64_t
last_entry_ns(struct journal *journal)
{
	struct journal_walk *walk = NULL;
	struct journal_entry entry;
	struct err err = { 0 };
	int64_t receive_ns = 0;

	if (journal_walk_open(journal, &walk, &err) != 0)
		return 0;
	if (journal_walk_seek(walk, journal_next(journal) - 1, &err) == 0 &&
	    journal_walk_next(walk, &entry) == 1)
		receive_ns = entry.receive_ns;
	journal_walk_close(&walk);
	return receive_ns;
}

static void
add_unindexed(struct noted *noted, struct text name)
{
	char *to;

	for (uint32_t i = 0; i < noted->unindexed_count; i++)
		if (text_equal(text_of(noted->unindexed[i]), name))
			return;
	MEMORY_GROW(
	    noted->unindexed, noted->unindexed_room, noted->unindexed_count);
	to = noted->unindexed[noted->unindexed_count++];
	memcpy(to, name.at, name.bytes);
	to[name.bytes] = '\0';
}

/* When the newest entry arrived, purged ones included. */
static void
look_at_streams(struct noted *noted)
{
	struct db_cursor *cursor =
	    db_cursor_open(journal_txn(noted->journal), JOURNAL_STREAMS);
	struct text key, value;
	struct journal_stream stream;
	bool more = db_seek(cursor, (struct text){ NULL, 0 }, &key, &value);

	for (; more; more = db_next(cursor, &key, &value))
		if (journal_stream_decode(value, &stream) &&
		    stream.last_ns > noted->from_ns)
			noted->from_ns = stream.last_ns;
	db_cursor_close(&cursor);
}

/* Partitions of which nothing was indexed when the backup was made: those of
 * entries that are not.  A stream without records says nothing: its partition
 * may have been dropped. */
static int
look_at_entries(struct noted *noted, struct db_txn *tables, struct err *err)
{
	struct journal_walk *walk = NULL;
	struct journal_entry entry;
	int there = 1;

	if (journal_walk_open(noted->journal, &walk, err) != 0)
		return -1;
	if (journal_walk_seek(
		walk, tables_fact(tables, FACT_INDEXED) + 1, err) != 0)
		there = -2;
	while (there == 1 || there == -1) {
		there = journal_walk_next(walk, &entry);
		if (there == 1 &&
		    text_check_name(entry.header.partition) == TEXT_OK &&
		    dictionary_find(tables, 0, entry.header.partition) == 0)
			add_unindexed(noted, entry.header.partition);
	}
	journal_walk_close(&walk);
	return there == 0 ? 0 : -1;
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

/* Each partition of the backup. */
static void
note_all(struct noted *noted, struct db_txn *tables)
{
	uint32_t last = dictionary_last(tables, 0);
	struct text partition;

	for (uint32_t i = 1; i <= last && noted->from_ns != 0; i++)
		if (dictionary_text(tables, 0, i, &partition) &&
		    text_check_name(partition) == TEXT_OK)
			note(noted, partition);
	for (uint32_t i = 0; i < noted->unindexed_count; i++)
		note(noted, text_of(noted->unindexed[i]));
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
	noted.from_ns = last_entry_ns(both.journal);
	noted.node = text_of(uname(&host) == 0 ? host.nodename : "");
	if (text_check_name(noted.node) != TEXT_OK)
		noted.node = text_of("aggregator");
	rc = db_begin(both.tables, false, &tables, err);
	if (rc == 0) {
		rc = look_at_entries(&noted, tables, err);
		if (rc == 0)
			rc = journal_begin(both.journal, err);
		if (rc == 0) {
			look_at_streams(&noted);
			note_all(&noted, tables);
			rc =
			    journal_commit(both.journal, err) == DB_OK ? 0 : -1;
		}
		db_abort(&tables);
	}
	admin_both_close(&both);
	free(noted.unindexed);
	if (rc == 0 && noted.failed)
		rc = err_set(err, "%s: a gap record has no room", store);
	return rc;
}
