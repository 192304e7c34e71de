/*
 * frame_cells FORMAT [TABLE] - print cells as an answer in this format, arrow
 * or parquet; of the table "others" there are none.
 *
 * Standard input has a row a line, and in it a cell for each column of
 * `columns` with blanks between them: texts in hexadecimal digits behind a '.',
 * numbers in decimal, the bits of a double as an unsigned number; "-": unknown.
 * A value of any type has a letter in front: i, u, f, b, t.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/answer/answer.h"
#include "proto/base/memory.h"

struct row {
	struct text text, name;
	uint64_t count;
	int64_t whole, time, duration;
	double number;
	enum answer_flag flag;
	struct value value;
};

static const struct answer_column columns[] = {
	{ "text", NULL, ANSWER_AT_TEXT(struct row, text), "" },
	{ "name", NULL, ANSWER_AT_TEXT(struct row, name), "",
	    .traits = ANSWER_REPEATS },
	{ "count", NULL, ANSWER_AT_COUNT(struct row, count), "" },
	{ "whole", NULL, ANSWER_AT_WHOLE(struct row, whole), "", "By" },
	{ "time", NULL, ANSWER_AT_TIME(struct row, time), "" },
	{ "duration", NULL, ANSWER_AT_DURATION(struct row, duration), "" },
	{ "number", NULL, ANSWER_AT_NUMBER(struct row, number), "" },
	{ "flag", NULL, ANSWER_AT_FLAG(struct row, flag), "" },
	{ "value", NULL, ANSWER_AT_VALUE(struct row, value), "", "ns" },
	{ .key = NULL },
};

static const struct answer_column other_columns[] = {
	{ "of", NULL, ANSWER_AT_TEXT(struct row, text), "" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "rows", columns },
	{ "others", other_columns }, { .name = NULL } };

/* In place. */
static struct text
unhex(char *word)
{
	struct text digits = text_of(word + 1);
	struct text made = { word, digits.bytes / 2 };

	if (word[0] == '-')
		return (struct text){ NULL, 0 };
	if (!text_unhex((unsigned char *)word, made.bytes, digits))
		abort();
	return made;
}

static double
double_of(const char *word)
{
	uint64_t bits = strtoull(word, NULL, 10);
	double number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static int64_t
whole_of(const char *word)
{
	return strcmp(word, "-") == 0 ? ANSWER_NO_NS : strtoll(word, NULL, 10);
}

static struct value
value_of(char *word)
{
	switch (word[0]) {
	case 'i':
		return (struct value){ VALUE_INT,
			.is.i = strtoll(word + 1, NULL, 10) };
	case 'u':
		return (struct value){ VALUE_UINT,
			.is.u = strtoull(word + 1, NULL, 10) };
	case 'f':
		return (
		    struct value){ VALUE_FLOAT, .is.f = double_of(word + 1) };
	case 'b':
		return (
		    struct value){ VALUE_BOOL, .is.boolean = word[1] == '1' };
	case 't':
		return (struct value){ VALUE_TEXT, .is.text = unhex(word + 1) };
	default: return (struct value){ .type = VALUE_NIL };
	}
}

static void
put(struct answer *answer, char *line)
{
	char *words[9];
	struct row row;

	for (int i = 0; i < 9; i++)
		words[i] = strsep(&line, " \n");
	row = (struct row){ .text = unhex(words[0]),
		.name = unhex(words[1]),
		.count = strcmp(words[2], "-") == 0
			     ? ANSWER_NO_COUNT
			     : strtoull(words[2], NULL, 10),
		.whole = whole_of(words[3]),
		.time = whole_of(words[4]),
		.duration = whole_of(words[5]),
		.number = double_of(words[6]),
		.flag = words[7][0] == '-'   ? ANSWER_NO_FLAG
			: words[7][0] == '1' ? ANSWER_YES
					     : ANSWER_NO,
		.value = value_of(words[8]) };
	answer_row(answer, &row, NULL);
}

int
main(int argc, char **argv)
{
	const struct answer_options options = {
		.format = argc > 1 && strcmp(argv[1], "parquet") == 0
			      ? ANSWER_FORMAT_PARQUET
			      : ANSWER_FORMAT_ARROW,
		.table = argc > 2 ? argv[2] : NULL,
	};
	struct answer *answer = answer_new(stdout, &options, tables);
	char *line = NULL;
	size_t room = 0;
	struct err err;

	while (getline(&line, &room, stdin) > 0)
		put(answer, line);
	free(line);
	if (answer_end(answer, 0, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	answer_free(&answer);
	return fflush(stdout) == 0 ? 0 : 1;
}
