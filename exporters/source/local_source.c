/*
 * local_source - pages of a store on this machine.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/local_source.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/worker.h"

/* Large enough that changes of threads cost nothing, and that few hours of a
 * series are read twice because they lie in two pages. */
enum { PAGE_BYTES = 1 << 20 };

struct page {
	unsigned char *at;
	struct wire_header header;
	struct text body;
	unsigned char damaged[WIRE_DAMAGED_MAX * WIRE_DAMAGED_BYTES];
	struct err err;
	int rc;
};

struct local_source {
	struct reader *reader;
	const struct local_source_answerer *answerer;
	void *arg;             /* of the answerer */
	struct page pages[2];  /* the last page, and the next one */
	unsigned at;           /* index of the last page */
	struct worker *worker; /* NULL: no page was prefetched yet */
	const struct pages_question *question; /* of the next page */
};

static int
answer(void *arg, struct reader *reader, const struct pages_question *question,
    struct wire_writer *w, bool *last, struct err *err)
{
	(void)arg;
	return reader_answer(
	    reader, &question->header, &question->query, w, last, err);
}

/* Make the page after the last one. */
static void
make_page(void *arg)
{
	struct local_source *local_source = arg;
	const struct pages_question *question = local_source->question;
	struct page *page = &local_source->pages[local_source->at ^ 1];
	struct wire_writer w;
	bool last = true;

	if (page->at == NULL)
		page->at =
		    memory_alloc(WIRE_BODY_BYTES_MAX); /* allocated on demand */
	wire_writer_init(&w, page->at, WIRE_BODY_BYTES_MAX);
	page->rc = local_source->answerer->answer(local_source->arg,
	    local_source->reader, question, &w, &last, &page->err);
	page->header = (struct wire_header){
		.type = WIRE_PAGE,
		.flags = last ? WIRE_FLAG_LAST : 0,
		.records = w.records,
		.generation = reader_generation(local_source->reader),
		.body_bytes = (uint32_t)w.bytes,
	};
	reader_put_damage(local_source->reader, &page->header, page->damaged);
	page->body = (struct text){ (const char *)w.at, (uint32_t)w.bytes };
}

static bool
start(void *arg, const struct pages_question *question)
{
	struct local_source *local_source = arg;

	if (local_source->worker == NULL)
		local_source->worker = worker_new(make_page, local_source);
	local_source->question = question;
	worker_begin(local_source->worker);
	return true;
}

static void
drop(void *arg)
{
	struct local_source *local_source = arg;
	const struct local_source_answerer *answerer = local_source->answerer;

	if (answerer->set_dropped != NULL)
		answerer->set_dropped(local_source->arg, true);
	worker_await(local_source->worker);
	if (answerer->set_dropped != NULL)
		answerer->set_dropped(local_source->arg, false);
}

static int
take(void *arg, const struct pages_question *question, bool is_started,
    struct wire_header *header, struct text *body, struct err *err)
{
	struct local_source *local_source = arg;
	const struct page *page;

	if (is_started) {
		worker_await(local_source->worker);
	} else {
		local_source->question = question;
		make_page(local_source);
	}
	local_source->at ^= 1;
	page = &local_source->pages[local_source->at];
	*header = page->header;
	*body = page->body;
	if (page->rc != 0)
		*err = page->err;
	return page->rc;
}

static void
close_reader(void *arg)
{
	struct local_source *old = arg;

	worker_free(&old->worker);
	reader_close(&old->reader);
	if (old->answerer->close != NULL)
		old->answerer->close(old->arg);
	free(old->pages[0].at);
	free(old->pages[1].at);
	free(old);
}

void
local_source_open_with(struct pages *pages, struct reader *reader,
    const struct local_source_answerer *answerer, void *arg)
{
	static const struct pages_transport transport = {
		.start = start,
		.take = take,
		.drop = drop,
		.close = close_reader,
		.page_bytes = PAGE_BYTES,
	};
	struct local_source *local_source =
	    memory_zero(1, sizeof(*local_source));

	local_source->reader = reader;
	local_source->answerer = answerer;
	local_source->arg = arg;
	pages_init(pages, &transport, local_source);
}

void
local_source_open(struct pages *pages, struct reader *reader)
{
	static const struct local_source_answerer store = { .answer = answer };

	local_source_open_with(pages, reader, &store, NULL);
}
