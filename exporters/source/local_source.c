/*
 * local_source - pages of a store on this machine.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/local_source.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/worker.h"

struct page {
	unsigned char *at;
	struct wire_header header;
	struct text body;
	struct err err;
	int rc;
};

struct local_source {
	struct reader *reader;
	struct page pages[2]; /* the last page, and the next one */
	unsigned at;          /* index of the last page */

	struct worker *worker; /* NULL: no page was prefetched yet */
	bool is_ahead;
	/* Of the page that the worker prefetches. */
	struct local_source_question question;
	struct wire_query query;
	char partition[NAME_BYTES_MAX + 1];
	char bytes[WIRE_QUERY_BYTES_MAX];
};

static void
make_page(struct local_source *local_source,
    const struct local_source_question *question, struct page *page)
{
	struct reader *reader = local_source->reader;
	const struct wire_query *query = question->query;
	struct wire_writer w;
	bool last = true;

	if (page->at == NULL)
		page->at =
		    memory_alloc(WIRE_BODY_BYTES_MAX); /* allocated on demand */
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
	struct local_source *local_source = arg;

	make_page(local_source, &local_source->question,
	    &local_source->pages[local_source->at ^ 1]);
}

struct local_source *
local_source_new(struct reader *reader)
{
	struct local_source *local_source =
	    memory_zero(1, sizeof(*local_source));

	local_source->reader = reader;
	return local_source;
}

void
local_source_free(struct local_source **local_source)
{
	struct local_source *old = *local_source;

	if (old == NULL)
		return;
	worker_free(&old->worker);
	reader_close(&old->reader);
	free(old->pages[0].at);
	free(old->pages[1].at);
	free(old);
	*local_source = NULL;
}

int
local_source_ask(struct local_source *local_source,
    const struct local_source_question *question, struct wire_header *answer,
    struct text *body, struct err *err)
{
	struct page *page = &local_source->pages[local_source->at ^ 1];

	if (local_source->is_ahead)
		local_source_forget(local_source);
	else
		make_page(local_source, question, page);
	local_source->at ^= 1;
	*answer = page->header;
	*body = page->body;
	if (page->rc != 0)
		*err = page->err;
	return page->rc;
}

void
local_source_ask_ahead(struct local_source *local_source,
    const struct local_source_question *question)
{
	size_t bytes = wire_put_query(
	    local_source->bytes, sizeof(local_source->bytes), question->query);

	if (question->partition.bytes >= sizeof(local_source->partition) ||
	    wire_get_query(
		(struct text){ local_source->bytes, (uint32_t)bytes },
		&local_source->query) != WIRE_OK)
		return;
	if (question->partition.bytes > 0)
		memcpy(local_source->partition, question->partition.at,
		    question->partition.bytes);
	local_source->question = (struct local_source_question){ question->what,
		{ local_source->partition, question->partition.bytes },
		&local_source->query };
	if (local_source->worker == NULL)
		local_source->worker = worker_new(make_next, local_source);
	local_source->is_ahead = true;
	worker_begin(local_source->worker);
}

void
local_source_forget(struct local_source *local_source)
{
	if (local_source->is_ahead)
		worker_await(local_source->worker);
	local_source->is_ahead = false;
}
