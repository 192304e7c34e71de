/*
 * journal_read - read the journal in order, from any thread.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/journal/journal.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/journal/journal_private.h"
#include "proto/base/memory.h"

struct journal_walk {
	struct journal *journal;
	struct db_txn *txn;
	struct db_cursor *cursor;
	uint64_t next_number; /* number of the next entry; 0: the first one */
	bool has_row;         /* key and value hold an entry not yet returned */
	struct text key, value;
	uint64_t damaged; /* entries skipped */
};

int
journal_walk_open(
    struct journal *journal, struct journal_walk **walk, struct err *err)
{
	(void)err;
	*walk = memory_zero(1, sizeof(**walk));
	(*walk)->journal = journal;
	return 0;
}

void
journal_walk_park(struct journal_walk *walk)
{
	walk->has_row = false;
	db_cursor_close(&walk->cursor);
	db_abort(&walk->txn);
}

void
journal_walk_close(struct journal_walk **walk)
{
	if (*walk == NULL)
		return;
	journal_walk_park(*walk);
	free(*walk);
	*walk = NULL;
}

/* Is there a row of this number with a wrong checksum? */
static bool
is_damaged(struct journal_walk *walk, uint64_t number)
{
	unsigned char key[ENTRY_KEY_BYTES];
	struct text value;

	return !db_get(walk->txn, JOURNAL_ENTRIES, entry_key(key, number),
		   &value) &&
	       db_was_damaged(walk->txn);
}

int
journal_walk_seek(struct journal_walk *walk, uint64_t number, struct err *err)
{
	unsigned char key[ENTRY_KEY_BYTES];

	journal_walk_park(walk);
	if (db_begin(walk->journal->db, false, &walk->txn, err) != 0)
		return -1;
	walk->cursor = db_cursor_open(walk->txn, JOURNAL_ENTRIES);
	walk->has_row = db_seek(
	    walk->cursor, entry_key(key, number), &walk->key, &walk->value);
	/* A number without a row was purged, and the caller notices from the
	 * number of the first entry.  A damaged row must be reported. */
	walk->next_number = is_damaged(walk, number) ? number : 0;
	if (!db_failed(walk->txn))
		return 0;
	/* A return of 0 would look like the end of the snapshot, where the
	 * caller waits. */
	walk->has_row = false;
	db_cursor_close(&walk->cursor);
	db_commit(&walk->txn, err);
	return -1;
}

static int
damaged(struct journal_walk *walk, uint64_t rows)
{
	walk->damaged += rows;
	return -1;
}

static int
fill(struct journal_walk *walk, uint64_t number, struct journal_entry *to)
{
	struct entry entry;

	if (!entry_get(walk->value, &entry) ||
	    wire_open(entry.frame, &to->header, &to->body) != WIRE_OK)
		return damaged(walk, 1);
	to->number = number;
	to->rejected = entry.rejected;
	to->fault = (enum wire_fault)entry.fault;
	to->receive_ns = entry.receive_ns;
	to->header.seq = entry.seq;
	to->owner = entry.owner;
	return 1;
}

int
journal_walk_next(struct journal_walk *walk, struct journal_entry *entry)
{
	uint64_t number, next_number = walk->next_number;

	if (walk->txn == NULL)
		return 0;
	if (!walk->has_row)
		walk->has_row = db_next(walk->cursor, &walk->key, &walk->value);
	if (!walk->has_row)
		return 0;
	if (!entry_number(walk->key, &number)) {
		walk->has_row = false;
		return damaged(walk, 1);
	}
	if (next_number != 0 && number > next_number) {
		walk->next_number =
		    number; /* return this one at the next call */
		return damaged(walk, number - next_number);
	}
	walk->has_row = false;
	walk->next_number = number + 1;
	return fill(walk, number, entry);
}

uint64_t
journal_walk_damaged(const struct journal_walk *walk)
{
	return walk->damaged;
}

bool
journal_walk_ends(struct journal_walk *walk, uint64_t *first, uint64_t *next)
{
	struct db_cursor *cursor = db_cursor_open(walk->txn, JOURNAL_ENTRIES);
	struct text key;

	*first = *next = 1;
	if (db_seek_key(cursor, (struct text){ NULL, 0 }, &key))
		entry_number(key, first);
	if (db_last_key(cursor, &key) && entry_number(key, next))
		++*next;
	db_cursor_close(&cursor);
	return !db_failed(walk->txn);
}

struct record
journal_entry_record(
    const struct journal_entry *entry, enum record_kind kind, const char *name)
{
	return (struct record){ .kind = kind,
		.node = entry->header.node,
		.id = { entry->header.session, entry->header.seq, 0 },
		.receive_ns = entry->receive_ns,
		.time_ns = entry->receive_ns,
		.end_ns = entry->receive_ns,
		.has_time = true,
		.has_end = true,
		.name = text_of(name) };
}

struct record
journal_gap_record(const struct journal_entry *entry)
{
	const struct wire_header *header = &entry->header;
	struct record record = journal_entry_record(entry, RECORD_GAP,
	    wire_reason_name(header->reason < WIRE_REASONS
				 ? (enum wire_reason)header->reason
				 : WIRE_REASON_NONE));

	record.source = text_of("batch");
	if (header->reason == WIRE_GAP_SINCE_BACKUP) {
		record.time_ns = header->sent_ns;
		return record; /* nobody knows how many */
	}
	record.count = header->last_seq < header->seq
			   ? 0
			   : header->last_seq - header->seq + 1;
	return record;
}
