/*
 * pages - the answer to a query, page by page.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/pages.h"

#include <assert.h>
#include <string.h>

enum { DAMAGED_MAX = 1 << 20 }; /* ids; a server may invent them */

void
pages_init(
    struct pages *pages, const struct pages_transport *transport, void *arg)
{
	*pages = (struct pages){
		.transport = transport, .arg = arg, .is_last = true
	};
	string_table_init(&pages->damaged);
}

static void
drop(struct pages *pages)
{
	if (pages->is_started && pages->transport->drop != NULL)
		pages->transport->drop(pages->arg);
	pages->is_started = false;
}

void
pages_clear(struct pages *pages)
{
	drop(pages);
	if (pages->transport != NULL)
		pages->transport->close(pages->arg);
	buffer_clear(&pages->texts);
	wire_room_clear(&pages->room);
	string_table_clear(&pages->damaged);
	pages_init(pages, NULL, NULL);
}

static void
set_cursor(struct pages *pages, struct text cursor)
{
	assert(cursor.bytes <= sizeof(pages->position));
	if (cursor.bytes > 0)
		memcpy(pages->position, cursor.at, cursor.bytes);
	pages->question.query.cursor =
	    (struct text){ pages->position, cursor.bytes };
}

/* A transport may read the question when the caller has freed its texts. */
static void
copy_texts(struct pages *pages)
{
	struct wire_query *query = &pages->question.query;
	struct text *texts[] = { &pages->question.header.partition,
		&query->node, &query->name, &query->columns };
	const char *at;

	pages->texts.bytes = 0;
	for (unsigned i = 0; i < 4; i++)
		buffer_put_text(&pages->texts, *texts[i]);
	at = buffer_text(&pages->texts).at;
	for (unsigned i = 0; i < 4; i++) {
		if (texts[i]->bytes == 0)
			continue;
		texts[i]->at = at;
		at += texts[i]->bytes;
	}
}

void
pages_begin(struct pages *pages, const struct pages_question *question)
{
	drop(pages);
	pages->question = *question;
	copy_texts(pages);
	set_cursor(pages, question->query.cursor);
	if (question->query.page_bytes == 0)
		pages->question.query.page_bytes = pages->transport->page_bytes;
	pages->is_last = pages->is_incomplete = false;
}

void
pages_ahead(struct pages *pages, const struct pages_question *question)
{
	struct pages_question asked = *question;

	if (pages->transport->ahead == NULL)
		return;
	if (asked.query.page_bytes == 0)
		asked.query.page_bytes = pages->transport->page_bytes;
	pages->transport->ahead(pages->arg, &asked);
}

void
pages_forget_ahead(struct pages *pages)
{
	if (pages->transport->ahead != NULL)
		pages->transport->ahead(pages->arg, NULL);
}

/* The same place may be met on the way to several pages. */
static void
note_damage(struct pages *pages, const struct wire_header *page)
{
	struct text id = { page->damaged.at, WIRE_DAMAGED_BYTES };

	for (uint32_t i = 0; i < page->damaged.bytes / WIRE_DAMAGED_BYTES;
	     i++) {
		if (pages->damaged.count < DAMAGED_MAX)
			string_table_add(&pages->damaged, id);
		id.at += WIRE_DAMAGED_BYTES;
	}
	pages->damaged_more += page->damaged_more;
}

uint64_t
pages_damaged(const struct pages *pages)
{
	return pages->damaged.count + pages->damaged_more;
}

/* Parse a page and move to its cursor. */
static int
read_page(struct pages *pages, const struct wire_header *page, struct text body,
    struct wire_cursor *records, struct err *err)
{
	struct text cursor, plain;
	enum wire_fault fault =
	    wire_page_body(page, body, &pages->room, &cursor, &plain);

	if (fault == WIRE_OK && cursor.bytes > sizeof(pages->position))
		fault = WIRE_LIMIT;
	if (fault != WIRE_OK)
		return err_set(
		    err, "cannot parse a page: %s", wire_fault_name(fault));
	pages->is_last = (page->flags & WIRE_FLAG_LAST) != 0;
	pages->generation = page->generation;
	if (page->flags & WIRE_FLAG_INCOMPLETE) {
		pages->is_incomplete = true;
		pages->complete_ns = page->received_ns;
	}
	note_damage(pages, page);
	/* A page that neither ends nor advances would be requested forever. */
	if (!pages->is_last && page->records == 0 &&
	    text_equal(cursor, pages->question.query.cursor))
		return err_set(err,
		    "protocol error: the server returned the same position "
		    "twice");
	set_cursor(pages, cursor);
	wire_cursor_init(records, page, plain);
	return 0;
}

int
pages_next(struct pages *pages, struct wire_cursor *records, struct err *err)
{
	const struct pages_transport *transport = pages->transport;
	bool is_started = pages->is_started;
	struct wire_header page;
	struct text body;

	if (pages->is_last)
		return 0;
	records->rest.bytes = 0; /* the views end here, whatever happens */
	pages->is_started = false;
	if (transport->take(pages->arg, &pages->question, is_started, &page,
		&body, err) != 0 ||
	    read_page(pages, &page, body, records, err) != 0)
		return -1;
	/* A caller that asks for small pages mostly needs only this one. */
	if (!pages->is_last &&
	    pages->question.query.page_bytes >= WIRE_PAGE_BYTES)
		pages->is_started =
		    transport->start(pages->arg, &pages->question);
	return 1;
}

void
pages_forget_damaged(struct pages *pages)
{
	string_table_clear(&pages->damaged);
	string_table_init(&pages->damaged);
	pages->damaged_more = 0;
}
