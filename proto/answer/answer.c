/*
 * answer - rows of typed cells: what a question gives, whoever prints it.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/answer.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "proto/answer/printer.h"
#include "proto/base/memory.h"
#include "proto/record/counter_rate.h"

enum {
	MEASURED_ROWS = 1000, /* from which a table takes its widths */
	SPARE_ROWS = 1024,    /* kept at least, however few --top prints */
};

struct kept_row {
	struct answer_cell *cells; /* and their texts behind them */
	uint32_t number;           /* in the order of coming */
};

struct answer {
	const struct answer_printer *printer;
	struct answer_printing p;
	const struct answer_options *options;
	const struct answer_table *tables, *table;
	/* All columns of the table: the fixed ones, then the added ones. */
	struct answer_column *columns;
	uint32_t column_count, column_room, fixed_count;
	struct answer_cell *cells; /* of the row that is being given */
	struct kept_row *kept;
	uint32_t kept_count, kept_room, number;
	uint32_t group; /* where the rows of this group begin in `kept` */
	uint64_t kept_bytes;
	int sorted;              /* number of the column; -1: none */
	uint64_t rows, in_group; /* rows: of the first table; in_group:
				    accepted */
	struct answer_head_member *head;
	uint32_t head_room;
	struct answer_note *notes;
	uint32_t note_room;
	char *title, *title_end, **owned;
	const char *lacks; /* why it is not complete; NULL: it is */
	uint32_t owned_count, owned_room;
	bool has_begun, table_has_begun;
	bool is_chosen; /* --sort, --top and --columns are of this table */
	bool chosen_has_begun;
	struct err err; /* the first one; empty: none */
};

bool
answer_is_for_people(const struct answer *answer)
{
	int format = answer->options->format;

	/* Some tables are not for people; who names one wants it. */
	return format == ANSWER_FORMAT_TABLE || format == ANSWER_FORMAT_MD ||
	       (format == ANSWER_FORMAT_BRIEF &&
		   answer->options->table == NULL);
}

/* A copy that lives as long as the answer. */
static const char *
own(struct answer *answer, struct text text)
{
	MEMORY_GROW(answer->owned, answer->owned_room, answer->owned_count);
	return answer->owned[answer->owned_count++] = memory_text(text);
}

/* ---- columns ---- */

static void
add_column(struct answer *answer, const struct answer_column *column)
{
	*MEMORY_ADD(answer->columns, answer->column_room,
	    answer->column_count) = *column;
}

static void
drop_columns(struct answer *answer)
{
	answer->column_count = 0;
	free(answer->p.columns);
	answer->p.columns = NULL;
	answer->p.column_count = 0;
	free(answer->cells);
	answer->cells = NULL;
}

static void
choose_table(struct answer *answer, const struct answer_table *table)
{
	drop_columns(answer);
	answer->table = table;
	for (const struct answer_column *column = table->columns;
	     column->key != NULL; column++)
		if (column->family == NULL)
			add_column(answer, column);
	answer->fixed_count = answer->p.fixed_count = answer->column_count;
	answer->is_chosen =
	    answer_chosen_table(answer->options, answer->tables) == table;
	answer->table_has_begun = false;
	answer->sorted = -1;
}

void
answer_add_column(struct answer *answer, struct text key, const char *title,
    enum answer_type type, const char *unit)
{
	const struct answer_column column = { .key = own(answer, key),
		.title = title != NULL ? own(answer, text_of(title)) : NULL,
		.type = type,
		.unit = unit != NULL ? own(answer, text_of(unit)) : NULL };

	assert(!answer->table_has_begun);
	add_column(answer, &column);
}

void
answer_hide_column(struct answer *answer, const char *key)
{
	for (uint32_t i = 0; i < answer->column_count; i++)
		if (strcmp(answer->columns[i].key, key) == 0)
			answer->columns[i].title = NULL;
}

static void
show_column(struct answer *answer, uint32_t number)
{
	struct answer_printing *p = &answer->p;

	p->columns[p->column_count++] =
	    (struct shown_column){ .is = answer->columns[number],
		    .cell = number };
}

/* Those of one word of --columns, which may be a pattern.  False: there is
 * none. */
static bool
show_columns_of(struct answer *answer, struct text word)
{
	uint32_t before = answer->p.column_count;

	for (uint32_t i = 0; i < answer->column_count; i++) {
		bool twice = false;

		for (uint32_t k = 0; k < answer->p.column_count; k++)
			twice = twice || answer->p.columns[k].cell == i;
		if (answer_column_is(&answer->columns[i], word) ||
		    text_match(word, text_of(answer->columns[i].key))) {
			if (twice)
				before = UINT32_MAX;
			else
				show_column(answer, i);
		}
	}
	return answer->p.column_count != before;
}

static bool
next_word(struct text *rest, struct text *word)
{
	const char *comma;

	if (rest->bytes == 0)
		return false;
	comma = memchr(rest->at, ',', rest->bytes);
	word->at = rest->at;
	word->bytes =
	    comma == NULL ? rest->bytes : (uint32_t)(comma - rest->at);
	rest->at += word->bytes + (comma != NULL);
	rest->bytes -= word->bytes + (comma != NULL);
	return true;
}

static void
fail(struct answer *answer, const char *option, struct text word)
{
	char shown[80];

	if (answer->err.text[0] == '\0')
		err_set(&answer->err,
		    "%s: the answer has no column '%s'; --columns help lists "
		    "them",
		    option, text_quote(shown, sizeof(shown), word));
}

static void
choose_columns(struct answer *answer)
{
	struct text rest = text_of(answer->options->columns), word;
	bool is_chosen = answer->is_chosen;

	answer->p.columns =
	    memory_zero(answer->column_count + 1, sizeof(*answer->p.columns));
	answer->cells =
	    memory_zero(answer->column_count + 1, sizeof(*answer->cells));
	if (rest.bytes == 0 || !is_chosen)
		for (uint32_t i = 0; i < answer->column_count; i++)
			if (!answer_is_for_people(answer) ||
			    answer->columns[i].title != NULL)
				show_column(answer, i);
	while (is_chosen && next_word(&rest, &word))
		if (!show_columns_of(answer, word))
			fail(answer, "--columns", word);
	if (!is_chosen || answer->options->sort == NULL)
		return;
	/* The first: those that come with the data may be called like one of
	 * the question. */
	for (uint32_t i = answer->column_count; i-- > 0;)
		if (answer_column_is(
			&answer->columns[i], text_of(answer->options->sort)))
			answer->sorted = (int)i;
	if (answer->sorted < 0)
		fail(answer, "--sort", text_of(answer->options->sort));
}

/* ---- order ---- */

static double
number_of(const struct value *value)
{
	return value->type == VALUE_BOOL ? value->is.boolean
					 : counter_rate_number(value);
}

static int
compare_cells(const struct answer_cell *a, const struct answer_cell *b)
{
	bool x = answer_is_known(a), y = answer_is_known(b);
	double left, right;

	if (!x || !y)
		return (int)y - (int)x;
	switch (a->type) {
	case ANSWER_TEXT: return text_compare_natural(a->is.text, b->is.text);
	case ANSWER_COUNT:
		return (a->is.count < b->is.count) -
		       (a->is.count > b->is.count);
	case ANSWER_WHOLE:
	case ANSWER_TIME:
	case ANSWER_DURATION:
	case ANSWER_SECONDS:
		return (a->is.ns < b->is.ns) - (a->is.ns > b->is.ns);
	case ANSWER_FLAG: return (int)b->is.flag - (int)a->is.flag;
	case ANSWER_VALUE:
		if (a->is.value.type == VALUE_TEXT &&
		    b->is.value.type == VALUE_TEXT)
			return text_compare_natural(
			    a->is.value.is.text, b->is.value.is.text);
		left = number_of(&a->is.value);
		right = number_of(&b->is.value);
		break;
	default:
		left = a->is.number;
		right = b->is.number;
		break;
	}
	if (isnan(left) || isnan(right))
		return (int)isnan(left) - (int)isnan(right);
	return (left < right) - (left > right);
}

static void
drop_sign(struct answer_cell *cell)
{
	if (!answer_is_known(cell))
		return;
	if (cell->type == ANSWER_DURATION || cell->type == ANSWER_SECONDS)
		cell->is.ns = llabs(cell->is.ns);
	else if (cell->type == ANSWER_NUMBER)
		cell->is.number = fabs(cell->is.number);
}

static int
compare_rows(const void *left, const void *right, void *arg)
{
	const struct kept_row *a = left, *b = right;
	const struct answer *answer = arg;
	int order = 0;

	if (answer->sorted >= 0) {
		unsigned traits = answer->columns[answer->sorted].traits;
		struct answer_cell x = a->cells[answer->sorted];
		struct answer_cell y = b->cells[answer->sorted];

		if ((traits & ANSWER_BY_SIZE) != 0) {
			drop_sign(&x);
			drop_sign(&y);
		}
		if ((traits & ANSWER_IN_ORDER) == 0)
			order = compare_cells(&x, &y);
	}
	return order != 0 ? order
			  : (a->number > b->number) - (a->number < b->number);
}

static uint64_t
bytes_of(const struct answer *answer, const struct answer_cell *cells)
{
	uint64_t bytes = answer->column_count * sizeof(*cells);

	for (uint32_t i = 0; i < answer->column_count; i++) {
		if (cells[i].type == ANSWER_TEXT)
			bytes += cells[i].is.text.bytes;
		else if (cells[i].type == ANSWER_VALUE &&
			 cells[i].is.value.type == VALUE_TEXT)
			bytes += cells[i].is.value.is.text.bytes;
	}
	return bytes;
}

static void
cut_kept(struct answer *answer, uint32_t count)
{
	while (answer->kept_count > count) {
		struct kept_row *last = &answer->kept[--answer->kept_count];

		answer->kept_bytes -= bytes_of(answer, last->cells);
		free(last->cells);
	}
}

/* Those of this group. */
static void
sort_kept(struct answer *answer)
{
	uint32_t count = answer->kept_count - answer->group;
	uint64_t top = answer->options->top;

	if (answer->sorted < 0)
		return; /* no more than `top` were accepted */
	if (count > 1)
		qsort_r(answer->kept + answer->group, count,
		    sizeof(*answer->kept), compare_rows, answer);
	if (top > 0 && count > top)
		cut_kept(answer, answer->group + (uint32_t)top);
}

static void
copy_text(struct text *text, char **to)
{
	if (text->at == NULL || text->bytes == 0)
		return;
	memcpy(*to, text->at, text->bytes);
	text->at = *to;
	*to += text->bytes;
}

static void
keep_row(struct answer *answer)
{
	uint64_t bytes = bytes_of(answer, answer->cells);
	uint64_t top = answer->options->top;
	struct kept_row *row;
	char *texts;

	if (top > 0 && (answer->kept_count - answer->group) / 2 >= top &&
	    answer->kept_count - answer->group >= SPARE_ROWS)
		sort_kept(answer);
	if (answer->kept_bytes + bytes > ANSWER_ROWS_BYTES_MAX) {
		err_set(&answer->err,
		    "rows to sort take more than %d MiB: select fewer, or "
		    "print fewer with --top",
		    ANSWER_ROWS_BYTES_MAX >> 20);
		return;
	}
	row = MEMORY_ADD(answer->kept, answer->kept_room, answer->kept_count);
	row->number = answer->number++;
	row->cells = memory_alloc(bytes);
	texts = (char *)(row->cells + answer->column_count);
	memcpy(row->cells, answer->cells,
	    answer->column_count * sizeof(*row->cells));
	for (uint32_t i = 0; i < answer->column_count; i++) {
		struct answer_cell *cell = &row->cells[i];

		if (cell->type == ANSWER_TEXT)
			copy_text(&cell->is.text, &texts);
		else if (cell->type == ANSWER_VALUE &&
			 cell->is.value.type == VALUE_TEXT)
			copy_text(&cell->is.value.is.text, &texts);
	}
	answer->kept_bytes += bytes;
}

/* ---- printing ---- */

static void
tell(const struct answer *answer, const char *table,
    const struct answer_column *columns, uint32_t count,
    const struct answer_cell *cells)
{
	const struct answer_taker *taker = answer->options->taker;
	const struct answer_taken row = { table, columns, count, cells };

	if (taker != NULL)
		taker->take(taker->arg, &row);
}

static void
tell_head(const struct answer *answer)
{
	for (uint32_t i = 0; i < answer->p.head_count; i++) {
		const struct answer_column column = { .key =
							  answer->head[i].key };

		tell(answer, "head", &column, 1, &answer->head[i].value);
	}
}

static void
tell_notes(const struct answer *answer)
{
	static const struct answer_column columns[] = { { .key = "key" },
		{ .key = "count" }, { .key = "text" } };

	for (uint32_t i = 0; i < answer->p.note_count; i++) {
		const struct answer_note *note = &answer->notes[i];
		const struct answer_cell cells[] = { answer_string(note->key),
			answer_count(note->count), answer_string(note->text) };

		tell(answer, "notes", columns, 3, cells);
	}
}

/* For people and in brief --table leaves out the others; csv has one in any
 * case, and json is whole. */
static bool
is_shown(const struct answer *answer)
{
	const char *asked = answer->options->table;

	return asked == NULL ||
	       (!answer_is_for_people(answer) &&
		   answer->options->format != ANSWER_FORMAT_BRIEF) ||
	       strcmp(asked, answer->table->name) == 0;
}

static void
print_row(struct answer *answer, const struct answer_cell *cells)
{
	if (is_shown(answer))
		answer->printer->row(&answer->p, cells);
	tell(answer, answer->table->name, answer->columns, answer->column_count,
	    cells);
}

static void
begin_answer(struct answer *answer)
{
	if (answer->has_begun)
		return;
	answer->has_begun = true;
	answer->p.head = answer->head;
	if (answer->title != NULL && answer->title_end != NULL) {
		char *whole =
		    memory_format("%s%s", answer->title, answer->title_end);

		free(answer->title);
		answer->title = whole;
	}
	answer->p.title = answer->title;
	answer->printer->begin(&answer->p);
	tell_head(answer);
}

/* With the rows that are kept, in their order. */
static void
begin_table(struct answer *answer)
{
	struct answer_cell **rows;

	if (answer->table_has_begun)
		return;
	answer->table_has_begun = true;
	answer->chosen_has_begun |= answer->is_chosen;
	begin_answer(answer);
	answer->p.table = answer->table->name;
	answer->p.is_first = answer->table == answer->tables;
	rows = memory_alloc((answer->kept_count + 1) * sizeof(*rows));
	for (uint32_t i = 0; i < answer->kept_count; i++)
		rows[i] = answer->kept[i].cells;
	if (is_shown(answer))
		answer->printer->table(&answer->p, rows, answer->kept_count);
	free(rows);
}

static void
print_kept(struct answer *answer)
{
	sort_kept(answer);
	begin_table(answer);
	for (uint32_t i = 0; i < answer->kept_count; i++)
		print_row(answer, answer->kept[i].cells);
	answer->group = 0;
	cut_kept(answer, 0);
}

static void
end_table(struct answer *answer)
{
	if (answer->p.columns == NULL)
		choose_columns(answer);
	print_kept(answer);
	if (is_shown(answer))
		answer->printer->end_table(&answer->p);
	answer->in_group = 0;
	answer->number = 0;
}

/* ---- rows ---- */

static struct answer_cell
read_cell(const struct answer_column *column, const void *row)
{
	struct answer_cell cell = { .type = column->type };
	size_t bytes = sizeof(cell.is.count); /* of all numbers */

	switch (column->type) {
	case ANSWER_TEXT: bytes = sizeof(cell.is.text); break;
	case ANSWER_FLAG: bytes = sizeof(cell.is.flag); break;
	case ANSWER_VALUE: bytes = sizeof(cell.is.value); break;
	default: break;
	}
	memcpy(&cell.is, (const char *)row + column->offset, bytes);
	return cell;
}

/* Numbers in the unit of the row. */
static void
set_kinds(struct answer *answer)
{
	enum quantity_kind kind = QUANTITY_NUMBER;

	if (!answer_is_for_people(answer))
		return;
	for (uint32_t i = 0; i < answer->fixed_count; i++)
		if (strcmp(answer->columns[i].key, "unit") == 0 &&
		    answer->cells[i].type == ANSWER_TEXT)
			kind = quantity_kind_of(answer->cells[i].is.text);
	for (uint32_t i = 0; i < answer->fixed_count; i++)
		if ((answer->columns[i].traits & ANSWER_IN_UNIT) != 0)
			answer->cells[i].kind = kind;
}

/* Must the row wait for others? */
static bool
must_wait(const struct answer *answer)
{
	return answer->sorted >= 0 ||
	       (answer->options->format == ANSWER_FORMAT_TABLE &&
		   !answer->table_has_begun);
}

/* Does nobody need its cells? */
static bool
is_printed_as_given(const struct answer *answer)
{
	return answer->printer->row_as_given != NULL && !must_wait(answer) &&
	       answer->options->taker == NULL && is_shown(answer);
}

void
answer_row(
    struct answer *answer, const void *row, const struct answer_cell *added)
{
	uint64_t top = answer->is_chosen ? answer->options->top : 0;

	if (answer->p.columns == NULL)
		choose_columns(answer);
	answer->rows += answer->table == answer->tables;
	if (answer->err.text[0] != '\0')
		return;
	if (answer->sorted < 0 && top > 0 && answer->in_group >= top)
		return;
	answer->in_group++;
	if (is_printed_as_given(answer)) {
		begin_table(answer);
		answer->printer->row_as_given(&answer->p, row, added);
		return;
	}
	for (uint32_t i = 0; i < answer->fixed_count; i++)
		answer->cells[i] = read_cell(&answer->columns[i], row);
	set_kinds(answer);
	for (uint32_t i = answer->fixed_count; i < answer->column_count; i++)
		answer->cells[i] = added[i - answer->fixed_count];
	if (must_wait(answer)) {
		keep_row(answer);
		if (answer->sorted < 0 && answer->kept_count == MEASURED_ROWS)
			print_kept(answer);
		return;
	}
	begin_table(answer);
	print_row(answer, answer->cells);
	if (answer->p.kept_bytes > ANSWER_ROWS_BYTES_MAX)
		err_set(&answer->err,
		    "columns take more than %d MiB: select fewer rows, or "
		    "print rows without --shape",
		    ANSWER_ROWS_BYTES_MAX >> 20);
}

void
answer_next_group(struct answer *answer)
{
	if (answer->p.columns != NULL)
		sort_kept(answer);
	answer->group = answer->kept_count;
	answer->in_group = 0;
}

void
answer_flush(struct answer *answer)
{
	if (answer->sorted < 0 && answer->p.columns != NULL)
		print_kept(answer);
	fflush(answer->p.file);
}

void
answer_begin_table(struct answer *answer, const char *name)
{
	const struct answer_table *table = answer->tables;

	while (strcmp(table->name, name) != 0)
		table++;
	if (table == answer->table && answer->p.columns == NULL)
		return;
	end_table(answer);
	choose_table(answer, table);
}

/* ---- head, notes, life ---- */

void
answer_head(struct answer *answer, const char *key, struct answer_cell value)
{
	struct answer_head_member *member;
	uint32_t number = 0;

	assert(!answer->has_begun);
	while (number < answer->p.head_count &&
	       strcmp(answer->head[number].key, key) != 0)
		number++;
	if (number == answer->p.head_count)
		answer->head = memory_grow(answer->head, &answer->head_room,
		    answer->p.head_count++, sizeof(*answer->head));
	member = &answer->head[number];
	*member =
	    (struct answer_head_member){ own(answer, text_of(key)), value };
	if (value.type == ANSWER_TEXT && value.is.text.at != NULL)
		member->value.is.text.at = own(answer, value.is.text);
}

void
answer_title(struct answer *answer, const char *format, ...)
{
	va_list list;

	free(answer->title);
	va_start(list, format);
	if (vasprintf(&answer->title, format, list) < 0)
		memory_exhausted(0);
	va_end(list);
}

void
answer_title_end(struct answer *answer, const char *end)
{
	free(answer->title_end);
	answer->title_end = memory_string(end);
}

void
answer_note(struct answer *answer, const char *key, uint64_t count,
    const char *format, ...)
{
	struct answer_note *note;
	va_list list;

	note =
	    MEMORY_ADD(answer->notes, answer->note_room, answer->p.note_count);
	*note = (struct answer_note){ .key = own(answer, text_of(key)),
		.count = count };
	va_start(list, format);
	if (vasprintf(&note->text, format, list) < 0)
		memory_exhausted(0);
	va_end(list);
}

void
answer_lacks(struct answer *answer, const char *sentence)
{
	answer->lacks = own(answer, text_of(sentence));
}

bool
answer_is_broken(const struct answer *answer)
{
	return answer->err.text[0] != '\0' || ferror_unlocked(answer->p.file);
}

uint64_t
answer_rows(const struct answer *answer)
{
	return answer->rows;
}

struct answer *
answer_new(FILE *file, const struct answer_options *options,
    const struct answer_table *tables)
{
	struct answer *answer = memory_zero(1, sizeof(*answer));

	answer->printer = options->shape == ANSWER_SHAPE_COLUMNS
			      ? &answer_print_json_columns
			      : answer_printer_of(options->format);
	answer->options = options;
	answer->tables = tables;
	answer->p.file = file;
	answer->p.options = options;
	answer->p.err = &answer->err;
	choose_table(answer, tables);
	return answer;
}

/* csv, arrow and parquet have columns though the table has no rows, and so did
 * not come. */
static bool
lacks_table(const struct answer *answer)
{
	int format = answer->options->format;

	return !answer->is_chosen && !answer->chosen_has_begun &&
	       (format == ANSWER_FORMAT_CSV || format == ANSWER_FORMAT_ARROW ||
		   format == ANSWER_FORMAT_PARQUET);
}

int
answer_end(struct answer *answer, int rc, struct err *err)
{
	/* Of an answer that failed before its first row nothing is printed,
	 * unless another table has begun. */
	if (rc < 0 && answer->rows == 0 && !answer->has_begun)
		return rc;
	if (lacks_table(answer))
		answer_begin_table(answer,
		    answer_chosen_table(answer->options, answer->tables)->name);
	end_table(answer);
	if (rc >= 0 && answer->err.text[0] != '\0') {
		*err = answer->err;
		rc = -1;
	}
	answer->p.notes = answer->notes;
	tell_notes(answer);
	answer->printer->end(
	    &answer->p, answer->rows, rc < 0 ? err->text : answer->lacks);
	return rc;
}

void
answer_free(struct answer **freed)
{
	struct answer *answer = *freed;

	if (answer == NULL)
		return;
	cut_kept(answer, 0);
	drop_columns(answer);
	for (uint32_t i = 0; i < answer->p.note_count; i++)
		free(answer->notes[i].text);
	for (uint32_t i = 0; i < answer->owned_count; i++)
		free(answer->owned[i]);
	free(answer->owned);
	free(answer->head);
	free(answer->notes);
	free(answer->kept);
	free(answer->columns);
	free(answer->title);
	buffer_clear(&answer->p.line);
	free(answer->title_end);
	free(answer);
	*freed = NULL;
}
