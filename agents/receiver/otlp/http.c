/*
 * otlp_http - HTTP/1.1 with bodies, for clients on this host.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/http.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#include <microhttpd.h>

enum {
	CONNECTIONS_MAX = 512,
	/* From here on a connection is closed after its answer, so that
	 * another client has a turn. */
	CONNECTIONS_KEPT = CONNECTIONS_MAX / 4 * 3,
	HEAD_BYTES_MAX = 32 << 10,
	BODIES_BYTES_MAX = 64 << 20, /* all at once */
	/* Read of a body that is refused: a client that is cut off does not
	 * read its answer. */
	DROPPED_BYTES_MAX = 64 << 20,
	IDLE_SECONDS = 30,
	POLL_MS = 1000,
	LAST_ANSWERS_MS = 200, /* after the stop */
};
#define REQUEST_NS (60 * NS_PER_SECOND)

struct otlp_http {
	struct otlp_http_options options;
	struct MHD_Daemon *daemon;
	int epoll;
	size_t held;       /* bytes of bodies */
	int64_t logged_ns; /* of HTTP/2 */
	int done_fd;       /* readable when there is one in the list */
	pthread_mutex_t lock;
	struct otlp_exchange *done;
};

/* ---- one request ---- */

static void
refuse(struct otlp_http *http, struct otlp_exchange *exchange,
    enum otlp_status status, const struct err *err)
{
	exchange->status = status;
	otlp_put_error(&exchange->answer, exchange->request.is_json, err);
	report_bad(http->options.report, "head", (struct text){ NULL, 0 },
	    err->text, 1);
}

static const char *
field(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static struct otlp_exchange *
begin(struct otlp_http *http, struct MHD_Connection *connection,
    const char *method, const char *path)
{
	struct otlp_exchange *exchange = memory_zero(1, sizeof(*exchange));
	const struct otlp_head head = {
		.method = method,
		.path = path,
		.host = field(connection, MHD_HTTP_HEADER_HOST),
		.origin = field(connection, MHD_HTTP_HEADER_ORIGIN),
		.type = field(connection, MHD_HTTP_HEADER_CONTENT_TYPE),
		.encoding = field(connection, MHD_HTTP_HEADER_CONTENT_ENCODING),
	};
	struct err err = { 0 };

	exchange->connection = connection;
	exchange->begun_ns = clock_monotonic_ns();
	exchange->status = otlp_request_read(
	    &head, http->options.logs, &exchange->request, &err);
	if (exchange->status != OTLP_OK)
		refuse(http, exchange, exchange->status, &err);
	return exchange;
}

static void
end(struct otlp_http *http, struct otlp_exchange *exchange)
{
	http->held -= exchange->body.bytes;
	buffer_clear(&exchange->body);
	buffer_clear(&exchange->answer);
	free(exchange);
}

static enum MHD_Result
send_answer(struct otlp_http *http, struct otlp_exchange *exchange)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(
	    http->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
	struct MHD_Response *response =
	    memory_must(MHD_create_response_from_buffer(exchange->answer.bytes,
		exchange->answer.at, MHD_RESPMEM_MUST_COPY));
	enum MHD_Result rc;

	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
	    exchange->request.is_json ? "application/json"
				      : "application/x-protobuf");
	if (exchange->status == OTLP_UNAVAILABLE)
		MHD_add_response_header(
		    response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
	if (exchange->status == OTLP_NOT_ALLOWED)
		MHD_add_response_header(
		    response, MHD_HTTP_HEADER_ALLOW, "POST");
	if (info->num_connections > CONNECTIONS_KEPT)
		MHD_add_response_header(
		    response, MHD_HTTP_HEADER_CONNECTION, "close");
	rc = MHD_queue_response(
	    exchange->connection, exchange->status, response);
	MHD_destroy_response(response);
	return rc;
}

static void
refuse_body(struct otlp_http *http, struct otlp_exchange *exchange,
    enum otlp_status status)
{
	struct err err;

	err_set(&err,
	    status == OTLP_TOO_LONG
		? "the body is longer than 4 MiB: send fewer items at once"
		: "too many requests at once");
	refuse(http, exchange, status, &err);
	http->held -= exchange->body.bytes;
	buffer_clear(&exchange->body);
}

/* Bytes of a body; those of a request that is refused already are dropped, so
 * that the client comes to read its answer.  False: enough of it. */
static bool
take(struct otlp_http *http, struct otlp_exchange *exchange, const char *at,
    size_t bytes)
{
	if (clock_monotonic_ns() - exchange->begun_ns > REQUEST_NS)
		return false;
	exchange->read += bytes;
	if (exchange->status == OTLP_OK && exchange->read > OTLP_BODY_BYTES_MAX)
		refuse_body(http, exchange, OTLP_TOO_LONG);
	if (exchange->status == OTLP_OK &&
	    http->held + bytes > BODIES_BYTES_MAX)
		refuse_body(http, exchange, OTLP_UNAVAILABLE);
	if (exchange->status != OTLP_OK)
		return exchange->read <= DROPPED_BYTES_MAX;
	http->held += bytes;
	buffer_put(&exchange->body, at, bytes);
	return true;
}

/* The library calls it when the head is there, for pieces of the body, when
 * that is complete, and when the connection need not wait any more. */
static enum MHD_Result
on_access(void *arg, struct MHD_Connection *connection, const char *path,
    const char *method, const char *version, const char *upload,
    size_t *upload_bytes, void **data)
{
	struct otlp_http *http = arg;
	struct otlp_exchange *exchange = *data;

	(void)version;
	if (exchange == NULL) {
		*data = begin(http, connection, method, path);
		return MHD_YES;
	}
	if (*upload_bytes > 0) {
		bool taken = take(http, exchange, upload, *upload_bytes);

		*upload_bytes = 0;
		return taken ? MHD_YES : MHD_NO;
	}
	if (exchange->status != OTLP_OK || exchange->is_with_worker)
		return send_answer(http, exchange);
	exchange->is_with_worker = true;
	MHD_suspend_connection(connection);
	http->options.on_request(http->options.arg, exchange);
	return MHD_YES;
}

static void
on_completed(void *arg, struct MHD_Connection *connection, void **data,
    enum MHD_RequestTerminationCode code)
{
	(void)connection;
	(void)code;
	if (*data != NULL)
		end(arg, *data);
	*data = NULL;
}

static void __attribute__((format(printf, 2, 0)))
on_message(void *arg, const char *format, va_list args)
{
	struct otlp_http *http = arg;
	char text[200];

	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	log_debug("libmicrohttpd: %s", text);
	/* HTTP Version Not Supported: gRPC begins with the line "PRI *
	 * HTTP/2.0" (RFC 9113, 3.4). */
	if (strstr(text, "code is 505") != NULL && log_is_due(&http->logged_ns))
		log_warn("otlp: a client speaks HTTP/2, or gRPC, to a port for "
			 "HTTP/1.1: set OTEL_EXPORTER_OTLP_PROTOCOL="
			 "http/protobuf in its environment");
}

/* ---- serving ---- */

void
otlp_http_answer(struct otlp_http *http, struct otlp_exchange *exchange)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&http->lock);
	exchange->next = http->done;
	http->done = exchange;
	pthread_mutex_unlock(&http->lock);
	(void)!write(http->done_fd, &one, sizeof(one));
}

/* Continue with the connections whose answers are there. */
static void
resume(struct otlp_http *http)
{
	struct otlp_exchange *done, *next;
	uint64_t count;

	(void)!read(http->done_fd, &count, sizeof(count));
	pthread_mutex_lock(&http->lock);
	done = http->done;
	http->done = NULL;
	pthread_mutex_unlock(&http->lock);
	for (; done != NULL; done = next) {
		next = done->next;
		MHD_resume_connection(done->connection);
	}
}

static void
turn(struct otlp_http *http, int stop_fd, int most_ms)
{
	struct pollfd pollfds[] = {
		{ http->epoll, POLLIN, 0 },
		{ http->done_fd, POLLIN, 0 },
		{ stop_fd, POLLIN, 0 },
	};
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(http->daemon, &ms) == MHD_YES &&
	    ms < (unsigned)most_ms)
		most_ms = (int)ms;
	poll(pollfds, sizeof(pollfds) / sizeof(*pollfds), most_ms);
	resume(http);
	MHD_run(http->daemon);
}

static bool
is_readable(int fd)
{
	struct pollfd pollfd = { fd, POLLIN, 0 };

	return poll(&pollfd, 1, 0) > 0;
}

void
otlp_http_run(struct otlp_http *http, int stop_fd)
{
	int fd;

	while (!is_readable(stop_fd))
		turn(http, stop_fd, POLL_MS);
	fd = MHD_quiesce_daemon(http->daemon);
	if (fd >= 0)
		close(fd);
}

int
otlp_http_open(struct otlp_http **made, const struct otlp_http_options *options,
    struct err *err)
{
	struct otlp_http *http = *made = memory_zero(1, sizeof(*http));
	const union MHD_DaemonInfo *info;

	http->options = *options;
	pthread_mutex_init(&http->lock, NULL);
	http->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (http->done_fd < 0)
		return err_set(err, "eventfd: %s", strerror(errno));
	http->daemon = MHD_start_daemon(
	    MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
	    NULL, NULL, on_access, http, MHD_OPTION_EXTERNAL_LOGGER, on_message,
	    http, MHD_OPTION_LISTEN_SOCKET, options->fd,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
	    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES_MAX,
	    MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED,
	    on_completed, http, MHD_OPTION_END);
	if (http->daemon == NULL)
		return err_set(err, "libmicrohttpd did not start");
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	http->epoll = info->epoll_fd;
	return 0;
}

void
otlp_http_close(struct otlp_http **gone)
{
	struct otlp_http *http = *gone;
	int64_t until_ns =
	    clock_monotonic_ns() + LAST_ANSWERS_MS * NS_PER_SECOND / 1000;

	if (http == NULL)
		return;
	/* What was answered last has to leave. */
	while (http->daemon != NULL && clock_monotonic_ns() < until_ns &&
	       MHD_get_daemon_info(
		   http->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
		       ->num_connections > 0)
		turn(http, -1, LAST_ANSWERS_MS / 10);
	/* The library ends the process if a connection still waits: what the
	 * last turn has handed over is answered, but not continued yet. */
	resume(http);
	if (http->daemon != NULL)
		MHD_stop_daemon(http->daemon);
	if (http->done_fd >= 0)
		close(http->done_fd);
	pthread_mutex_destroy(&http->lock);
	free(http);
	*gone = NULL;
}
