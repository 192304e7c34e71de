/*
 * block_sender - two blocks at a time go to the shards; what counts as sent is
 * what a replica confirmed.  Two replicas listen here: they read each block,
 * count its rows by number, and confirm or refuse it.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "aggregator/archive/blocks/block_sender.h"
#include "proto/clickhouse/native_read.h"
#include "proto/os/clock.h"

enum {
	REPLICAS = 2,
	CONNECTIONS = 256,
	ROWS = 64,
	REQUEST_BYTES = 64 << 10,
	/* Rows so far apart are in different blocks: two rows are one. */
	APART_HOURS = 24 * 90,
};

static const struct native_column columns[] = {
	{ "part", NATIVE_UINT64 },
	{ "kind", NATIVE_UINT8 },
	{ "name", NATIVE_STRING },
	{ "pos", NATIVE_UINT64 },
	{ "no", NATIVE_UINT32 },
};

/* ---- the replicas ---- */

static struct {
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	bool refuses[REPLICAS], is_mute;
	unsigned wanted; /* inserts at a time that are waited for */
	unsigned now;
	struct counts {
		unsigned most, inserts[REPLICAS], rows[ROWS];
	} counts;
} server = { .lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER };

static struct replica {
	unsigned number;
	int fd;
	uint16_t port;
	pthread_t thread;
} replica[REPLICAS];

static struct connection {
	pthread_t thread;
	int fd;
	unsigned replica;
} connections[CONNECTIONS];
static unsigned connected;

static void
answer(int fd, const char *status, const char *body)
{
	char text[1024];
	int bytes = snprintf(text, sizeof(text),
	    "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
	    status, strlen(body), body);

	if (send(fd, text, (size_t)bytes, MSG_NOSIGNAL) != bytes)
		perror("send");
}

/* The request, with a NUL behind it; its body, NULL: it was cut. */
static char *
hear(int fd, char *room, size_t *body_bytes)
{
	size_t bytes = 0;
	char *end = NULL, *length;

	for (;;) {
		ssize_t n = read(fd, room + bytes, REQUEST_BYTES - 1 - bytes);

		if (n <= 0)
			return NULL;
		bytes += (size_t)n;
		room[bytes] = '\0';
		end = strstr(room, "\r\n\r\n");
		length = strstr(room, "Content-Length: ");
		if (end == NULL || length == NULL)
			continue;
		*body_bytes = strtoul(length + 16, NULL, 10);
		if (bytes >= (size_t)(end + 4 - room) + *body_bytes)
			return end + 4;
	}
}

static void
count_rows(const char *block, size_t bytes)
{
	struct native_reader *reader = native_read_open(columns, 5);
	struct text piece = { block, (uint32_t)bytes };
	struct err err = { .text = "" };

	while (native_read_next(reader, &piece, &err) == 1)
		for (uint32_t i = 0; i < native_read_rows(reader); i++)
			server.counts.rows[native_read_uint(reader, 4, i)]++;
	assert(native_read_end(reader, &err) == 0);
	native_read_close(&reader);
}

static void
insert(const struct connection *from, const char *block, size_t bytes)
{
	struct timespec until;
	bool refuses;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 20;
	pthread_mutex_lock(&server.lock);
	server.counts.inserts[from->replica]++;
	if (++server.now > server.counts.most)
		server.counts.most = server.now;
	pthread_cond_broadcast(&server.changed);
	while (server.is_mute || server.counts.most < server.wanted)
		if (pthread_cond_timedwait(
			&server.changed, &server.lock, &until) != 0)
			break;
	refuses = server.refuses[from->replica];
	if (!refuses)
		count_rows(block, bytes);
	server.now--;
	pthread_mutex_unlock(&server.lock);
	answer(from->fd, refuses ? "500 Internal Server Error" : "200 OK", "");
}

static void *
converse(void *arg)
{
	const struct connection *from = arg;
	char *room = malloc(REQUEST_BYTES), *body, self[128];
	size_t bytes;

	assert(room != NULL);
	body = hear(from->fd, room, &bytes);
	snprintf(self, sizeof(self),
	    ".version\t18.16.1\n.keeper\t1\ncluster\tc\nshard\t1\n"
	    "replica\tr%u\n",
	    from->replica);
	if (body != NULL && strstr(room, "query=INSERT") != NULL)
		insert(from, body, bytes);
	else if (body != NULL && strstr(body, "system.clusters") != NULL)
		answer(from->fd, "200 OK",
		    "1\t1\t127.0.0.1\t1\n1\t2\t127.0.0.1\t1\n");
	else if (body != NULL)
		answer(from->fd, "200 OK", self);
	free(room);
	close(from->fd);
	return NULL;
}

static void *
serve(void *arg)
{
	const struct replica *self = arg;
	int fd;

	while ((fd = accept(self->fd, NULL, NULL)) >= 0) {
		struct connection *of;

		pthread_mutex_lock(&server.lock);
		assert(connected < CONNECTIONS);
		of = &connections[connected++];
		*of = (struct connection){ .fd = fd, .replica = self->number };
		pthread_create(&of->thread, NULL, converse, of);
		pthread_mutex_unlock(&server.lock);
	}
	return NULL;
}

static void
listen_at(struct replica *self, unsigned number)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(at);

	self->number = number;
	self->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(self->fd, (struct sockaddr *)&at, bytes), 0);
	assert_int_equal(listen(self->fd, 64), 0);
	getsockname(self->fd, (struct sockaddr *)&at, &bytes);
	self->port = ntohs(at.sin_port);
	assert_int_equal(pthread_create(&self->thread, NULL, serve, self), 0);
}

static void
refuse(bool first, bool second)
{
	pthread_mutex_lock(&server.lock);
	server.refuses[0] = first;
	server.refuses[1] = second;
	pthread_mutex_unlock(&server.lock);
}

static void
be_mute(bool is_mute)
{
	pthread_mutex_lock(&server.lock);
	server.is_mute = is_mute;
	pthread_cond_broadcast(&server.changed);
	pthread_mutex_unlock(&server.lock);
}

static struct counts
counts(void)
{
	struct counts now;

	pthread_mutex_lock(&server.lock);
	now = server.counts;
	pthread_mutex_unlock(&server.lock);
	return now;
}

/* ---- the sender ---- */

static struct clickhouse *client;
static struct block_sender sender;
static atomic_bool stopping;
static struct err err;

static int
start(void **state)
{
	struct clickhouse_options how = CLICKHOUSE_DEFAULT;
	static char address[96];

	server.counts = (struct counts){ .most = 0 };
	server.wanted = 0;
	server.refuses[0] = server.refuses[1] = server.is_mute = false;
	connected = 0;
	for (unsigned r = 0; r < REPLICAS; r++)
		listen_at(&replica[r], r);
	snprintf(address, sizeof(address),
	    "clickhouse://u@127.0.0.1:%u,127.0.0.1:%u/p", replica[0].port,
	    replica[1].port);
	atomic_store(&stopping, false);
	how.url = address;
	how.stop = &stopping;
	err.text[0] = '\0';
	assert_int_equal(clickhouse_open(&client, &how, "to", &err), 0);
	assert_int_equal(clickhouse_find(client, &err), 0);
	block_sender_open(&sender, client, clickhouse_cluster(client));
	return 0;
}

static int
stop(void **state)
{
	block_sender_close(&sender);
	clickhouse_close(&client);
	for (unsigned r = 0; r < REPLICAS; r++) {
		shutdown(replica[r].fd, SHUT_RDWR);
		pthread_join(replica[r].thread, NULL);
		close(replica[r].fd);
	}
	for (unsigned i = 0; i < connected; i++)
		pthread_join(connections[i].thread, NULL);
	return 0;
}

/* Rows `from` to `to` - 1, each with itself as its hash. */
static int
put_rows(unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		struct native_block *block =
		    block_sender_block(&sender, 0, SCHEMA_NAMES);

		native_put_uint(block, 0, 1);
		native_put_uint(block, 1, 0);
		native_put_text(block, 2, text_of("name"));
		native_put_uint(block, 3, 9);
		native_put_uint(block, 4, i);
		if (block_sender_added(&sender, 0, SCHEMA_NAMES, i,
			(int32_t)i * APART_HOURS, &err) != 0)
			return -1;
	}
	return 0;
}

static const struct block_sender_total *
sent(void)
{
	return &sender.shard[0].sent[SCHEMA_NAMES];
}

static void
assert_rows(unsigned from, unsigned to, unsigned times)
{
	struct counts now = counts();

	for (unsigned i = from; i < to; i++)
		assert_int_equal(now.rows[i], times);
}

/* ---- cases ---- */

/* 0 + 1 + ... + 63 = 2016. */
static void
each_row_is_sent_once(void **state)
{
	assert_int_equal(put_rows(0, ROWS), 0);
	assert_int_equal(
	    block_sender_flush(&sender, &schema_stages[0], &err), 0);
	assert_rows(0, ROWS, 1);
	assert_int_equal(sent()->rows, ROWS);
	assert_int_equal(sent()->hash, 2016);
	assert_int_equal(sent()->first_hour, 0);
	assert_int_equal(sent()->last_hour, 63 * APART_HOURS);
	assert_int_equal(sender.rows, ROWS);
	assert_int_equal(sender.resends, 0);
	assert_int_equal(counts().inserts[0], ROWS / 2);
	assert_int_equal(counts().inserts[1], 0);
}

static void
two_blocks_are_on_their_way_at_a_time(void **state)
{
	pthread_mutex_lock(&server.lock);
	server.wanted = 2;
	pthread_mutex_unlock(&server.lock);
	assert_int_equal(put_rows(0, ROWS), 0);
	assert_int_equal(
	    block_sender_flush(&sender, &schema_stages[0], &err), 0);
	assert_int_equal(counts().most, 2);
	assert_rows(0, ROWS, 1);
	assert_int_equal(sent()->rows, ROWS);
}

/* The first blocks begin before the refusal is known, so at most two of them
 * ask the first replica. */
static void
what_a_replica_refuses_goes_to_the_next_one(void **state)
{
	refuse(true, false);
	assert_int_equal(put_rows(0, ROWS), 0);
	assert_int_equal(
	    block_sender_flush(&sender, &schema_stages[0], &err), 0);
	assert_rows(0, ROWS, 1);
	assert_int_equal(sent()->rows, ROWS);
	assert_int_equal(counts().inserts[1], ROWS / 2);
	assert_in_range(counts().inserts[0], 1, 2);
	assert_int_equal(sender.resends, counts().inserts[0]);
	refuse(false, true);
	assert_int_equal(put_rows(0, 2), 0);
	assert_int_equal(
	    block_sender_flush(&sender, &schema_stages[0], &err), 0);
	assert_rows(0, 2, 2);
	assert_int_equal(sent()->rows, ROWS + 2);
}

static void
what_nobody_takes_does_not_count(void **state)
{
	struct block_sender_shard before;

	assert_int_equal(put_rows(0, 4), 0);
	assert_int_equal(
	    block_sender_flush(&sender, &schema_stages[0], &err), 0);
	before = sender.shard[0];
	refuse(true, true);
	assert_true(put_rows(4, ROWS) != 0 ||
		    block_sender_flush(&sender, &schema_stages[0], &err) != 0);
	assert_non_null(strstr(err.text, "127.0.0.1"));
	block_sender_undo(&sender, &before);
	assert_int_equal(sent()->rows, 4);
	assert_int_equal(sent()->hash, 0 + 1 + 2 + 3);
	refuse(false, false);
	assert_int_equal(
	    block_sender_flush(&sender, &schema_stages[0], &err), 0);
	assert_rows(4, ROWS, 0);
	assert_int_equal(put_rows(4, ROWS), 0);
	assert_int_equal(
	    block_sender_flush(&sender, &schema_stages[0], &err), 0);
	assert_rows(0, ROWS, 1);
	assert_int_equal(sent()->rows, ROWS);
	assert_int_equal(sent()->hash, 2016);
}

/* Of a pass that fails, some blocks were stored: they are sent again, and
 * count once. */
static void
after_a_failure_stored_blocks_do_not_count_either(void **state)
{
	struct block_sender_shard before = sender.shard[0];

	assert_int_equal(put_rows(0, 21), 0);
	block_sender_undo(&sender, &before);
	assert_int_equal(sent()->rows, 0);
	assert_int_equal(put_rows(0, ROWS), 0);
	assert_int_equal(
	    block_sender_flush(&sender, &schema_stages[0], &err), 0);
	assert_int_equal(sent()->rows, ROWS);
	assert_int_equal(sent()->hash, 2016);
	assert_rows(0, 20, 2);
	assert_rows(20, ROWS, 1);
}

static void *
stop_soon(void *arg)
{
	struct timespec pause = { .tv_nsec = 100000000 };

	nanosleep(&pause, NULL);
	atomic_store(&stopping, true);
	return NULL;
}

static void
another_thread_ends_what_is_on_its_way(void **state)
{
	int64_t before_ns = clock_monotonic_ns();
	pthread_t thread;

	be_mute(true);
	pthread_create(&thread, NULL, stop_soon, NULL);
	assert_true(put_rows(0, ROWS) != 0 ||
		    block_sender_flush(&sender, &schema_stages[0], &err) != 0);
	assert_true(clock_monotonic_ns() - before_ns < 20 * NS_PER_SECOND);
	assert_int_equal(err.code, ERR_INTERRUPTED);
	assert_int_equal(sent()->rows, 0);
	pthread_join(thread, NULL);
	be_mute(false);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		CASE(each_row_is_sent_once),
		CASE(two_blocks_are_on_their_way_at_a_time),
		CASE(what_a_replica_refuses_goes_to_the_next_one),
		CASE(what_nobody_takes_does_not_count),
		CASE(after_a_failure_stored_blocks_do_not_count_either),
		CASE(another_thread_ends_what_is_on_its_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
