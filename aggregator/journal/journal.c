/*
 * journal - open the journal, and write it from the ingest thread.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/journal/journal.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/db/durable_dir.h"
#include "aggregator/journal/journal_private.h"
#include "proto/hash/hash.h"
#include "proto/base/memory.h"

static const char *const tables[] = { "entries", "streams", "hashes", "meta",
	NULL };

static int
read_generation(struct journal *journal, struct err *err)
{
	struct db_txn *txn;
	struct text value;

	if (db_begin(journal->db, false, &txn, err) != 0)
		return -1;
	if (db_get(txn, JOURNAL_META, text_of("generation"), &value) &&
	    value.bytes == sizeof(journal->generation)) {
		memcpy(&journal->generation, value.at, value.bytes);
		journal->generation = le64toh(journal->generation);
	}
	db_abort(&txn);
	return 0;
}

static enum db_result
write_generation(struct journal *journal, uint64_t generation, struct err *err)
{
	uint64_t value = htole64(generation);
	struct db_txn *txn;

	if (db_begin(journal->db, true, &txn, err) != 0)
		return DB_BROKEN;
	db_put(txn, JOURNAL_META, text_of("generation"),
	    (struct text){ (const char *)&value, sizeof(value) });
	return db_commit(&txn, err);
}

int
journal_renew(struct journal *journal, struct err *err)
{
	uint64_t generation;

	/* 0 is reserved for brokers, which store nothing. */
	do
		hash_random_bytes(&generation, sizeof(generation));
	while (generation == 0);
	if (write_generation(journal, generation, err) != DB_OK)
		return -1;
	journal->generation = generation;
	return 0;
}

enum db_result
journal_commit_empty(struct journal *journal, struct err *err)
{
	return write_generation(journal, journal->generation, err);
}

/* Find the first and last entry.  A writer uses a write transaction: if the
 * previous writer was killed right after its last commit while another process
 * had the store open, LMDB shows readers the state before that commit until the
 * next write transaction.
 *
 * Entries are found by key, so damaged ones count, too: they are purged in
 * order, and their numbers are not assigned again. */
static int
find_ends(struct journal *journal, bool read_only, struct err *err)
{
	struct db_cursor *cursor;
	struct db_txn *txn;
	struct text key, value;
	struct entry entry;
	uint64_t number;

	journal->next = 1;
	if (db_begin(journal->db, !read_only, &txn, err) != 0)
		return -1;
	cursor = db_cursor_open(txn, JOURNAL_ENTRIES);
	if (db_seek_key(cursor, (struct text){ NULL, 0 }, &key) &&
	    entry_number(key, &number))
		journal->first = number;
	if (db_last(cursor, &key, &value) && entry_get(value, &entry))
		journal->offset = entry.offset + value.bytes;
	if (db_last_key(cursor, &key) && entry_number(key, &number))
		journal->next = number + 1;
	db_cursor_close(&cursor);
	if (db_commit(&txn, err) != DB_OK)
		return -1;
	journal->committed_first = journal->first;
	journal->committed_next = journal->next;
	journal->committed_offset = journal->offset;
	return 0;
}

int
journal_open(struct journal **journal, const char *dir,
    const struct journal_options *options, struct err *err)
{
	struct db_options how = {
		.tables = tables,
		.map_bytes = options->map_bytes,
		.read_only = options->read_only,
		.allow_network = options->allow_network,
		.keep_map = options->keep_map,
		.temporary = options->temporary,
		.format = STORE_FORMAT,
	};
	char path[DURABLE_DIR_PATH_BYTES];
	struct journal *made;

	*journal = NULL;
	if (durable_dir_path(path, dir, "journal", err) != 0)
		return -1;
	made = memory_zero(1, sizeof(*made));
	if (db_open(&made->db, path, &how, err) != 0 ||
	    find_ends(made, options->read_only, err) != 0 ||
	    read_generation(made, err) != 0 ||
	    (made->generation == 0 && !options->read_only &&
		journal_renew(made, err) != 0)) {
		journal_close(&made);
		return -1;
	}
	*journal = made;
	return 0;
}

void
journal_close(struct journal **journal)
{
	if (*journal == NULL)
		return;
	db_abort(&(*journal)->txn);
	db_close(&(*journal)->db);
	free(*journal);
	*journal = NULL;
}

struct db *
journal_db(struct journal *journal)
{
	return journal->db;
}

uint64_t
journal_generation(const struct journal *journal)
{
	return journal->generation;
}

int
journal_begin(struct journal *journal, struct err *err)
{
	assert(journal->txn == NULL);
	return db_begin(journal->db, true, &journal->txn, err);
}

static void
roll_back(struct journal *journal)
{
	journal->first = journal->committed_first;
	journal->next = journal->committed_next;
	journal->offset = journal->committed_offset;
}

struct db_txn *
journal_txn(struct journal *journal)
{
	return journal->txn;
}

enum db_result
journal_commit(struct journal *journal, struct err *err)
{
	enum db_result result = db_commit(&journal->txn, err);

	if (result != DB_OK) {
		roll_back(journal);
		return result;
	}
	journal->committed_first = journal->first;
	journal->committed_next = journal->next;
	journal->committed_offset = journal->offset;
	return DB_OK;
}

void
journal_abort(struct journal *journal)
{
	db_abort(&journal->txn);
	roll_back(journal);
}

void
journal_append(
    struct journal *journal, struct text frame, const struct journal_note *note)
{
	struct entry entry = {
		.rejected = note->rejected,
		.fault = (uint8_t)note->fault,
		.receive_ns = note->receive_ns,
		.offset = journal->offset,
		.seq = note->seq,
		.owner = note->owner,
		.frame = frame,
	};
	uint32_t bytes = ENTRY_FIXED_BYTES + frame.bytes;
	unsigned char name[ENTRY_KEY_BYTES];
	struct text key = entry_key(name, journal->next);
	unsigned char *at;

	at = db_reserve(journal->txn, JOURNAL_ENTRIES, key, bytes, true);
	if (at == NULL)
		return;
	entry_put(at, &entry);
	db_complete(journal->txn, key, at, bytes);
	if (journal->first == 0)
		journal->first = journal->next;
	journal->next++;
	journal->offset += bytes;
}

/* The oldest entry; false when it is damaged (then only its number is known,
 * which is enough to delete it). */
static bool
front(struct journal *journal, struct entry *entry)
{
	unsigned char key[ENTRY_KEY_BYTES];
	struct text value;

	return db_get(journal->txn, JOURNAL_ENTRIES,
		   entry_key(key, journal->first), &value) &&
	       entry_get(value, entry);
}

uint32_t
journal_purge(struct journal *journal, uint64_t upto, int64_t before_ns,
    uint64_t bytes_max, uint32_t entries)
{
	unsigned char key[ENTRY_KEY_BYTES];
	struct entry entry;
	uint32_t gone = 0;

	while (gone < entries && journal->first != 0 &&
	       journal->first <= upto && journal->first + 1 < journal->next) {
		if (front(journal, &entry) && entry.receive_ns >= before_ns &&
		    journal->offset - entry.offset <= bytes_max)
			break;
		db_del(journal->txn, JOURNAL_ENTRIES,
		    entry_key(key, journal->first));
		if (db_failed(journal->txn))
			break;
		journal->first++;
		gone++;
	}
	return gone;
}

uint64_t
journal_first(const struct journal *journal)
{
	return journal->committed_first;
}

uint64_t
journal_next(const struct journal *journal)
{
	return journal->committed_next;
}

uint64_t
journal_bytes_after(struct journal *journal, uint64_t number)
{
	unsigned char key[ENTRY_KEY_BYTES];
	struct entry entry = { .offset = journal->committed_offset };
	struct db_txn *txn;
	struct text value;

	if (number + 1 >= journal->committed_next)
		return 0;
	if (db_begin(journal->db, false, &txn, NULL) != 0)
		return 0;
	if (db_get(txn, JOURNAL_ENTRIES, entry_key(key, number + 1), &value))
		entry_get(value, &entry);
	db_abort(&txn);
	return journal->committed_offset - entry.offset;
}
