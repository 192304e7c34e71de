/*
 * answer_options - how an answer is printed.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "proto/answer/answer.h"
#include "proto/answer/printer.h"
#include "proto/base/nearest.h"

enum { LIST_BYTES = 320, WIDTH_MIN = 80 };

const struct opt answer_options[] = {
	{ "format", 0, OPT_CHOICE, OPT_TO(struct answer_options, format),
	    "FORMAT", "print in this format (default: table)",
	    "table|json|jsonl|csv|md|arrow|parquet" },
	{ "table", 0, OPT_TEXT, OPT_TO(struct answer_options, table), "TABLE",
	    "of an answer with several, print only this one (csv, arrow, "
	    "parquet: default the first), of which --sort, --top and --columns "
	    "are" },
	{ "sort", 0, OPT_TEXT, OPT_TO(struct answer_options, sort), "COLUMN",
	    "begin with the greatest number, or the first name, in this "
	    "column" },
	{ "top", 0, OPT_COUNT, OPT_TO(struct answer_options, top), "K",
	    "print only the first K rows" },
	{ "columns", 0, OPT_TEXT, OPT_TO(struct answer_options, columns),
	    "COLUMNS",
	    "print these columns, with commas between them; help lists all" },
	{ .name = NULL },
};

const struct opt *const answer_row_options = &answer_options[2];

unsigned
answer_terminal_width(void)
{
	struct winsize size = { .ws_col = 0 };

	if (!isatty(STDOUT_FILENO) ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
}

/* Is there such a column, or may one come with the data? */
static bool
is_column(const struct answer_column *columns, struct text word)
{
	for (; columns->key != NULL; columns++) {
		if (columns->family != NULL &&
		    text_match(text_of(columns->family), word))
			return true;
		if (columns->family == NULL &&
		    (answer_column_is(columns, word) ||
			text_match(word, text_of(columns->key))))
			return true;
		/* A pattern may choose among those that come. */
		if (columns->family != NULL && text_is_pattern(word))
			return true;
	}
	return false;
}

/* Words with commas between them; "..." stands for those without room. */
static void
add_word(char list[static LIST_BYTES], const char *word)
{
	size_t used = strlen(list);

	if (used > 3 && strcmp(list + used - 3, "...") == 0)
		return;
	if (used + strlen(word) + sizeof(", , ...") >= LIST_BYTES)
		word = "...";
	snprintf(
	    list + used, LIST_BYTES - used, "%s%s", used > 0 ? ", " : "", word);
}

static int
refuse(const struct answer_column *columns, const char *option,
    struct text word, struct err *err)
{
	char list[LIST_BYTES] = "", question[3 * NEAREST_WORD_BYTES + 32];
	char typed[NEAREST_WORD_BYTES];
	struct nearest nearest;

	text_quote(typed, sizeof(typed), word);
	nearest_begin(&nearest, typed);
	for (int i = 0; columns[i].key != NULL; i++) {
		nearest_offer(&nearest, columns[i].key);
		add_word(list, columns[i].key);
	}
	return err_set(err, "%s: '%s' is not one of %s%s", option, typed, list,
	    nearest_question(&nearest, "", question, sizeof(question)));
}

static int
check_table(
    const struct answer_table *tables, const char *name, struct err *err)
{
	char list[LIST_BYTES] = "";

	for (; tables->name != NULL; tables++) {
		if (strcmp(tables->name, "head") == 0)
			continue;
		if (strcmp(tables->name, name) == 0)
			return 0;
		add_word(list, tables->name);
	}
	return err_set(err, "--table: '%.64s' is not one of %s", name, list);
}

const struct answer_table *
answer_chosen_table(
    const struct answer_options *options, const struct answer_table *tables)
{
	for (const struct answer_table *t = tables;
	     options->table != NULL && t->name != NULL; t++)
		if (strcmp(t->name, options->table) == 0)
			return t;
	return tables;
}

int
answer_options_check(const struct answer_options *options,
    const struct answer_table *tables, struct err *err)
{
	const struct answer_column *columns =
	    answer_chosen_table(options, tables)->columns;
	const char *at = options->columns;

	if (options->table != NULL &&
	    check_table(tables, options->table, err) != 0)
		return -1;
	if (options->shape == ANSWER_SHAPE_COLUMNS &&
	    options->format != ANSWER_FORMAT_JSON)
		return err_set(err, "--shape columns is for --format json");
	while (at != NULL && *at != '\0') {
		struct text word = { at, (uint32_t)strcspn(at, ",") };

		if (!is_column(columns, word))
			return refuse(columns, "--columns", word, err);
		at += word.bytes + (at[word.bytes] == ',');
	}
	if (options->sort != NULL &&
	    !is_column(columns, text_of(options->sort)))
		return refuse(columns, "--sort", text_of(options->sort), err);
	return 0;
}

/* ---- --columns help ---- */

struct described {
	struct text table, column, title, type, unit, help;
	enum answer_flag comes;
};

static const struct answer_column described_columns[] = {
	{ "table", NULL, ANSWER_AT_TEXT(struct described, table),
	    "the table that has the column" },
	{ "column", "COLUMN", ANSWER_AT_TEXT(struct described, column),
	    "its name, or the pattern of several" },
	{ "title", NULL, ANSWER_AT_TEXT(struct described, title),
	    "its title in a table; unknown: only --columns shows it" },
	{ "type", "TYPE", ANSWER_AT_TEXT(struct described, type),
	    "what its values are" },
	{ "unit", "UNIT", ANSWER_AT_TEXT(struct described, unit),
	    "their unit (UCUM)" },
	{ "with_data", NULL, ANSWER_AT_FLAG(struct described, comes),
	    "does the data say which columns of the pattern there are?" },
	{ "help", "MEANING", ANSWER_AT_TEXT(struct described, help),
	    "what it says" },
	{ .key = NULL },
};

static const struct answer_table described_tables[] = {
	{ "columns", described_columns }, { .name = NULL }
};

void
answer_put_columns(const struct answer_table *tables, int format, FILE *file)
{
	static const char *const types[] = {
		[ANSWER_TEXT] = "text",
		[ANSWER_COUNT] = "count",
		[ANSWER_WHOLE] = "whole number",
		[ANSWER_NUMBER] = "number",
		[ANSWER_SHARE] = "share",
		[ANSWER_TIME] = "time",
		[ANSWER_DURATION] = "duration",
		[ANSWER_SECONDS] = "duration",
		[ANSWER_BYTES] = "bytes",
		[ANSWER_FLAG] = "flag",
		[ANSWER_VALUE] = "value",
	};
	bool is_binary =
	    format == ANSWER_FORMAT_ARROW || format == ANSWER_FORMAT_PARQUET;
	const struct answer_options options = {
		.format = is_binary && answer_terminal_width() > 0
			      ? ANSWER_FORMAT_TABLE
			      : format
	};
	struct answer *answer = answer_new(file, &options, described_tables);
	struct err err;

	for (const struct answer_table *t = tables; t->name != NULL; t++)
		for (const struct answer_column *c = t->columns; c->key != NULL;
		     c++) {
			const struct described row = { text_of(t->name),
				text_of(c->key), text_of(c->title),
				text_of(types[c->type]), text_of(c->unit),
				text_of(c->help),
				c->family != NULL ? ANSWER_YES : ANSWER_NO };

			answer_row(answer, &row, NULL);
		}
	(void)answer_end(answer, 0, &err);
	answer_free(&answer);
}

const struct answer_printer *
answer_printer_of(int format)
{
	static const struct answer_printer *const printers[] = {
		[ANSWER_FORMAT_TABLE] = &answer_print_table,
		[ANSWER_FORMAT_JSON] = &answer_print_json,
		[ANSWER_FORMAT_JSONL] = &answer_print_jsonl,
		[ANSWER_FORMAT_CSV] = &answer_print_csv,
		[ANSWER_FORMAT_MD] = &answer_print_md,
		[ANSWER_FORMAT_ARROW] = &answer_print_arrow,
		[ANSWER_FORMAT_PARQUET] = &answer_print_parquet,
		[ANSWER_FORMAT_BRIEF] = &answer_print_brief,
	};

	return printers[format];
}
