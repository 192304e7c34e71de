/*
 * clickhouse_client - what an archive may answer, and what of it is success.
 * The texts of exceptions are those of versions 18.16 and 24.8.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/clickhouse/client.h"

#define OLD                                                                    \
	"Code: 60, e.displayText() = DB::Exception: Table p.t doesn't "        \
	"exist., "                                                             \
	"e.what() = DB::Exception\n"
#define NEW                                                                    \
	"Code: 60. DB::Exception: Table p.t does not exist. (UNKNOWN_TABLE) "  \
	"(version 24.8.4.13 (official build))\n"
#define SELF ".version\t18.16.1\n.keeper\t0\n"
/* The client of these tests waits 2 s. */
#define LIMIT  "&max_execution_time=3&timeout_before_checking_execution_speed=0"
#define CANCEL "&cancel_http_readonly_queries_on_client_close=1"

/* ---- a server that gives the same answer to each question but what it is ----
 */

static struct {
	int fd;
	uint16_t port;
	pthread_t thread;
	pthread_mutex_t lock;      /* protects the answer */
	const char *self;          /* what it says of itself */
	const char *status, *body; /* NULL: it never answers */
	size_t length;             /* that it claims */
	char heard[4096];          /* the last request */
} server = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
answer(int fd, const char *status, const char *body, size_t length)
{
	char text[2048];
	int bytes = snprintf(text, sizeof(text),
	    "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
	    status, length, body);

	if (send(fd, text, (size_t)bytes, MSG_NOSIGNAL) != bytes)
		perror("send");
}

static void
hear(int fd)
{
	size_t bytes = 0;
	const char *end = NULL, *length = NULL;

	do {
		ssize_t n = read(
		    fd, server.heard + bytes, sizeof(server.heard) - 1 - bytes);

		if (n <= 0)
			return;
		bytes += (size_t)n;
		server.heard[bytes] = '\0';
		end = strstr(server.heard, "\r\n\r\n");
		length = strstr(server.heard, "Content-Length: ");
	} while (end == NULL || length == NULL ||
		 bytes < (size_t)(end + 4 - server.heard) +
			     strtoul(length + 16, NULL, 10));
}

static void *
serve(void *arg)
{
	int fd;

	while ((fd = accept(server.fd, NULL, NULL)) >= 0) {
		const char *status, *body, *self;
		size_t length;
		char byte;

		hear(fd);
		pthread_mutex_lock(&server.lock);
		status = server.status;
		body = server.body;
		self = server.self;
		length = server.length;
		pthread_mutex_unlock(&server.lock);
		if (strstr(server.heard, "'.version'") != NULL)
			answer(fd, "200 OK", self, strlen(self));
		else if (body != NULL)
			answer(fd, status, body, length);
		else
			while (read(fd, &byte, 1) > 0)
				;
		close(fd);
	}
	return NULL;
}

static struct clickhouse *client;
static atomic_bool stopping;
static struct err err;

static int
start(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct clickhouse_options how = CLICKHOUSE_DEFAULT;
	socklen_t bytes = sizeof(at);
	char address[64];

	server.self = SELF;
	server.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(
	    bind(server.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(server.fd, 8), 0);
	getsockname(server.fd, (struct sockaddr *)&at, &bytes);
	snprintf(address, sizeof(address), "clickhouse://u@127.0.0.1:%u/p",
	    ntohs(at.sin_port));
	assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);
	atomic_store(&stopping, false);
	how.url = address;
	how.stop = &stopping;
	how.timeout_ns = 2 * NS_PER_SECOND;
	err.text[0] = '\0';
	assert_int_equal(clickhouse_open(&client, &how, "to", &err), 0);
	assert_int_equal(clickhouse_find(client, &err), 0);
	return 0;
}

static int
stop(void **state)
{
	clickhouse_close(&client);
	shutdown(server.fd, SHUT_RDWR);
	pthread_join(server.thread, NULL);
	close(server.fd);
	return 0;
}

static void
will_answer(const char *status, const char *body, size_t length)
{
	pthread_mutex_lock(&server.lock);
	server.status = status;
	server.body = body;
	server.length = length;
	pthread_mutex_unlock(&server.lock);
}

static int
ask(const char *status, const char *body, size_t length, struct text *got)
{
	will_answer(status, body, length);
	err.text[0] = '\0';
	return clickhouse_ask(client, 0, 0, "SELECT 1", got, &err);
}

static int
ask_all(const char *status, const char *body)
{
	struct text got;

	return ask(status, body, strlen(body), &got);
}

/* ---- what it makes of the answers ---- */

static void
a_server_alone_is_one_shard_with_one_copy(void **state)
{
	const struct clickhouse_cluster *cluster = clickhouse_cluster(client);

	assert_int_equal(cluster->shards, 1);
	assert_int_equal(cluster->shard[0].replicas, 1);
	assert_int_equal(cluster->version, 18016);
	assert_false(cluster->keeper);
}

static void
a_whole_answer_is_given(void **state)
{
	struct text got;

	assert_int_equal(ask("200 OK", "1\tx\n2\ty\n", 8, &got), 0);
	assert_true(text_equal(got, text_of("1\tx\n2\ty\n")));
	assert_non_null(strstr(server.heard, "X-ClickHouse-User: u\r\n"));
	assert_non_null(strstr(server.heard, "wait_end_of_query=1"));
	assert_int_equal(ask("200 OK", "", 0, &got), 0);
	assert_int_equal(got.bytes, 0);
}

/* Settings are sent where our user may change them, and the server knows them.
 */
static void
a_question_ends_with_its_asker(void **state)
{
	static const struct {
		const char *self, *settings;
	} of[] = {
		{ SELF, "" }, /* it does not say what our user may */
		{ SELF ".readonly\t1\n.max_execution_time\t0\n", "" },
		{ ".version\t26.9.1\n.readonly\t1\n", "" },
		{ SELF ".readonly\t0\n.max_execution_time\t0\n", LIMIT },
		{ SELF ".readonly\t2\n.max_execution_time\t0\n", LIMIT },
		{ SELF ".readonly\t0\n.max_execution_time\t9\n", "" },
		{ ".version\t19.17.6\n.readonly\t0\n", LIMIT },
		{ ".version\t26.9.1\n.readonly\t0\n",
		    LIMIT "&readonly=2" CANCEL },
		{ ".version\t26.9.1\n.readonly\t2\n", LIMIT CANCEL },
		{ ".version\t22.0\n.readonly\t0\n.max_execution_time\t9\n",
		    "&readonly=2" CANCEL },
	};
	char head[512];
	struct text got;

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		pthread_mutex_lock(&server.lock);
		server.self = of[i].self;
		pthread_mutex_unlock(&server.lock);
		assert_int_equal(clickhouse_find(client, &err), 0);
		snprintf(head, sizeof(head),
		    "POST /?wait_end_of_query=1%s HTTP/1.1\r\n",
		    of[i].settings);
		assert_int_equal(ask("200 OK", "1\n", 2, &got), 0);
		assert_memory_equal(server.heard, head, strlen(head));
		assert_int_equal(
		    clickhouse_ask_native(client, 0, 0, "SELECT 1", &got, &err),
		    0);
		assert_memory_equal(server.heard, head, strlen(head));
	}
}

static void
a_short_answer_is_none(void **state)
{
	struct text got;

	assert_int_equal(ask("200 OK", "1\tx\n2\ty\n", 9, &got), -1);
	assert_int_equal(ask("200 OK", "1\tx\n2\t", 6, &got), -1);
	assert_non_null(strstr(err.text, "ends within a line"));
}

static void
an_exception_is_one_with_any_status(void **state)
{
	assert_int_equal(ask_all("500 Internal Server Error", OLD), -1);
	assert_int_equal(clickhouse_exception(client), 60);
	assert_non_null(strstr(err.text, "exception 60: Table p.t doesn"));
	assert_int_equal(ask_all("404 Not Found", NEW), -1);
	assert_int_equal(clickhouse_exception(client), 60);
	assert_int_equal(ask_all("200 OK", "1\tx\n" OLD), -1);
	assert_int_equal(clickhouse_exception(client), 60);
	assert_int_equal(ask_all("200 OK", "1\tx\n" NEW), -1);
	assert_int_equal(
	    ask_all("200 OK\r\nX-ClickHouse-Exception-Code: 81", "1\n"), -1);
	assert_int_equal(clickhouse_exception(client), 81);
	assert_int_equal(ask_all("200 OK", "1\n"), 0);
	assert_int_equal(clickhouse_exception(client), 0);
}

static void
a_row_that_mentions_an_exception_is_none(void **state)
{
	assert_int_equal(ask_all("200 OK", "1\t" OLD), 0);
	assert_int_equal(ask_all("200 OK", "Code: 60\n"), 0);
	assert_int_equal(ask_all("200 OK", "Code: x, DB::Exception: y\n"), 0);
}

static void
a_redirect_is_not_followed(void **state)
{
	assert_int_equal(
	    ask_all("302 Found\r\nLocation: http://127.0.0.1:1/", ""), -1);
	assert_non_null(strstr(err.text, "redirect"));
	assert_int_equal(ask_all("204 No Content", ""), -1);
	assert_int_equal(ask_all("503 Service Unavailable", "busy"), -1);
}

static void
an_insert_names_its_table_and_has_the_block(void **state)
{
	will_answer("200 OK", "", 0);
	assert_int_equal(
	    clickhouse_insert(client, 0, 0, "events", text_of("block"), &err),
	    0);
	assert_non_null(strstr(
	    server.heard, "query=INSERT%20INTO%20p.events%20FORMAT%20Native"));
	assert_non_null(strstr(server.heard, "\r\n\r\nblock"));
	assert_null(strstr(server.heard, "async_insert"));
	assert_int_equal(
	    clickhouse_insert(client, 0, 0, "a;b", text_of("x"), &err), -1);
	assert_int_equal(
	    clickhouse_insert(client, 0, 1, "events", text_of("x"), &err), -1);
	will_answer("500 Internal Server Error", OLD, strlen(OLD));
	assert_int_equal(
	    clickhouse_insert(client, 0, 0, "events", text_of("block"), &err),
	    -1);
}

static void
silence_ends_after_the_timeout(void **state)
{
	int64_t before_ns = clock_monotonic_ns();
	struct text got;

	assert_int_equal(ask("", NULL, 0, &got), -1);
	assert_in_range(
	    (clock_monotonic_ns() - before_ns) / 1000000, 1500, 20000);
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
another_thread_ends_a_request(void **state)
{
	int64_t before_ns = clock_monotonic_ns();
	pthread_t thread;
	struct text got;

	pthread_create(&thread, NULL, stop_soon, NULL);
	assert_int_equal(ask("", NULL, 0, &got), -1);
	assert_int_equal(err.code, ERR_INTERRUPTED);
	assert_true(clock_monotonic_ns() - before_ns < 20 * NS_PER_SECOND);
	pthread_join(thread, NULL);
	assert_int_equal(ask("200 OK", "1\n", 2, &got), -1);
	assert_int_equal(err.code, ERR_INTERRUPTED);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		CASE(a_server_alone_is_one_shard_with_one_copy),
		CASE(a_whole_answer_is_given),
		CASE(a_question_ends_with_its_asker),
		CASE(a_short_answer_is_none),
		CASE(an_exception_is_one_with_any_status),
		CASE(a_row_that_mentions_an_exception_is_none),
		CASE(a_redirect_is_not_followed),
		CASE(an_insert_names_its_table_and_has_the_block),
		CASE(silence_ends_after_the_timeout),
		CASE(another_thread_ends_a_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
