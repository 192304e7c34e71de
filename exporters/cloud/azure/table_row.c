/*
 * table_row - convert an event to a row of the older tool's event table.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure/table_row.h"

#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "proto/base/number.h"
#include "proto/os/clock.h"

/* 98 bits of a hash of the identity, as digits. */
static void
put_identity(char to[static 31], const struct record_id *id)
{
	unsigned char bytes[16 + 8 + 4], sum[16];
	uint64_t words[2];

	memcpy(bytes, id->session.bytes, 16);
	for (int i = 0; i < 8; i++)
		bytes[16 + i] = (unsigned char)(id->seq >> (56 - 8 * i));
	for (int i = 0; i < 4; i++)
		bytes[24 + i] = (unsigned char)(id->index >> (24 - 8 * i));
	crypto_generichash(sum, sizeof(sum), bytes, sizeof(bytes), NULL, 0);
	memset(words, 0, sizeof(words));
	for (int i = 0; i < 16; i++)
		words[i / 8] = words[i / 8] << 8 | sum[i];
	snprintf(to, 31, "%015" PRIu64 "%015" PRIu64,
	    words[0] % UINT64_C(1000000000000000),
	    words[1] % UINT64_C(1000000000000000));
}

void
table_row_key(char to[static TABLE_ROW_KEY_BYTES], const struct record *record)
{
	int64_t ns = record->time_ns;
	/* Before 1970 the appended digits also increase the absolute value. */
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char identity[31];

	put_identity(identity, &record->id);
	snprintf(to, TABLE_ROW_KEY_BYTES, "%s%" PRIu64 ".%09" PRIu64 "0%s",
	    ns < 0 ? "-" : "", size / (uint64_t)NS_PER_SECOND,
	    size % (uint64_t)NS_PER_SECOND, identity);
}

struct line {
	char *at;
	uint32_t used;
};

static bool
add(struct line *line, const char *at, size_t bytes)
{
	if (bytes > TABLE_ROW_MESSAGE_BYTES_MAX - line->used)
		return false;
	if (bytes > 0)
		memcpy(line->at + line->used, at, bytes);
	line->used += (uint32_t)bytes;
	return true;
}

static bool
add_value(struct line *line, const struct value *value)
{
	char number[NUMBER_BYTES] = "";

	switch (value->type) {
	case VALUE_TEXT:
		return add(line, value->is.text.at, value->is.text.bytes);
	case VALUE_BOOL:
		snprintf(number, sizeof(number), "%s",
		    value->is.boolean ? "true" : "false");
		break;
	case VALUE_INT:
		snprintf(number, sizeof(number), "%" PRId64, value->is.i);
		break;
	case VALUE_UINT:
		snprintf(number, sizeof(number), "%" PRIu64, value->is.u);
		break;
	case VALUE_FLOAT: number_repr(number, value->is.f); break;
	case VALUE_NIL: break;
	}
	return add(line, number, strlen(number));
}

struct text
table_row_message(char to[static TABLE_ROW_MESSAGE_BYTES_MAX],
    const struct record *record, uint32_t *left_out)
{
	static const struct text message = { "message", 7 };
	static const struct text prefix = { "prefix", 6 };
	struct line line = { to, 0 };
	struct text rest = record->pairs;
	struct record_attribute attribute;
	struct value value;

	*left_out = 0;
	if (record_find_attribute(record, message, &value))
		*left_out += !add_value(&line, &value);
	while (record_next_attribute(&rest, &attribute)) {
		uint32_t before = line.used;

		if (text_equal(attribute.key, message) ||
		    text_equal(attribute.key, prefix))
			continue;
		if ((line.used == 0 || add(&line, ",", 1)) &&
		    add(&line, attribute.key.at, attribute.key.bytes) &&
		    add(&line, "=", 1) && add_value(&line, &attribute.value))
			continue;
		line.used = before;
		(*left_out)++;
	}
	return (struct text){ to, line.used };
}

void
table_row_put(struct json *json, struct text partition,
    const struct record *record, struct text message)
{
	char key[TABLE_ROW_KEY_BYTES], event[2 * NAME_BYTES_MAX + 2];

	table_row_key(key, record);
	snprintf(event, sizeof(event), "%.*s:%.*s", (int)record->source.bytes,
	    record->source.at, (int)record->name.bytes, record->name.at);
	json_begin_object(json);
	json_add_text(json, "PartitionKey", partition);
	json_add_string(json, "RowKey", key);
	json_add_string(json, "Event", event);
	json_add_text(json, "NodeId", record->node);
	if (message.bytes > 0) {
		json_add_text(json, "Message", message);
	}
	json_end_object(json);
}
