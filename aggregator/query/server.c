/*
 * query_server - where readers ask.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "proto/net/loop.h"
#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/log.h"

enum {
	QUESTIONS_AT_ONCE = 16, /* then the loop has a look at the rest */
	PAGE_BYTES = 128 << 10,
	PAGE_BYTES_MIN = 4 << 10,
	PAGE_BYTES_MAX = WIRE_FRAME_BYTES_MAX - (16 << 10),
	COMPRESS_BYTES = 4 << 10, /* smaller ones are not worth it */
};

struct desk {
	struct loop *loop;
	struct port *port;
	struct desk_source source;
	struct gate *gate;
	atomic_bool rekey, quit;
	uint64_t generation;
	struct message message;
	struct desk_status counters;
	pthread_t thread;
	bool started;
	int64_t complained_ns;
	/* A page's body may be larger than a frame before it is compressed;
	 * memory that no page needs is never touched. */
	unsigned char body[WIRE_BODY_BYTES_MAX];
	unsigned char packed[WIRE_FRAME_BYTES_MAX];
	unsigned char frame[WIRE_FRAME_BYTES_MAX];
};

/* One line a minute at most: whoever asks must not fill the log. */
static void
complain(struct desk *desk, const char *what, const struct err *err)
{
	int64_t now_ns = clock_monotonic_ns();

	if (desk->complained_ns != 0 &&
	    now_ns - desk->complained_ns < 60 * NS_PER_SECOND)
		return;
	desk->complained_ns = now_ns;
	log_warn("a reader's %s could not be answered: %s", what, err->text);
}

static void
send_frame(
    struct desk *desk, const struct wire_header *header, struct text body)
{
	size_t bytes =
	    wire_frame(desk->frame, sizeof(desk->frame), header, body);
	struct text frame = { (const char *)desk->frame, (uint32_t)bytes };

	if (bytes == 0 ||
	    port_send(desk->port, &desk->message.route, frame) != PORT_DONE) {
		desk->counters.unsent++;
		return;
	}
	desk->counters.pages_bytes += bytes;
}

static void
refuse(struct desk *desk, struct wire_header *answer, enum wire_reason reason)
{
	desk->counters.refused++;
	answer->type = WIRE_NACK;
	answer->flags = 0;
	answer->reason = reason;
	answer->answered_ns = clock_wall_ns();
	send_frame(desk, answer, (struct text){ NULL, 0 });
}

static int
ask(struct desk *desk, const struct wire_header *header,
    const struct wire_query *query, struct wire_writer *w, bool *last,
    struct err *err)
{
	struct reader *reader = desk->source.reader;

	switch (header->type) {
	case WIRE_SELECT:
		return reader_select(
		    reader, header->partition, query, w, last, err);
	case WIRE_FOLLOW:
		return reader_follow(
		    reader, header->partition, query, w, last, err);
	case WIRE_STATS:
		return reader_stats(reader, header->partition, query,
		    (header->flags & WIRE_FLAG_BY_NODE) != 0, w, last, err);
	default:
		if (reader_status(reader, query, w, last, err) != 0)
			return -1;
		if (*last && desk->source.status != NULL &&
		    (query->name.bytes == 0 ||
			text_match(query->name, text_of("aggregator"))))
			desk->source.status(desk->source.arg, w);
		return 0;
	}
}

/* Compressed when that helps; false when it does not fit a frame. */
static bool
pack(struct desk *desk, const struct wire_writer *w, bool plain,
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
	bytes = wire_compress(desk->packed, PAGE_BYTES_MAX, *body);
	if (bytes > 0) {
		answer->codec = WIRE_ZSTD;
		*body = (struct text){ (const char *)desk->packed,
			(uint32_t)bytes };
	}
	return body->bytes <= PAGE_BYTES_MAX;
}

static void
answer_query(struct desk *desk, const struct wire_header *header,
    struct wire_query *query, struct wire_header *answer)
{
	struct wire_writer w;
	struct text body;
	struct err err = { "" };
	bool last;

	if (header->type != WIRE_STATUS &&
	    !reader_keeps(desk->source.reader, header->partition)) {
		refuse(desk, answer, WIRE_NACK_OWNER);
		return;
	}
	if (query->page_bytes == 0)
		query->page_bytes = PAGE_BYTES;
	if (query->page_bytes > PAGE_BYTES_MAX)
		query->page_bytes = PAGE_BYTES_MAX;
	if (query->page_bytes < PAGE_BYTES_MIN)
		query->page_bytes = PAGE_BYTES_MIN;
	if (query->cursor.bytes == 0 && desk->source.settle != NULL &&
	    (header->type == WIRE_SELECT || header->type == WIRE_STATS))
		desk->source.settle(desk->source.arg);
	/* Records that do not compress: less of them fit.  In the end a
	 * single one does not: without more room the reader cuts it. */
	for (;; query->page_bytes /= 2) {
		wire_writer_init(&w, desk->body,
		    query->page_bytes < PAGE_BYTES_MIN ? PAGE_BYTES_MAX
						       : sizeof(desk->body));
		last = false;
		if (ask(desk, header, query, &w, &last, &err) != 0) {
			desk->counters.failed++;
			complain(desk, wire_type_name(header->type), &err);
			refuse(desk, answer, WIRE_NACK_IO);
			return;
		}
		if (pack(desk, &w, (header->flags & WIRE_FLAG_PLAIN) != 0,
			answer, &body))
			break;
	}
	answer->type = WIRE_PAGE;
	answer->flags = last ? WIRE_FLAG_LAST : 0;
	answer->answered_ns = clock_wall_ns();
	send_frame(desk, answer, body);
}

static bool
may_ask(struct desk *desk, const struct wire_header *header,
    struct wire_header *answer)
{
	enum gate_want want =
	    header->type == WIRE_STATUS ? GATE_STATUS : GATE_READ;

	if (gate_judge(desk->gate, &desk->message, want, header->partition,
		header->node) == GATE_OK)
		return true;
	desk->counters.forbidden++;
	if (header->type != WIRE_BYE)
		refuse(desk, answer, WIRE_NACK_FORBIDDEN);
	return false;
}

static void
answer_message(struct desk *desk)
{
	struct wire_header header, answer = {
		.received_ns = clock_wall_ns(),
		.generation = desk->generation,
	};
	struct wire_query query = { 0 };
	struct text body;
	enum wire_fault fault;

	fault = wire_open(desk->message.frame, &header, &body);
	if (fault == WIRE_OK || fault == WIRE_TYPE) {
		answer.partition = header.partition;
		answer.node = header.node;
		answer.session = header.session;
		answer.seq = header.seq;
		answer.sent_ns = header.sent_ns;
	}
	if (fault != WIRE_OK) {
		refuse(desk, &answer,
		    fault == WIRE_OTHER_VERSION || fault == WIRE_TYPE
			? WIRE_NACK_UNSUPPORTED
			: WIRE_NACK_MALFORMED);
		return;
	}
	if (!may_ask(desk, &header, &answer))
		return;
	switch (header.type) {
	case WIRE_SELECT: desk->counters.selects++; break;
	case WIRE_STATS: desk->counters.stats++; break;
	case WIRE_STATUS: desk->counters.statuses++; break;
	case WIRE_FOLLOW: desk->counters.follows++; break;
	case WIRE_BYE: return;
	default: refuse(desk, &answer, WIRE_NACK_UNSUPPORTED); return;
	}
	/* A status may be asked without a query: everything, please. */
	if ((header.type != WIRE_STATUS || body.bytes > 0) &&
	    (header.codec != WIRE_NONE ||
		wire_get_query(body, &query) != WIRE_OK)) {
		refuse(desk, &answer, WIRE_NACK_MALFORMED);
		return;
	}
	answer_query(desk, &header, &query, &answer);
}

static void
on_port(void *arg, struct port *port)
{
	struct desk *desk = arg;

	for (unsigned i = 0; i < QUESTIONS_AT_ONCE; i++) {
		if (port_recv(port, &desk->message) != PORT_DONE)
			break;
		pulse_beat();
		answer_message(desk);
	}
	message_clear(&desk->message);
}

static void
rekey(struct desk *desk)
{
	struct err err = { "" };

	if (port_rekey(desk->port, gate_secret(desk->gate), &err) == 0)
		return;
	log_error("the readers' door is lost: %s", err.text);
	loop_quit(desk->loop, EXIT_FAILURE);
}

static void
on_wake(void *arg)
{
	struct desk *desk = arg;

	if (atomic_exchange(&desk->rekey, false))
		rekey(desk);
	if (desk->quit)
		loop_quit(desk->loop, EXIT_SUCCESS);
}

static void *
run(void *arg)
{
	struct desk *desk = arg;
	struct pulse pulse;

	pulse_begin(&pulse, "the readers' desk");
	loop_run(desk->loop);
	pulse_end(&pulse);
	return NULL;
}

int
desk_open(struct desk **desk, const struct desk_options *options,
    const struct desk_source *source, struct err *err)
{
	const struct port_options how = {
		.kind = PORT_DOOR,
		.queue_messages = options->queue_messages,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
		.insecure = options->insecure,
		.connects_per_second = options->connects_per_second,
		.server_secret = gate_secret(options->gate),
	};
	struct desk *made = calloc(1, sizeof(*made));

	if (made == NULL)
		abort();
	made->source = *source;
	made->generation = options->generation;
	made->gate = options->gate;
	message_init(&made->message);
	if (loop_new(&made->loop, err) != 0 ||
	    port_open(&made->port, &how, err) != 0)
		goto fail;
	for (uint32_t i = 0; i < options->listen->count; i++)
		if (port_bind(made->port, options->listen->at[i], err) != 0)
			goto fail;
	if (loop_add_port(made->loop, made->port, on_port, made, err) != 0)
		goto fail;
	loop_set_wake(made->loop, on_wake, made);
	*desk = made;
	return 0;
fail:
	desk_close(&made);
	return -1;
}

int
desk_start(struct desk *desk, struct err *err)
{
	int rc = pthread_create(&desk->thread, NULL, run, desk);

	if (rc != 0)
		return err_set(err, "reader desk: %s", strerror(rc));
	desk->started = true;
	return 0;
}

void
desk_rekey(struct desk *desk)
{
	desk->rekey = true;
	loop_wake(desk->loop);
}

void
desk_close(struct desk **desk)
{
	struct desk *old = *desk;

	if (old == NULL)
		return;
	if (old->started) {
		old->quit = true;
		loop_wake(old->loop);
		pthread_join(old->thread, NULL);
	}
	if (old->port != NULL)
		loop_remove_port(old->loop, old->port);
	message_clear(&old->message);
	port_close(&old->port);
	loop_free(&old->loop);
	free(old);
	*desk = NULL;
}

void
desk_status(const struct desk *desk, struct desk_status *status)
{
	const struct port_counters *port = port_counters(desk->port);

	*status = desk->counters;
	status->unkeyed = port->unkeyed;
	status->handshakes_failed = port->handshakes_failed;
}
