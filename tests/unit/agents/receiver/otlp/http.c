/*
 * The server ends while clients go on.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/check.h"

/* Of these requests, each client has some. */
enum { CLIENTS = 16, REQUESTS = 100 * CLIENTS };

struct server {
	struct otlp_http *http;
	struct sockaddr_in address;
	atomic_int answered;
	int stop_fd;
};

static void
on_request(void *arg, struct otlp_exchange *exchange)
{
	struct server *server = arg;

	server->answered++;
	otlp_http_answer(server->http, exchange);
	if (server->answered == REQUESTS)
		eventfd_write(server->stop_fd, 1);
}

/* Sends one request after the other, whatever the answers, until the end. */
static void *
run_client(void *arg)
{
	static const char request[] =
	    "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\n"
	    "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
	const struct server *server = arg;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char answer[4096];

	if (connect(fd, (const struct sockaddr *)&server->address,
		sizeof(server->address)) == 0)
		while (
		    send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0 &&
		    recv(fd, answer, sizeof(answer), 0) > 0)
			;
	close(fd);
	return NULL;
}

static int
listen_anywhere(struct server *server)
{
	socklen_t bytes = sizeof(server->address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	server->address = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	assert_int_equal(bind(fd, (const struct sockaddr *)&server->address,
			     sizeof(server->address)),
	    0);
	assert_int_equal(listen(fd, CLIENTS), 0);
	assert_int_equal(
	    getsockname(fd, (struct sockaddr *)&server->address, &bytes), 0);
	return fd;
}

static void
it_ends_while_clients_send(void **state)
{
	struct server server = { .stop_fd = eventfd(0, 0) };
	struct receiver_report report;
	const struct otlp_http_options options = {
		.fd = listen_anywhere(&server),
		.report = &report,
		.on_request = on_request,
		.arg = &server,
	};
	pthread_t client[CLIENTS];
	struct err err;

	receiver_report_init(&report, "otlp");
	assert_int_equal(otlp_http_open(&server.http, &options, &err), 0);
	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&client[i], NULL, run_client, &server);
	otlp_http_run(server.http, server.stop_fd);
	otlp_http_close(&server.http);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(client[i], NULL);
	assert_true(server.answered >= REQUESTS);
	close(server.stop_fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_ends_while_clients_send),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
