/*
 * places - where a source asks: a store, or one or several aggregators and
 * archives.
 *
 * A partition is asked where it is kept; if several keep it, where its newest
 * record is, and a warning says so.  The answer to a status is that of all
 * places, one after the other.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_PLACES_H
#define EXPORTERS_SOURCE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/buffer.h"
#include "proto/base/err.h"
#include "proto/config/instance.h"
#include "proto/hash/string_table.h"
#include "proto/record/record.h"
#include "proto/wire/wire.h"

/* The answer to a query, page by page.
 *
 * Keeps the cursor and the page that is prefetched, and finds the end of the
 * answer.  A transport turns one question into one page and knows nothing
 * else: a store on this machine (local_source.h), an aggregator
 * (remote_source.h). */
struct pages_question {
	struct wire_header header; /* type, flags and partition */
	struct wire_query query;   /* its cursor is that of the page */
};

struct pages_transport {
	/* Start to make a page without waiting; false: it was not started.
	 * The question does not change until `take` or `drop`. */
	bool (*start)(void *arg, const struct pages_question *question);
	/* Wait for the page; unless it was started, ask for it first.  The
	 * body is a view, valid until the next `take`. */
	int (*take)(void *arg, const struct pages_question *question,
	    bool is_started, struct wire_header *page, struct text *body,
	    struct err *err);
	/* Give up the page that was started.  NULL: there is nothing to do. */
	void (*drop)(void *arg);
	void (*close)(void *arg);
	uint32_t page_bytes; /* of a question that names no size */
	/* The first page of this question will be asked for: it may be asked
	 * together with others.  A NULL question forgets all of them.  NULL:
	 * nothing would be gained. */
	void (*ahead)(void *arg, const struct pages_question *question);
};

struct pages {
	const struct pages_transport *transport;
	void *arg;
	struct pages_question question;       /* of the next page */
	struct buffer texts;                  /* of the question */
	char position[WIRE_CURSOR_BYTES_MAX]; /* its cursor */
	struct wire_room room;                /* of a decompressed page */
	bool is_started;     /* the transport makes the next page */
	bool is_last;        /* nothing follows the last page */
	uint64_t generation; /* of the store that sent the last page */
	/* The answer lacks records that the store received after complete_ns.
	 */
	bool is_incomplete;
	int64_t complete_ns;
	struct string_table damaged; /* ids of all places that pages lack */
	uint64_t damaged_more;       /* without an id */
};

/* No query yet: there are no pages.  pages_clear closes the transport, if
 * there is one. */
void pages_init(
    struct pages *pages, const struct pages_transport *transport, void *arg);
void pages_clear(struct pages *pages);

/* Begin a query at its cursor; copies the question.  Without page_bytes the
 * pages have the size of the transport. */
void pages_begin(struct pages *pages, const struct pages_question *question);
/* The question will begin later: a transport that waits for answers asks it
 * together with the next one.  If it never begins, nothing is wrong. */
void pages_ahead(struct pages *pages, const struct pages_question *question);
void pages_forget_ahead(struct pages *pages);
/* 1 and the records of the next page (views, valid until the next call), 0
 * after the last page, -1 when there is no page or it cannot be parsed.  Then
 * prefetches the page after it, unless the query asks for small pages. */
int pages_next(
    struct pages *pages, struct wire_cursor *records, struct err *err);
/* How many damaged places the answers of all queries lacked so far. */
uint64_t pages_damaged(const struct pages *pages);
void pages_forget_damaged(struct pages *pages);

enum { PLACE_NAME_BYTES = INSTANCE_PATH_BYTES + 16 };

struct place {
	struct pages pages;
	bool is_local;   /* its listener runs on this machine */
	bool is_archive; /* it has no journal */
	char name[PLACE_NAME_BYTES];
};

struct places {
	struct place *at; /* do not add any after the first question */
	uint32_t count;
	struct place *now; /* the one that is asked */
	/* Of the place in `routed` it is known that it keeps the partition. */
	struct place *routed; /* NULL: of none */
	char partition[NAME_BYTES_MAX];
	uint32_t partition_bytes;
	char name[PLACE_NAME_BYTES]; /* of all of them, for messages */
};

/* Returns a new place whose `pages` the caller opens; it becomes `now`. */
struct place *places_add(struct places *places, const char *name);
void places_clear(struct places *places);

/* As pages_begin and pages_next; -1 also when it is not known where the
 * partition is kept, because a place does not answer.  `err` names it. */
int places_begin(struct places *places, const struct pages_question *question,
    struct err *err);
int places_next(
    struct places *places, struct wire_cursor *records, struct err *err);

/* As pages_ahead; of several places none is asked ahead, because the one that
 * keeps the partition is found first. */
void places_ahead(struct places *places, const struct pages_question *question);

/* The place that is asked, or all of them when none keeps what is asked for. */
const char *places_name(const struct places *places);
/* As pages_damaged, of all. */
uint64_t places_damaged(const struct places *places);

#endif
