/*
 * otlp - a server of OTLP over HTTP on the loopback interface.
 *
 * The thread of the source serves the connections.  Each of a few workers has
 * a request and a connection to the agent of its own, so that many requests
 * wait for one fdatasync.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/otlp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/receiver/otlp/deltas.h"
#include "agents/receiver/otlp/http.h"
#include "agents/receiver/otlp/request.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"
#include "proto/os/thread.h"

enum { WORKERS = 8, WAITING_MAX = 1024, BACKLOG = 1024 };

struct hand {
	struct otlp *otlp;
	struct otlp_worker *worker;
	struct thread thread;
};

struct otlp {
	struct receiver_source source;
	struct otlp_http *http;
	struct otlp_deltas *deltas;
	struct hand hand[WORKERS];

	/* Requests that wait for a worker, the oldest first. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct otlp_exchange *first, **last;
	uint32_t waiting;
	bool stops;
};

/* ---- workers ---- */

static void
answer_unavailable(
    struct otlp *otlp, struct otlp_exchange *exchange, const char *sentence)
{
	struct err err;

	err_set(&err, "%s", sentence);
	exchange->status = OTLP_UNAVAILABLE;
	otlp_put_error(&exchange->answer, exchange->request.is_json, &err);
	otlp_http_answer(otlp->http, exchange);
}

static void
on_request(void *arg, struct otlp_exchange *exchange)
{
	struct otlp *otlp = arg;
	bool taken;

	exchange->next = NULL;
	pthread_mutex_lock(&otlp->lock);
	taken = !otlp->stops && otlp->waiting < WAITING_MAX;
	if (taken) {
		*otlp->last = exchange;
		otlp->last = &exchange->next;
		otlp->waiting++;
		pthread_cond_signal(&otlp->changed);
	}
	pthread_mutex_unlock(&otlp->lock);
	if (!taken)
		answer_unavailable(otlp, exchange, "too many requests at once");
}

/* The next request; NULL: the process stops. */
static struct otlp_exchange *
next_request(struct otlp *otlp)
{
	struct otlp_exchange *exchange;

	pthread_mutex_lock(&otlp->lock);
	while (!otlp->stops && otlp->first == NULL)
		pthread_cond_wait(&otlp->changed, &otlp->lock);
	exchange = otlp->stops ? NULL : otlp->first;
	if (exchange != NULL) {
		otlp->first = exchange->next;
		if (otlp->first == NULL)
			otlp->last = &otlp->first;
		otlp->waiting--;
	}
	pthread_mutex_unlock(&otlp->lock);
	return exchange;
}

static int
work(void *arg, struct err *err)
{
	struct hand *hand = arg;
	struct otlp_exchange *exchange;

	(void)err;
	while ((exchange = next_request(hand->otlp)) != NULL) {
		exchange->status =
		    otlp_worker_answer(hand->worker, &exchange->request,
			buffer_text(&exchange->body), &exchange->answer);
		otlp_http_answer(hand->otlp->http, exchange);
	}
	return 0;
}

static void
start_workers(struct otlp *otlp)
{
	for (int i = 0; i < WORKERS; i++) {
		const struct thread_options options = {
			.name = "otlp worker",
			.run = work,
			.arg = &otlp->hand[i],
		};
		struct err err;

		/* One is enough. */
		if (thread_start(&otlp->hand[i].thread, &options, NULL, &err) !=
		    0)
			log_warn("otlp: %s", err.text);
	}
}

static void
stop_workers(struct otlp *otlp)
{
	struct otlp_exchange *exchange, *next;

	pthread_mutex_lock(&otlp->lock);
	otlp->stops = true;
	pthread_cond_broadcast(&otlp->changed);
	pthread_mutex_unlock(&otlp->lock);
	for (int i = 0; i < WORKERS; i++)
		thread_stop(&otlp->hand[i].thread);
	for (exchange = otlp->first; exchange != NULL; exchange = next) {
		next = exchange->next;
		answer_unavailable(otlp, exchange, "the receiver stops");
	}
}

/* ---- the source ---- */

static int
listen_at(uint16_t port, struct err *err)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;

	if (fd >= 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	err_set(err, "127.0.0.1:%u: %s", port, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static int
open_it(struct receiver_source *source, struct err *err)
{
	struct otlp *otlp = source->arg;
	const struct receiver *receiver = source->receiver;
	const struct receiver_settings *settings = &receiver->settings;
	const struct otlp_worker_options worker = {
		.report = &source->report,
		.submit = &receiver->submit,
		.deltas = otlp->deltas,
		.boot = receiver->boot,
		.keep = &settings->otlp_resource,
	};
	struct otlp_http_options http = {
		.fd = listen_at((uint16_t)settings->otlp_port, err),
		.logs = settings->otlp_logs,
		.report = &source->report,
		.on_request = on_request,
		.arg = otlp,
	};

	if (http.fd < 0 || otlp_http_open(&otlp->http, &http, err) != 0)
		return -1;
	for (int i = 0; i < WORKERS; i++) {
		otlp->hand[i].otlp = otlp;
		otlp_worker_new(&otlp->hand[i].worker, &worker);
	}
	log_info("otlp: taking OTLP/HTTP at http://127.0.0.1:%u",
	    (unsigned)settings->otlp_port);
	return 0;
}

static void
run(struct receiver_source *source)
{
	struct otlp *otlp = source->arg;

	start_workers(otlp);
	otlp_http_run(otlp->http, source->receiver->stop_fd);
	stop_workers(otlp);
}

static void
close_it(struct receiver_source *source)
{
	struct otlp *otlp = source->arg;

	otlp_http_close(&otlp->http);
	for (int i = 0; i < WORKERS; i++)
		otlp_worker_free(&otlp->hand[i].worker);
	otlp_deltas_free(&otlp->deltas);
	pthread_mutex_destroy(&otlp->lock);
	pthread_cond_destroy(&otlp->changed);
	free(otlp);
}

int
otlp_check_settings(const struct receiver_settings *settings, struct err *err)
{
	if (settings->otlp_port > UINT16_MAX)
		return err_set_option(
		    err, "otlp", "is a port: at most %d", UINT16_MAX);
	return 0;
}

int
otlp_add(struct receiver *receiver, struct err *err)
{
	struct otlp *otlp;

	if (receiver->settings.otlp_port == 0)
		return 0;
	otlp = memory_zero(1, sizeof(*otlp));
	otlp->source = (struct receiver_source){
		.name = "otlp",
		.open = open_it,
		.run = run,
		.close = close_it,
		.arg = otlp,
	};
	otlp->last = &otlp->first;
	pthread_mutex_init(&otlp->lock, NULL);
	pthread_cond_init(&otlp->changed, NULL);
	otlp_deltas_new(&otlp->deltas);
	return receiver_add(receiver, &otlp->source, err);
}
