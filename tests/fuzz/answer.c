/*
 * answer - bytes choose columns, options and the cells of rows, and texts are
 * bytes as they come: what is printed in each format is of that format.  JSON
 * is read by the strict reader, and CSV by rules that are here.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/answer.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/json_reader.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/no_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	BYTES_MAX = 2048,
	ADDED_MAX = 4,
	ROWS_MAX = 32,
	REPEATED = 40,
	STRINGS = 4
};

struct thing {
	struct text name;
	uint64_t count;
	int64_t whole, begin, lasts;
	double number, share, bytes;
	enum answer_flag flag;
	struct value value;
};

static const struct answer_column columns[] = {
	{ "name", "NAME", ANSWER_AT_TEXT(struct thing, name), "" },
	{ "count", "COUNT", ANSWER_AT_COUNT(struct thing, count), "",
	    .traits = ANSWER_SPARE },
	{ "whole", NULL, ANSWER_AT_WHOLE(struct thing, whole), "" },
	{ "begin", "BEGIN", ANSWER_AT_TIME(struct thing, begin), "" },
	{ "lasts", "LASTS", ANSWER_AT_DURATION(struct thing, lasts), "",
	    .traits = ANSWER_BY_SIZE },
	{ "number", "NUMBER", ANSWER_AT_NUMBER(struct thing, number), "",
	    .traits = ANSWER_BY_SIZE | ANSWER_SPARE },
	{ "share", "SHARE", ANSWER_AT_SHARE(struct thing, share), "" },
	{ "bytes", "BYTES", ANSWER_AT_BYTES(struct thing, bytes), "" },
	{ "flag", "FLAG", ANSWER_AT_FLAG(struct thing, flag), "" },
	{ "value", "VALUE", ANSWER_AT_VALUE(struct thing, value), "" },
	ANSWER_FAMILY("added.*", ANSWER_VALUE, NULL, ""),
	{ .key = NULL },
};

struct part {
	struct text of;
	uint64_t number;
};

static const struct answer_column part_columns[] = {
	{ "of", "OF", ANSWER_AT_TEXT(struct part, of), "" },
	{ "number", "N", ANSWER_AT_COUNT(struct part, number), "" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "things", columns },
	{ "parts", part_columns }, { .name = NULL } };

static const char *const lists[] = { NULL, "name", "value,name", "*",
	"added.*,count", "n*,b*", "none" };
static const char *const sorts[] = { NULL, NULL, "name", "count", "lasts",
	"number", "value", "begin", "flag", "bytes", "none" };
static const unsigned widths[] = { 0, 80, 20, 1 };

/* ---- the bytes ---- */

static const uint8_t *at, *end;
static char strings[STRINGS][32];
static unsigned strings_used;

static unsigned
byte(void)
{
	return at < end ? *at++ : 0;
}

static uint64_t
word(void)
{
	uint64_t bits = 0;
	unsigned count = byte() % 9;

	while (count-- > 0)
		bits = bits << 8 | byte();
	return bits;
}

static double
number(void)
{
	uint64_t bits = word();
	double d;

	if (bits % 3 == 0)
		return (double)(int64_t)bits / 7;
	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* The strict reader of JSON, which is the judge, refuses a NUL. */
static struct text
bytes(void)
{
	struct text t = { NULL, byte() % 24 };

	if (t.bytes == 23)
		return (struct text){ NULL, 0 };
	t.at = (const char *)at;
	if (t.bytes > end - at)
		t.bytes = (uint32_t)(end - at);
	at += t.bytes;
	t.bytes = (uint32_t)strnlen(t.at, t.bytes);
	return t;
}

static const char *
string(void)
{
	struct text t = bytes();
	char *to = strings[strings_used++ % STRINGS];

	if (t.bytes > 0)
		memcpy(to, t.at, t.bytes);
	to[t.bytes] = '\0';
	return to;
}

static struct value
value(void)
{
	struct value v = { .type = byte() % 6 };

	switch (v.type) {
	case VALUE_TEXT:
		v.is.text = bytes();
		if (v.is.text.at == NULL)
			v.is.text.at = "";
		break;
	case VALUE_BOOL: v.is.boolean = byte() % 2 != 0; break;
	case VALUE_INT: v.is.i = (int64_t)word(); break;
	case VALUE_UINT: v.is.u = word(); break;
	case VALUE_FLOAT: v.is.f = number(); break;
	case VALUE_NIL: break;
	}
	return v;
}

/* ---- an answer ---- */

struct shape {
	unsigned added, rows, repeat, parts;
	bool has_parts, fails, flushes;
};

static struct thing
thing(void)
{
	return (struct thing){ bytes(), word(), (int64_t)word(),
		(int64_t)word(), (int64_t)word(), number(), number(), number(),
		byte() % 3, value() };
}

/* The same rows for each format: it reads the same bytes. */
static void
give(struct answer *answer, const struct shape *shape)
{
	answer_head(answer, "first", answer_text(bytes()));
	answer_head(answer, "second", answer_number(number()));
	answer_title(answer, "%s", string());
	for (unsigned i = 0; i < shape->added; i++) {
		char key[48];

		snprintf(key, sizeof(key), "added.%u%s", i, string());
		answer_add_column(answer, text_of(key),
		    byte() % 2 ? string() : NULL, ANSWER_VALUE, NULL);
	}
	for (unsigned i = 0; i < shape->rows; i++) {
		struct thing row = thing();
		struct answer_cell added[ADDED_MAX];

		for (unsigned k = 0; k < shape->added; k++)
			added[k] = (struct answer_cell){ .type = ANSWER_VALUE,
				.is.value = value() };
		for (unsigned k = 0; k <= shape->repeat; k++)
			answer_row(answer, &row, added);
		if (byte() % 16 == 1)
			answer_next_group(answer);
		if (shape->flushes)
			answer_flush(answer);
	}
	answer_note(answer, "lost", word(), "%s\n%s", string(), string());
	if (!shape->has_parts)
		return;
	answer_begin_table(answer, "parts");
	for (unsigned i = 0; i < shape->parts; i++) {
		struct part part = { bytes(), word() };

		answer_row(answer, &part, NULL);
	}
}

/* ---- judges ---- */

static struct json_keys keys;

static void
judge_object(struct text text)
{
	struct json_reader reader;

	json_reader_init_strict(&reader, text, &keys);
	MUST(json_reader_peek(&reader) == '{');
	json_reader_take(&reader);
	if (json_reader_finish(&reader))
		return;
	fprintf(
	    stderr, "%s in\n%.*s\n", reader.err.text, (int)text.bytes, text.at);
	abort();
}

static void
judge_lines(struct text text)
{
	while (text.bytes > 0) {
		const char *newline = memchr(text.at, '\n', text.bytes);
		uint32_t length;

		MUST(newline != NULL);
		length = (uint32_t)(newline - text.at);
		judge_object((struct text){ text.at, length });
		text.at += length + 1;
		text.bytes -= length + 1;
	}
}

/* Every line has as many cells as the first. */
static void
judge_csv(struct text text)
{
	uint32_t expected = 0, cells = 1;
	bool quoted = false, is_new = true;

	for (uint32_t i = 0; i < text.bytes; i++) {
		char c = text.at[i];

		if (quoted && c == '"' && i + 1 < text.bytes &&
		    text.at[i + 1] == '"') {
			i++;
			continue;
		}
		if (c == '"') {
			MUST(quoted || is_new);
			quoted = !quoted;
		} else if (!quoted && c == '\n') {
			MUST(expected == 0 || cells == expected);
			expected = cells;
			cells = 0;
		} else if (!quoted && c == '\r')
			abort();
		/* A formula. */
		if (is_new && c != '"' && strchr("=@\t\r", c) != NULL)
			MUST(c == '\0');
		is_new = !quoted && (c == ',' || c == '\n');
		cells += is_new;
	}
	MUST(!quoted && (text.bytes == 0 || cells == 1));
}

/* A terminal does not obey it; in Markdown, each row has the same cells. */
static void
judge_lines_for_people(struct text text, bool is_md)
{
	uint32_t expected = 0, bars = 0, line = 0;

	for (uint32_t i = 0; i < text.bytes; i++) {
		unsigned char c = (unsigned char)text.at[i];

		MUST((c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t');
		if (c == '\\') {
			i++;
			continue;
		}
		bars += c == '|';
		if (c != '\n')
			continue;
		if (is_md && text.at[line] == '|') {
			MUST(expected == 0 || bars == expected);
			expected = bars;
		} else
			expected = 0;
		bars = 0;
		line = i + 1;
	}
}

/* A stream or file of which a reader finds the beginning and the end. */
static void
judge_frame(struct text text, const char first[static 4], const char *last,
    uint32_t last_bytes)
{
	MUST(text.bytes >= 8 + last_bytes);
	MUST(memcmp(text.at, first, 4) == 0);
	MUST(memcmp(text.at + text.bytes - last_bytes, last, last_bytes) == 0);
}

static void
judge_parquet(struct text text)
{
	uint32_t footer;

	judge_frame(text, "PAR1", "PAR1", 4);
	memcpy(&footer, text.at + text.bytes - 8, sizeof(footer));
	MUST(footer > 0 && le32toh(footer) <= text.bytes - 12);
}

static void
judge(const struct answer_options *options, struct text text)
{
	switch (options->format) {
	case ANSWER_FORMAT_ARROW:
		judge_frame(
		    text, "\xFF\xFF\xFF\xFF", "\xFF\xFF\xFF\xFF\0\0\0\0", 8);
		break;
	case ANSWER_FORMAT_PARQUET: judge_parquet(text); break;
	case ANSWER_FORMAT_JSON: judge_object(text); break;
	case ANSWER_FORMAT_BRIEF:
		MUST(text.bytes <= options->room);
		judge_object(text);
		break;
	case ANSWER_FORMAT_JSONL: judge_lines(text); break;
	case ANSWER_FORMAT_CSV: judge_csv(text); break;
	case ANSWER_FORMAT_MD: judge_lines_for_people(text, true); break;
	default: judge_lines_for_people(text, false); break;
	}
}

static void
print(const struct answer_options *options, const struct shape *shape)
{
	char *printed = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&printed, &length);
	struct answer *answer;
	struct err err = { .text = "it ended" };
	int rc;

	MUST(file != NULL);
	answer = answer_new(file, options, tables);
	give(answer, shape);
	rc = answer_end(answer, shape->fails ? -1 : 0, &err);
	answer_free(&answer);
	MUST(fclose(file) == 0);
	/* Of an answer that failed before its first row nothing is printed, and
	 * a data frame that failed has no end. */
	if (length > 0 &&
	    (rc == 0 || (options->format != ANSWER_FORMAT_ARROW &&
			    options->format != ANSWER_FORMAT_PARQUET)))
		judge(options, (struct text){ printed, (uint32_t)length });
	free(printed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct answer_options options = { 0 };
	struct shape shape = { 0 };
	const uint8_t *from;

	if (size > BYTES_MAX)
		return 0;
	at = data;
	end = data + size;
	options.sort = sorts[byte() % (sizeof(sorts) / sizeof(sorts[0]))];
	options.columns = lists[byte() % (sizeof(lists) / sizeof(lists[0]))];
	options.width = widths[byte() % 4];
	options.top = byte() % 4;
	shape.added = byte() % (ADDED_MAX + 1);
	shape.rows = byte() % ROWS_MAX;
	/* More than those from which a table takes its widths. */
	shape.repeat = byte() % 8 == 1 ? REPEATED : 0;
	shape.parts = byte() % 4;
	shape.has_parts = byte() % 2 != 0;
	shape.fails = byte() % 4 == 0;
	shape.flushes = byte() % 4 == 0;
	options.table = byte() % 2 ? "parts" : NULL;
	options.room = ANSWER_BRIEF_BYTES_MIN + (uint32_t)size;
	from = at;
	for (int i = ANSWER_FORMAT_TABLE; i <= ANSWER_FORMAT_BRIEF; i++) {
		options.format = i;
		at = from;
		print(&options, &shape);
	}
	return 0;
}
