/*
 * target_influx - upload samples as line protocol to InfluxDB, VictoriaMetrics
 * and compatible services.  The measurement is the metric group, the tags are
 * node and partition, the fields are the columns.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/targets/influx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/deliver.h"
#include "exporters/upload/targets/target.h"
#include "proto/base/memory.h"
#include "proto/hash/string_table.h"
#include "proto/http/message.h"
#include "proto/json/json_bytes.h"
#include "proto/stream/compress_block.h"

static bool
is_special(char c, enum influx_part part)
{
	return c == ',' || c == ' ' || (c == '=' && part == INFLUX_KEY);
}

/* Servers disagree on a backslash before one of these. */
static bool
is_doubtful(struct text name, uint32_t at)
{
	return at + 1 == name.bytes ||
	       strchr(", =\\\"", name.at[at + 1]) != NULL;
}

size_t
influx_escape(char *to, struct text name, enum influx_part part)
{
	size_t used = 0;

	for (uint32_t i = 0; i < name.bytes; i++) {
		char c = name.at[i];

		if (is_special(c, part))
			to[used++] = '\\';
		else if (c == '\\' && is_doubtful(name, i))
			c = '/';
		else if ((c == '#' && i == 0 && part == INFLUX_MEASUREMENT) ||
			 (unsigned char)c < ' ')
			c = '_';
		to[used++] = c;
	}
	return used;
}

static bool
is_taken(struct text name)
{
	static const char *const taken[] = { "time", "node", "partition",
		"_time", "_field", "_measurement" };

	while (name.bytes > 0 && name.at[name.bytes - 1] == '_')
		name.bytes--;
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (text_equal(name, text_of(taken[i])))
			return true;
	return false;
}

/* A column's name as the key of a field, escaped; `to` has room for twice its
 * bytes and one.  `time`, and the tags `node` and `partition`, are taken there,
 * also `_time`, `_field` and `_measurement`: such a name gets a '_' at its end,
 * and so does one that is like it but for such ends, so that names stay
 * different.  Returns the length. */
static size_t
influx_field(char *to, struct text name)
{
	size_t used = influx_escape(to, name, INFLUX_KEY);

	if (is_taken(name))
		to[used++] = '_';
	return used;
}

unsigned char *
influx_put_number(unsigned char *to, const struct value *value)
{
	char text[NUMBER_BYTES];

	switch (value->type) {
	case VALUE_INT: return json_put_integer(to, value->is.i);
	case VALUE_UINT: return json_put_digits(to, value->is.u);
	case VALUE_FLOAT:
		if (!isfinite(value->is.f))
			return NULL;
		return json_put_bytes(to, text, number_repr(text, value->is.f));
	case VALUE_BOOL:
		return value->is.boolean ? JSON_PUT(to, "true")
					 : JSON_PUT(to, "false");
	default: return NULL;
	}
}

enum {
	BODY_BYTES = 4 << 20,
	/* VictoriaMetrics drops lines longer than 256 KiB; two lines with the
	 * same time and tags are one point. */
	LINE_BYTES = 64 << 10,
	KEY_BYTES_MAX = 2 * NAME_BYTES_MAX + 3, /* with ',', '=' and a '_' */
	TIME_BYTES_MAX = JSON_INTEGER_BYTES + 2,
	PREFIX_BYTES_MAX = 3 * KEY_BYTES_MAX + 32,
};

/* Prepared ",name=" of each column of a metric group. */
struct keys {
	unsigned char *at;
	uint32_t *ends;
	uint32_t count;
	uint64_t definition;
};

struct target {
	struct http *http;
	struct secret token; /* the whole header */
	char *url;
	struct compress_block *pack; /* NULL: the service is on this machine */

	unsigned char *body;
	size_t used, room;
	struct deliver_lines lines; /* of the body, while it is sent */
	struct deliver_state state;

	struct string_table groups;
	struct keys *keys; /* indexed by metric group number */
	uint32_t keys_room;

	/* "group,node=...,partition=..." of the last sample. */
	char prefix[PREFIX_BYTES_MAX];
	size_t prefix_bytes;
	struct {
		char group[NAME_BYTES_MAX], node[NAME_BYTES_MAX],
		    partition[NAME_BYTES_MAX];
		uint32_t group_bytes, node_bytes, partition_bytes;
		uint32_t number; /* of the metric group */
	} last;
};

static void
influx_close(struct target **to)
{
	struct target *t = *to;

	if (t == NULL)
		return;
	http_close(&t->http);
	secret_clear(&t->token);
	compress_block_free(&t->pack);
	for (uint32_t i = 0; i < t->keys_room; i++) {
		free(t->keys[i].at);
		free(t->keys[i].ends);
	}
	free(t->keys);
	string_table_clear(&t->groups);
	free(t->body);
	free(t->url);
	free(t);
	*to = NULL;
}

static int
influx_open(struct target **to, const char *rest,
    const struct http_options *how, struct err *err)
{
	struct target *t = memory_zero(1, sizeof(*t));

	string_table_init(&t->groups);
	t->last.group_bytes = UINT32_MAX;
	t->room = BODY_BYTES;
	t->body = memory_alloc(t->room);
	t->url = memory_format(
	    "%s%cprecision=ns", rest, strchr(rest, '?') == NULL ? '?' : '&');
	if (secret_authorization(&t->token, "INFLUX_TOKEN", "Token", err) !=
		0 ||
	    http_open(&t->http, how, err) != 0) {
		influx_close(&t);
		return -1;
	}
	/* Compression costs more than it saves if the service is on this
	 * machine. */
	if (!http_is_here(rest) && !http_is_dry(t->http))
		t->pack = compress_block_new(COMPRESS_GZIP);
	*to = t;
	return 0;
}

/* ---- lines ---- */

static void
make_keys(struct keys *keys, const struct target_row *row)
{
	unsigned char *at;

	free(keys->at);
	free(keys->ends);
	keys->at = at = memory_alloc(row->columns * (size_t)KEY_BYTES_MAX + 1);
	keys->ends = memory_alloc((row->columns + 1) * sizeof(*keys->ends));
	for (uint32_t i = 0; i < row->columns; i++) {
		struct text name = row->names[i];

		if (name.bytes > NAME_BYTES_MAX)
			name.bytes = NAME_BYTES_MAX;
		*at++ = ',';
		at += influx_field((char *)at, name);
		*at++ = '=';
		keys->ends[i] = (uint32_t)(at - keys->at);
	}
	keys->count = row->columns;
	keys->definition = row->definition;
}

static bool
is_last(struct text t, const char *last, uint32_t bytes)
{
	return t.bytes == bytes && memcmp(t.at, last, bytes) == 0;
}

static void
make_prefix(struct target *t, const struct target_row *row)
{
	const struct record *record = row->record;
	char *at = t->prefix;

	at += influx_escape(at, record->source, INFLUX_MEASUREMENT);
	memcpy(at, ",node=", 6);
	at += 6 + influx_escape(at + 6, record->node, INFLUX_KEY);
	memcpy(at, ",partition=", 11);
	at += 11 + influx_escape(at + 11, row->partition, INFLUX_KEY);
	t->prefix_bytes = (size_t)(at - t->prefix);
	memcpy(t->last.group, record->source.at, record->source.bytes);
	memcpy(t->last.node, record->node.at, record->node.bytes);
	memcpy(t->last.partition, row->partition.at, row->partition.bytes);
	t->last.group_bytes = record->source.bytes;
	t->last.node_bytes = record->node.bytes;
	t->last.partition_bytes = row->partition.bytes;
	t->last.number = string_table_add(&t->groups, record->source);
	MEMORY_GROW_ZERO(t->keys, t->keys_room, t->last.number);
}

static const struct keys *
prepare(struct target *t, const struct target_row *row)
{
	const struct record *record = row->record;
	struct keys *keys;

	if (!is_last(record->source, t->last.group, t->last.group_bytes) ||
	    !is_last(record->node, t->last.node, t->last.node_bytes) ||
	    !is_last(
		row->partition, t->last.partition, t->last.partition_bytes))
		make_prefix(t, row);
	keys = &t->keys[t->last.number];
	if (keys->at == NULL || row->definition == 0 ||
	    keys->definition != row->definition)
		make_keys(keys, row);
	return keys;
}

static unsigned char *
put_key(unsigned char *at, const struct keys *keys, uint32_t column)
{
	uint32_t begin = column > 0 ? keys->ends[column - 1] : 0;

	return json_put_bytes(
	    at, (const char *)keys->at + begin, keys->ends[column] - begin);
}

static unsigned char *
end_line(unsigned char *at, int64_t time_ns)
{
	*at++ = ' ';
	at = json_put_integer(at, time_ns);
	*at++ = '\n';
	return at;
}

static unsigned char *
put_sample(struct target *t, unsigned char *at, const struct keys *keys,
    const struct record *record)
{
	struct text rest = record->value_bytes;
	unsigned char *line = at, *first = NULL, *field, *end;
	struct value value;

	for (uint32_t i = 0; record_next_value(&rest, &value); i++) {
		if (first == NULL) {
			line = at;
			at = json_put_bytes(at, t->prefix, t->prefix_bytes);
			first = at;
		}
		field = at;
		if (i < keys->count)
			at = put_key(at, keys, i);
		else
			at += sprintf((char *)at, ",value_%u=", i);
		end = influx_put_number(at, &value);
		at = end == NULL ? field : end;
		if (at - line > LINE_BYTES) {
			*first = ' ';
			at = end_line(at, record->time_ns);
			first = NULL;
		}
	}
	if (first == NULL || at == first)
		return first == NULL ? at : line; /* the value is unknown */
	*first = ' '; /* where the comma before the first field is */
	return end_line(at, record->time_ns);
}

/* Upper bound of the size of a sample. */
static size_t
bound_of(const struct keys *keys, const struct record *record)
{
	size_t names = keys->count > 0 ? keys->ends[keys->count - 1] : 0;
	size_t all = names + record->values * (size_t)(NUMBER_BYTES + 20);

	return (all / LINE_BYTES + 1) * (PREFIX_BYTES_MAX + TIME_BYTES_MAX) +
	       all;
}

static int
influx_add(struct target *t, const struct target_row *row, struct err *err)
{
	const struct keys *keys;
	size_t bound;

	if (row->record->kind != RECORD_SAMPLE)
		return err_set(err, "influx accepts only samples");
	keys = prepare(t, row);
	bound = bound_of(keys, row->record);
	if (bound > t->room - t->used) {
		if (t->used > 0)
			return 0;
		t->body = memory_resize(t->body, bound);
		t->room = bound;
	}
	t->used = (size_t)(put_sample(t, t->body + t->used, keys, row->record) -
			   t->body);
	return 1;
}

static enum deliver_result
send_lines(void *arg, uint32_t from, uint32_t upto, struct err *err)
{
	struct target *t = arg;
	struct http_request request = { .method = "POST",
		.url = t->url,
		.headers = { "Content-Type: text/plain; charset=utf-8" },
		.body = deliver_lines_part(&t->lines, from, upto) };
	uint32_t headers = 1;
	struct http_answer answer;

	if (t->pack != NULL && request.body.bytes > 0) {
		compress_block_begin(t->pack,
		    (const unsigned char *)request.body.at, request.body.bytes);
		request.body = compress_block_take(t->pack);
		request.headers[headers++] = "Content-Encoding: gzip";
	}
	if (t->token.bytes > 0)
		request.headers[headers++] = (const char *)t->token.at;
	if (http_send(t->http, &request, &answer, err) != 0)
		return DELIVER_FAILED;
	return deliver_judge(t->http, &answer,
	    answer.status == 204 ||
		(answer.status == 200 && answer.body.bytes == 0),
	    err);
}

static struct text
show_line(void *arg, uint32_t item)
{
	struct target *t = arg;

	return text_trim(deliver_lines_part(&t->lines, item, item + 1));
}

static int
influx_flush(
    struct target *t, const char *name, uint32_t *left_out, struct err *err)
{
	const struct deliver how = { t, send_lines, show_line, true };
	int rc;

	(void)name; /* sending the same line again changes nothing */
	*left_out = 0;
	if (t->used == 0)
		return 0;
	deliver_lines_init(&t->lines,
	    (struct text){ (const char *)t->body, (uint32_t)t->used });
	rc = deliver(&how, &t->state, t->lines.count, left_out, err);
	deliver_lines_clear(&t->lines);
	if (rc == 0)
		t->used = 0;
	return rc;
}

const struct target_type target_influx = {
	.scheme = "influx",
	.rest = "URL",
	.takes = TARGET_SAMPLES,
	.check = http_check_url,
	.open = influx_open,
	.close = influx_close,
	.add = influx_add,
	.flush = influx_flush,
};
