/*
 * journal_verify - check the journal.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/journal/verify.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/journal/journal_private.h"
#include "proto/base/memory.h"
#include "proto/hash/string_table.h"

struct verify {
	void (*report)(void *arg, const char *sentence);
	void *arg;
	int64_t wrong;
	struct string_table streams; /* of the entries, from their keys */
	uint64_t *last;              /* seq of each */
	uint32_t room;
};

static void __attribute__((format(printf, 2, 3)))
wrong(struct verify *v, const char *format, ...)
{
	char sentence[ERR_BYTES];
	va_list args;

	v->wrong++;
	if (v->report == NULL)
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	v->report(v->arg, sentence);
}

/* Position of the last seq of a stream; 0: no entry was read yet. */
static uint64_t *
last_of(struct verify *v, struct text key)
{
	uint32_t number = string_table_add(&v->streams, key);

	MEMORY_GROW_ZERO(v->last, v->room, number);
	return &v->last[number];
}

static void
check_stream(struct verify *v, uint64_t number, const struct entry *entry)
{
	unsigned char key[16 + NAME_BYTES_MAX];
	struct wire_header header;
	struct text body;
	enum wire_fault fault = wire_open(entry->frame, &header, &body);
	uint64_t last, *seen;

	if (fault != WIRE_OK) {
		wrong(v, "journal entry %llu: bad frame (%s)",
		    (unsigned long long)number, wire_fault_name(fault));
		return;
	}
	if (header.type == WIRE_BYE) /* of no stream */
		return;
	memcpy(key, header.session.bytes, 16);
	memcpy(key + 16, header.partition.at, header.partition.bytes);
	seen = last_of(
	    v, (struct text){ (const char *)key, 16 + header.partition.bytes });
	last = header.type == WIRE_GAP ? header.last_seq : header.seq;
	if (*seen != 0 && entry->seq != *seen + 1)
		wrong(v,
		    "journal entry %llu: the stream jumps from %llu to %llu",
		    (unsigned long long)number, (unsigned long long)*seen,
		    (unsigned long long)entry->seq);
	*seen = last;
}

static void
check_entries(struct verify *v, struct db_txn *txn)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_ENTRIES);
	struct text key, value;
	struct entry entry;
	uint64_t number, want = 0, offset = 0;
	bool more = db_seek(cursor, (struct text){ NULL, 0 }, &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		if (!entry_number(key, &number) || !entry_get(value, &entry)) {
			wrong(v, "journal: malformed entry");
			continue;
		}
		if (want != 0 && number != want)
			wrong(v, "journal: entries %llu to %llu are missing",
			    (unsigned long long)want,
			    (unsigned long long)number - 1);
		else if (want != 0 && entry.offset != offset)
			wrong(v,
			    "journal entry %llu: begins at byte %llu, not %llu",
			    (unsigned long long)number,
			    (unsigned long long)entry.offset,
			    (unsigned long long)offset);
		check_stream(v, number, &entry);
		want = number + 1;
		offset = entry.offset + value.bytes;
	}
	db_cursor_close(&cursor);
}

static void
check_states(struct verify *v, struct db_txn *txn)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_STREAMS);
	struct text key, value;
	struct journal_stream stream;
	uint64_t found = 0;
	bool more = db_seek(cursor, (struct text){ NULL, 0 }, &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		uint32_t number;

		if (!journal_stream_decode(value, &stream)) {
			wrong(v, "journal: malformed state of a stream");
			continue;
		}
		if (!string_table_find(&v->streams, key, &number) ||
		    v->last[number] == 0)
			continue; /* all its entries were purged */
		found++;
		if (v->last[number] != stream.last_seq)
			wrong(v,
			    "journal: the last seq of a stream of node %.*s is "
			    "%llu, but its last entry is %llu",
			    (int)stream.node.bytes, stream.node.at,
			    (unsigned long long)stream.last_seq,
			    (unsigned long long)v->last[number]);
	}
	db_cursor_close(&cursor);
	for (uint32_t i = 0; i < v->streams.count; i++)
		found -= v->last[i] != 0;
	if (found != 0)
		wrong(v, "journal: %llu streams have entries but no state",
		    (unsigned long long)-found);
}

int64_t
journal_verify(struct journal *journal,
    void (*report)(void *arg, const char *sentence), void *arg, struct err *err)
{
	struct verify v = { .report = report, .arg = arg };
	struct db_status status;
	struct db_txn *txn;

	v.wrong = db_verify_pages(journal->db, report, arg, err);
	if (v.wrong < 0 || db_begin(journal->db, false, &txn, err) != 0)
		return -1;
	string_table_init(&v.streams);
	check_entries(&v, txn);
	check_states(&v, txn);
	string_table_clear(&v.streams);
	free(v.last);
	if (db_commit(&txn, err) != DB_OK ||
	    db_status(journal->db, &status, err) != 0)
		return -1;
	if (status.damaged_rows > 0)
		wrong(&v, "journal: %llu rows have a wrong checksum",
		    (unsigned long long)status.damaged_rows);
	return v.wrong;
}
