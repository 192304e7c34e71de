/*
 * reader_page - the reader's inside: a page being made, shared by the files
 * that fill it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_PAGE_PAGE_H
#define AGGREGATOR_QUERY_PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/journal/journal.h"
#include "aggregator/model/model.h"
#include "aggregator/phases/duration_stats.h"
#include "aggregator/phases/phase.h"
#include "aggregator/rows/merge.h"
#include "aggregator/tables/row_block.h"
#include "aggregator/tables/lookup.h"
#include "aggregator/tables/tables.h"

enum {
	PAGE_NAMES = 256,      /* remembered answers to the name pattern */
	PAGE_LOOKS = 64 << 10, /* of a page at records, wanted or not */
};

/* Where a page ended and the next begins: the last record of it (heads,
 * states), or the row to begin with (the rest). */
struct page_cursor {
	uint8_t kind;             /* 0: the beginning */
	int32_t bucket;           /* heads */
	uint32_t node;            /* heads: node; states: scope */
	uint32_t track;           /* heads: track; states, statistics: phase */
	uint64_t hash;            /* states: of the key */
	struct row_block_item id; /* heads */
	uint64_t number;          /* states: k; statistics, status: which */
	char prefix[49];          /* entities: the front of the id ... */
	uint32_t prefix_bytes, entity_kind;
};

struct columns;
struct phase_nodes;
struct series;
struct reader {
	struct db *tables;
	struct journal *journal;
	bool shared;    /* not ours to close */
	uint32_t looks; /* PAGE_LOOKS, tests use less */
	struct lookup lookup;
	struct model_set models;
	uint64_t models_hash;
	struct merge merge; /* what there is of one hour, node and track */
	struct compacted_cursor_cache compacted;
	struct journal_walk *walk; /* NULL: never followed */
	struct wire_room room;     /* of an entry's body */
	struct phase_state state;
	struct phase_nodes *phase_nodes; /* sums of a phase by node */
	struct buffer pairs; /* attributes of a phase being united */
	struct buffer text;  /* values without their escapes */
	struct duration_stats *stats;
	struct series *series;   /* NULL: never asked for */
	struct columns *columns; /* likewise */
};

/* A page being made. */
struct page {
	struct reader *reader;
	const struct wire_query *query;
	uint64_t entry;        /* of the journal, when it is followed */
	struct series *series; /* NULL: records as they are */
	struct wire_writer *w;
	struct db_txn *txn;
	uint32_t partition;
	uint32_t only_group; /* of samples that is wanted; 0: several may be */
	size_t start;        /* of the records in `w` */
	size_t limit;        /* bytes of records wanted */
	int32_t hour_end;    /* hours before it may hold what is wanted */
	uint32_t looks;      /* at records and at what was passed over */
	bool full;
	struct page_cursor
	    cursor; /* of the last record in it, or passed over */
	struct {
		uint32_t source, name; /* source 0: empty */
		bool yes;
	} matched[PAGE_NAMES];
};

/* Begin: a snapshot, and room for the cursor; end: the cursor, and the
 * snapshot is given back. */
int page_begin(struct page *page, struct err *err);
int page_end(struct page *page, bool *last, struct err *err);

/* May a record be appended?  If not, the page is full. */
bool page_has_room(struct page *page);
/* The cursor is put in front, and put again when it is known. */
int page_put_cursor(struct page *page, struct text cursor, struct err *err);
void page_replace_cursor(struct page *page, struct text cursor);
/* Append a record; false: the page is full, the record is not in it. */
bool page_put(struct page *page, struct record *record);

/* Count a look; true when it was the last and the page is full, so that a
 * question that finds little holds neither its snapshot nor the query_server
 * for long: `cursor` must have moved. */
bool page_is_through(struct page *page);

bool page_wants_node(const struct page *page, struct text node);
/* Between which numbers the wanted nodes are; false: there are none. */
bool page_wants_numbers(
    const struct page *page, uint32_t *first, uint32_t *last);
/* "source:name" against the pattern. */
bool page_wants_name(struct page *page, const struct row_block_name *source,
    const struct row_block_name *name);
bool page_wants_text(const struct page *page, struct text name);
/* "a:b" against it; neither is longer than a name. */
bool page_wants_pair(const struct page *page, struct text a, struct text b);
bool page_wants_time(const struct page *page, int64_t time_ns);

/* Fill in who the record is. */
void page_set_id(struct page *page, struct record *record,
    const struct row_block_item *item);

#endif
