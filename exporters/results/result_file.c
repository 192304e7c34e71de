/*
 * result_file - parse a TestResults file of a benchmark: test and entries.
 *
 * It accepts what the previous uploader accepted, which used Python's json
 * module: the last of duplicate names counts, and bare NaN and Infinity are
 * numbers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/result_file.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/json/json_reader.h"

/* 0001-01-01 and 9999-12-31, the date range of the older tools */
#define SECONDS_MIN (-62135596800.0)
#define SECONDS_END 253402300800.0

struct reading {
	struct result_file *result;
	struct json_reader scan;
	uint32_t room;      /* capacity of result->entries */
	uint32_t used;      /* used bytes of result->memory */
	uint32_t number;    /* number of the entry in the file, from 1 */
	struct err trouble; /* of the result, including the entries so far */
	struct err *err;
	int rc;
};

/* ---- single values ---- */

/* The text between the quotes.  Decoded text is never longer than its
 * encoding, so memory of the size of the file is sufficient. */
static bool
get_text(struct reading *r, struct text raw, struct text *text)
{
	struct text quoted = { raw.at + 1, raw.bytes - 2 };
	char *to;

	*text = quoted;
	if (memchr(quoted.at, '\\', quoted.bytes) == NULL)
		return true;
	if (r->result->memory == NULL)
		r->result->memory = memory_alloc(r->result->text.bytes);
	to = (char *)r->result->memory + r->used;
	if (!json_reader_decode(to, quoted, &text->bytes))
		return false;
	text->at = to;
	r->used += text->bytes;
	return true;
}

static int
get_name(struct reading *r, struct text raw, struct text *name, struct err *err)
{
	if (*raw.at != '"')
		return err_set(err, "\"name\" is not a string");
	if (!get_text(r, raw, name))
		return err_set(err, "\"name\" has an unpaired surrogate");
	if (name->bytes == 0)
		return err_set(err, "\"name\" is empty");
	if (name->bytes > RESULT_NAME_BYTES_MAX)
		return err_set(err, "\"name\" is longer than %d bytes",
		    RESULT_NAME_BYTES_MAX);
	return 0;
}

static bool
is_number(struct text raw)
{
	return *raw.at == '-' || (*raw.at >= '0' && *raw.at <= '9') ||
	       *raw.at == 'N' || *raw.at == 'I';
}

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct text
trim(struct text text)
{
	while (text.bytes > 0 && is_blank(*text.at)) {
		text.at++;
		text.bytes--;
	}
	while (text.bytes > 0 && is_blank(text.at[text.bytes - 1]))
		text.bytes--;
	return text;
}

/* Rounds like datetime.utcfromtimestamp: whole seconds apart from the
 * fraction, which is rounded half to even. */
static int64_t
get_microseconds(double seconds)
{
	double whole, fraction = modf(seconds, &whole);

	return (int64_t)whole * 1000000 + (int64_t)nearbyint(fraction * 1e6);
}

static int
get_start(struct reading *r, struct text raw)
{
	char quoted[64];
	struct value number;
	struct text text;
	double seconds;

	if (*raw.at == '"') {
		if (!get_text(r, raw, &text))
			return err_set(r->err, "\"startTime\" is not a number");
		text = trim(text);
		if (number_parse_double(text, &seconds, NULL) != 0)
			return err_set(r->err,
			    "\"startTime\" is not a number: \"%s\"",
			    text_quote(quoted, sizeof(quoted), text));
	} else if (is_number(raw)) {
		json_reader_number(raw, &number);
		seconds = number.type == VALUE_INT ? (double)number.is.i
						   : number.is.f;
	} else {
		return err_set(
		    r->err, "\"startTime\" is neither a number nor a string");
	}
	if (!(seconds >= SECONDS_MIN && seconds < SECONDS_END))
		return err_set(
		    r->err, "\"startTime\" is outside the years 1 to 9999");
	r->result->start_us = get_microseconds(seconds);
	return 0;
}

static int
get_timing(
    struct reading *r, struct text raw, struct value *timing, struct err *err)
{
	if (is_number(raw)) {
		json_reader_number(raw, timing);
		return 0;
	}
	if (*raw.at != '"')
		return err_set(
		    err, "\"wallTime\" is neither a number nor a string");
	timing->type = VALUE_TEXT;
	if (!get_text(r, raw, &timing->is.text))
		return err_set(err, "\"wallTime\" has an unpaired surrogate");
	if (timing->is.text.bytes > NAME_BYTES_MAX)
		return err_set(err, "\"wallTime\" is longer than %d bytes",
		    NAME_BYTES_MAX);
	return 0;
}

/* ---- entries ---- */

static void
complain(struct reading *r, const struct err *err)
{
	if (r->result->bad++ == 0)
		err_set(&r->result->complaint, "entry %" PRIu32 ": %s",
		    r->number, err->text);
}

static int
read_entry(struct reading *r, struct result_entry *entry, struct err *err)
{
	struct json_reader *scan = &r->scan;
	struct text key, raw, name = { NULL, 0 }, timing = { NULL, 0 };

	if (json_reader_peek(scan) != '{') {
		json_reader_take(scan);
		return err_set(err, "it is not an object");
	}
	entry->info.at = scan->at;
	json_reader_enter(scan, '{');
	while (json_reader_member(scan, &key)) {
		raw = json_reader_take(scan);
		if (json_reader_is(key, "name"))
			name = raw;
		else if (json_reader_is(key, "wallTime"))
			timing = raw;
	}
	if (scan->bad)
		return 0;
	entry->info.bytes = (uint32_t)(scan->at - entry->info.at);
	if (name.bytes == 0)
		return err_set(err, "\"name\" is missing");
	if (get_name(r, name, &entry->name, err) != 0)
		return -1;
	/* The protobuf mapping omits zeros. */
	if (timing.bytes == 0)
		return 0;
	return get_timing(r, timing, &entry->timing, err);
}

/* The last member of this name counts. */
static void
forget(struct reading *r)
{
	r->result->count = r->result->bad = r->number = 0;
	r->result->complaint.text[0] = r->trouble.text[0] = '\0';
}

static void
add_entry(struct reading *r, const struct result_entry *entry)
{
	struct result_file *result = r->result;

	if (result->count == RESULT_ENTRIES_MAX) {
		err_set(&r->trouble, "it has more than %d entries",
		    RESULT_ENTRIES_MAX);
		return;
	}
	*MEMORY_ADD(result->entries, r->room, result->count) = *entry;
}

static void
read_list(struct reading *r)
{
	forget(r);
	if (json_reader_peek(&r->scan) != '[') {
		json_reader_take(&r->scan);
		err_set(&r->trouble, "\"entry\" is not an array");
		return;
	}
	json_reader_enter(&r->scan, '[');
	while (json_reader_item(&r->scan)) {
		struct result_entry entry = { .timing.type = VALUE_INT };
		struct err err = { 0 };

		r->number++;
		if (read_entry(r, &entry, &err) != 0)
			complain(r, &err);
		else if (!r->scan.bad)
			add_entry(r, &entry);
	}
}

static void
read_entries(struct reading *r)
{
	struct text key;

	forget(r);
	if (json_reader_peek(&r->scan) != '{') {
		json_reader_take(&r->scan);
		err_set(&r->trouble, "\"entries\" is not an object");
		return;
	}
	json_reader_enter(&r->scan, '{');
	while (json_reader_member(&r->scan, &key)) {
		if (json_reader_is(key, "entry"))
			read_list(r);
		else
			json_reader_take(&r->scan);
	}
}

/* ---- the file ---- */

static int
check_text(struct text text, struct err *err)
{
	if (text.bytes == 0)
		return err_set(err, "it is empty");
	if (text.bytes > RESULT_FILE_BYTES_MAX)
		return err_set(
		    err, "it is larger than %d bytes", RESULT_FILE_BYTES_MAX);
	if (text.bytes >= 3 && memcmp(text.at, "\xEF\xBB\xBF", 3) == 0)
		return err_set(err, "it begins with a byte order mark");
	if (!text_is_utf8(text))
		return err_set(err, "it is not UTF-8");
	return 0;
}

static int
read_members(struct reading *r)
{
	struct json_reader *scan = &r->scan;
	struct text key, raw, name = { NULL, 0 }, start = { NULL, 0 };
	bool has_entries = false;

	if (json_reader_peek(scan) != '{' && json_reader_take(scan).bytes > 0)
		return err_set(r->err, "it is not a JSON object");
	json_reader_enter(scan, '{');
	while (json_reader_member(scan, &key)) {
		if (json_reader_is(key, "entries")) {
			has_entries = true;
			read_entries(r);
			continue;
		}
		raw = json_reader_take(scan);
		if (json_reader_is(key, "name"))
			name = raw;
		else if (json_reader_is(key, "startTime"))
			start = raw;
	}
	if (!json_reader_finish(scan))
		return err_set(r->err, "%s", scan->err.text);
	if (name.bytes == 0 || start.bytes == 0 || !has_entries)
		return err_set(r->err, "\"%s\" is missing",
		    name.bytes == 0    ? "name"
		    : start.bytes == 0 ? "startTime"
				       : "entries");
	if (r->trouble.text[0] != '\0')
		return err_set(r->err, "%s", r->trouble.text);
	if (get_name(r, name, &r->result->test, r->err) != 0)
		return -1;
	return get_start(r, start);
}

int
result_file_read(
    struct result_file *result, struct text text, bool strict, struct err *err)
{
	struct reading r = { .result = result, .err = err };

	*result = (struct result_file){ .text = text };
	if (check_text(text, err) != 0)
		return -1;
	json_reader_init(&r.scan, text);
	if (read_members(&r) != 0) {
		result_file_clear(result);
		return -1;
	}
	if (strict && result->bad > 0) {
		err_set(err, "%s", result->complaint.text);
		result_file_clear(result);
		return -1;
	}
	crypto_generichash(result->digest, sizeof(result->digest),
	    (const unsigned char *)text.at, text.bytes, NULL, 0);
	return 0;
}

void
result_file_clear(struct result_file *result)
{
	free(result->entries);
	free(result->memory);
	result->entries = NULL;
	result->memory = NULL;
	result->count = 0;
}
