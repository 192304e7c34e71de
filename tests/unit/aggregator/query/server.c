/*
 * server - tests of aggregator/query/server.h, through a real socket.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/rig.h"

#include <pthread.h>
#include <unistd.h>

#include "aggregator/query/server.h"
#include "proto/net/loop/loop.h"

enum { TEXTS = 10, TEXT_BYTES = 30500, PATIENCE_S = 60, PAGES_MAX = 100 };

static struct rig rig;

/* A reader that follows the cursors of an answer to its end. */
struct client {
	struct loop *loop;
	struct zsock *line;
	struct loop_timer patience;
	struct wire_query query;
	char cursor[WIRE_CURSOR_BYTES_MAX];
	uint16_t flags; /* of the questions */
	uint32_t pages, events, cut, packed;
	enum wire_reason refused;
	char detail[NAME_BYTES_MAX + 1]; /* of the refusal */
	uint32_t retry_ms;
	const char *partition; /* NULL: RIG_PARTITION */
	bool asked, late, incomplete;
	int64_t complete_ns;
};

/* An indexer that has reached this entry. */
static _Atomic uint64_t indexed;

static uint64_t
entry_needed(void *arg, struct text partition)
{
	return text_equal(partition, text_of(RIG_PARTITION)) ? 5 : 1;
}

static void put_status(
    void *arg, const struct query_server_status *status, struct wire_writer *w);

static enum query_server_ready
is_indexed(void *arg, uint64_t number)
{
	return indexed >= number ? QUERY_SERVER_READY : QUERY_SERVER_SOON;
}

static int
set_up(void **state)
{
	rig_open(&rig, NULL);
	return 0;
}

static int
tear_down(void **state)
{
	rig_close(&rig);
	return 0;
}

static void
ask(struct client *client)
{
	struct wire_header header = { .type = WIRE_SELECT,
		.flags = client->flags,
		.partition =
		    text_of(client->partition != NULL ? client->partition
						      : RIG_PARTITION) };
	unsigned char body[1024], frame[2048];
	const struct route none = { .bytes = 0 };
	size_t bytes, query_bytes;

	query_bytes = wire_put_query(body, sizeof(body), &client->query);
	bytes = wire_frame(frame, sizeof(frame), &header,
	    (struct text){ (const char *)body, (uint32_t)query_bytes });
	assert_true(bytes > 0);
	/* Not connected yet: retry until it is. */
	client->asked = zsock_send(client->line, &none,
			    (struct text){ (const char *)frame,
				(uint32_t)bytes }) == ZSOCK_DONE;
}

static void
take_page(struct client *client, const struct wire_header *header,
    struct text body, struct wire_room *room)
{
	struct text cursor, rest, pairs;
	struct wire_cursor walk;
	struct record_attribute attribute;
	struct record record;

	assert_int_equal(
	    wire_page_body(header, body, room, &cursor, &rest), WIRE_OK);
	client->packed += header->codec != WIRE_NONE;
	memcpy(client->cursor, cursor.at, cursor.bytes);
	client->query.cursor = (struct text){ client->cursor, cursor.bytes };
	wire_cursor_init(&walk, header, rest);
	while (wire_next(&walk, &record)) {
		client->events++;
		pairs = record.pairs;
		while (record_next_attribute(&pairs, &attribute))
			client->cut +=
			    text_equal(attribute.key, text_of("_left_out"));
	}
}

static void
take_refusal(struct client *client, const struct wire_header *header)
{
	client->refused = header->reason;
	client->retry_ms = header->retry_ms;
	snprintf(client->detail, sizeof(client->detail), "%.*s",
	    (int)header->detail.bytes, header->detail.at);
}

static void
on_line(void *arg, struct zsock *zsock)
{
	struct client *client = arg;
	struct wire_room room = { .at = NULL };
	struct wire_header header;
	struct zsock_message message;
	struct text body;

	if (!client->asked)
		ask(client);
	zsock_message_init(&message);
	while (zsock_recv(zsock, &message) == ZSOCK_DONE) {
		assert_int_equal(
		    wire_open(message.frame, &header, &body), WIRE_OK);
		client->pages++;
		if (header.flags & WIRE_FLAG_INCOMPLETE) {
			client->incomplete = true;
			client->complete_ns = header.received_ns;
		}
		if (header.type == WIRE_PAGE)
			take_page(client, &header, body, &room);
		else
			take_refusal(client, &header);
		if (header.type != WIRE_PAGE || client->pages == PAGES_MAX ||
		    (header.flags & WIRE_FLAG_LAST) != 0)
			loop_quit(client->loop, 0);
		else
			ask(client);
	}
	zsock_message_clear(&message);
	wire_room_clear(&room);
}

static void
on_patience(void *arg, struct loop_timer *timer)
{
	struct client *client = arg;

	client->late = true;
	loop_quit(client->loop, 1);
}

/* Ask a query server of its own for all events; the answers go to its argument.
 */
static void
read_all(struct client *client, uint16_t flags)
{
	const struct zsock_options line = { .kind = ZSOCK_CONNECTION,
		.queue_messages = 10,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX };
	char endpoint[96];
	struct opt_list listen = { .at = { endpoint }, .count = 1 };
	struct query_server_options options = { .listen = &listen,
		.queue_messages = 4 };
	struct query_server_source source = { .reader = NULL };
	struct err err = { 0 };
	struct query_server *query_server;

	*client = (struct client){ .query = rig_query(1u << RECORD_EVENT, 0),
		.flags = flags };
	snprintf(endpoint, sizeof(endpoint), "ipc://%s/door", rig.folder);
	rig_good(reader_open_shared(
		     &source.reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	rig_good(
	    query_server_open(&query_server, &options, &source, &err), &err);
	rig_good(query_server_start(query_server, NULL, &err), &err);
	rig_good(loop_new(&client->loop, &err), &err);
	rig_good(zsock_open(&client->line, &line, &err), &err);
	rig_good(zsock_connect(client->line, endpoint, &err), &err);
	rig_good(
	    loop_add_zsock(client->loop, client->line, on_line, client, &err),
	    &err);
	client->patience.on_timer = on_patience;
	client->patience.arg = client;
	loop_set_timer(client->loop, &client->patience,
	    clock_monotonic_ns() + PATIENCE_S * NS_PER_SECOND, 0);
	ask(client);
	loop_run(client->loop);
	assert_false(client->late);
	loop_remove_zsock(client->loop, client->line);
	zsock_close(&client->line);
	loop_free(&client->loop);
	query_server_close(&query_server);
	reader_close(&source.reader);
}

static void
every_page_is_asked_for_in_turn(void **state)
{
	struct client client;

	for (int i = 0; i < 5000; i++) {
		rig_event(&rig, "n", RIG_T0 + i, "test", "event", "a=1");
		if (i % 500 == 0)
			rig_send(&rig, 0);
	}
	rig_send(&rig, 0);
	rig_indexer(&rig);
	read_all(&client, 0);
	assert_int_equal(client.events, 5000);
	assert_true(client.pages > 1);
	assert_int_equal(client.packed, client.pages);
	/* A reader on the same machine does not need small pages. */
	read_all(&client, WIRE_FLAG_PLAIN);
	assert_int_equal(client.events, 5000);
	assert_int_equal(client.packed, 0);
}

/* A text as large as the frame of a sender, and hardly compressible. */
static void
send_the_largest(uint64_t *random)
{
	static unsigned char body[512 << 10], pairs[512 << 10];
	static unsigned char packed[WIRE_FRAME_BYTES_MAX];
	static char text[TEXT_BYTES];
	struct record record = { .kind = RECORD_EVENT,
		.time_ns = RIG_T0 + 1,
		.source = text_of("test"),
		.name = text_of("event"),
		.attributes = TEXTS };
	struct journal_note note = { .seq = ++rig.seq[0] };
	struct wire_header header = { .type = WIRE_BATCH,
		.partition = text_of(RIG_PARTITION),
		.node = text_of("n"),
		.session = rig_session(0),
		.seq = rig.seq[0],
		.records = 1,
		.codec = WIRE_ZSTD };
	struct wire_writer w;
	struct err err = { 0 };
	char name[] = "text 0";
	size_t bytes;

	wire_writer_init(&w, pairs, sizeof(pairs));
	for (int i = 0; i < TEXTS; i++, name[5]++) {
		for (int j = 0; j < TEXT_BYTES; j++)
			text[j] = (char)(' ' + check_random(random) % 95);
		wire_put_text_attribute(
		    &w, text_of(name), (struct text){ text, sizeof(text) });
	}
	record.pairs = (struct text){ (const char *)w.at, (uint32_t)w.bytes };
	wire_writer_init(&w, body, sizeof(body));
	assert_true(wire_put_record(&w, &record));
	header.body_bytes = (uint32_t)w.bytes;
	bytes = wire_compress(packed, sizeof(packed),
	    (struct text){ (const char *)w.at, (uint32_t)w.bytes });
	assert_true(bytes > 0);
	bytes = wire_frame(rig.frame, sizeof(rig.frame), &header,
	    (struct text){ (const char *)packed, (uint32_t)bytes });
	assert_true(bytes > 0);
	rig_good(journal_begin(rig.journal, &err), &err);
	rig.begun = true;
	journal_append(rig.journal,
	    (struct text){ (const char *)rig.frame, (uint32_t)bytes }, &note);
}

static void
a_record_larger_than_a_page_is_truncated_and_hides_no_other(void **state)
{
	uint64_t random = check_seed();
	struct client client;

	send_the_largest(&random);
	rig_event(&rig, "n", RIG_T0, "test", "event", "a=1");
	rig_event(&rig, "n", RIG_T0 + 2, "test", "event", "a=1");
	rig_send(&rig, 0);
	rig_indexer(&rig);
	read_all(&client, 0);
	assert_int_equal(client.refused, 0);
	assert_int_equal(client.events, 3);
	assert_int_equal(client.cut, 1);
	read_all(&client, WIRE_FLAG_PLAIN);
	assert_int_equal(client.events, 3);
	assert_int_equal(client.cut, 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* ---- questions that wait for the indexer ---- */

struct waiting_server {
	char endpoint[96];
	struct query_server *server;
	struct query_server_source source;
};

static void
start_server_of(struct waiting_server *to, struct query_server_source source)
{
	struct opt_list listen = { .at = { to->endpoint }, .count = 1 };
	struct query_server_options options = { .listen = &listen,
		/* Answers that a busy machine does not fetch are not dropped.
		 */
		.queue_messages = 100 };
	struct err err = { 0 };

	*to = (struct waiting_server){ .source = source };
	snprintf(
	    to->endpoint, sizeof(to->endpoint), "ipc://%s/door", rig.folder);
	rig_good(reader_open_shared(&to->source.reader, writer_db(rig.writer),
		     rig.journal, &err),
	    &err);
	rig_good(
	    query_server_open(&to->server, &options, &to->source, &err), &err);
	rig_good(query_server_start(to->server, NULL, &err), &err);
}

static void
start_server(struct waiting_server *to)
{
	start_server_of(to, (struct query_server_source){ .needs = entry_needed,
				.is_indexed = is_indexed,
				.status = put_status });
}

static void
stop_server(struct waiting_server *old)
{
	query_server_close(&old->server);
	reader_close(&old->source.reader);
}

static void
open_client(struct client *client, const char *endpoint)
{
	const struct zsock_options line = { .kind = ZSOCK_CONNECTION,
		.queue_messages = 10,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX };
	struct err err = { 0 };

	client->query = rig_query(1u << RECORD_EVENT, 0);
	rig_good(loop_new(&client->loop, &err), &err);
	rig_good(zsock_open(&client->line, &line, &err), &err);
	rig_good(zsock_connect(client->line, endpoint, &err), &err);
	rig_good(
	    loop_add_zsock(client->loop, client->line, on_line, client, &err),
	    &err);
	client->patience.on_timer = on_patience;
	client->patience.arg = client;
}

/* Wait for the answer, at most this long. */
static void
await_answer(struct client *client, int64_t ns)
{
	client->late = false;
	loop_set_timer(
	    client->loop, &client->patience, clock_monotonic_ns() + ns, 0);
	if (!client->asked)
		ask(client);
	loop_run(client->loop);
	loop_stop_timer(client->loop, &client->patience);
}

static void
close_client(struct client *client)
{
	loop_remove_zsock(client->loop, client->line);
	zsock_close(&client->line);
	loop_free(&client->loop);
}

static void
a_question_waits_while_others_are_answered(void **state)
{
	struct client slow = { .partition = NULL },
		      fast = { .partition = "acct$other" };
	struct waiting_server server;

	rig_event(&rig, "n", RIG_T0, "test", "event", "a=1");
	rig_send(&rig, 0);
	rig_indexer(&rig);
	indexed = 1;
	start_server(&server);
	open_client(&slow, server.endpoint);
	open_client(&fast, server.endpoint);
	await_answer(&slow, NS_PER_SECOND / 4);
	assert_true(slow.late);
	await_answer(&fast, NS_PER_SECOND);
	assert_false(fast.late);
	assert_int_equal(fast.pages, 1);
	assert_false(fast.incomplete);
	indexed = 5;
	await_answer(&slow, NS_PER_SECOND);
	assert_false(slow.late);
	assert_false(slow.incomplete);
	assert_int_equal(slow.events, 1);
	close_client(&slow);
	close_client(&fast);
	stop_server(&server);
}

/* Two events are indexed.  A third one, which arrived 2 ns after T0, is
 * not: the answer has two, and everything that arrived before that. */
static void
an_answer_says_up_to_when_it_is_complete(void **state)
{
	struct client client = { .partition = NULL };
	struct waiting_server server;

	for (int i = 0; i < 2; i++)
		rig_event(&rig, "n", RIG_T0 + i, "test", "event", "a=1");
	rig_send(&rig, 0);
	rig_indexer(&rig);
	rig_event(&rig, "n", RIG_T0 + 2, "test", "event", "a=1");
	rig_send(&rig, 0);
	rig_flush(&rig);
	indexed = 1;
	start_server(&server);
	open_client(&client, server.endpoint);
	await_answer(&client, 10 * NS_PER_SECOND);
	assert_false(client.late);
	assert_true(client.incomplete);
	assert_int_equal(client.events, 2);
	assert_int_equal(client.complete_ns, RIG_T0 + 2);
	close_client(&client);
	stop_server(&server);
}

/* ---- another source of answers ---- */

/* The second call fails. */
static int
answer_once(void *arg, struct reader *reader, const struct wire_header *header,
    const struct wire_query *query, struct wire_writer *w, bool *last,
    struct err *err)
{
	atomic_uint *calls = arg;

	return (*calls)++ == 0
		   ? reader_answer(reader, header, query, w, last, err)
		   : err_set(err, "shard 2 has\nno replica %0300d", 1);
}

static void
ask_again(struct client *client)
{
	client->asked = false;
	client->refused = WIRE_REASON_NONE;
	await_answer(client, 10 * NS_PER_SECOND);
	assert_false(client->late);
}

static void
what_answers_says_why_it_fails(void **state)
{
	struct client client = { .partition = NULL };
	struct waiting_server server;
	atomic_uint calls = 0;

	rig_event(&rig, "n", RIG_T0, "test", "event", "a=1");
	rig_send(&rig, 0);
	rig_indexer(&rig);
	start_server_of(&server, (struct query_server_source){
				     .answer = answer_once, .arg = &calls });
	open_client(&client, server.endpoint);
	ask_again(&client);
	assert_int_equal(client.refused, WIRE_REASON_NONE);
	assert_int_equal(client.events, 1);
	/* The reason is cut, and has nothing that a name must not have. */
	ask_again(&client);
	assert_int_equal(client.refused, WIRE_NACK_IO);
	assert_memory_equal(
	    client.detail, "shard 2 has\\x0Ano replica 000", 28);
	assert_true(strlen(client.detail) <= NAME_BYTES_MAX);
	assert_int_equal(calls, 2);
	close_client(&client);
	stop_server(&server);
}

/* Waits until it is let go. */
struct slow {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_open;
};

static int
answer_slowly(void *arg, struct reader *reader,
    const struct wire_header *header, const struct wire_query *query,
    struct wire_writer *w, bool *last, struct err *err)
{
	struct slow *slow = arg;

	pthread_mutex_lock(&slow->lock);
	while (!slow->is_open)
		pthread_cond_wait(&slow->changed, &slow->lock);
	pthread_mutex_unlock(&slow->lock);
	return reader_answer(reader, header, query, w, last, err);
}

static void
who_asks_again_hears_that_the_answer_is_made(void **state)
{
	struct slow slow = { .lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER };
	struct client client = { .partition = NULL };
	struct waiting_server server;

	rig_event(&rig, "n", RIG_T0, "test", "event", "a=1");
	rig_send(&rig, 0);
	rig_indexer(&rig);
	start_server_of(&server, (struct query_server_source){
				     .answer = answer_slowly, .arg = &slow });
	open_client(&client, server.endpoint);
	while (!client.asked)
		ask(&client);
	ask_again(&client);
	assert_int_equal(client.refused, WIRE_NACK_FETCHING);
	pthread_mutex_lock(&slow.lock);
	slow.is_open = true;
	pthread_cond_broadcast(&slow.changed);
	pthread_mutex_unlock(&slow.lock);
	client.refused = WIRE_REASON_NONE;
	await_answer(&client, 10 * NS_PER_SECOND);
	assert_false(client.late);
	assert_int_equal(client.refused, WIRE_REASON_NONE);
	assert_int_equal(client.events, 1);
	close_client(&client);
	stop_server(&server);
}

/* ---- several threads ---- */

enum { READERS = 8, QUESTIONS = 12 };

/* What a long question does: it asks for the status, which is not given before
 * it is let go. */
static struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool open;
	int inside;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER };

static void
put_status(
    void *arg, const struct query_server_status *status, struct wire_writer *w)
{
	pthread_mutex_lock(&gate.lock);
	gate.inside++;
	pthread_cond_broadcast(&gate.changed);
	while (!gate.open)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

static void
set_gate(bool open)
{
	pthread_mutex_lock(&gate.lock);
	gate.open = open;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

static void
await_inside(int inside)
{
	pthread_mutex_lock(&gate.lock);
	while (gate.inside < inside)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

/* A reader that sends its questions without waiting for the answers. */
struct asker {
	struct zsock *line;
	uint64_t asked, answered, busy;
};

static void
open_asker(struct asker *asker, const char *endpoint)
{
	const struct zsock_options line = { .kind = ZSOCK_CONNECTION,
		.queue_messages = 100,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX };
	struct err err = { 0 };

	*asker = (struct asker){ .line = NULL };
	rig_good(zsock_open(&asker->line, &line, &err), &err);
	rig_good(zsock_connect(asker->line, endpoint, &err), &err);
}

static void
send_question(struct asker *asker, enum wire_type type)
{
	struct wire_header header = { .type = type,
		.seq = ++asker->asked,
		.partition =
		    text_of(type == WIRE_STATUS ? "" : RIG_PARTITION) };
	struct wire_query query = rig_query(1u << RECORD_EVENT, 0);
	const struct route none = { .bytes = 0 };
	unsigned char body[1024], frame[2048];
	size_t bytes = type == WIRE_STATUS
			   ? 0
			   : wire_put_query(body, sizeof(body), &query);

	bytes = wire_frame(frame, sizeof(frame), &header,
	    (struct text){ (const char *)body, (uint32_t)bytes });
	assert_true(bytes > 0);
	while (zsock_send(asker->line, &none,
		   (struct text){ (const char *)frame, (uint32_t)bytes }) !=
	       ZSOCK_DONE)
		usleep(1000);
}

/* Take what has come: pages in the order of the questions. */
static void
take_answers(struct asker *asker)
{
	struct zsock_message message;
	struct wire_header header;
	struct text body;

	zsock_message_init(&message);
	while (zsock_recv(asker->line, &message) == ZSOCK_DONE) {
		assert_int_equal(
		    wire_open(message.frame, &header, &body), WIRE_OK);
		if (header.type == WIRE_NACK) {
			assert_int_equal(header.reason, WIRE_NACK_BUSY);
			assert_true(header.retry_ms > 0);
			asker->busy++;
			continue;
		}
		assert_int_equal(header.type, WIRE_PAGE);
		assert_int_equal(header.seq, ++asker->answered);
	}
	zsock_message_clear(&message);
}

static void
await_answers(struct asker *asker, uint64_t number)
{
	int64_t until_ns = clock_monotonic_ns() + PATIENCE_S * NS_PER_SECOND;

	while (asker->answered + asker->busy < number) {
		take_answers(asker);
		assert_true(clock_monotonic_ns() < until_ns);
		usleep(1000);
	}
	assert_int_equal(asker->answered + asker->busy, number);
}

static void
start_gated(struct waiting_server *server)
{
	rig_event(&rig, "n", RIG_T0, "test", "event", "a=1");
	rig_send(&rig, 0);
	rig_indexer(&rig);
	indexed = 5;
	set_gate(false);
	gate.inside = 0;
	start_server(server);
}

static void
a_long_question_delays_no_other_reader(void **state)
{
	struct waiting_server server;
	struct asker slow, quick;

	start_gated(&server);
	open_asker(&slow, server.endpoint);
	open_asker(&quick, server.endpoint);
	send_question(&slow, WIRE_STATUS);
	await_inside(1);
	/* Its next one waits for it, although a thread is idle. */
	send_question(&slow, WIRE_SELECT);
	for (int i = 0; i < 3; i++) {
		send_question(&quick, WIRE_SELECT);
		await_answers(&quick, quick.asked);
	}
	take_answers(&slow);
	assert_int_equal(slow.answered, 0);
	set_gate(true);
	await_answers(&slow, 2);
	zsock_close(&slow.line);
	zsock_close(&quick.line);
	stop_server(&server);
}

static void
each_reader_gets_its_answers_in_order(void **state)
{
	struct waiting_server server;
	struct asker askers[READERS];

	start_gated(&server);
	set_gate(true);
	for (int i = 0; i < READERS; i++)
		open_asker(&askers[i], server.endpoint);
	for (int i = 0; i < QUESTIONS; i++)
		for (int j = 0; j < READERS; j++)
			send_question(&askers[j],
			    (i + j) % 3 == 0 ? WIRE_STATUS : WIRE_SELECT);
	for (int i = 0; i < READERS; i++) {
		await_answers(&askers[i], QUESTIONS);
		assert_int_equal(askers[i].busy, 0);
		zsock_close(&askers[i].line);
	}
	stop_server(&server);
}

/* Sixteen wait, of which one is being answered. */
static void
a_flood_is_refused_as_busy(void **state)
{
	struct waiting_server server;
	struct asker asker;

	start_gated(&server);
	open_asker(&asker, server.endpoint);
	for (int i = 0; i < 40; i++)
		send_question(&asker, WIRE_STATUS);
	while (asker.busy < 40 - 16) {
		take_answers(&asker);
		usleep(1000);
	}
	assert_int_equal(asker.answered, 0);
	set_gate(true);
	await_answers(&asker, 40);
	assert_int_equal(asker.answered, 16);
	zsock_close(&asker.line);
	stop_server(&server);
}

static void *
let_go(void *arg)
{
	usleep(200000);
	set_gate(true);
	return arg;
}

static void
closing_waits_for_the_answers_that_are_being_made(void **state)
{
	struct waiting_server server;
	struct asker askers[2];
	pthread_t other;

	start_gated(&server);
	for (int i = 0; i < 2; i++) {
		open_asker(&askers[i], server.endpoint);
		for (int j = 0; j < 10; j++)
			send_question(&askers[i], WIRE_STATUS);
	}
	await_inside(2);
	/* A reader that dies while its question is answered. */
	zsock_close(&askers[1].line);
	assert_int_equal(pthread_create(&other, NULL, let_go, NULL), 0);
	stop_server(&server);
	assert_true(gate.open);
	pthread_join(other, NULL);
	zsock_close(&askers[0].line);
}

/* The questions that it left are dropped. */
static void
a_dead_reader_leaves_no_work(void **state)
{
	struct waiting_server server;
	struct asker dead, living;

	start_gated(&server);
	open_asker(&dead, server.endpoint);
	open_asker(&living, server.endpoint);
	for (int i = 0; i < 10; i++)
		send_question(&dead, WIRE_STATUS);
	send_question(&living, WIRE_SELECT);
	await_answers(&living, 1);
	await_inside(1);
	zsock_close(&dead.line);
	/* The listener knows it once it has answered others. */
	for (int i = 0; i < 50; i++) {
		usleep(5000);
		send_question(&living, WIRE_SELECT);
		await_answers(&living, living.asked);
	}
	set_gate(true);
	for (int i = 0; i < 50; i++) {
		send_question(&living, WIRE_SELECT);
		await_answers(&living, living.asked);
	}
	assert_int_equal(gate.inside, 1);
	zsock_close(&living.line);
	stop_server(&server);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_page_is_asked_for_in_turn),
		CASE(
		    a_record_larger_than_a_page_is_truncated_and_hides_no_other),
		CASE(a_question_waits_while_others_are_answered),
		CASE(an_answer_says_up_to_when_it_is_complete),
		CASE(what_answers_says_why_it_fails),
		CASE(who_asks_again_hears_that_the_answer_is_made),
		CASE(a_long_question_delays_no_other_reader),
		CASE(each_reader_gets_its_answers_in_order),
		CASE(a_flood_is_refused_as_busy),
		CASE(closing_waits_for_the_answers_that_are_being_made),
		CASE(a_dead_reader_leaves_no_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
