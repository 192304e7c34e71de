/*
 * web_http - HTTP/1.1 connections, served in the thread of a loop.
 *
 * libmicrohttpd has an epoll of its own, whose descriptor the loop waits for.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/http.h"

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/stream/compress_block.h"

#include <microhttpd.h>

/* Bodies from this size on are worth compressing. */
enum { WEB_BODY_GZIP_FROM = 1 << 10 };

static _Atomic size_t all;

static void
compress(struct web_body *body, enum compress_effort effort)
{
	unsigned char *packed;
	size_t bytes;

	if (body->bytes < WEB_BODY_GZIP_FROM)
		return;
	packed = compress_gzip(body->at, body->bytes, effort, &bytes);
	if (bytes >= body->bytes) {
		free(packed);
		return;
	}
	body->gzip = memory_resize(packed, bytes);
	body->gzip_bytes = bytes;
}

struct web_body *
web_body_new(char *at, size_t bytes)
{
	struct web_body *body = memory_zero(1, sizeof(*body));

	body->at = (unsigned char *)at;
	body->bytes = bytes;
	body->holders = 1;
	compress(body, COMPRESS_FAST);
	atomic_fetch_add(&all, web_body_memory(body));
	return body;
}

struct web_body *
web_body_new_static(const unsigned char *at, size_t bytes)
{
	struct web_body *body = memory_zero(1, sizeof(*body));

	body->at = at;
	body->bytes = bytes;
	body->holders = 1;
	body->is_static = true;
	compress(body, COMPRESS_SMALL);
	atomic_fetch_add(&all, web_body_memory(body));
	return body;
}

void
web_body_hold(struct web_body *body)
{
	atomic_fetch_add(&body->holders, 1);
}

void
web_body_drop(struct web_body **body)
{
	struct web_body *old = *body;

	*body = NULL;
	if (old == NULL || atomic_fetch_sub(&old->holders, 1) > 1)
		return;
	atomic_fetch_sub(&all, web_body_memory(old));
	if (!old->is_static)
		free((void *)(uintptr_t)old->at);
	free((void *)(uintptr_t)old->gzip);
	free(old);
}

size_t
web_body_memory(const struct web_body *body)
{
	return sizeof(*body) + body->bytes + body->gzip_bytes;
}

size_t
web_body_memory_of_all(void)
{
	return atomic_load(&all);
}

enum {
	WEB_HTTP_CONNECTIONS_MAX = 256,
	WEB_HTTP_HEAD_BYTES_MAX = 16 << 10,
	WEB_HTTP_STREAM_BYTES_MAX = 64
				    << 10, /* that the client has not fetched */
};

enum {
	IDLE_SECONDS = 30,
	SWEEP_SECONDS = 5,
	/* Connections that are being closed to make room. */
	LEAVING_MAX = 64,
	STREAM_BLOCK_BYTES = 4 << 10,
};
#define HEAD_NS  (IDLE_SECONDS * NS_PER_SECOND) /* for a whole head */
#define FETCH_NS (120 * NS_PER_SECOND)          /* for a whole answer */

enum phase {
	READS,   /* waits for a request, or for the rest of its head */
	WORKS,   /* a request is being answered */
	SENDS,   /* the answer is on its way */
	STREAMS, /* for as long as both sides like */
	LEAVES   /* was closed to make room */
};

struct connection {
	struct connection *next, **link; /* of http->connections */
	int fd;
	struct sockaddr_storage peer;
	enum phase phase;
	int64_t since_ns;
	char *target; /* of the present request; NULL: none */
};

struct web_http {
	struct loop *loop;
	struct MHD_Daemon *daemon;
	int epoll;
	struct loop_timer due, sweep;
	struct connection *connections; /* the youngest first */
	uint32_t staying;               /* that do not leave */
	void (*on_request)(void *arg, struct web_http_request *request);
	void *arg;
};

struct web_http_request {
	struct web_http *http;
	struct MHD_Connection *connection;
	struct connection *of;
	const char *method;
	struct MHD_Response *response; /* NULL: not answered yet */
	unsigned status;
	bool head_only, suspended, asked, is_too_long;
	struct buffer body;
	void *data;
};

struct web_http_stream {
	struct web_http *http;
	struct MHD_Connection *connection;
	struct buffer out;
	size_t sent;
	bool suspended, ended;
	void (*on_end)(void *arg);
	void *arg;
};

/* ---- running the library ---- */

static void
run(struct web_http *http)
{
	MHD_UNSIGNED_LONG_LONG ms;

	MHD_run(http->daemon);
	if (MHD_get_timeout(http->daemon, &ms) == MHD_YES) {
		if (ms > SWEEP_SECONDS * 1000)
			ms = SWEEP_SECONDS * 1000;
		loop_set_timer(http->loop, &http->due,
		    clock_monotonic_ns() + (int64_t)ms * 1000000, 0);
	} else {
		loop_stop_timer(http->loop, &http->due);
	}
}

static void
on_epoll(void *arg, int fd, uint32_t events)
{
	(void)fd;
	(void)events;
	run(arg);
}

static void
on_due(void *arg, struct loop_timer *timer)
{
	(void)timer;
	run(arg);
}

/* Run it from the loop, not from within a callback of the library. */
static void
run_soon(struct web_http *http)
{
	loop_set_timer(http->loop, &http->due, clock_monotonic_ns(), 0);
}

/* A client that sends a byte now and then is never idle for the library. */
static void
on_sweep(void *arg, struct loop_timer *timer)
{
	struct web_http *http = arg;
	int64_t now_ns = clock_monotonic_ns();

	(void)timer;
	for (struct connection *c = http->connections; c != NULL; c = c->next)
		if ((c->phase == READS && now_ns - c->since_ns > HEAD_NS) ||
		    (c->phase == SENDS && now_ns - c->since_ns > FETCH_NS))
			shutdown(c->fd, SHUT_RDWR);
	run(http);
}

/* ---- connections ---- */

static struct connection *
connection_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info == NULL ? NULL : info->socket_context;
}

static void
enter(struct connection *c, enum phase phase)
{
	if (c->phase != LEAVES)
		c->phase = phase;
	c->since_ns = clock_monotonic_ns();
}

/* Whatever the port. */
static bool
same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *four_a = (const void *)a;
	const struct sockaddr_in *four_b = (const void *)b;
	const struct sockaddr_in6 *six_a = (const void *)a;
	const struct sockaddr_in6 *six_b = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return four_a->sin_addr.s_addr == four_b->sin_addr.s_addr;
	return memcmp(&six_a->sin6_addr, &six_b->sin6_addr,
		   sizeof(six_a->sin6_addr)) == 0;
}

static uint32_t
count_of_host(const struct web_http *http, const struct connection *of)
{
	uint32_t count = 0;

	for (const struct connection *c = http->connections; c != NULL;
	     c = c->next)
		count += c->phase != LEAVES && same_host(&c->peer, &of->peer);
	return count;
}

/* Of the host that has most connections, the one that waits longest for (the
 * rest of) a request.  The one that came last is such a one. */
static void
make_room(struct web_http *http)
{
	struct connection *chosen = NULL;
	uint32_t most = 0;

	for (struct connection *c = http->connections; c != NULL; c = c->next) {
		uint32_t count;

		if (c->phase != READS)
			continue;
		count = count_of_host(http, c);
		if (count < most ||
		    (count == most && c->since_ns > chosen->since_ns))
			continue;
		most = count;
		chosen = c;
	}
	enter(chosen, LEAVES);
	http->staying--;
	shutdown(chosen->fd, SHUT_RDWR);
}

static void
begin_connection(
    struct web_http *http, struct MHD_Connection *connection, void **context)
{
	struct connection *c = memory_zero(1, sizeof(*c));
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	socklen_t bytes = sizeof(c->peer);

	c->fd = info->connect_fd;
	(void)getpeername(c->fd, (struct sockaddr *)&c->peer, &bytes);
	enter(c, READS);
	c->link = &http->connections;
	c->next = http->connections;
	if (c->next != NULL)
		c->next->link = &c->next;
	http->connections = c;
	*context = c;
	if (++http->staying > WEB_HTTP_CONNECTIONS_MAX)
		make_room(http);
}

static void
on_connection(void *arg, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode code)
{
	struct web_http *http = arg;
	struct connection *c = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		begin_connection(http, connection, context);
		return;
	}
	http->staying -= c->phase != LEAVES;
	*c->link = c->next;
	if (c->next != NULL)
		c->next->link = c->link;
	free(c->target);
	free(c);
	*context = NULL;
}

static void *
on_target(void *arg, const char *target, struct MHD_Connection *connection)
{
	struct connection *c = connection_of(connection);
	union {
		const char *from;
		char *to;
	} parameters = { .from = strchr(target, '?') };

	(void)arg;
	free(c->target);
	c->target = memory_string(target);
	/* The library would take them apart too, and close the connection
	 * without an answer when they need more memory than a head. */
	if (parameters.to != NULL)
		parameters.to[1] = '\0';
	return NULL;
}

/* The library would decode paths in place; ours does it (url.h). */
static size_t
leave_encoded(void *arg, struct MHD_Connection *connection, char *s)
{
	(void)arg;
	(void)connection;
	return strlen(s);
}

static void __attribute__((format(printf, 2, 0)))
on_message(void *arg, const char *format, va_list args)
{
	char text[200];

	(void)arg;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	log_debug("libmicrohttpd: %s", text);
}

/* ---- requests ---- */

static struct MHD_Response *
make_response(
    const struct web_http_field *fields, struct MHD_Response *response)
{
	if (response == NULL)
		memory_exhausted(0);
	for (; fields->name != NULL; fields++)
		MHD_add_response_header(response, fields->name, fields->value);
	return response;
}

static enum MHD_Result
send_response(struct web_http_request *request)
{
	enum MHD_Result rc = MHD_queue_response(
	    request->connection, request->status, request->response);

	if (request->of->phase != STREAMS)
		enter(request->of, SENDS);
	MHD_destroy_response(request->response);
	request->response = NULL;
	return rc;
}

static bool
has_body(struct MHD_Connection *connection)
{
	const char *length = MHD_lookup_connection_value(
	    connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length != NULL && strcmp(length, "0") != 0) ||
	       MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
		   MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
}

static struct web_http_request *
begin_request(struct web_http *http, struct MHD_Connection *connection,
    const char *method)
{
	struct web_http_request *request = memory_zero(1, sizeof(*request));

	request->http = http;
	request->connection = connection;
	request->of = connection_of(connection);
	request->method = method;
	return request;
}

/* Of a body that says that it is too long nothing is read. */
static void
judge_length(struct web_http_request *request)
{
	const char *length =
	    web_http_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
	uint64_t bytes;

	request->is_too_long =
	    length != NULL &&
	    (number_parse_u64(text_of(length), &bytes, NULL) != 0 ||
		bytes > WEB_HTTP_BODY_BYTES_MAX);
}

static void
take_body(struct web_http_request *request, const char *from, size_t bytes)
{
	if (request->body.bytes + bytes > WEB_HTTP_BODY_BYTES_MAX)
		request->is_too_long = true;
	if (!request->is_too_long)
		buffer_put(&request->body, from, bytes);
}

/* Have it answered, now or later. */
static enum MHD_Result
present(struct web_http *http, struct web_http_request *request)
{
	request->asked = true;
	enter(request->of, WORKS);
	http->on_request(http->arg, request);
	if (request->response != NULL)
		return send_response(request);
	request->suspended = true;
	MHD_suspend_connection(request->connection);
	return MHD_YES;
}

/* The library calls it when the head is there, when the body is, and after
 * each time that the connection waited. */
static enum MHD_Result
on_access(void *arg, struct MHD_Connection *connection, const char *path,
    const char *method, const char *version, const char *upload,
    size_t *upload_bytes, void **data)
{
	struct web_http *http = arg;
	struct web_http_request *request = *data;

	(void)path;
	(void)version;
	if (request == NULL) {
		*data = request = begin_request(http, connection, method);
		/* Nothing reads it: close the connection. */
		if (strcmp(method, MHD_HTTP_METHOD_POST) != 0)
			return has_body(connection) ? MHD_NO : MHD_YES;
		judge_length(request);
		return request->is_too_long ? present(http, request) : MHD_YES;
	}
	if (*upload_bytes > 0) {
		if (!request->asked)
			take_body(request, upload, *upload_bytes);
		*upload_bytes = 0;
		return MHD_YES;
	}
	return request->asked ? send_response(request) : present(http, request);
}

static void
on_completed(void *arg, struct MHD_Connection *connection, void **data,
    enum MHD_RequestTerminationCode code)
{
	struct web_http_request *request = *data;

	(void)arg;
	(void)connection;
	(void)code;
	if (request == NULL)
		return;
	if (request->response != NULL)
		MHD_destroy_response(request->response);
	enter(request->of, READS);
	buffer_clear(&request->body);
	free(request);
	*data = NULL;
}

bool
web_http_body(const struct web_http_request *request, struct text *body)
{
	*body = buffer_text(&request->body);
	return !request->is_too_long;
}

const char *
web_http_method(const struct web_http_request *request)
{
	return request->method;
}

struct text
web_http_target(const struct web_http_request *request)
{
	return text_of(request->of->target);
}

const char *
web_http_header(const struct web_http_request *request, const char *name)
{
	return MHD_lookup_connection_value(
	    request->connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result
count_host(
    void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
	(void)kind;
	(void)value;
	if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0)
		++*(uint32_t *)arg;
	return MHD_YES;
}

uint32_t
web_http_hosts(const struct web_http_request *request)
{
	uint32_t count = 0;

	MHD_get_connection_values(
	    request->connection, MHD_HEADER_KIND, count_host, &count);
	return count;
}

void
web_http_set_data(struct web_http_request *request, void *data)
{
	request->data = data;
}

void *
web_http_data(const struct web_http_request *request)
{
	return request->data;
}

/* ---- answers ---- */

static void
finish(struct web_http_request *request, unsigned status,
    struct MHD_Response *response)
{
	request->status = status;
	request->response = response;
	if (!request->suspended)
		return;
	request->suspended = false;
	MHD_resume_connection(request->connection);
	run_soon(request->http);
}

static void
drop_body(void *arg)
{
	struct web_body *body = arg;

	web_body_drop(&body);
}

static bool
accepts_gzip(const struct web_http_request *request)
{
	const char *accepted =
	    web_http_header(request, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	const char *found = accepted == NULL ? NULL : strstr(accepted, "gzip");

	return found != NULL && strncmp(found, "gzip;q=0", 8) != 0;
}

void
web_http_answer(struct web_http_request *request, unsigned status,
    const struct web_http_field *fields, struct web_body *body)
{
	struct MHD_Response *response;
	bool packed =
	    body != NULL && body->gzip != NULL && accepts_gzip(request);
	union {
		const unsigned char *from;
		void *to;
	} bytes = { .from = NULL };

	if (body == NULL) {
		response = MHD_create_response_from_buffer(
		    0, NULL, MHD_RESPMEM_PERSISTENT);
	} else {
		bytes.from = packed ? body->gzip : body->at;
		response =
		    MHD_create_response_from_buffer_with_free_callback_cls(
			packed ? body->gzip_bytes : body->bytes, bytes.to,
			drop_body, body);
	}
	make_response(fields, response);
	if (packed)
		MHD_add_response_header(
		    response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	finish(request, status, response);
}

/* ---- streams ---- */

static ssize_t
on_read(void *arg, uint64_t position, char *to, size_t room)
{
	struct web_http_stream *stream = arg;
	size_t left = stream->out.bytes - stream->sent;

	(void)position;
	if (left == 0 && stream->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (left == 0) {
		stream->suspended = true;
		MHD_suspend_connection(stream->connection);
		return 0;
	}
	if (left > room)
		left = room;
	memcpy(to, stream->out.at + stream->sent, left);
	stream->sent += left;
	if (stream->sent == stream->out.bytes)
		stream->out.bytes = stream->sent = 0;
	return (ssize_t)left;
}

static void
on_stream_end(void *arg)
{
	struct web_http_stream *stream = arg;

	stream->on_end(stream->arg);
	buffer_clear(&stream->out);
	free(stream);
}

struct web_http_stream *
web_http_answer_stream(struct web_http_request *request,
    const struct web_http_field *fields, void (*on_end)(void *arg), void *arg)
{
	struct web_http_stream *stream = memory_zero(1, sizeof(*stream));

	stream->http = request->http;
	stream->connection = request->connection;
	stream->on_end = on_end;
	stream->arg = arg;
	enter(request->of, STREAMS);
	finish(request, MHD_HTTP_OK,
	    make_response(fields,
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN,
		    STREAM_BLOCK_BYTES, on_read, stream, on_stream_end)));
	return stream;
}

static void
wake(struct web_http_stream *stream)
{
	if (!stream->suspended)
		return;
	stream->suspended = false;
	MHD_resume_connection(stream->connection);
	run_soon(stream->http);
}

bool
web_http_stream_put(struct web_http_stream *stream, struct text t)
{
	if (stream->ended)
		return false;
	if (stream->out.bytes + t.bytes > WEB_HTTP_STREAM_BYTES_MAX) {
		web_http_stream_end(stream);
		return false;
	}
	buffer_put_text(&stream->out, t);
	wake(stream);
	return true;
}

void
web_http_stream_end(struct web_http_stream *stream)
{
	stream->ended = true;
	wake(stream);
}

/* ---- opening and closing ---- */

static int
start_daemon(struct web_http *http, int fd, struct err *err)
{
	const union MHD_DaemonInfo *info;

	http->daemon = MHD_start_daemon(
	    MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
	    NULL, NULL, on_access, http, MHD_OPTION_EXTERNAL_LOGGER, on_message,
	    NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
	    (unsigned)WEB_HTTP_CONNECTIONS_MAX + LEAVING_MAX,
	    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)WEB_HTTP_HEAD_BYTES_MAX,
	    MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK,
	    leave_encoded, NULL, MHD_OPTION_URI_LOG_CALLBACK, on_target, NULL,
	    MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
	    MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
	if (http->daemon == NULL) {
		close(fd);
		return err_set(err, "libmicrohttpd did not start");
	}
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	http->epoll = info->epoll_fd;
	return loop_add_fd(
	    http->loop, http->epoll, EPOLLIN, on_epoll, http, err);
}

int
web_http_open(struct web_http **made, struct loop *loop,
    const struct web_http_options *options, struct err *err)
{
	struct web_http *http = *made = memory_zero(1, sizeof(*http));

	http->loop = loop;
	http->on_request = options->on_request;
	http->arg = options->arg;
	http->due = (struct loop_timer){ .on_timer = on_due, .arg = http };
	http->sweep = (struct loop_timer){ .on_timer = on_sweep, .arg = http };
	if (start_daemon(http, options->fd, err) != 0)
		return -1;
	loop_set_timer(loop, &http->sweep,
	    clock_monotonic_ns() + SWEEP_SECONDS * NS_PER_SECOND,
	    SWEEP_SECONDS * NS_PER_SECOND);
	return 0;
}

void
web_http_quiesce(struct web_http *http)
{
	int fd;

	if (http == NULL || http->daemon == NULL)
		return;
	fd = MHD_quiesce_daemon(http->daemon);
	if (fd >= 0)
		close(fd);
}

void
web_http_close(struct web_http **http)
{
	struct web_http *old = *http;

	if (old == NULL)
		return;
	if (old->daemon != NULL) {
		loop_remove_fd(old->loop, old->epoll);
		loop_stop_timer(old->loop, &old->due);
		loop_stop_timer(old->loop, &old->sweep);
		MHD_stop_daemon(old->daemon);
	}
	free(old);
	*http = NULL;
}
