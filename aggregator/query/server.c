/*
 * server - the query server: answers questions of remote readers.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/server.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/query/waiting.h"
#include "proto/base/memory.h"
#include "proto/net/loop/loop.h"
#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/log.h"

enum {
	QUESTIONS_AT_ONCE = 16, /* then the loop serves its other events */
	PAGE_BYTES_MIN = 4 << 10,
	PAGE_BYTES_MAX = WIRE_FRAME_BYTES_MAX - (16 << 10),
	COMPRESS_BYTES = 4 << 10, /* smaller pages are not compressed */
};

#define WAIT_NS (2 * NS_PER_SECOND)
#define LOOK_NS (NS_PER_SECOND / 500) /* between two looks at the indexer */

struct query_server {
	struct loop *loop;
	struct zsock *zsock;
	struct query_server_source source;
	struct auth *auth;
	atomic_bool rekey, quit;
	uint64_t generation;
	struct zsock_message message;
	const struct route *route; /* of the question that is being answered */
	struct loop_timer look;
	struct waiting waiting;
	struct query_server_status counters;
	struct thread thread;
	struct err failure; /* exit code of the loop */
	int64_t complained_ns, version_ns;
	/* A page body may be larger than a frame before compression.  Memory
	 * that no page needs is never touched. */
	unsigned char body[WIRE_BODY_BYTES_MAX];
	unsigned char packed[WIRE_FRAME_BYTES_MAX];
	unsigned char frame[WIRE_FRAME_BYTES_MAX];
};

/* At most one line per minute, so that readers cannot fill the log. */
static void
complain(
    struct query_server *query_server, const char *what, const struct err *err)
{
	int64_t now_ns = clock_monotonic_ns();

	if (query_server->complained_ns != 0 &&
	    now_ns - query_server->complained_ns < 60 * NS_PER_SECOND)
		return;
	query_server->complained_ns = now_ns;
	log_warn("query server: a %s query failed: %s", what, err->text);
}

static void
send_frame(struct query_server *query_server, const struct wire_header *header,
    struct text body)
{
	size_t bytes = wire_frame(
	    query_server->frame, sizeof(query_server->frame), header, body);
	struct text frame = { (const char *)query_server->frame,
		(uint32_t)bytes };

	if (bytes == 0 || zsock_send(query_server->zsock, query_server->route,
			      frame) != ZSOCK_DONE) {
		query_server->counters.unsent++;
		return;
	}
	query_server->counters.pages_bytes += bytes;
}

static void
refuse(struct query_server *query_server, struct wire_header *answer,
    enum wire_reason reason)
{
	query_server->counters.refused++;
	answer->type = WIRE_NACK;
	answer->flags = 0;
	answer->reason = reason;
	answer->answered_ns = clock_wall_ns();
	send_frame(query_server, answer, (struct text){ NULL, 0 });
}

static int
ask(struct query_server *query_server, const struct wire_header *header,
    const struct wire_query *query, struct wire_writer *w, bool *last,
    struct err *err)
{
	const struct query_server_source *source = &query_server->source;

	if (reader_answer(source->reader, header, query, w, last, err) != 0)
		return -1;
	if (header->type == WIRE_STATUS && *last && source->status != NULL &&
	    (query->name.bytes == 0 ||
		text_match(query->name, text_of("aggregator"))))
		source->status(source->arg, w);
	return 0;
}

/* Compress a page if that helps; false when it does not fit in a frame. */
static bool
pack(struct query_server *query_server, const struct wire_writer *w, bool plain,
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
	bytes = wire_compress(query_server->packed, PAGE_BYTES_MAX, *body);
	if (bytes > 0) {
		answer->codec = WIRE_ZSTD;
		*body = (struct text){ (const char *)query_server->packed,
			(uint32_t)bytes };
	}
	return body->bytes <= PAGE_BYTES_MAX;
}

/* Say in the answer up to when it is complete. */
static void
mark_incomplete(struct query_server *query_server, struct wire_header *answer)
{
	struct err err = { 0 };

	answer->flags |= WIRE_FLAG_INCOMPLETE;
	if (reader_complete_ns(
		query_server->source.reader, &answer->received_ns, &err) != 0)
		answer->received_ns = 0; /* nothing is certain */
}

static void
answer_query(struct query_server *query_server,
    const struct wire_header *header, struct wire_query *query,
    struct wire_header *answer, bool complete)
{
	unsigned char damaged[WIRE_DAMAGED_MAX * WIRE_DAMAGED_BYTES];
	struct wire_writer w;
	struct text body;
	struct err err = { 0 };
	bool last;

	answer->flags = 0;
	if (!complete)
		mark_incomplete(query_server, answer);
	if (query->page_bytes == 0)
		query->page_bytes = WIRE_PAGE_BYTES;
	if (query->page_bytes > PAGE_BYTES_MAX)
		query->page_bytes = PAGE_BYTES_MAX;
	if (query->page_bytes < PAGE_BYTES_MIN)
		query->page_bytes = PAGE_BYTES_MIN;
	/* If the records do not compress, fewer of them fit.  If not even a
	 * single record fits, the reader truncates it when it has less room. */
	for (;; query->page_bytes /= 2) {
		wire_writer_init(&w, query_server->body,
		    query->page_bytes < PAGE_BYTES_MIN
			? PAGE_BYTES_MAX
			: sizeof(query_server->body));
		last = false;
		if (ask(query_server, header, query, &w, &last, &err) != 0) {
			query_server->counters.failed++;
			complain(
			    query_server, wire_type_name(header->type), &err);
			refuse(query_server, answer, WIRE_NACK_IO);
			return;
		}
		if (pack(query_server, &w,
			(header->flags & WIRE_FLAG_PLAIN) != 0, answer, &body))
			break;
	}
	answer->type = WIRE_PAGE;
	reader_put_damage(query_server->source.reader, answer, damaged);
	answer->flags |= last ? WIRE_FLAG_LAST : 0;
	answer->answered_ns = clock_wall_ns();
	send_frame(query_server, answer, body);
}

static bool
may_ask(struct query_server *query_server, const struct wire_header *header,
    struct wire_header *answer)
{
	enum auth_want want =
	    header->type == WIRE_STATUS ? AUTH_STATUS : AUTH_READ;

	if (auth_check(query_server->auth, &query_server->message, want,
		header->partition, header->node) == AUTH_OK)
		return true;
	query_server->counters.forbidden++;
	if (header->type != WIRE_BYE)
		refuse(query_server, answer, WIRE_NACK_FORBIDDEN);
	return false;
}

/* Count a question; false: it is none. */
static bool
is_question(struct query_server *query_server, const struct wire_header *header,
    struct wire_header *answer)
{
	switch (header->type) {
	case WIRE_SELECT: query_server->counters.selects++; return true;
	case WIRE_STATS: query_server->counters.stats++; return true;
	case WIRE_STATUS: query_server->counters.statuses++; return true;
	case WIRE_FOLLOW: query_server->counters.follows++; return true;
	case WIRE_BYE: return false;
	default:
		refuse(query_server, answer, WIRE_NACK_UNSUPPORTED);
		return false;
	}
}

/* Read a frame; false: it was refused. */
static bool
read_question(struct query_server *query_server, struct text frame,
    struct wire_header *header, struct text *body, struct wire_header *answer)
{
	enum wire_fault fault = wire_open(frame, header, body);

	if (fault == WIRE_OK || fault == WIRE_TYPE) {
		answer->partition = header->partition;
		answer->node = header->node;
		answer->session = header->session;
		answer->seq = header->seq;
		answer->sent_ns = header->sent_ns;
	}
	if (fault == WIRE_OK)
		return true;
	if (fault == WIRE_OTHER_VERSION &&
	    log_is_due(&query_server->version_ns))
		log_warn("a reader speaks version %u of the wire protocol, "
			 "this program supports version %d: install the same "
			 "version on both",
		    wire_version(frame), WIRE_VERSION);
	refuse(query_server, answer,
	    fault == WIRE_OTHER_VERSION || fault == WIRE_TYPE
		? WIRE_NACK_UNSUPPORTED
		: WIRE_NACK_MALFORMED);
	return false;
}

/* A status question without a query asks for everything. */
static bool
read_query(struct query_server *query_server, const struct wire_header *header,
    struct text body, struct wire_query *query, struct wire_header *answer)
{
	if (header->type == WIRE_STATUS && body.bytes == 0)
		return true;
	if (header->codec == WIRE_NONE &&
	    wire_get_query(body, query) == WIRE_OK)
		return true;
	refuse(query_server, answer, WIRE_NACK_MALFORMED);
	return false;
}

/* Must the question wait?  Then it is in the list.  Later pages belong to an
 * answer that has begun, and the journal needs no index. */
static bool
waits(struct query_server *query_server, const struct wire_header *header,
    const struct wire_query *query, int64_t received_ns, bool *complete)
{
	const struct query_server_source *source = &query_server->source;
	struct waiting_query waiting = { .route = *query_server->route,
		.received_ns = received_ns,
		.until_ns = clock_monotonic_ns() + WAIT_NS,
		.frame = query_server->message.frame };
	enum query_server_ready ready;

	*complete = true;
	if (source->needs == NULL || query->cursor.bytes > 0 ||
	    header->type == WIRE_FOLLOW)
		return false;
	waiting.number = source->needs(source->arg,
	    header->type == WIRE_STATUS ? text_of(NULL) : header->partition);
	ready = source->is_indexed(source->arg, waiting.number);
	*complete = ready == QUERY_SERVER_READY;
	if (ready != QUERY_SERVER_SOON ||
	    !waiting_add(&query_server->waiting, &waiting))
		return false;
	if (query_server->waiting.count == 1)
		loop_set_timer(query_server->loop, &query_server->look,
		    clock_monotonic_ns() + LOOK_NS, LOOK_NS);
	return true;
}

static void
answer_message(struct query_server *query_server)
{
	struct wire_header header, answer = {
		.received_ns = clock_wall_ns(),
		.generation = query_server->generation,
	};
	struct wire_query query = { 0 };
	struct text body;
	bool complete;

	query_server->route = &query_server->message.route;
	if (!read_question(query_server, query_server->message.frame, &header,
		&body, &answer) ||
	    !may_ask(query_server, &header, &answer) ||
	    !is_question(query_server, &header, &answer) ||
	    !read_query(query_server, &header, body, &query, &answer) ||
	    waits(query_server, &header, &query, answer.received_ns, &complete))
		return;
	answer_query(query_server, &header, &query, &answer, complete);
}

/* It was read, and found permitted and valid, before it began to wait. */
static void
answer_waiting(struct query_server *query_server,
    const struct waiting_query *waiting, bool complete)
{
	struct wire_header header, answer = {
		.received_ns = waiting->received_ns,
		.generation = query_server->generation,
	};
	struct wire_query query = { 0 };
	struct text body;

	query_server->route = &waiting->route;
	if (read_question(
		query_server, waiting->frame, &header, &body, &answer) &&
	    read_query(query_server, &header, body, &query, &answer))
		answer_query(query_server, &header, &query, &answer, complete);
}

/* Answer the waiting questions whose time has come, some at a time. */
static void
on_look(void *arg, struct loop_timer *timer)
{
	struct query_server *query_server = arg;
	struct waiting *waiting = &query_server->waiting;
	const struct query_server_source *source = &query_server->source;
	unsigned answered = 0;

	heartbeat_beat();
	for (uint32_t i = 0;
	     i < waiting->count && answered < QUESTIONS_AT_ONCE;) {
		enum query_server_ready ready =
		    source->is_indexed(source->arg, waiting->at[i].number);
		struct waiting_query query;

		if (ready == QUERY_SERVER_SOON &&
		    clock_monotonic_ns() < waiting->at[i].until_ns) {
			i++;
			continue;
		}
		query = waiting_take(waiting, i);
		answer_waiting(
		    query_server, &query, ready == QUERY_SERVER_READY);
		free((char *)(uintptr_t)query.frame.at);
		answered++;
	}
	if (waiting->count == 0)
		loop_stop_timer(query_server->loop, timer);
}

static void
on_zsock(void *arg, struct zsock *zsock)
{
	struct query_server *query_server = arg;

	for (unsigned i = 0; i < QUESTIONS_AT_ONCE; i++) {
		if (zsock_recv(zsock, &query_server->message) != ZSOCK_DONE)
			break;
		heartbeat_beat();
		if (zsock_sender_is_gone(&query_server->message))
			query_server->counters.unsent++;
		else
			answer_message(query_server);
	}
	zsock_message_clear(&query_server->message);
}

static void
on_wake(void *arg)
{
	struct query_server *query_server = arg;

	if (query_server->quit)
		loop_quit(query_server->loop, EXIT_SUCCESS);
	else if (atomic_exchange(&query_server->rekey, false) &&
		 zsock_rekey(query_server->zsock,
		     auth_secret(query_server->auth),
		     &query_server->failure) != 0)
		loop_quit(query_server->loop, EXIT_FAILURE);
}

static int
run(void *arg, struct err *err)
{
	struct query_server *query_server = arg;

	if (loop_run(query_server->loop) == EXIT_SUCCESS)
		return 0;
	*err = query_server->failure;
	return -1;
}

static void
stop(void *arg)
{
	struct query_server *query_server = arg;

	query_server->quit = true;
	loop_wake(query_server->loop);
}

int
query_server_open(struct query_server **query_server,
    const struct query_server_options *options,
    const struct query_server_source *source, struct err *err)
{
	const struct zsock_options how = {
		.kind = ZSOCK_LISTENER,
		.queue_messages = options->queue_messages,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
		.insecure = options->insecure,
		.connects_per_second = options->connects_per_second,
		.server_secret = auth_secret(options->auth),
	};
	struct query_server *made = memory_zero(1, sizeof(*made));

	made->source = *source;
	made->generation = options->generation;
	made->auth = options->auth;
	made->look = (struct loop_timer){ .on_timer = on_look, .arg = made };
	zsock_message_init(&made->message);
	if (loop_new(&made->loop, err) != 0 ||
	    zsock_open(&made->zsock, &how, err) != 0)
		goto fail;
	for (uint32_t i = 0; i < options->listen->count; i++)
		if (zsock_bind(made->zsock, options->listen->at[i], err) != 0)
			goto fail;
	if (loop_add_zsock(made->loop, made->zsock, on_zsock, made, err) != 0)
		goto fail;
	loop_set_wake(made->loop, on_wake, made);
	*query_server = made;
	return 0;
fail:
	query_server_close(&made);
	return -1;
}

int
query_server_start(struct query_server *query_server,
    const struct thread_watcher *watcher, struct err *err)
{
	const struct thread_options how = { .name = "the query server",
		.run = run,
		.stop = stop,
		.arg = query_server,
		.has_heartbeat = true };

	return thread_start(&query_server->thread, &how, watcher, err);
}

void
query_server_rekey(struct query_server *query_server)
{
	query_server->rekey = true;
	loop_wake(query_server->loop);
}

void
query_server_close(struct query_server **query_server)
{
	struct query_server *old = *query_server;

	if (old == NULL)
		return;
	thread_stop(&old->thread);
	if (old->zsock != NULL)
		loop_remove_zsock(old->loop, old->zsock);
	zsock_message_clear(&old->message);
	zsock_close(&old->zsock);
	loop_free(&old->loop);
	waiting_clear(&old->waiting);
	free(old);
	*query_server = NULL;
}

void
query_server_status(
    const struct query_server *query_server, struct query_server_status *status)
{
	const struct zsock_counters *port = zsock_counters(query_server->zsock);

	*status = query_server->counters;
	status->unkeyed = port->unkeyed;
	status->handshakes_failed = port->handshakes_failed;
}
