/*
 * server - the query server: answers questions of remote readers.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/server.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregator/query/answerer.h"
#include "aggregator/query/questions.h"
#include "proto/base/memory.h"
#include "proto/net/loop/loop.h"
#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/log.h"

enum {
	QUESTIONS_AT_ONCE = 16, /* then the loop serves its other events */
	BUSY_RETRY_MS = 100,
	FETCHING_RETRY_MS = 1000,
	REFUSAL_BYTES = WIRE_HEADER_BYTES_MAX + 64,
	THREADS_MIN = 2, /* a long question delays no short one */
	THREADS_MAX = 4,
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
	struct loop_timer look;
	bool looks;     /* the timer is set */
	bool has_early; /* a question waits for the indexer */
	struct questions questions;
	struct answerer *answerers[THREADS_MAX];
	unsigned threads;
	struct query_server_status counters;
	struct thread thread;
	struct err failure; /* exit code of the loop */
	int64_t complained_ns, version_ns;
};

/* At most one line per minute, so that readers cannot fill the log. */
static void
complain(
    struct query_server *query_server, const char *what, const struct err *err)
{
	if (log_is_due(&query_server->complained_ns))
		log_warn(
		    "query server: a %s query failed: %s", what, err->text);
}

/* False: the reader is gone. */
static bool
send_frame(struct query_server *query_server, const struct route *route,
    struct text frame)
{
	enum zsock_result result =
	    frame.bytes == 0 ? ZSOCK_AGAIN
			     : zsock_send(query_server->zsock, route, frame);

	if (result == ZSOCK_DONE)
		query_server->counters.pages_bytes += frame.bytes;
	else
		query_server->counters.unsent++;
	return result != ZSOCK_GONE;
}

/* Of the question that was received last. */
static void
send_refusal(struct query_server *query_server, struct wire_header *answer,
    enum wire_reason reason)
{
	unsigned char frame[REFUSAL_BYTES];
	size_t bytes;

	answer->type = WIRE_NACK;
	answer->flags = 0;
	answer->reason = reason;
	answer->answered_ns = clock_wall_ns();
	bytes =
	    wire_frame(frame, sizeof(frame), answer, (struct text){ NULL, 0 });
	send_frame(query_server, &query_server->message.route,
	    (struct text){ (const char *)frame, (uint32_t)bytes });
}

static void
refuse(struct query_server *query_server, struct wire_header *answer,
    enum wire_reason reason)
{
	query_server->counters.refused++;
	send_refusal(query_server, answer, reason);
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

/* ---- answering ---- */

/* Has it waited long enough?  Later pages belong to an answer that has begun,
 * and the journal needs no index: their number is 0. */
static bool
is_ready(void *arg, struct question *question)
{
	struct query_server *query_server = arg;
	const struct query_server_source *source = &query_server->source;
	enum query_server_ready ready = QUERY_SERVER_READY;

	if (question->number > 0)
		ready = source->is_indexed(source->arg, question->number);
	question->is_complete = ready == QUERY_SERVER_READY;
	if (ready != QUERY_SERVER_SOON ||
	    clock_monotonic_ns() >= question->until_ns)
		return true;
	query_server->has_early = true;
	return false;
}

/* An idle thread; if there are several, the one that knows this reader. */
static struct answerer *
find_idle(struct query_server *query_server, const struct question *question)
{
	struct answerer *found = NULL;

	for (unsigned i = 0; i < query_server->threads; i++) {
		struct answerer *answerer = query_server->answerers[i];

		if (answerer_question(answerer) == NULL &&
		    (found == NULL || (question != NULL &&
					  answerer_knows(answerer, question))))
			found = answerer;
	}
	return found;
}

static void
count_port(struct query_server *query_server)
{
	const struct zsock_counters *port = zsock_counters(query_server->zsock);

	query_server->counters.unkeyed = port->unkeyed;
	query_server->counters.handshakes_failed = port->handshakes_failed;
}

/* Give questions to threads as long as there are both. */
static void
give_work(struct query_server *query_server)
{
	struct loop *loop = query_server->loop;
	struct question *question;

	query_server->has_early = false;
	while (find_idle(query_server, NULL) != NULL) {
		question = questions_take(
		    &query_server->questions, is_ready, query_server);
		if (question == NULL)
			break;
		count_port(query_server);
		answerer_begin(find_idle(query_server, question), question,
		    &query_server->counters);
	}
	if (query_server->looks && !query_server->has_early)
		loop_stop_timer(loop, &query_server->look);
	else if (!query_server->looks && query_server->has_early)
		loop_set_timer(loop, &query_server->look,
		    clock_monotonic_ns() + LOOK_NS, LOOK_NS);
	query_server->looks = query_server->has_early;
}

/* Send the pages that are made. */
static void
take_answers(struct query_server *query_server)
{
	struct questions *questions = &query_server->questions;

	for (unsigned i = 0; i < query_server->threads; i++) {
		struct answerer *answerer = query_server->answerers[i];
		const struct question *question = answerer_question(answerer);
		const struct answerer_result *result;

		if (!answerer_take(answerer, &result))
			continue;
		if (result->failed) {
			query_server->counters.failed++;
			query_server->counters.refused++;
			complain(query_server, wire_type_name(result->asked),
			    &result->err);
		}
		if (!send_frame(query_server, &question->route, result->frame))
			query_server->counters.unsent +=
			    questions_forget(questions, &question->route);
		questions_remove(questions, question);
	}
}

/* The number of the journal entry that the answer must have.  A status is of
 * all partitions, or of the only one that the reader may see. */
static uint64_t
number_of(struct query_server *query_server, const struct wire_header *header,
    const struct wire_query *query, struct text readable)
{
	const struct query_server_source *source = &query_server->source;
	struct text partition = header->partition;

	if (source->needs == NULL || query->cursor.bytes > 0 ||
	    header->type == WIRE_FOLLOW)
		return 0;
	if (header->type == WIRE_STATUS)
		partition =
		    text_is_pattern(readable) ||
			    memchr(readable.at, '$', readable.bytes) == NULL
			? text_of(NULL)
			: readable;
	return source->needs(source->arg, partition);
}

static void
take_message(struct query_server *query_server)
{
	struct wire_header header, answer = {
		.received_ns = clock_wall_ns(),
		.generation = query_server->generation,
	};
	struct question question = { .route = query_server->message.route,
		.frame = query_server->message.frame,
		.received_ns = answer.received_ns,
		.until_ns = clock_monotonic_ns() + WAIT_NS };
	struct wire_query query = { 0 };
	struct text body;

	if (!read_question(
		query_server, question.frame, &header, &body, &answer) ||
	    !may_ask(query_server, &header, &answer) ||
	    !is_question(query_server, &header, &answer) ||
	    !read_query(query_server, &header, body, &query, &answer))
		return;
	if (header.type == WIRE_STATUS)
		question.readable = auth_readable();
	question.number =
	    number_of(query_server, &header, &query, question.readable);
	switch (questions_add(&query_server->questions, &question)) {
	case QUESTIONS_ADDED: break;
	case QUESTIONS_REPEATED:
		/* A page of an archive may take long: its reader is not to
		 * take that for silence. */
		if (query_server->source.answer == NULL)
			break;
		answer.retry_ms = FETCHING_RETRY_MS;
		query_server->counters.fetching++;
		send_refusal(query_server, &answer, WIRE_NACK_FETCHING);
		break;
	case QUESTIONS_FULL:
		answer.retry_ms = BUSY_RETRY_MS;
		query_server->counters.busy++;
		send_refusal(query_server, &answer, WIRE_NACK_BUSY);
		break;
	}
}

/* ---- the loop ---- */

static void
on_look(void *arg, struct loop_timer *timer)
{
	(void)timer;
	heartbeat_beat();
	give_work(arg);
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
			take_message(query_server);
	}
	zsock_message_clear(&query_server->message);
	give_work(query_server);
}

static void
on_wake(void *arg)
{
	struct query_server *query_server = arg;

	if (query_server->quit) {
		loop_quit(query_server->loop, EXIT_SUCCESS);
		return;
	}
	if (atomic_exchange(&query_server->rekey, false) &&
	    zsock_rekey(query_server->zsock, auth_secret(query_server->auth),
		&query_server->failure) != 0)
		loop_quit(query_server->loop, EXIT_FAILURE);
	heartbeat_beat();
	take_answers(query_server);
	give_work(query_server);
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

/* A thread for each processor. */
static int
open_answerers(struct query_server *query_server, struct err *err)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned threads = processors < THREADS_MIN   ? THREADS_MIN
			   : processors > THREADS_MAX ? THREADS_MAX
						      : (unsigned)processors;

	while (query_server->threads < threads) {
		if (answerer_new(
			&query_server->answerers[query_server->threads],
			&query_server->source, query_server->generation,
			query_server->loop, err) != 0)
			return -1;
		query_server->threads++;
	}
	return 0;
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
		.for_group = true,
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
	if (open_answerers(made, err) != 0)
		goto fail;
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
	for (unsigned i = 0; i < old->threads; i++)
		answerer_free(&old->answerers[i]);
	if (old->zsock != NULL)
		loop_remove_zsock(old->loop, old->zsock);
	zsock_message_clear(&old->message);
	zsock_close(&old->zsock);
	loop_free(&old->loop);
	questions_clear(&old->questions);
	free(old);
	*query_server = NULL;
}
