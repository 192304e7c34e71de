/*
 * journal_verify - is the journal what it promises to be?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/journal/verify.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/journal/entry.h"
#include "aggregator/journal/owner.h"
#include "proto/base/hash.h"
#include "proto/base/memory.h"

/* A stream as its entries tell it, by a hash of its key. */
struct seen {
	uint64_t stream; /* 0: free */
	uint64_t last;
};

struct verify {
	void (*report)(void *arg, const char *sentence);
	void *arg;
	int64_t wrong;
	struct hash_key key;
	struct seen *seen; /* open addressing, a power of two */
	uint64_t room, streams;
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

static struct seen *
slot(struct verify *v, uint64_t stream)
{
	uint64_t at = stream & (v->room - 1);

	while (v->seen[at].stream != 0 && v->seen[at].stream != stream)
		at = (at + 1) & (v->room - 1);
	return &v->seen[at];
}

static void
grow(struct verify *v)
{
	struct seen *old = v->seen;
	uint64_t room = v->room;

	v->room = room > 0 ? room * 2 : 1024;
	v->seen = memory_zero(v->room, sizeof(*v->seen));
	for (uint64_t i = 0; i < room; i++)
		if (old[i].stream != 0)
			*slot(v, old[i].stream) = old[i];
	free(old);
}

static struct seen *
find(struct verify *v, struct text key)
{
	uint64_t stream = hash_bytes(v->key, key.at, key.bytes);
	struct seen *seen;

	if (stream == 0)
		stream = 1;
	if (v->streams * 2 >= v->room)
		grow(v);
	seen = slot(v, stream);
	if (seen->stream == 0) {
		seen->stream = stream;
		v->streams++;
	}
	return seen;
}

/* Was it received before its partition went away and came back?  What was
 * received elsewhere in between is in no entry here. */
static bool
is_of_before(
    struct db_txn *txn, uint64_t number, const struct wire_header *header)
{
	struct owner owner;

	if (!owner_get(txn, header->partition, &owner))
		return false;
	if (owner.state == OWNER_OWN)
		return owner_moved(&owner) && number <= owner.number;
	return owner.state != OWNER_NONE; /* not kept here (any more) */
}

static void
check_stream(struct verify *v, struct db_txn *txn, uint64_t number,
    const struct entry *entry)
{
	unsigned char key[16 + NAME_BYTES_MAX];
	struct wire_header header;
	struct text body;
	enum wire_fault fault = wire_open(entry->frame, &header, &body);
	uint64_t last;
	struct seen *seen;

	if (fault != WIRE_OK) {
		wrong(v, "journal entry %llu: its frame is bad (%s)",
		    (unsigned long long)number, wire_fault_name(fault));
		return;
	}
	if (is_of_before(txn, number, &header))
		return;
	memcpy(key, header.session.bytes, 16);
	memcpy(key + 16, header.partition.at, header.partition.bytes);
	seen = find(
	    v, (struct text){ (const char *)key, 16 + header.partition.bytes });
	last = header.type == WIRE_GAP ? header.last_seq : header.seq;
	if (seen->last != 0 && entry->seq != seen->last + 1)
		wrong(v,
		    "journal entry %llu: its stream goes from %llu to %llu",
		    (unsigned long long)number, (unsigned long long)seen->last,
		    (unsigned long long)entry->seq);
	seen->last = last;
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
			wrong(v, "journal: an entry that is none");
			continue;
		}
		if (want != 0 && number != want)
			wrong(v, "journal: entries %llu to %llu are missing",
			    (unsigned long long)want,
			    (unsigned long long)number - 1);
		else if (want != 0 && entry.offset != offset)
			wrong(v, "journal entry %llu: begins at %llu, not %llu",
			    (unsigned long long)number,
			    (unsigned long long)entry.offset,
			    (unsigned long long)offset);
		check_stream(v, txn, number, &entry);
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
		struct seen *seen;

		if (!journal_stream_decode(value, &stream)) {
			wrong(v, "journal: a stream's state cannot be read");
			continue;
		}
		if (v->room == 0)
			continue;
		seen = find(v, key);
		if (seen->last == 0) { /* all its entries were purged */
			continue;
		}
		found++;
		if (seen->last != stream.hwm)
			wrong(v,
			    "journal: a stream of node %.*s is kept up to %llu "
			    "and its last entry is %llu",
			    (int)stream.node.bytes, stream.node.at,
			    (unsigned long long)stream.hwm,
			    (unsigned long long)seen->last);
	}
	db_cursor_close(&cursor);
	for (uint64_t i = 0; i < v->room; i++)
		found -= v->seen[i].last != 0;
	if (found != 0)
		wrong(v, "journal: %llu streams have entries and no state",
		    (unsigned long long)-found);
}

int64_t
journal_verify(struct journal *journal,
    void (*report)(void *arg, const char *sentence), void *arg, struct err *err)
{
	struct verify v = {
		.report = report,
		.arg = arg,
		.key = hash_key_random(),
	};
	struct db_status before, after;
	struct db_txn *txn;

	if (db_status(journal->db, &before, err) != 0 ||
	    db_begin(journal->db, false, &txn, err) != 0)
		return -1;
	check_entries(&v, txn);
	check_states(&v, txn);
	free(v.seen);
	if (db_commit(&txn, err) != DB_OK ||
	    db_status(journal->db, &after, err) != 0)
		return -1;
	if (after.damaged != before.damaged)
		wrong(&v, "journal: %llu rows have a wrong checksum",
		    (unsigned long long)(after.damaged - before.damaged));
	return v.wrong;
}
