/*
 * answerer - a thread of the query server that makes one page at a time.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/answerer.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/net/loop/loop.h"
#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/worker.h"

enum {
	PAGE_BYTES_MIN = 4 << 10,
	PAGE_BYTES_MAX = WIRE_FRAME_BYTES_MAX - (16 << 10),
	COMPRESS_BYTES = 4 << 10, /* smaller pages are not compressed */
};

struct answerer {
	const struct query_server_source *source;
	struct reader *reader;
	uint64_t generation;
	struct loop *loop;
	struct worker *worker;
	const struct question *question; /* NULL: none */
	struct route last;               /* of the question before it */
	bool forget; /* the last page was for another reader */
	struct query_server_status counters;
	struct answerer_result result;
	char detail[NAME_BYTES_MAX + 1]; /* of a refusal */
	atomic_bool is_made;
	/* A page body may be larger than a frame before compression. */
	unsigned char body[WIRE_BODY_BYTES_MAX];
	unsigned char packed[WIRE_FRAME_BYTES_MAX];
	unsigned char frame[WIRE_FRAME_BYTES_MAX];
};

static void
make_frame(struct answerer *answerer, const struct wire_header *header,
    struct text body)
{
	size_t bytes =
	    wire_frame(answerer->frame, sizeof(answerer->frame), header, body);

	answerer->result.frame =
	    (struct text){ (const char *)answerer->frame, (uint32_t)bytes };
}

static int
answer_from(struct answerer *answerer, const struct wire_header *header,
    const struct wire_query *query, struct wire_writer *w, bool *last)
{
	const struct query_server_source *source = answerer->source;
	struct err *err = &answerer->result.err;

	if (source->answer == NULL)
		return reader_answer(
		    answerer->reader, header, query, w, last, err);
	return source->answer(
	    source->arg, answerer->reader, header, query, w, last, err);
}

static int
ask(struct answerer *answerer, const struct wire_header *header,
    const struct wire_query *query, struct wire_writer *w, bool *last)
{
	const struct query_server_source *source = answerer->source;
	int rc;

	reader_limit(answerer->reader, answerer->question->readable);
	rc = answer_from(answerer, header, query, w, last);
	if (rc != 0)
		return rc;
	/* The counters of the process are sums over all partitions. */
	if (header->type == WIRE_STATUS && *last && source->status != NULL &&
	    reader_sees_all(answerer->reader) &&
	    (query->name.bytes == 0 ||
		text_match(query->name, text_of("aggregator"))))
		source->status(source->arg, &answerer->counters, w);
	return 0;
}

/* Compress a page if that helps; false when it does not fit in a frame. */
static bool
pack(struct answerer *answerer, const struct wire_writer *w, bool plain,
    struct wire_header *answer, struct text *body)
{
	size_t bytes;

	*body = (struct text){ (const char *)w->at, (uint32_t)w->bytes };
	answer->codec = WIRE_NONE;
	answer->body_bytes = body->bytes;
	answer->records = w->records;
	if (body->bytes <= COMPRESS_BYTES ||
	    (plain && body->bytes <= PAGE_BYTES_MAX))
		return true;
	bytes = wire_compress(answerer->packed, PAGE_BYTES_MAX, *body);
	if (bytes > 0) {
		answer->codec = WIRE_ZSTD;
		*body = (struct text){ (const char *)answerer->packed,
			(uint32_t)bytes };
	}
	return body->bytes <= PAGE_BYTES_MAX;
}

/* Say in the answer up to when it is complete. */
static void
mark_incomplete(struct answerer *answerer, struct wire_header *answer)
{
	struct err err = { 0 };

	answer->flags |= WIRE_FLAG_INCOMPLETE;
	if (reader_complete_ns(answerer->reader, &answer->received_ns, &err) !=
	    0)
		answer->received_ns = 0; /* nothing is certain */
}

static void
refuse(struct answerer *answerer, struct wire_header *answer)
{
	answer->type = WIRE_NACK;
	answer->flags = 0;
	answer->answered_ns = clock_wall_ns();
	answerer->result.failed = true;
	answer->reason = WIRE_NACK_IO;
	answer->detail = text_of(answerer->result.err.text);
	if (text_check_name(answer->detail) != TEXT_OK)
		answer->detail = text_of(text_quote(answerer->detail,
		    sizeof(answerer->detail), answer->detail));
	make_frame(answerer, answer, (struct text){ NULL, 0 });
}

static void
answer_query(struct answerer *answerer, const struct wire_header *header,
    struct wire_query *query, struct wire_header *answer)
{
	unsigned char damaged[WIRE_DAMAGED_MAX * WIRE_DAMAGED_BYTES];
	struct wire_writer w;
	struct text body;
	bool last;

	if (!answerer->question->is_complete)
		mark_incomplete(answerer, answer);
	if (query->page_bytes == 0)
		query->page_bytes = WIRE_PAGE_BYTES;
	if (query->page_bytes > PAGE_BYTES_MAX)
		query->page_bytes = PAGE_BYTES_MAX;
	if (query->page_bytes < PAGE_BYTES_MIN)
		query->page_bytes = PAGE_BYTES_MIN;
	/* If the records do not compress, fewer of them fit.  If not even a
	 * single record fits, the reader truncates it when it has less room. */
	for (;; query->page_bytes /= 2) {
		wire_writer_init(&w, answerer->body,
		    query->page_bytes < PAGE_BYTES_MIN
			? PAGE_BYTES_MAX
			: sizeof(answerer->body));
		last = false;
		if (ask(answerer, header, query, &w, &last) != 0) {
			refuse(answerer, answer);
			return;
		}
		if (pack(answerer, &w, (header->flags & WIRE_FLAG_PLAIN) != 0,
			answer, &body))
			break;
	}
	answer->type = WIRE_PAGE;
	reader_put_damage(answerer->reader, answer, damaged);
	answer->flags |= last ? WIRE_FLAG_LAST : 0;
	answer->answered_ns = clock_wall_ns();
	make_frame(answerer, answer, body);
}

/* In the thread: the question was read, and found permitted and valid, when it
 * arrived. */
static void
answer_question(void *arg)
{
	struct answerer *answerer = arg;
	const struct question *question = answerer->question;
	struct wire_header header, answer = {
		.received_ns = question->received_ns,
		.generation = answerer->generation,
	};
	struct wire_query query = { 0 };
	struct heartbeat heartbeat;
	struct text body;

	heartbeat_begin(&heartbeat, "a thread of the query server");
	heartbeat_beat();
	if (answerer->forget)
		reader_forget(answerer->reader);
	answerer->result = (struct answerer_result){ .failed = false };
	if (wire_open(question->frame, &header, &body) == WIRE_OK &&
	    (body.bytes == 0 || wire_get_query(body, &query) == WIRE_OK)) {
		answer.partition = header.partition;
		answer.node = header.node;
		answer.session = header.session;
		answer.seq = header.seq;
		answer.sent_ns = header.sent_ns;
		answerer->result.asked = header.type;
		answer_query(answerer, &header, &query, &answer);
	}
	heartbeat_end(&heartbeat);
	atomic_store(&answerer->is_made, true);
	loop_wake(answerer->loop);
}

int
answerer_new(struct answerer **answerer,
    const struct query_server_source *source, uint64_t generation,
    struct loop *loop, struct err *err)
{
	struct answerer *made = memory_zero(1, sizeof(*made));

	made->source = source;
	made->generation = generation;
	made->loop = loop;
	if (reader_open_beside(&made->reader, source->reader, err) != 0) {
		free(made);
		return -1;
	}
	made->worker = worker_new(answer_question, made);
	*answerer = made;
	return 0;
}

void
answerer_free(struct answerer **answerer)
{
	struct answerer *old = *answerer;

	if (old == NULL)
		return;
	worker_free(&old->worker);
	reader_close(&old->reader);
	free(old);
	*answerer = NULL;
}

void
answerer_begin(struct answerer *answerer, const struct question *question,
    const struct query_server_status *counters)
{
	answerer->forget = !answerer_knows(answerer, question);
	answerer->last = question->route;
	answerer->question = question;
	answerer->counters = *counters;
	atomic_store(&answerer->is_made, false);
	worker_begin(answerer->worker);
}

const struct question *
answerer_question(const struct answerer *answerer)
{
	return answerer->question;
}

bool
answerer_knows(const struct answerer *answerer, const struct question *question)
{
	return questions_same_reader(&answerer->last, &question->route);
}

bool
answerer_take(struct answerer *answerer, const struct answerer_result **result)
{
	if (answerer->question == NULL || !atomic_load(&answerer->is_made))
		return false;
	worker_await(answerer->worker);
	answerer->question = NULL;
	*result = &answerer->result;
	return true;
}
