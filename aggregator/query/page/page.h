/*
 * page - the state of a reader, and a page of records while it is made; shared
 * by all files that append records to a page.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_PAGE_PAGE_H
#define AGGREGATOR_QUERY_PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/damage.h"
#include "aggregator/journal/journal.h"
#include "aggregator/model/model.h"
#include "aggregator/phases/duration_stats.h"
#include "aggregator/phases/phase_items.h"
#include "aggregator/rows/merge.h"
#include "aggregator/tables/absent.h"
#include "aggregator/tables/row_block.h"
#include "aggregator/tables/latest.h"
#include "aggregator/tables/lookup.h"
#include "aggregator/tables/tables.h"

enum {
	PAGE_NAMES = 256,             /* cached matches of the name pattern */
	PAGE_EXAMINED_MAX = 64 << 10, /* records examined for a page */
	/* An hour counts as this many: an archive is asked for each. */
	PAGE_EXAMINED_HOUR = 256,
};

/* Where a page ended and the next one begins: the last record of the page
 * (records of row blocks, phases), or the first row of the next page (all
 * others). */
struct page_cursor {
	uint8_t kind;   /* 0: at the beginning */
	int32_t hour;   /* records: hour; groups of runs: part and which */
	uint32_t node;  /* records: node; phases: scope; groups: group */
	uint32_t track; /* records: track; phases, statistics: phase */
	uint64_t hash;  /* phases: hash of the key */
	struct row_block_item id; /* records, phases: the last one */
	/* Phases: 2 node of the last one, + 1: it is an end; statistics,
	 * status: index. */
	uint64_t number;
	char prefix[49]; /* entities: first bytes of the id */
	uint32_t prefix_bytes, entity_kind;
};

struct columns;
struct phase_nodes;
struct series;
struct reader {
	struct db *tables;
	struct journal *journal;
	bool shared; /* the handles belong to the caller */
	char *store; /* directory; NULL: shared */
	/* NULL: a store. */
	const struct reader_origin *origin;
	void *origin_arg;
	uint32_t examined_max; /* PAGE_EXAMINED_MAX; tests use less */
	struct text limit;     /* pattern of partitions; empty: none */
	struct lookup lookup;
	struct model_set models;
	uint64_t models_hash;
	struct merge merge; /* the rows of one hour, node and track */
	struct compacted_cursor_cache compacted;
	struct journal_walk *walk; /* NULL: not in use yet */
	struct wire_room room;     /* of the body of a journal entry */
	struct part_cursor parts;  /* the events of a phase */
	struct phase_items items;
	struct packed *packed;           /* test runs, one by one */
	struct phase_nodes *phase_nodes; /* sums of a phase by node */
	struct buffer pairs;             /* merged attributes of a phase */
	struct buffer text;              /* unescaped values */
	struct duration_stats *stats;
	struct series *series;   /* NULL: not in use yet */
	struct columns *columns; /* NULL: not in use yet */
	struct db_damage damage; /* that the last page met */
	/* May hours be absent, and which one ended the last page? */
	enum absent_hours lacks;
	bool met_absent;
	struct absent_need absent;
};

/* A page while it is made. */
struct page {
	struct reader *reader;
	const struct wire_query *query;
	uint64_t entry;        /* number of the journal entry, when following */
	struct series *series; /* NULL: the query does not ask for buckets */
	struct wire_writer *w;
	struct db_txn *txn;
	uint32_t partition;
	uint32_t only_group; /* the only selected metric group; 0: there may be
				several */
	size_t start;        /* of the first record in `w` */
	size_t limit;        /* maximum bytes of records */
	int32_t hour_end;    /* hours from this one on are not selected */
	uint32_t examined;   /* records and skipped rows so far */
	bool unpaired;       /* phases of runs come as their events */
	bool newest;         /* the newest test runs come first */
	bool open;           /* of phases those that have not ended */
	bool full;
	/* Of buckets: the partition has no record before the window, or behind
	 * it. */
	bool begins_first, ends_last;
	/* The last node whose name was looked at, and the answer. */
	uint32_t asked_node;
	bool wants_asked;
	struct page_cursor cursor; /* the last record appended or skipped */
	struct {
		uint32_t source, name; /* source 0: empty */
		bool yes;
	} matched[PAGE_NAMES];
};

/* Begin: open a snapshot and reserve room for the cursor.  End: write the
 * cursor and close the snapshot. */
int page_begin(struct page *page, struct err *err);
int page_end(struct page *page, bool *last, struct err *err);

/* After page_end: is its cursor another one than that of the query? */
bool page_has_moved(const struct page *page);

/* Is the cursor (empty: the beginning) one of this kind of records? */
bool page_cursor_is_of(struct text cursor, uint8_t kind);
/* A cursor at the first record of an hour. */
struct text page_cursor_at(
    unsigned char to[static WIRE_CURSOR_BYTES_MAX], uint8_t kind, int32_t hour);

/* May another record be appended?  If not, the page is marked as full. */
bool page_has_room(struct page *page);
/* Write the cursor before the records; replace it when the final one is
 * known. */
int page_put_cursor(struct page *page, struct text cursor, struct err *err);
void page_replace_cursor(struct page *page, struct text cursor);
/* Append a record.  False: the page is full and does not contain the record. */
bool page_put(struct page *page, struct record *record);

/* Count a record as examined; true when the page has examined its maximum and
 * is full. A query that finds little therefore holds neither its snapshot nor
 * the query server for long.  Call it only after moving `cursor`. */
bool page_examined(struct page *page);

/* The store lacks what the page needs: it ends here. */
void page_meet_absent(struct page *page, const struct absent_need *need);

bool page_wants_node(const struct page *page, struct text node);
/* The same by number; `*node` gets the name. */
bool page_wants_node_number(
    struct page *page, uint32_t number, struct text *node);
/* Is one node selected by its name?  Then `*only` is its number, otherwise 0.
 * False: there is no such node. */
bool page_only_node(const struct page *page, uint32_t *only);
/* The range of node numbers that the query selects; false: none. */
bool page_node_range(const struct page *page, uint32_t *first, uint32_t *last);
/* Does "source:name" match the pattern? */
bool page_wants_name(struct page *page, const struct row_block_name *source,
    const struct row_block_name *name);
bool page_wants_text(const struct page *page, struct text name);
/* Does "a:b" match it?  Neither may be longer than a name. */
bool page_wants_pair(const struct page *page, struct text a, struct text b);
bool page_wants_time(const struct page *page, int64_t time_ns);
/* Is a part of the time from `first_ns` to `last_ns` selected? */
bool page_wants_times(
    const struct page *page, int64_t first_ns, int64_t last_ns);

/* Set the identity of a record. */
void page_set_id(struct page *page, struct record *record,
    const struct row_block_item *item);

#endif
