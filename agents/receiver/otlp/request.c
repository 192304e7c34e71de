/*
 * otlp_request - from the body of a request to its answer.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/receiver/otlp/map.h"
#include "agents/receiver/otlp/schema.h"
#include "agents/receiver/otlp/send.h"
#include "proto/base/memory.h"
#include "proto/json/json.h"
#include "proto/stream/compress_block.h"

struct otlp_kind {
	const char *path, *name;
	const struct otlp_message *message;
	int (*map)(struct otlp_map *map, struct text request);
	const char *rejected; /* in the answer */
};

static const struct otlp_kind kinds[] = {
	{ "/v1/traces", "traces", &otlp_traces, otlp_map_traces,
	    "rejectedSpans" },
	{ "/v1/metrics", "metrics", &otlp_metrics, otlp_map_metrics,
	    "rejectedDataPoints" },
	{ "/v1/logs", "logs", &otlp_logs, otlp_map_logs, "rejectedLogRecords" },
};

/* ---- the head ---- */

static const struct otlp_kind *
find_kind(const char *path)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(path, kinds[i].path) == 0)
			return &kinds[i];
	return NULL;
}

/* Whatever the port. */
static bool
is_loopback(const char *host)
{
	static const char *const names[] = { "localhost", "127.0.0.1",
		"[::1]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t bytes = strlen(names[i]);

		if (strncasecmp(host, names[i], bytes) == 0 &&
		    (host[bytes] == '\0' || host[bytes] == ':'))
			return true;
	}
	return false;
}

/* Without parameters, such as charset. */
static bool
is_type(const char *type, const char *wanted)
{
	size_t bytes = strlen(wanted);

	return type != NULL && strncasecmp(type, wanted, bytes) == 0 &&
	       (type[bytes] == '\0' || strchr("; \t", type[bytes]) != NULL);
}

static enum otlp_status
read_encoding(
    const char *encoding, struct otlp_request *request, struct err *err)
{
	request->encoding = OTLP_PLAIN;
	if (encoding == NULL || *encoding == '\0' ||
	    strcasecmp(encoding, "identity") == 0)
		return OTLP_OK;
	if (strcasecmp(encoding, "gzip") == 0)
		request->encoding = OTLP_GZIP;
	else if (strcasecmp(encoding, "deflate") == 0)
		request->encoding = OTLP_DEFLATE;
	else {
		err_set(err, "Content-Encoding must be gzip or deflate");
		return OTLP_NOT_SUPPORTED;
	}
	return OTLP_OK;
}

enum otlp_status
otlp_request_read(const struct otlp_head *head, bool logs,
    struct otlp_request *request, struct err *err)
{
	request->is_json = is_type(head->type, "application/json");
	/* A page of a browser there may come by any name that leads here, and
	 * cannot set this type freely. */
	if (head->host == NULL || !is_loopback(head->host) ||
	    head->origin != NULL) {
		err_set(err, "the header Host must be localhost, 127.0.0.1 or "
			     "[::1], without Origin");
		return OTLP_FORBIDDEN;
	}
	request->kind = find_kind(head->path);
	if (request->kind == NULL) {
		err_set(err, "the path must be /v1/traces, /v1/metrics or "
			     "/v1/logs");
		return OTLP_MISSING;
	}
	if (strcmp(head->method, "POST") != 0) {
		err_set(err, "the method must be POST");
		return OTLP_NOT_ALLOWED;
	}
	if (!request->is_json &&
	    !is_type(head->type, "application/x-protobuf")) {
		err_set(err, "Content-Type must be application/x-protobuf or "
			     "application/json");
		return OTLP_NOT_SUPPORTED;
	}
	if (request->kind->message == &otlp_logs && !logs) {
		err_set(err, "logs are not taken: the receiver's option "
			     "--otlp-logs asks for them");
		return OTLP_MISSING;
	}
	return read_encoding(head->encoding, request, err);
}

/* ---- answers ---- */

static void
put_json(struct buffer *answer, struct json_memory *json)
{
	buffer_put_text(answer, json_memory_end(json));
	free(json->text);
}

/* ExportTracePartialSuccess and its siblings, which have the same numbers;
 * nothing at all if nothing was refused. */
static void
put_success(struct buffer *answer, const struct otlp_request *request,
    uint64_t refused, const struct err *why)
{
	struct json_memory json;
	char digits[24];
	size_t begun;

	if (!request->is_json) {
		if (refused == 0)
			return;
		begun = protobuf_begin(answer, 1);
		protobuf_uint(answer, 1, refused);
		protobuf_text(answer, 2, text_of(why->text));
		protobuf_end(answer, begun);
		return;
	}
	json_memory_begin(&json, JSON_LINE | JSON_COMPACT);
	json_begin_object(&json.to);
	if (refused > 0) {
		json_name(&json.to, "partialSuccess");
		json_begin_object(&json.to);
		snprintf(digits, sizeof(digits), "%llu",
		    (unsigned long long)refused);
		json_add_string(&json.to, request->kind->rejected, digits);
		json_add_string(&json.to, "errorMessage", why->text);
		json_end_object(&json.to);
	}
	json_end_object(&json.to);
	put_json(answer, &json);
}

/* google.rpc.Status; its code is for gRPC. */
void
otlp_put_error(struct buffer *answer, bool is_json, const struct err *err)
{
	struct json_memory json;

	if (!is_json) {
		protobuf_text(answer, 2, text_of(err->text));
		return;
	}
	json_memory_begin(&json, JSON_LINE | JSON_COMPACT);
	json_begin_object(&json.to);
	json_add_string(&json.to, "message", err->text);
	json_end_object(&json.to);
	put_json(answer, &json);
}

/* ---- the work ---- */

struct otlp_worker {
	struct otlp_worker_options options;
	struct submit_options submit_options;
	struct submit *submit;
	struct otlp_send send;
	struct otlp_map map;
	struct compose compose;       /* of groups */
	struct buffer plain, message; /* decompressed; of JSON */
};

void
otlp_worker_new(
    struct otlp_worker **made, const struct otlp_worker_options *options)
{
	struct otlp_worker *worker = *made = memory_zero(1, sizeof(*worker));

	worker->options = *options;
	worker->submit_options = *options->submit;
	worker->submit_options.arg = &worker->send;
	submit_new(&worker->submit, &worker->submit_options);
	worker->send.submit = worker->submit;
	worker->send.report = options->report;
	worker->send.compose = &worker->compose;
	worker->map.calls = (struct otlp_map_calls){ &worker->send,
		otlp_send_record, otlp_send_group };
	worker->map.keep = options->keep;
	worker->map.deltas = options->deltas;
	worker->map.boot = options->boot;
}

void
otlp_worker_free(struct otlp_worker **gone)
{
	struct otlp_worker *worker = *gone;

	if (worker == NULL)
		return;
	submit_free(&worker->submit);
	otlp_map_clear(&worker->map);
	buffer_clear(&worker->plain);
	buffer_clear(&worker->message);
	free(worker);
	*gone = NULL;
}

/* The request as a protocol buffer. */
static int
decode(struct otlp_worker *worker, const struct otlp_request *request,
    struct text body, struct text *message, struct err *err)
{
	size_t most = (size_t)body.bytes * OTLP_RATIO_MAX;

	if (most > OTLP_PLAIN_BYTES_MAX)
		most = OTLP_PLAIN_BYTES_MAX;
	if (request->encoding != OTLP_PLAIN) {
		if (decompress_block(&worker->plain,
			request->encoding == OTLP_GZIP ? COMPRESS_GZIP
						       : COMPRESS_ZLIB,
			body, most, err) != 0)
			return -1;
		body = buffer_text(&worker->plain);
	}
	if (!request->is_json) {
		*message = body;
		return otlp_check(request->kind->message, body, err);
	}
	worker->message.bytes = 0;
	if (otlp_read_json(
		&worker->message, request->kind->message, body, err) != 0)
		return -1;
	*message = buffer_text(&worker->message);
	return 0;
}

static enum otlp_status
take(struct otlp_worker *worker, const struct otlp_request *request,
    struct text body, struct text message, struct buffer *answer)
{
	struct receiver_report *report = worker->options.report;
	struct otlp_send *send = &worker->send;
	struct otlp_map *map = &worker->map;

	worker->submit_options.on_refused =
	    request->kind->message == &otlp_metrics ? otlp_send_refuse : NULL;
	otlp_send_begin(send, request->kind->name, body);
	otlp_map_begin(map, send->request);
	if (request->kind->map(map, message) != 0 || otlp_send_end(send) != 0) {
		report_bad(report, "agent", (struct text){ NULL, 0 },
		    send->err.text, 1);
		otlp_put_error(answer, request->is_json, &send->err);
		return OTLP_UNAVAILABLE;
	}
	if (map->refused > 0)
		report_bad(report, "item", text_of(request->kind->name),
		    map->why.text, map->refused);
	if (send->refused > send->reported)
		report_bad(report, "refused", text_of(request->kind->name),
		    send->err.text, send->refused - send->reported);
	report_taken(report, map->taken - send->refused);
	put_success(answer, request, map->refused + send->refused,
	    map->refused > 0 ? &map->why : &send->err);
	return OTLP_OK;
}

enum otlp_status
otlp_worker_answer(struct otlp_worker *worker,
    const struct otlp_request *request, struct text body, struct buffer *answer)
{
	struct err err = { 0 };
	struct text message;

	if (decode(worker, request, body, &message, &err) != 0) {
		report_bad(
		    worker->options.report, "request", body, err.text, 1);
		otlp_put_error(answer, request->is_json, &err);
		return OTLP_BAD;
	}
	return take(worker, request, body, message, answer);
}
