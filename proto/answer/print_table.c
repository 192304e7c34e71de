/*
 * answer_print_table - an answer as a table for people, or in Markdown.
 *
 * No number is cut and no name loses its middle.  Where a table is wider than
 * the terminal, what all names of a column begin and end with is printed once
 * above; a clause goes below its row; then columns that may be missing leave
 * it; then a row has its name on a line of its own.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "proto/answer/printer.h"
#include "proto/base/memory.h"

enum { GAP = 2, INDENT = 4 }; /* characters between columns */

static void
put_safe(FILE *file, struct text t)
{
	table_put_elided(file, t, UINT32_MAX);
}

/* A note may have lines. */
static void
put_notes(struct answer_printing *p)
{
	if (p->note_count > 0 && p->has_tables)
		putc('\n', p->file);
	for (uint32_t i = 0; i < p->note_count; i++) {
		char *text = p->notes[i].text;

		fwrite(text, 1, text_make_shown(text, strlen(text), true),
		    p->file);
		putc('\n', p->file);
	}
}

static void
put_title(struct answer_printing *p)
{
	if (p->title == NULL)
		return;
	put_safe(p->file, text_of(p->title));
	fputs("\n\n", p->file);
}

/* A column that has no title by itself was asked for by its key. */
static struct text
title_of(const struct answer_column *column)
{
	return text_of(column->title != NULL ? column->title : column->key);
}

/* ---- widths ---- */

/* Without what all names have, if it has that too. */
static struct text
shown(const struct shown_column *c, const struct answer_cell *cells, char *to)
{
	return table_names_rest(&c->names, answer_shown(&cells[c->cell], to));
}

static unsigned
whole_width(const struct answer_printing *p)
{
	unsigned width = 0;

	for (uint32_t i = 0; i < p->column_count; i++)
		if (!p->columns[i].is_hidden && !p->columns[i].is_below)
			width += p->columns[i].width + (width > 0 ? GAP : 0);
	return width;
}

static void
measure(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	char text[ANSWER_SHOWN_BYTES];

	for (uint32_t i = 0; i < p->column_count; i++) {
		struct shown_column *c = &p->columns[i];

		c->width = table_width(title_of(&c->is));
		for (uint32_t k = 0; k < count; k++) {
			unsigned width = table_width(shown(c, rows[k], text));

			if (width > c->width)
				c->width = width;
		}
	}
}

/* The common parts of the names of a column, which are views of a row. */
static struct table_names
common_of(const struct shown_column *c, struct answer_cell *const *rows,
    uint32_t count)
{
	struct table_names names = { .count = 0 };

	for (uint32_t k = 0; k < count; k++) {
		const struct answer_cell *cell = &rows[k][c->cell];

		if (answer_is_known(cell))
			table_names_add(&names, cell->is.text);
	}
	table_names_fit(&names, 0);
	return names;
}

/* Leave out what all names of a column begin and end with, first where that is
 * most, until the table fits. */
static void
shorten_names(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	while (whole_width(p) > p->options->width) {
		struct table_names best = { .count = 0 }, names;
		struct shown_column *of = NULL;

		for (uint32_t i = 0; i < p->column_count; i++) {
			struct shown_column *c = &p->columns[i];

			if (c->is.type != ANSWER_TEXT || c->is_hidden ||
			    c->is_below || c->first != NULL)
				continue;
			names = common_of(c, rows, count);
			if (names.prefix + names.suffix >
			    best.prefix + best.suffix) {
				best = names;
				of = c;
			}
		}
		if (of == NULL)
			return;
		of->names = best;
		of->names.first.at = of->first = memory_text(best.first);
		put_safe(p->file, title_of(&of->is));
		fputs(" is ", p->file);
		put_safe(p->file, (struct text){ of->first, best.prefix });
		putc('*', p->file);
		put_safe(p->file,
		    (struct text){ of->first + best.first.bytes - best.suffix,
			best.suffix });
		putc('\n', p->file);
		measure(p, rows, count);
	}
}

/* What may be missing leaves the table, from the right. */
static void
hide_columns(struct answer_printing *p)
{
	uint32_t left_out = 0;

	for (uint32_t i = p->column_count;
	     i-- > 0 && whole_width(p) > p->options->width;) {
		p->columns[i].is_hidden =
		    (p->columns[i].is.traits & ANSWER_SPARE) != 0 &&
		    p->options->columns == NULL;
		left_out += p->columns[i].is_hidden;
	}
	if (left_out == 0)
		return;
	fputs("not shown for want of width:", p->file);
	for (uint32_t i = 0; i < p->column_count; i++)
		if (p->columns[i].is_hidden) {
			putc(' ', p->file);
			put_safe(p->file, text_of(p->columns[i].is.key));
		}
	fputs(" (--columns)\n", p->file);
}

static void
fit(struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	measure(p, rows, count);
	if (p->options->width == 0)
		return;
	if (whole_width(p) > p->options->width)
		for (uint32_t i = 0; i < p->column_count; i++)
			p->columns[i].is_below =
			    (p->columns[i].is.traits & ANSWER_CLAUSE) != 0;
	if (count > 1)
		shorten_names(p, rows, count);
	hide_columns(p);
}

/* ---- table ---- */

static bool
is_right(const struct answer_column *column)
{
	return column->type != ANSWER_TEXT && column->type != ANSWER_TIME &&
	       column->type != ANSWER_FLAG;
}

/* Does the first column stand on a line of its own? */
static bool
is_stacked(const struct answer_printing *p)
{
	return p->options->width > 0 && p->column_count > 1 &&
	       p->columns[0].is.type == ANSWER_TEXT &&
	       whole_width(p) > p->options->width;
}

/* `cells` NULL: the titles. */
static void
put_line(struct answer_printing *p, const struct answer_cell *cells)
{
	bool stacked = is_stacked(p);
	char text[ANSWER_SHOWN_BYTES];
	unsigned pad = 0; /* before the next cell */

	for (uint32_t i = 0; i < p->column_count; i++) {
		struct shown_column *c = &p->columns[i];
		struct text t;
		unsigned width;

		if (c->is_hidden || c->is_below)
			continue;
		t = cells != NULL ? shown(c, cells, text) : title_of(&c->is);
		width = table_width(t);
		if (is_right(&c->is) && width < c->width)
			pad += c->width - width;
		fprintf(p->file, "%*s", (int)pad, "");
		put_safe(p->file, t);
		pad = GAP;
		if (!is_right(&c->is) && width < c->width)
			pad += c->width - width;
		if (i == 0 && stacked) {
			putc('\n', p->file);
			pad = INDENT;
		}
	}
	putc('\n', p->file);
	for (uint32_t i = 0; cells != NULL && i < p->column_count; i++) {
		if (!p->columns[i].is_below)
			continue;
		fprintf(p->file, "%*s", INDENT, "");
		put_safe(p->file, shown(&p->columns[i], cells, text));
		putc('\n', p->file);
	}
}

static void
table_begin_table(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	if (count == 0)
		return; /* a note says why */
	if (p->has_tables)
		fprintf(p->file, "\n%s\n", p->table);
	p->has_tables = true;
	fit(p, rows, count);
	put_line(p, NULL);
}

static void
table_end_table(struct answer_printing *p)
{
	for (uint32_t i = 0; i < p->column_count; i++) {
		free(p->columns[i].first);
		p->columns[i].first = NULL;
	}
}

static void
table_end(struct answer_printing *p, uint64_t rows, const char *failed)
{
	(void)rows;
	(void)failed; /* the program says it */
	put_notes(p);
}

const struct answer_printer answer_print_table = { put_title, table_begin_table,
	put_line, table_end_table, table_end, NULL };

/* ---- Markdown ---- */

void
answer_put_markdown(FILE *file, struct text t)
{
	static const char special[] = "|\\`*_<>[]";

	for (uint32_t i = 0, from = 0; i <= t.bytes; i++) {
		if (i < t.bytes &&
		    (t.at[i] == '\0' || strchr(special, t.at[i]) == NULL))
			continue;
		put_safe(file, (struct text){ t.at + from, i - from });
		if (i < t.bytes)
			fprintf(file, "\\%c", t.at[i]);
		from = i + 1;
	}
}

static void
md_table(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	(void)rows;
	(void)count;
	if (p->has_tables)
		fprintf(p->file, "\n%s\n\n", p->table);
	p->has_tables = true;
	for (uint32_t i = 0; i < p->column_count; i++) {
		fputs("| ", p->file);
		answer_put_markdown(p->file, title_of(&p->columns[i].is));
		putc(' ', p->file);
	}
	fputs("|\n", p->file);
	for (uint32_t i = 0; i < p->column_count; i++)
		fputs(is_right(&p->columns[i].is) ? "|---:" : "|---", p->file);
	fputs("|\n", p->file);
}

static void
md_row(struct answer_printing *p, const struct answer_cell *cells)
{
	char text[ANSWER_SHOWN_BYTES];

	for (uint32_t i = 0; i < p->column_count; i++) {
		fputs("| ", p->file);
		answer_put_markdown(
		    p->file, answer_shown(&cells[p->columns[i].cell], text));
		putc(' ', p->file);
	}
	fputs("|\n", p->file);
}

static void
md_begin(struct answer_printing *p)
{
	if (p->title == NULL)
		return;
	answer_put_markdown(p->file, text_of(p->title));
	fputs("\n\n", p->file);
}

static void
md_end(struct answer_printing *p, uint64_t rows, const char *failed)
{
	(void)rows;
	(void)failed;
	for (uint32_t i = 0; i < p->note_count; i++) {
		struct text rest = text_of(p->notes[i].text), line;

		while (text_next_line(&rest, &line)) {
			putc('\n', p->file);
			answer_put_markdown(p->file, line);
			putc('\n', p->file);
		}
	}
}

const struct answer_printer answer_print_md = { md_begin, md_table, md_row,
	table_end_table, md_end, NULL };
