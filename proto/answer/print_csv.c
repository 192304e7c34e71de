/*
 * answer_print_csv - one table of an answer as CSV (RFC 4180, with LF).
 *
 * Text that a spreadsheet would take for a formula gets a ' in front.  Notes
 * go to standard error: rows are all that a reader of CSV expects.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "proto/answer/printer.h"
#include "proto/os/log.h"

static void
csv_begin(struct answer_printing *p)
{
	(void)p;
}

static void
put_byte(struct buffer *line, char byte)
{
	*buffer_need(line, 1) = (unsigned char)byte;
	line->bytes++;
}

static void
put_text(struct buffer *line, struct text t)
{
	bool quoted = false;

	for (uint32_t i = 0; i < t.bytes && !quoted; i++)
		quoted = t.at[i] == ',' || t.at[i] == '"' || t.at[i] == '\n' ||
			 t.at[i] == '\r';
	if (quoted)
		put_byte(line, '"');
	if (t.bytes > 0 && t.at[0] != '\0' && strchr("=+-@\t\r", t.at[0]))
		put_byte(line, '\'');
	if (!quoted) {
		buffer_put_text(line, t);
		return;
	}
	for (uint32_t i = 0; i < t.bytes; i++) {
		if (t.at[i] == '"')
			put_byte(line, '"');
		put_byte(line, t.at[i]);
	}
	put_byte(line, '"');
}

static void
csv_table(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	(void)rows;
	(void)count;
	if (!answer_is_of_chosen(p))
		return;
	for (uint32_t i = 0; i < p->column_count; i++) {
		if (i > 0)
			put_byte(&p->line, ',');
		put_text(&p->line, text_of(p->columns[i].is.key));
	}
	put_byte(&p->line, '\n');
	answer_put_line(p);
}

static bool
is_text(const struct answer_cell *cell)
{
	return cell->type == ANSWER_TEXT ||
	       (cell->type == ANSWER_VALUE &&
		   cell->is.value.type == VALUE_TEXT);
}

static void
csv_row(struct answer_printing *p, const struct answer_cell *cells)
{
	char text[ANSWER_SHOWN_BYTES];

	if (!answer_is_of_chosen(p))
		return;
	for (uint32_t i = 0; i < p->column_count; i++) {
		const struct answer_cell *cell = &cells[p->columns[i].cell];
		struct text plain = answer_plain(cell, text);

		if (i > 0)
			put_byte(&p->line, ',');
		if (is_text(cell))
			put_text(&p->line, plain);
		else
			buffer_put_text(&p->line, plain);
	}
	put_byte(&p->line, '\n');
	answer_put_line(p);
}

static void
csv_end_table(struct answer_printing *p)
{
	(void)p;
}

static void
csv_end(struct answer_printing *p, uint64_t rows, const char *failed)
{
	(void)rows;
	(void)failed; /* the program says it */
	for (uint32_t i = 0; i < p->note_count; i++)
		log_warn("%s", p->notes[i].text);
}

const struct answer_printer answer_print_csv = { csv_begin, csv_table, csv_row,
	csv_end_table, csv_end, NULL };
