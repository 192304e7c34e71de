/*
 * silence - a replica that does not answer costs its timeout once, whoever
 * asks. Two servers of a shard: the second one takes connections and never
 * answers.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/clickhouse/client.h"
#include "proto/clickhouse/silence.h"

enum { SERVERS = 2, CLIENTS = 3 };

static struct server {
	int fd;
	uint16_t port;
	pthread_t thread;
	atomic_bool is_silent;
	atomic_uint heard; /* requests */
	char self[160];
} server[SERVERS];

static void
answer(const struct server *of, int fd)
{
	static const char cluster[] =
	    "1\t1\t127.0.0.1\t1\n1\t2\t127.0.0.1\t1\n";
	char heard[4096], text[512];
	const char *body = "7\n", *end, *length;
	size_t bytes = 0;

	do {
		ssize_t n = read(fd, heard + bytes, sizeof(heard) - 1 - bytes);

		if (n <= 0)
			return;
		bytes += (size_t)n;
		heard[bytes] = '\0';
		end = strstr(heard, "\r\n\r\n");
		length = strstr(heard, "Content-Length: ");
	} while (
	    end == NULL || length == NULL ||
	    bytes < (size_t)(end + 4 - heard) + strtoul(length + 16, NULL, 10));
	if (strstr(heard, ".version") != NULL)
		body = of->self;
	else if (strstr(heard, "system.clusters") != NULL)
		body = cluster;
	bytes = (size_t)snprintf(text, sizeof(text),
	    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: "
	    "%zu\r\n\r\n%s",
	    strlen(body), body);
	(void)!send(fd, text, bytes, MSG_NOSIGNAL);
}

static void *
serve(void *arg)
{
	struct server *of = arg;
	int fd;

	while ((fd = accept(of->fd, NULL, NULL)) >= 0) {
		char byte;

		atomic_fetch_add(&of->heard, 1);
		if (atomic_load(&of->is_silent))
			while (read(fd, &byte, 1) > 0)
				;
		else
			answer(of, fd);
		close(fd);
	}
	return NULL;
}

static struct clickhouse *client[CLIENTS]; /* two readers and a writer */
static struct err err;

static int
start(void **state)
{
	struct clickhouse_options how = CLICKHOUSE_DEFAULT;
	char address[80];

	for (unsigned i = 0; i < SERVERS; i++) {
		struct sockaddr_in at = { .sin_family = AF_INET,
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		socklen_t bytes = sizeof(at);

		server[i].fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(
		    bind(server[i].fd, (struct sockaddr *)&at, bytes), 0);
		assert_int_equal(listen(server[i].fd, 8), 0);
		getsockname(server[i].fd, (struct sockaddr *)&at, &bytes);
		server[i].port = ntohs(at.sin_port);
		atomic_store(&server[i].is_silent, i == 1);
		atomic_store(&server[i].heard, 0);
		snprintf(server[i].self, sizeof(server[i].self),
		    ".version\t18.16.1\n.keeper\t1\ncluster\tc\nshard\t1\n"
		    "replica\tr%u\n",
		    i + 1);
		assert_int_equal(
		    pthread_create(&server[i].thread, NULL, serve, &server[i]),
		    0);
	}
	snprintf(address, sizeof(address),
	    "clickhouse://u@127.0.0.1:%u,127.0.0.1:%u/p", server[1].port,
	    server[0].port);
	how.url = address;
	how.timeout_ns = NS_PER_SECOND;
	for (unsigned i = 0; i < CLIENTS; i++) {
		how.enough = i == 2 ? 2 : 1;
		assert_int_equal(
		    clickhouse_open(&client[i], &how, "to", &err), 0);
	}
	return 0;
}

static int
stop(void **state)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		clickhouse_close(&client[i]);
	for (unsigned i = 0; i < SERVERS; i++) {
		shutdown(server[i].fd, SHUT_RDWR);
		pthread_join(server[i].thread, NULL);
		close(server[i].fd);
	}
	return 0;
}

static unsigned
heard(unsigned i)
{
	return atomic_exchange(&server[i].heard, 0);
}

static unsigned
count_up(unsigned i)
{
	const struct clickhouse_shard *shard =
	    &clickhouse_cluster(client[i])->shard[0];

	return (unsigned)shard->replica[0].up + shard->replica[1].up;
}

static void
one_that_is_silent_is_not_looked_for_again(void **state)
{
	const struct clickhouse_host host = { "127.0.0.1", server[1].port };

	assert_int_equal(clickhouse_find(client[0], &err), 0);
	assert_int_equal(count_up(0), 1);
	assert_int_equal(heard(1), 1);
	assert_true(silence_is(&host, clock_monotonic_ns()));
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(clickhouse_find(client[i % 2], &err), 0);
	assert_int_equal(count_up(0), 1);
	assert_int_equal(count_up(1), 1);
	assert_int_equal(heard(1), 0);
	assert_int_equal(heard(0), 2 + 2 * 20);
	/* Who needs both asks both. */
	atomic_store(&server[1].is_silent, false);
	assert_int_equal(clickhouse_find(client[2], &err), 0);
	assert_int_equal(count_up(2), 2);
	assert_false(silence_is(&host, clock_monotonic_ns()));
	assert_int_equal(clickhouse_find(client[0], &err), 0);
	assert_int_equal(count_up(0), 2);
}

static void
without_another_one_it_is_asked(void **state)
{
	const struct clickhouse_host host = { "127.0.0.1", server[1].port };

	silence_begin(&host, clock_monotonic_ns());
	assert_int_equal(clickhouse_find(client[0], &err), 0);
	assert_int_equal(heard(1), 0);
	atomic_store(&server[1].is_silent, false);
	shutdown(server[0].fd, SHUT_RDWR);
	assert_int_equal(clickhouse_find(client[0], &err), 0);
	assert_int_equal(count_up(0), 1);
	assert_int_equal(heard(1), 2);
}

static void
one_that_becomes_silent_is_asked_last(void **state)
{
	unsigned order[CLICKHOUSE_REPLICAS_MAX], silent;
	struct text answer;

	atomic_store(&server[1].is_silent, false);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(clickhouse_find(client[i], &err), 0);
		assert_int_equal(count_up(i), 2);
	}
	atomic_store(&server[1].is_silent, true);
	/* It was found first. */
	assert_int_equal(clickhouse_order(client[0], 0, 1, order), 2);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 0);
	silent = clickhouse_cluster(client[0])->shard[0].replica[1].port ==
		 server[1].port;
	assert_int_equal(
	    clickhouse_ask(client[0], 0, silent, "SELECT 7", &answer, &err),
	    -1);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(
		    clickhouse_order(client[i], 0, silent, order), 1);
		assert_int_equal(order[0], 1 - silent);
		assert_int_equal(order[1], silent);
	}
	assert_int_equal(
	    clickhouse_ask(client[0], 0, 1 - silent, "SELECT 7", &answer, &err),
	    0);
	assert_int_equal(clickhouse_order(client[0], 0, silent, order), 1);
	atomic_store(&server[1].is_silent, false);
	assert_int_equal(
	    clickhouse_ask(client[1], 0, silent, "SELECT 7", &answer, &err), 0);
	assert_int_equal(clickhouse_order(client[0], 0, silent, order), 2);
	assert_int_equal(order[0], silent);
}

/* ---- what is remembered ---- */

static void
it_ends_after_a_minute(void **state)
{
	const struct clickhouse_host host = { "Replica.example", 8123 },
				     same = { "replica.EXAMPLE", 8123 },
				     other = { "replica.example", 8443 };
	const int64_t t = 1000 * NS_PER_SECOND;

	assert_false(silence_is(&host, t));
	silence_begin(&host, t);
	assert_true(silence_is(&same, t));
	assert_false(silence_is(&other, t));
	assert_false(silence_is(&host, t - 1));
	assert_true(silence_is(&host, t + 60 * NS_PER_SECOND - 1));
	assert_false(silence_is(&host, t + 60 * NS_PER_SECOND));
	silence_begin(&host, t + 90 * NS_PER_SECOND);
	assert_true(silence_is(&host, t + 100 * NS_PER_SECOND));
	silence_end(&same);
	assert_false(silence_is(&host, t + 100 * NS_PER_SECOND));
}

static void
the_oldest_is_forgotten(void **state)
{
	struct clickhouse_host host = { .port = 9000 };
	const int64_t t = clock_monotonic_ns();

	for (unsigned i = 0; i <= SILENCE_HOSTS_MAX; i++) {
		snprintf(host.name, sizeof(host.name), "h%u", i);
		/* h1 is the oldest. */
		silence_begin(&host, t + (i == 1 ? -500 : (int64_t)i));
	}
	for (unsigned i = 0; i <= SILENCE_HOSTS_MAX; i++) {
		snprintf(host.name, sizeof(host.name), "h%u", i);
		assert_int_equal(silence_is(&host, t + NS_PER_SECOND), i != 1);
		silence_end(&host);
	}
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		CASE(one_that_is_silent_is_not_looked_for_again),
		CASE(without_another_one_it_is_asked),
		CASE(one_that_becomes_silent_is_asked_last),
		cmocka_unit_test(it_ends_after_a_minute),
		cmocka_unit_test(the_oldest_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
