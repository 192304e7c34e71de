/*
 * table_batch - a transaction of rows of an Azure table.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure/table_batch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/azure/table_row.h"
#include "proto/base/memory.h"

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
