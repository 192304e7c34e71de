/*
 * azure_table - the event table of the older tool in Azure Table: rows,
 * transactions of rows, and pages of rows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/json/json_fields.h"
#include "proto/json/json_find.h"
#include "proto/json/json_relayout.h"
#include "proto/os/clock.h"

static int
write_row(struct json_relayout *relayout, struct text row, FILE *file)
{
	static const char *const names[] = { "PartitionKey", "RowKey", "Event",
		"NodeId", "Message" };
	struct json line;
	bool good = row.at[0] == '{';

	json_init(&line, file, JSON_COMPACT | JSON_STRICT);
	json_begin_object(&line);
	for (size_t i = 0; good && i < sizeof(names) / sizeof(*names); i++) {
		struct text value = json_find(row, names[i]);

		if (value.bytes == 0 || json_fields_is_null(value))
			continue;
		json_name(&line, names[i]);
		good = json_relayout_into(relayout, &line, value);
	}
	if (!good)
		return -1;
	json_end_object(&line);
	putc('\n', file);
	return 0;
}

int
table_page_write(struct text page, FILE *file, uint64_t *rows, struct err *err)
{
	struct text list = json_find(json_find_root(page), "value"), row;
	struct json_relayout relayout;
	int rc = 0;

	if (!json_fields_is_list(list))
		return err_set(err, "the answer is not a page of rows");
	json_relayout_init(&relayout);
	while (rc == 0 && json_find_item(&list, &row)) {
		if (write_row(&relayout, row, file) != 0)
			rc =
			    err_set(err, "the answer contains a malformed row");
		else if (ferror(file))
			rc = err_set(err, "cannot write the rows");
		*rows += rc == 0;
	}
	json_relayout_clear(&relayout);
	return rc;
}

size_t
table_quote(char *to, size_t room, struct text text)
{
	size_t used = 0;

	for (uint32_t i = 0; i < text.bytes; i++) {
		if (used + 3 > room)
			return 0;
		if (text.at[i] == '\'')
			to[used++] = '\'';
		to[used++] = text.at[i];
	}
	if (room > 0)
		to[used] = '\0';
	return used;
}

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

/* Bytes of the lines around a row; maximum bytes of an encoded key. */
enum { KEY_BYTES = 9 * NAME_BYTES_MAX, END_BYTES = 128 };

#define BEGIN                                                                  \
	"--batch_poolscope\r\n"                                                \
	"Content-Type: multipart/mixed; boundary=changeset_poolscope\r\n\r\n"
#define END "--changeset_poolscope--\r\n\r\n--batch_poolscope--\r\n"

struct table_batch {
	const char *base, *table;
	char partition[NAME_BYTES_MAX];
	uint32_t partition_bytes;
	FILE *file; /* writes to at, bytes */
	char *at;
	size_t bytes, complete; /* complete: bytes of complete rows */
	char *part; /* the rows of the last request, between BEGIN and END */
	struct record_id ids[TABLE_BATCH_ROWS_MAX];
	size_t ends[TABLE_BATCH_ROWS_MAX]; /* of the rows */
	uint32_t rows;
	uint64_t left_out;
	char message[TABLE_ROW_MESSAGE_BYTES_MAX];
};

struct table_batch *
table_batch_new(const char *base, const char *table)
{
	struct table_batch *batch = memory_zero(1, sizeof(*batch));

	batch->base = base;
	batch->table = table;
	batch->file = memory_stream(&batch->at, &batch->bytes);
	return batch;
}

void
table_batch_free(struct table_batch **to)
{
	struct table_batch *batch = *to;

	if (batch == NULL)
		return;
	fclose(batch->file);
	free(batch->at);
	free(batch->part);
	free(batch);
	*to = NULL;
}

void
table_batch_clear(struct table_batch *batch)
{
	rewind(batch->file);
	batch->complete = 0;
	batch->rows = 0;
}

uint32_t
table_batch_rows(const struct table_batch *batch)
{
	return batch->rows;
}

uint64_t
table_batch_left_out(const struct table_batch *batch)
{
	return batch->left_out;
}

int
table_check_name(const char *name, struct err *err)
{
	size_t bytes = strlen(name);
	bool good = bytes >= 3 && bytes <= TABLE_NAME_BYTES_MAX &&
		    isalpha((unsigned char)name[0]);

	for (size_t i = 0; i < bytes && good; i++)
		good = isalnum((unsigned char)name[i]) != 0;
	return good ? 0
		    : err_set(err,
			  "azure-table:NAME: the name is not 3 to %d "
			  "letters and digits, a letter first",
			  TABLE_NAME_BYTES_MAX);
}

int
table_check_partition(struct text partition, struct err *err)
{
	char shown[300];

	for (uint32_t i = 0; i < partition.bytes; i++)
		if (strchr("/\\#?", partition.at[i]) != NULL)
			return err_set(err,
			    "partition %s cannot be the partition key of an "
			    "Azure table: it contains '%c'",
			    text_quote(shown, sizeof(shown), partition),
			    partition.at[i]);
	return 0;
}

static bool
is_there(const struct table_batch *batch, const struct record_id *id)
{
	for (uint32_t i = 0; i < batch->rows; i++)
		if (batch->ids[i].seq == id->seq &&
		    batch->ids[i].index == id->index &&
		    session_equal(&batch->ids[i].session, &id->session))
			return true;
	return false;
}

/* In a key a quote is doubled; other characters are percent-encoded as in a
 * path. */
static void
put_key(FILE *file, struct text key)
{
	char encoded[KEY_BYTES];

	http_encode(encoded, sizeof(encoded), key, "'");
	for (const char *c = encoded; *c != '\0'; c++)
		fputs(*c == '\'' ? "''" : (char[]){ *c, '\0' }, file);
}

static void
put_row(struct table_batch *batch, struct text partition,
    const struct record *record)
{
	char key[TABLE_ROW_KEY_BYTES];
	struct json json;
	uint32_t left_out;
	struct text message =
	    table_row_message(batch->message, record, &left_out);

	batch->left_out += left_out;
	table_row_key(key, record);
	fprintf(batch->file,
	    "--changeset_poolscope\r\nContent-Type: application/http\r\n"
	    "Content-Transfer-Encoding: binary\r\n\r\nPUT %s/%s(PartitionKey='",
	    batch->base, batch->table);
	put_key(batch->file, partition);
	fprintf(batch->file,
	    "',RowKey='%s') HTTP/1.1\r\nAccept: application/json;"
	    "odata=nometadata\r\nContent-Type: application/json\r\n"
	    "Prefer: return-no-content\r\nDataServiceVersion: 3.0;\r\n\r\n",
	    key);
	json_init(&json, batch->file, JSON_LINE);
	table_row_put(&json, partition, record, message);
	fputs("\r\n", batch->file);
}

int
table_batch_add(struct table_batch *batch, struct text partition,
    const struct record *record, struct err *err)
{
	struct text before = { batch->partition, batch->partition_bytes };

	if (batch->rows > 0 && !text_equal(before, partition))
		return 0;
	if (is_there(batch, &record->id))
		return 1;
	if (batch->rows == TABLE_BATCH_ROWS_MAX)
		return 0;
	if (batch->rows == 0) {
		if (table_check_partition(partition, err) != 0)
			return -1;
		memcpy(batch->partition, partition.at, partition.bytes);
		batch->partition_bytes = partition.bytes;
		fputs(BEGIN, batch->file);
	}
	put_row(batch, partition, record);
	fflush(batch->file);
	if (batch->bytes + END_BYTES > TABLE_BATCH_BYTES_MAX) {
		fseek(batch->file, (long)batch->complete, SEEK_SET);
		return 0; /* a single row is always much smaller */
	}
	batch->ends[batch->rows] = batch->complete = batch->bytes;
	batch->ids[batch->rows++] = record->id;
	return 1;
}

static size_t
begin_of(const struct table_batch *batch, uint32_t row)
{
	return row > 0 ? batch->ends[row - 1] : strlen(BEGIN);
}

struct text
table_batch_part(struct table_batch *batch, uint32_t from, uint32_t upto)
{
	size_t begin = begin_of(batch, from);
	size_t bytes = begin_of(batch, upto) - begin;
	char *end;

	free(batch->part);
	batch->part = memory_alloc(strlen(BEGIN) + bytes + strlen(END) + 1);
	end = stpcpy(batch->part, BEGIN);
	memcpy(end, batch->at + begin, bytes);
	end = stpcpy(end + bytes, END);
	return (struct text){ batch->part, (uint32_t)(end - batch->part) };
}

struct text
table_batch_row(const struct table_batch *batch, uint32_t row)
{
	size_t begin = begin_of(batch, row);
	struct text text = { batch->at + begin,
		(uint32_t)(batch->ends[row] - begin) };
	const char *json = memmem(text.at, text.bytes, "\r\n\r\n{", 5);

	if (json != NULL) {
		text.bytes -= (uint32_t)(json + 4 - text.at);
		text.at = json + 4;
	}
	return text_trim(text);
}

/* ---- answers ---- */

/* Returns the position after the next `mark`, or NULL. */
static const char *
find(struct text t, const char *mark)
{
	const char *at =
	    t.bytes > 0 ? memmem(t.at, t.bytes, mark, strlen(mark)) : NULL;

	return at != NULL ? at + strlen(mark) : NULL;
}

static struct text
from(struct text t, const char *at)
{
	return (struct text){ at, t.bytes - (uint32_t)(at - t.at) };
}

static int
read_status(struct text t)
{
	int status = 0;

	if (t.bytes < 3)
		return 0;
	for (int i = 0; i < 3; i++) {
		if (!isdigit((unsigned char)t.at[i]))
			return 0;
		status = 10 * status + (t.at[i] - '0');
	}
	return status;
}

/* The part up to the next boundary. */
static void
read_refusal(struct service_error *service_error, struct text part)
{
	const char *body = find(part, "\r\n\r\n"), *end;

	if (body == NULL)
		return;
	part = from(part, body);
	end = memmem(part.at, part.bytes, "\r\n--", 4);
	if (end != NULL)
		part.bytes = (uint32_t)(end - part.at);
	service_error_read(service_error, part);
}

int
table_batch_status(
    struct text answer, uint32_t rows, struct service_error *service_error)
{
	const char *at;
	uint32_t stored = 0;

	*service_error = (struct service_error){ .code = "" };
	while ((at = find(answer, "HTTP/1.1 ")) != NULL) {
		int status = read_status(from(answer, at));

		answer = from(answer, at);
		if (status < 200 || status > 299) {
			read_refusal(service_error, answer);
			return status;
		}
		stored++;
	}
	return stored >= rows ? 204 : 0;
}
