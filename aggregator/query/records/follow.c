/*
 * follow - the records of the journal, in the order of arrival.
 *
 * The tables do not record the order of arrival; the journal does, as long as
 * it has an entry.  A page may end in the middle of an entry; the next page
 * reads that entry again.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/records/follow.h"

enum {
	EXAMINED_BYTES = 1024
}; /* bytes of an entry that count as one examined record */

struct follow {
	struct page *page;
	struct text partition;
	struct wire_position at; /* the next position to examine */
};

/* Move past a record or an entry.  False: the page is full. */
static bool
skip(struct follow *follow, uint64_t entry, uint32_t records)
{
	follow->at = (struct wire_position){ entry, records };
	return !page_examined(follow->page);
}

/* Report the missing entries before `to`.  False: the page is full. */
static bool
report_lost(struct follow *follow, uint64_t to, const char *reason,
    const struct journal_entry *next)
{
	struct record record = journal_entry_record(next, RECORD_GAP, reason);

	record.node = (struct text){ NULL, 0 };
	record.id = (struct record_id){ 0 };
	record.source = text_of("batch");
	record.count = to - follow->at.entry;
	follow->page->entry = follow->at.entry;
	return page_put(follow->page, &record) && skip(follow, to, 0);
}

/* Match as reader_select does for each kind (records.c). */
static bool
wants_name(const struct page *page, const struct record *record)
{
	switch (record->kind) {
	case RECORD_EVENT:
	case RECORD_ENTITY:
		return page_wants_pair(page, record->source, record->name);
	case RECORD_SPAN:
		return page_wants_text(page, record->name) &&
		       (page->query->columns.bytes == 0 ||
			   text_match(page->query->columns, record->source));
	default: return page_wants_text(page, record->source);
	}
}

static bool
wants(const struct page *page, const struct record *record)
{
	return (page->query->kinds >> record->kind & 1) != 0 &&
	       (record->kind == RECORD_ENTITY ||
		   page_wants_time(page, record->time_ns)) &&
	       page_wants_node(page, record->node) && wants_name(page, record);
}

/* False: the page is full. */
static bool
append(struct follow *follow, struct record *record)
{
	return !wants(follow->page, record) || page_put(follow->page, record);
}

static bool
append_batch(struct follow *follow, const struct journal_entry *entry)
{
	struct wire_cursor cursor;
	struct record record;
	struct text plain;

	if (wire_body(&entry->header, entry->body, &follow->page->reader->room,
		&plain) != WIRE_OK)
		return true; /* the indexer stores it as a rejected batch */
	follow->page->examined += plain.bytes / EXAMINED_BYTES;
	wire_cursor_init(&cursor, &entry->header, plain);
	cursor.receive_ns = entry->receive_ns;
	while (wire_next(&cursor, &record))
		if (record.id.index >= follow->at.records &&
		    (!append(follow, &record) ||
			!skip(follow, entry->number, record.id.index + 1)))
			return false;
	return true;
}

static bool
append_gap(struct follow *follow, const struct journal_entry *entry)
{
	struct record record = journal_gap_record(entry);

	return follow->at.records > 0 || append(follow, &record);
}

/* False: the page is full. */
static bool
append_entry(struct follow *follow, const struct journal_entry *entry)
{
	const struct wire_header *header = &entry->header;
	bool good = true;

	follow->page->entry = entry->number;
	follow->page->examined += entry->body.bytes / EXAMINED_BYTES;
	if (!entry->rejected && header->type != WIRE_BYE &&
	    text_equal(header->partition, follow->partition))
		good = header->type == WIRE_GAP ? append_gap(follow, entry)
						: append_batch(follow, entry);
	return good && skip(follow, entry->number + 1, 0);
}

/* False: the page is full. */
static bool
append_entries(struct follow *follow, uint64_t first)
{
	struct journal_walk *walk = follow->page->reader->walk;
	struct journal_entry entry;
	int rc;

	while ((rc = journal_walk_next(walk, &entry)) != 0) {
		/* A damaged entry is reported once a readable one follows. */
		if (rc < 0)
			continue;
		if (follow->at.entry < first &&
		    !report_lost(follow, first, "purged", &entry))
			return false;
		if (follow->at.entry < entry.number &&
		    !report_lost(follow, entry.number, "damaged", &entry))
			return false;
		if (!append_entry(follow, &entry))
			return false;
	}
	return true;
}

static int
follow_from(struct follow *follow, bool *last, struct err *err)
{
	struct journal_walk *walk = follow->page->reader->walk;
	uint64_t first, next;

	if (journal_walk_seek(walk, follow->at.entry, err) != 0)
		return -1;
	if (!journal_walk_ends(walk, &first, &next))
		return err_set(
		    err, "cannot read the range of entries in the journal");
	if (follow->at.entry == 0)
		follow->at = (struct wire_position){ first, 0 };
	if (follow->at.entry > next)
		follow->at = (struct wire_position){ next, 0 };
	*last = append_entries(follow, first);
	return 0;
}

int
query_follow(
    struct page *page, struct text partition, bool *last, struct err *err)
{
	struct reader *reader = page->reader;
	struct follow follow = { .page = page, .partition = partition };
	unsigned char bytes[WIRE_POSITION_BYTES];
	struct text place = { (const char *)bytes, sizeof(bytes) };
	int rc;

	if (!wire_get_position(page->query->cursor, &follow.at))
		return err_set(
		    err, "the cursor is not a position in the journal");
	wire_put_position(bytes, &follow.at);
	if (page_put_cursor(page, place, err) != 0 ||
	    (reader->walk == NULL &&
		journal_walk_open(reader->journal, &reader->walk, err) != 0))
		return -1;
	rc = follow_from(&follow, last, err);
	journal_walk_park(reader->walk);
	wire_put_position(bytes, &follow.at);
	page_replace_cursor(page, place);
	return rc;
}
