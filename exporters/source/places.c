/*
 * places - where a source asks: a store, or one or several aggregators and
 * archives.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/places.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

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

struct place *
places_add(struct places *places, const char *name)
{
	uint32_t room = places->count;
	size_t used = strlen(places->name);
	struct place *made;

	made = places->now = MEMORY_ADD(places->at, room, places->count);
	pages_init(&made->pages, NULL, NULL);
	made->is_local = made->is_archive = false;
	snprintf(made->name, sizeof(made->name), "%s", name);
	snprintf(places->name + used, sizeof(places->name) - used, "%s%s",
	    used > 0 ? ", " : "", name);
	return made;
}

void
places_clear(struct places *places)
{
	for (uint32_t i = 0; i < places->count; i++)
		pages_clear(&places->at[i].pages);
	free(places->at);
	*places = (struct places){ .at = NULL };
}

static struct pages_question
question_to(const struct place *place, const struct pages_question *question)
{
	struct pages_question asked = *question;

	if (place->is_local)
		asked.header.flags |= WIRE_FLAG_PLAIN;
	return asked;
}

static void
ask(struct places *places, struct place *place,
    const struct pages_question *question)
{
	const struct pages_question asked = question_to(place, question);

	places->now = place;
	pages_begin(&place->pages, &asked);
}

void
places_ahead(struct places *places, const struct pages_question *question)
{
	const struct pages_question asked = question_to(places->at, question);

	if (places->count == 1)
		pages_ahead(&places->at[0].pages, &asked);
}

/* ---- which place keeps a partition? ---- */

/* Does this one?  Then `*last_ns` is the time of its newest record. */
static int
look(struct places *places, struct place *place, struct text partition,
    bool *keeps, int64_t *last_ns, struct err *err)
{
	char id[sizeof("partition:") + NAME_BYTES_MAX];
	struct pages_question question = {
		.header = { .type = WIRE_STATUS },
		.query = { .kinds = 1u << RECORD_ENTITY,
		    .from_ns = TIME_MIN_NS,
		    .to_ns = TIME_MAX_NS },
	};
	struct wire_cursor records;
	struct record record;
	struct text name;
	int rc;

	snprintf(id, sizeof(id), "partition:%.*s", (int)partition.bytes,
	    partition.at);
	question.query.name = text_of(id);
	*keeps = false;
	*last_ns = INT64_MIN;
	ask(places, place, &question);
	while ((rc = pages_next(&place->pages, &records, err)) > 0)
		while (wire_next(&records, &record)) {
			struct value last = { .type = VALUE_NIL };

			if (!record_find_text(&record, "partition", &name) ||
			    !text_equal(name, partition))
				continue;
			*keeps = true;
			if (record_find_attribute(
				&record, text_of("last_ns"), &last) &&
			    last.type == VALUE_INT)
				*last_ns = last.is.i;
		}
	return rc < 0 ? err_prefix(err, "%s", place->name) : 0;
}

static void
warn(const struct places *places, const struct place *other,
    const struct err *failure, struct text partition)
{
	char shown[300];

	text_quote(shown, sizeof(shown), partition);
	if (other != NULL)
		log_warn("partition %s is kept by %s and by %s: reading %s, "
			 "where its newest record is",
		    shown, other->name, places->routed->name,
		    places->routed->name);
	if (failure != NULL)
		log_warn("%s; reading partition %s from %s", failure->text,
		    shown, places->routed->name);
}

/* Find the place that keeps the partition; places->routed is NULL if none
 * does. */
static int
find(struct places *places, struct text partition, struct err *err)
{
	struct place *best = NULL, *other = NULL;
	struct err failure = { 0 };
	int64_t best_ns = 0;
	bool failed = false;

	places->routed = NULL;
	for (uint32_t i = 0; i < places->count; i++) {
		struct place *place = &places->at[i];
		struct err why;
		int64_t last_ns;
		bool keeps;

		if (look(places, place, partition, &keeps, &last_ns, &why) !=
		    0) {
			if (!failed)
				failure = why;
			failed = true;
			continue;
		}
		if (!keeps)
			continue;
		if (best != NULL && last_ns <= best_ns) {
			other = place;
			continue;
		}
		other = best;
		best = place;
		best_ns = last_ns;
	}
	if (best == NULL && failed) {
		*err = failure;
		return -1;
	}
	places->routed = best;
	if (best != NULL)
		warn(places, other, failed ? &failure : NULL, partition);
	return 0;
}

/* As long as a source is open a partition is read from one place. */
static int
route(struct places *places, struct text partition, struct err *err)
{
	const struct text known = { places->partition,
		places->partition_bytes };

	if (places->count == 1 || partition.bytes > NAME_BYTES_MAX)
		return 0;
	if (places->routed == NULL || !text_equal(known, partition)) {
		if (find(places, partition, err) != 0)
			return -1;
		memcpy(places->partition, partition.at, partition.bytes);
		places->partition_bytes = partition.bytes;
	}
	places->now = places->routed != NULL ? places->routed : &places->at[0];
	return 0;
}

/* ---- questions ---- */

/* A position in one journal means nothing in another. */
static int
refuse_follow(
    const struct places *places, struct text partition, struct err *err)
{
	char shown[300];

	if (places->now->is_archive)
		return err_set(err,
		    "%s: an archive has no journal to follow; follow its "
		    "aggregator",
		    places->now->name);
	return err_set(err,
	    "%s: none of them has partition %s yet; follow it where it will "
	    "be, with one --connect",
	    places->name, text_quote(shown, sizeof(shown), partition));
}

int
places_begin(struct places *places, const struct pages_question *question,
    struct err *err)
{
	struct text partition = question->header.partition;

	if (question->header.type == WIRE_STATUS)
		places->now = &places->at[0];
	else if (route(places, partition, err) != 0)
		return -1;
	if (question->header.type == WIRE_FOLLOW &&
	    (places->now->is_archive ||
		(places->count > 1 && places->routed == NULL)))
		return refuse_follow(places, partition, err);
	ask(places, places->now, question);
	return 0;
}

/* Ask the next place for its status, too; false: there is none. */
static bool
ask_next(struct places *places)
{
	struct pages_question question = places->now->pages.question;

	if (question.header.type != WIRE_STATUS ||
	    places->now + 1 == places->at + places->count)
		return false;
	question.query.cursor = (struct text){ NULL, 0 };
	question.query.page_bytes = 0;
	question.header.flags &= (uint16_t)~WIRE_FLAG_PLAIN;
	ask(places, places->now + 1, &question);
	return true;
}

int
places_next(struct places *places, struct wire_cursor *records, struct err *err)
{
	int rc;

	do
		rc = pages_next(&places->now->pages, records, err);
	while (rc == 0 && ask_next(places));
	return rc < 0 ? err_prefix(err, "%s", places->now->name) : rc;
}

const char *
places_name(const struct places *places)
{
	return places->routed != NULL ? places->routed->name : places->name;
}

uint64_t
places_damaged(const struct places *places)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < places->count; i++)
		sum += pages_damaged(&places->at[i].pages);
	return sum;
}
