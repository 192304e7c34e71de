/*
 * local_source - pages of a store on this machine.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/local_source.h"

#include <stdlib.h>
#include <string.h>

#include "proto/os/worker.h"

struct page {
	unsigned char *at;
	struct wire_header header;
	struct text body;
	struct err err;
	int rc;
};

struct near {
	struct reader *reader;
	struct page pages[2]; /* the last answer, and the next one */
	unsigned at;          /* which is the last */

	struct beside *beside; /* NULL: nothing was asked ahead yet */
	bool is_ahead;
	/* Of the page that is made ahead. */
	struct near_question question;
	struct wire_query query;
	char partition[NAME_BYTES_MAX + 1];
	char bytes[WIRE_QUERY_BYTES_MAX];
};

static void
make_page(
    struct near *near, const struct near_question *question, struct page *page)
{
	struct reader *reader = near->reader;
	const struct wire_query *query = question->query;
	struct wire_writer w;
	bool last = true;

	if (page->at == NULL)
		page->at = malloc(WIRE_BODY_BYTES_MAX); /* used as needed */
	if (page->at == NULL)
		abort(); /* out of memory */
	wire_writer_init(&w, page->at, WIRE_BODY_BYTES_MAX);
	switch (question->what) {
	case SOURCE_RECORDS:
		page->rc = reader_select(
		    reader, question->partition, query, &w, &last, &page->err);
		break;
	case SOURCE_STATS:
	case SOURCE_STATS_BY_NODE:
		page->rc = reader_stats(reader, question->partition, query,
		    question->what == SOURCE_STATS_BY_NODE, &w, &last,
		    &page->err);
		break;
	case SOURCE_STATUS:
		page->rc = reader_status(reader, query, &w, &last, &page->err);
		break;
	case SOURCE_FOLLOW:
		page->rc = reader_follow(
		    reader, question->partition, query, &w, &last, &page->err);
		break;
	}
	page->header = (struct wire_header){
		.type = WIRE_PAGE,
		.flags = last ? WIRE_FLAG_LAST : 0,
		.records = w.records,
		.generation = reader_generation(reader),
		.body_bytes = (uint32_t)w.bytes,
	};
	page->body = (struct text){ (const char *)w.at, (uint32_t)w.bytes };
}

static void
make_next(void *arg)
{
	struct near *near = arg;

	make_page(near, &near->question, &near->pages[near->at ^ 1]);
}

struct near *
near_new(struct reader *reader)
{
	struct near *near = calloc(1, sizeof(*near));

	if (near == NULL)
		abort(); /* out of memory */
	near->reader = reader;
	return near;
}

void
near_free(struct near **near)
{
	struct near *old = *near;

	if (old == NULL)
		return;
	beside_free(&old->beside);
	reader_close(&old->reader);
	free(old->pages[0].at);
	free(old->pages[1].at);
	free(old);
	*near = NULL;
}

int
near_ask(struct near *near, const struct near_question *question,
    struct wire_header *answer, struct text *body, struct err *err)
{
	struct page *page = &near->pages[near->at ^ 1];

	if (near->is_ahead)
		near_forget(near);
	else
		make_page(near, question, page);
	near->at ^= 1;
	*answer = page->header;
	*body = page->body;
	if (page->rc != 0)
		*err = page->err;
	return page->rc;
}

void
near_ask_ahead(struct near *near, const struct near_question *question)
{
	size_t bytes =
	    wire_put_query(near->bytes, sizeof(near->bytes), question->query);

	if (question->partition.bytes >= sizeof(near->partition) ||
	    wire_get_query((struct text){ near->bytes, (uint32_t)bytes },
		&near->query) != WIRE_OK)
		return;
	if (question->partition.bytes > 0)
		memcpy(near->partition, question->partition.at,
		    question->partition.bytes);
	near->question = (struct near_question){ question->what,
		{ near->partition, question->partition.bytes }, &near->query };
	if (near->beside == NULL)
		near->beside = beside_new(make_next, near);
	near->is_ahead = true;
	beside_begin(near->beside);
}

void
near_forget(struct near *near)
{
	if (near->is_ahead)
		beside_await(near->beside);
	near->is_ahead = false;
}
