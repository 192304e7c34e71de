/*
 * places - where a source asks: a store, or one or several aggregators and
 * archives.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

struct place *
places_add(struct places *places, const char *name)
{
	uint32_t room = places->count;
	size_t used = strlen(places->name);
	struct place *made;

	places->at =
	    memory_grow(places->at, &room, places->count, sizeof(*places->at));
	made = places->now = &places->at[places->count++];
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
