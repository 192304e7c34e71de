/*
 * target_http - upload records as lines of JSON, as poolscope-dump prints
 * them, to any endpoint.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "exporters/cloud/deliver.h"
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
	struct deliver_lines lines; /* of the body, while it is sent */
	struct deliver_state state;
	const char *name; /* of the request */
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
	record_json_sample_line(
	    t->file, row->partition, row->record, row->labels, NULL);
	return 1;
}

/* A part of the request is named by its lines. */
static enum deliver_result
send_lines(void *arg, uint32_t from, uint32_t upto, struct err *err)
{
	struct target *t = arg;
	char key[256];
	struct http_request request = { .method = "POST",
		.url = t->url,
		.headers = { "Content-Type: application/x-ndjson", key,
		    t->token.bytes > 0 ? (const char *)t->token.at : NULL },
		.body = deliver_lines_part(&t->lines, from, upto) };
	struct http_answer answer;

	if (upto - from == t->lines.count)
		snprintf(key, sizeof(key), "Idempotency-Key: %s", t->name);
	else
		snprintf(key, sizeof(key), "Idempotency-Key: %s/%u-%u", t->name,
		    from, upto);
	if (http_send(t->http, &request, &answer, err) != 0)
		return DELIVER_FAILED;
	return deliver_judge(t->http, &answer,
	    answer.status < 300 && !http_is_page(t->http, &answer), err);
}

static struct text
show_line(void *arg, uint32_t item)
{
	struct target *t = arg;

	return text_trim(deliver_lines_part(&t->lines, item, item + 1));
}

static int
http_target_flush(
    struct target *t, const char *name, uint32_t *left_out, struct err *err)
{
	const struct deliver how = { t, send_lines, show_line, false };
	int rc;

	*left_out = 0;
	if (t->file == NULL && t->body == NULL)
		return 0;
	end_body(t);
	t->name = name;
	deliver_lines_init(
	    &t->lines, (struct text){ t->body, (uint32_t)t->bytes });
	rc = deliver(&how, &t->state, t->lines.count, left_out, err);
	deliver_lines_clear(&t->lines);
	if (rc != 0)
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
