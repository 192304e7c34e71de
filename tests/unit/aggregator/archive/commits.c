/*
 * commits - a commit of more counts than a block has rows.  A server listens
 * here: it reads each block, notes its rows, and confirms or refuses it.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "aggregator/archive/commits.h"
#include "proto/clickhouse/native_read.h"

enum {
	HOURS = 1024, /* of a partition */
	KEYS = NATIVE_ROWS_MAX + 5000,
	INSERTS = 8,
	HEAD_BYTES = 16 << 10,
};

/* proto/archive.md, "Which rows count". */
static const struct native_column columns[] = {
	{ "part", NATIVE_UINT64 },
	{ "tbl", NATIVE_STRING },
	{ "hour", NATIVE_INT32 },
	{ "name", NATIVE_STRING },
	{ "shard", NATIVE_UINT32 },
	{ "since", NATIVE_UINT64 },
	{ "pos", NATIVE_UINT64 },
	{ "rows", NATIVE_UINT64 },
	{ "hash", NATIVE_UINT64 },
	{ "row", NATIVE_UINT64 },
	{ "entry", NATIVE_UINT64 },
	{ "at_ns", NATIVE_INT64 },
};

/* ---- the server ---- */

static struct {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	unsigned refused;     /* number of the insert, from 1 on; 0: none */
	unsigned inserts;
	struct {
		uint32_t rows, places;
	} insert[INSERTS];
	/* The last counts of each key. */
	uint64_t since[KEYS];
	uint32_t rows[KEYS], hash[KEYS];
} server;

static void
answer(int fd, const char *status, const char *body)
{
	char text[512];
	int bytes = snprintf(text, sizeof(text),
	    "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
	    status, strlen(body), body);

	if (send(fd, text, (size_t)bytes, MSG_NOSIGNAL) != bytes)
		perror("send");
}

static void
take_row(const struct native_reader *reader, uint32_t i)
{
	uint64_t part = native_read_uint(reader, 0, i), key;

	if (part == 0) {
		server.insert[server.inserts].places++;
		return;
	}
	key = (part - 1) * HOURS + (uint64_t)native_read_int(reader, 2, i);
	assert(key < KEYS);
	server.since[key] = native_read_uint(reader, 5, i);
	server.rows[key] = (uint32_t)native_read_uint(reader, 7, i);
	server.hash[key] = (uint32_t)native_read_uint(reader, 8, i);
}

static void
take_block(const char *block, size_t bytes)
{
	struct native_reader *reader = native_read_open(columns, 12);
	struct text piece = { block, (uint32_t)bytes };
	struct err err = { .text = "" };

	assert(server.inserts < INSERTS);
	while (native_read_next(reader, &piece, &err) == 1) {
		server.insert[server.inserts].rows += native_read_rows(reader);
		for (uint32_t i = 0; i < native_read_rows(reader); i++)
			take_row(reader, i);
	}
	assert(native_read_end(reader, &err) == 0);
	native_read_close(&reader);
	server.inserts++;
}

/* false: this one is refused. */
static bool
take_insert(const char *block, size_t bytes)
{
	bool taken;

	pthread_mutex_lock(&server.lock);
	taken = server.refused == 0 || --server.refused != 0;
	if (taken)
		take_block(block, bytes);
	pthread_mutex_unlock(&server.lock);
	return taken;
}

static void
converse(int fd)
{
	char head[HEAD_BYTES], *end = NULL, *length, *body;
	size_t bytes = 0, wanted, front;
	ssize_t n;

	while (end == NULL) {
		n = read(fd, head + bytes, sizeof(head) - 1 - bytes);
		if (n <= 0)
			return;
		bytes += (size_t)n;
		head[bytes] = '\0';
		end = strstr(head, "\r\n\r\n");
	}
	length = strstr(head, "Content-Length: ");
	assert(length != NULL);
	wanted = strtoul(length + 16, NULL, 10);
	front = (size_t)(end + 4 - head);
	body = malloc(wanted + 1);
	assert(body != NULL);
	bytes -= front;
	memcpy(body, head + front, bytes);
	for (; bytes < wanted; bytes += (size_t)n)
		if ((n = read(fd, body + bytes, wanted - bytes)) <= 0)
			break;
	body[bytes] = '\0';
	*end = '\0';
	if (strstr(head, "query=INSERT") == NULL)
		answer(fd, "200 OK",
		    strstr(body, "system.clusters") != NULL
			? "1\t1\t127.0.0.1\t1\n"
			: ".version\t18.16.1\n.keeper\t1\ncluster\tc\n"
			  "shard\t1\nreplica\tr\n");
	else
		answer(fd,
		    take_insert(body, bytes) ? "200 OK"
					     : "500 Internal Server Error",
		    "");
	free(body);
}

static void *
serve(void *arg)
{
	int fd;

	while ((fd = accept(server.fd, NULL, NULL)) >= 0) {
		converse(fd);
		close(fd);
	}
	return arg;
}

/* ---- who commits ---- */

enum { EPOCH = 3 };

static struct clickhouse *client;
static struct commits commits;
static struct err err;

static int
start(void **state)
{
	struct clickhouse_options how = CLICKHOUSE_DEFAULT;
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(at);
	static char address[96];

	memset(&server, 0, sizeof(server));
	pthread_mutex_init(&server.lock, NULL);
	server.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server.fd, (struct sockaddr *)&at, bytes), 0);
	assert_int_equal(listen(server.fd, 8), 0);
	getsockname(server.fd, (struct sockaddr *)&at, &bytes);
	assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);
	snprintf(address, sizeof(address), "clickhouse://u@127.0.0.1:%u/p",
	    ntohs(at.sin_port));
	how.url = address;
	assert_int_equal(clickhouse_open(&client, &how, "to", &err), 0);
	assert_int_equal(clickhouse_find(client, &err), 0);
	assert_int_equal(
	    commits_begin(&commits, pass_position(EPOCH, 7), 0, client, &err),
	    0);
	return 0;
}

static int
stop(void **state)
{
	commits_clear(&commits);
	clickhouse_close(&client);
	shutdown(server.fd, SHUT_RDWR);
	pthread_join(server.thread, NULL);
	close(server.fd);
	pthread_mutex_destroy(&server.lock);
	return 0;
}

/* Of each key up to `keys`, `times` facts with its number as their hash. */
static void
add(uint32_t keys, unsigned times)
{
	for (uint32_t i = 0; i < keys; i++)
		for (unsigned t = 0; t < times; t++)
			commits_add(&commits, 0, SCHEMA_EVENTS, 1 + i / HOURS,
			    (int32_t)(i % HOURS), false, i);
}

/* What either thread wrote before is seen by the other one after. */
static void
meet(void)
{
	pthread_mutex_lock(&server.lock);
	pthread_mutex_unlock(&server.lock);
}

static int
commit(uint64_t change)
{
	const struct pass_place place = { .change = change };
	int rc;

	meet();
	rc = commits_write(&commits, client, EPOCH, &place, &err);
	meet();
	return rc;
}

static void
assert_said(uint32_t keys, uint32_t rows, uint64_t since)
{
	for (uint32_t i = 0; i < keys; i++)
		if (server.rows[i] != rows || server.hash[i] != rows * i ||
		    server.since[i] != pass_position(EPOCH, since))
			fail_msg("key %u: %u rows, hash %u, since %llu", i,
			    server.rows[i], server.hash[i],
			    (unsigned long long)server.since[i]);
}

/* ---- cases ---- */

/* valgrind needs minutes to fill a block: one case does it there. */
static void
skip_if_slow(void)
{
	if (check_share(40, 1) == 1)
		skip();
}

static void
counts_that_fit_are_one_block_with_the_place(void **state)
{
	skip_if_slow();
	add(NATIVE_ROWS_MAX - 1, 1);
	assert_int_equal(commit(9), 0);
	assert_said(NATIVE_ROWS_MAX - 1, 1, 7);
	assert_int_equal(server.inserts, 1);
	assert_int_equal(server.insert[0].rows, NATIVE_ROWS_MAX);
	assert_int_equal(server.insert[0].places, 1);
}

static void
what_is_too_much_for_a_block_is_all_counted_before_the_place(void **state)
{
	add(KEYS, 1);
	assert_int_equal(commit(9), 0);
	assert_said(KEYS, 1, 7);
	assert_int_equal(server.inserts, 2);
	assert_int_equal(server.insert[0].rows, NATIVE_ROWS_MAX);
	assert_int_equal(server.insert[0].places, 0);
	assert_int_equal(server.insert[1].rows, KEYS - NATIVE_ROWS_MAX + 1);
	assert_int_equal(server.insert[1].places, 1);
}

/* Whoever starts again after a crash in between begins at the last place, 9: it
 * counts the same from there. */
static void
it_counts_from_the_last_place_however_often_it_is_sent(void **state)
{
	skip_if_slow();
	add(10, 2);
	assert_int_equal(commit(9), 0);
	assert_said(10, 2, 7);
	add(KEYS, 1);
	server.refused = 2;
	assert_int_equal(commit(11), -1);
	assert_int_equal(server.insert[1].places, 0);
	add(KEYS, 2);
	assert_int_equal(commit(12), 0);
	assert_said(KEYS, 3, 9);
	assert_int_equal(server.insert[3].places, 1);
}

/* What was tried may be there: it would be counted from two places.  The rest
 * is before the place, and whoever starts again begins at 9. */
static void
a_try_that_has_grown_repeats_what_was_tried_with_the_place(void **state)
{
	skip_if_slow();
	add(10, 1);
	assert_int_equal(commit(9), 0);
	add(10, 1);
	server.refused = 1;
	assert_int_equal(commit(11), -1);
	add(KEYS, 1);
	server.refused = 2;
	assert_int_equal(commit(12), -1);
	assert_said(10, 1, 7);
	assert_int_equal(
	    server.since[NATIVE_ROWS_MAX], pass_position(EPOCH, 9));
	assert_int_equal(commit(13), 0);
	assert_said(10, 3, 7);
	for (uint32_t i = 10; i < KEYS; i++) {
		assert_int_equal(server.since[i], pass_position(EPOCH, 9));
		assert_int_equal(server.rows[i], 1);
	}
	assert_int_equal(server.insert[3].rows, KEYS - NATIVE_ROWS_MAX + 1);
	assert_int_equal(server.insert[3].places, 1);
	add(10, 1);
	assert_int_equal(commit(14), 0);
	assert_said(10, 1, 13);
}

/* More than 2^17 are not kept to be added to. */
static void
counts_that_are_many_are_followed_by_a_new_since(void **state)
{
	add((1 << 17) + 1, 1);
	assert_int_equal(commit(9), 0);
	assert_int_equal(commits.committed.keys.count, 0);
	add(10, 1);
	assert_int_equal(commit(11), 0);
	assert_said(10, 1, 9);
}

static void
assert_rows(uint32_t from, uint32_t to, uint32_t rows)
{
	for (uint32_t i = from; i < to; i++)
		assert_int_equal(server.rows[i], rows);
}

static void
what_replicas_may_have_lost_is_committed_once_more(void **state)
{
	add(10, 1);
	assert_int_equal(commit(9), 0);
	memset(server.rows, 0, sizeof(server.rows));
	commits_repeat(&commits);
	add(3, 1);
	assert_int_equal(commit(11), 0);
	assert_rows(0, 3, 2);
	assert_rows(3, 10, 1);
	memset(server.rows, 0, sizeof(server.rows));
	add(3, 1);
	assert_int_equal(commit(12), 0);
	assert_rows(0, 3, 3);
	assert_rows(3, 10, 0);
}

/* Who does not learn what the commits before lack has not begun: what it would
 * count from a place of before would replace what was counted there. */
static void
who_does_not_begin_has_no_place(void **state)
{
	add(10, 1);
	assert_int_equal(commit(9), 0);
	assert_true(commits.pos == pass_position(EPOCH, 9));
	/* The answer is no row of commits. */
	assert_int_equal(commits_begin(&commits, pass_position(EPOCH, 9), EPOCH,
			     client, &err),
	    -1);
	assert_true(commits.pos == 0);
	assert_true(commits.since == 0);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		CASE(counts_that_fit_are_one_block_with_the_place),
		CASE(
		    what_is_too_much_for_a_block_is_all_counted_before_the_place),
		CASE(it_counts_from_the_last_place_however_often_it_is_sent),
		CASE(
		    a_try_that_has_grown_repeats_what_was_tried_with_the_place),
		CASE(counts_that_are_many_are_followed_by_a_new_since),
		CASE(what_replicas_may_have_lost_is_committed_once_more),
		CASE(who_does_not_begin_has_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
