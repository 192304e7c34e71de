/*
 * target_http - upload records as lines of JSON, as poolscope-dump prints
 * them, to any endpoint.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "exporters/upload/targets/target.h"
#include "proto/base/memory.h"
#include "proto/decode/record_json.h"
#include "proto/http/message.h"

enum { BODY_BYTES = 4 << 20 }; /* size at which the body is sent */

struct target {
	struct http *http;
	struct secret token; /* the whole header */
	const char *url;
	FILE *file; /* stream of the body; NULL: the body is empty */
	char *body;
	size_t bytes;
};

static void
end_body(struct target *t)
{
	if (t->file != NULL)
		memory_stream_end(&t->file);
}

static void
http_target_close(struct target **to)
{
	struct target *t = *to;

	if (t == NULL)
		return;
	end_body(t);
	http_close(&t->http);
	secret_clear(&t->token);
	free(t->body);
	free(t);
	*to = NULL;
}

static int
http_target_open(struct target **to, const char *rest,
    const struct http_options *how, struct err *err)
{
	struct target *t = memory_zero(1, sizeof(*t));

	t->url = rest;
	if (secret_authorization(
		&t->token, "POOLSCOPE_HTTP_TOKEN", "Bearer", err) != 0 ||
	    http_open(&t->http, how, err) != 0) {
		http_target_close(&t);
		return -1;
	}
	*to = t;
	return 0;
}

static int
http_target_add(struct target *t, const struct target_row *row, struct err *err)
{
	(void)err;
	if (t->file == NULL) {
		free(t->body);
		t->body = NULL;
		t->file = memory_stream(&t->body, &t->bytes);
	}
	if (ftello(t->file) >= BODY_BYTES)
		return 0;
	record_json_line(t->file, row->partition, row->record, NULL);
	return 1;
}

static int
http_target_flush(struct target *t, const char *name, struct err *err)
{
	char key[256];
	struct http_request request = { .method = "POST",
		.url = t->url,
		.headers = { "Content-Type: application/x-ndjson", key,
		    t->token.bytes > 0 ? (const char *)t->token.at : NULL } };

	if (t->file == NULL && t->body == NULL)
		return 0;
	end_body(t);
	snprintf(key, sizeof(key), "Idempotency-Key: %s", name);
	request.body = (struct text){ t->body, (uint32_t)t->bytes };
	if (http_deliver(t->http, &request, err) != 0)
		return -1;
	free(t->body);
	t->body = NULL;
	return 0;
}

const struct target_type target_http = {
	.scheme = "http",
	.rest = "URL",
	.takes = TARGET_SAMPLES | TARGET_EVENTS,
	.check = http_check_url,
	.open = http_target_open,
	.close = http_target_close,
	.add = http_target_add,
	.flush = http_target_flush,
};
