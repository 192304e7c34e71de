/*
 * stats_phases - print the statistics of every phase (phase_rows.h).
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/phases.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/stats/phase_rows.h"
#include "proto/base/memory.h"
#include "proto/hash/string_table.h"
#include "proto/format/csv.h"
#include "proto/json/json.h"
#include "proto/format/table.h"

enum { LINE_COLUMNS = 79 };

struct printer {
	FILE *file;
	struct text partition;
	bool by_node;
	enum stats_format format;
	uint64_t rows;
	const struct order *order;
	struct phase_row *kept; /* rows that wait to be sorted */
	uint32_t kept_count, kept_room;
	struct string_table texts; /* of these */
	struct json json;
	struct csv csv;
	struct table table;
	struct table_column columns[12];
	struct table_names names;
	char first_name[NAME_BYTES_MAX + 1];  /* buffer of names.first */
	char heading[2 * NAME_BYTES_MAX + 2]; /* heading of the last row */
};

static const struct table_column columns[] = {
	{ "PHASE", 16, false },
	{ "COUNT", 7, true },
	{ "MIN", 6, true },
	{ "P50", 6, true },
	{ "P90", 6, true },
	{ "P99", 6, true },
	{ "MAX", 6, true },
	{ "MEAN", 6, true },
	{ "STD", 6, true },
	{ "OPEN", 5, true },
	{ .title = NULL },
};

static uint64_t
count_of(const struct phase_row *row, enum phase_number number)
{
	double value = row->numbers[number];

	return value >= 0 && value < 0x1p63 ? (uint64_t)value : 0;
}

/* A model has phases that a pool never goes through, and some whose start alone
 * means nothing: people do not want to read of them, programs want every
 * phase. */
static bool
is_listed(const struct printer *p, const struct phase_row *row)
{
	return p->format != STATS_TABLE || count_of(row, PHASE_COUNT) > 0 ||
	       (!row->ignores_open && (count_of(row, PHASE_OPEN_STARTS) > 0 ||
					  count_of(row, PHASE_OPEN_ENDS) > 0));
}

/* ---- table ---- */

/* Rows are grouped under their model; with --by node under their phase. */
static void
split_name(const struct printer *p, const struct phase_row *row,
    struct text *heading, struct text *label)
{
	struct text name = row->phase;
	uint32_t colon = 0;

	while (colon < name.bytes && name.at[colon] != ':')
		colon++;
	if (p->by_node) {
		*heading = name;
		*label = table_names_rest(&p->names, row->node);
	} else if (colon == name.bytes) {
		*heading = (struct text){ "", 0 };
		*label = name;
	} else {
		*heading = (struct text){ name.at, colon };
		*label = (struct text){ name.at + colon + 1,
			name.bytes - colon - 1 };
	}
}

static void
put_row(struct printer *p, const struct phase_row *row)
{
	static const enum phase_number shown[] = { PHASE_MIN, PHASE_P50,
		PHASE_P90, PHASE_P99, PHASE_MAX, PHASE_MEAN,
		PHASE_STD_POPULATION };
	uint64_t count = count_of(row, PHASE_COUNT);
	struct text heading, label;

	split_name(p, row, &heading, &label);
	if (!text_equal(heading, text_of(p->heading))) {
		fputs(p->heading[0] ? "\n" : "", p->file);
		table_put_elided(p->file, heading, LINE_COLUMNS);
		putc('\n', p->file);
		snprintf(p->heading, sizeof(p->heading), "%.*s",
		    (int)heading.bytes, heading.at);
	}
	table_text(&p->table, label);
	table_count(&p->table, count);
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		if (count > 0 && !isnan(row->numbers[shown[i]]))
			table_number(&p->table, row->numbers[shown[i]]);
		else
			table_none(&p->table);
	}
	if (row->ignores_open)
		table_none(&p->table);
	else
		table_count(&p->table, count_of(row, PHASE_OPEN_STARTS) +
					   count_of(row, PHASE_OPEN_ENDS));
}

/* ---- JSON, CSV ---- */

static void
put_object(struct printer *p, const struct phase_row *row)
{
	struct text pairs = row->attributes;
	struct record_attribute a;

	json_begin_object(&p->json);
	json_add_text(&p->json, "phase", row->phase);
	if (p->by_node) {
		json_add_text(&p->json, "node", row->node);
	}
	while (record_next_attribute(&pairs, &a)) {
		if (phase_row_is_histogram(&a))
			continue;
		a.value = phase_row_value(row, &a);
		json_key(&p->json, a.key);
		json_value(&p->json, &a.value);
	}
	json_end_object(&p->json);
}

static bool
is_count(int number)
{
	return number == PHASE_COUNT || number == PHASE_OPEN_STARTS ||
	       number == PHASE_OPEN_ENDS;
}

static void
put_csv(struct printer *p, const struct phase_row *row)
{
	csv_text(&p->csv, row->phase);
	csv_text(&p->csv, row->node);
	for (int i = 0; i < PHASE_NUMBERS; i++) {
		if (isnan(row->numbers[i]))
			csv_none(&p->csv);
		else if (is_count(i))
			csv_uint(&p->csv, count_of(row, (enum phase_number)i));
		else
			csv_float(&p->csv, row->numbers[i]);
	}
	csv_end_row(&p->csv);
}

static void
begin(struct printer *p)
{
	char pattern[2 * NAME_BYTES_MAX];

	switch (p->format) {
	case STATS_TABLE:
		fputs("phases of ", p->file);
		table_put_elided(p->file, p->partition, 60);
		fputs(", seconds\n", p->file);
		table_names_pattern(&p->names, pattern, sizeof(pattern));
		if (pattern[0] != '\0') {
			fputs("nodes are ", p->file);
			table_put_elided(
			    p->file, text_of(pattern), LINE_COLUMNS - 10);
			putc('\n', p->file);
		}
		putc('\n', p->file);
		_Static_assert(sizeof(columns) <= sizeof(p->columns),
		    "enlarge printer.columns");
		memcpy(p->columns, columns, sizeof(columns));
		if (p->by_node)
			p->columns[0].title = "NODE";
		table_begin(&p->table, p->file, p->columns);
		break;
	case STATS_CSV:
		csv_string(&p->csv, "phase");
		csv_string(&p->csv, "node");
		for (int i = 0; i < PHASE_NUMBERS; i++)
			csv_string(&p->csv, phase_number_names[i]);
		csv_end_row(&p->csv);
		break;
	case STATS_JSON:
		json_begin_object(&p->json);
		json_add_text(&p->json, "partition", p->partition);
		json_add_array(&p->json, "phases");
		break;
	case STATS_JSONL: break;
	}
}

static void
put_now(struct printer *p, const struct phase_row *row)
{
	if (p->rows++ == 0)
		begin(p);
	switch (p->format) {
	case STATS_TABLE: put_row(p, row); break;
	case STATS_CSV: put_csv(p, row); break;
	case STATS_JSON: put_object(p, row); break;
	case STATS_JSONL:
		put_object(p, row);
		putc('\n', p->file);
		break;
	}
}

/* ---- order ---- */

const char *const stats_phases_columns[] = { "phase", "node", "count", "sum",
	"min", "max", "mean", "std_population", "std_sample", "p50", "p90",
	"p99", "open_starts", "open_ends", NULL };

static struct order_key
key_of(const void *arg, const void *at, int column)
{
	const struct phase_row *row = at;

	(void)arg;
	return (struct order_key){ .is_text = column < 2,
		.text = column == 0 ? row->phase : row->node,
		.number = column < 2 ? NAN : row->numbers[column - 2] };
}

static void
put_kept(struct printer *p)
{
	uint32_t shown = order_rows(
	    p->order, p->kept, p->kept_count, sizeof(*p->kept), key_of, NULL);

	for (uint32_t i = 0; i < shown; i++)
		put_now(p, &p->kept[i]);
	p->kept_count = 0;
	string_table_clear(&p->texts);
	string_table_init(&p->texts);
}

/* Rows of a phase are sorted apart, so that the worst nodes of each are seen.
 */
static void
put(void *arg, const struct phase_row *row)
{
	struct printer *p = arg;
	struct phase_row *kept;

	if (!is_listed(p, row))
		return;
	if (!order_is_given(p->order)) {
		put_now(p, row);
		return;
	}
	if (p->by_node && p->kept_count > 0 &&
	    !text_equal(p->kept[0].phase, row->phase))
		put_kept(p);
	p->kept = memory_grow(
	    p->kept, &p->kept_room, p->kept_count, sizeof(*p->kept));
	kept = &p->kept[p->kept_count++];
	*kept = *row;
	kept->phase = string_table_keep(&p->texts, row->phase);
	kept->node = string_table_keep(&p->texts, row->node);
	kept->attributes = string_table_keep(&p->texts, row->attributes);
}

static void
end(struct printer *p)
{
	put_kept(p);
	if (p->rows == 0 || p->format != STATS_JSON)
		return;
	json_end_array(&p->json);
	json_end_object(&p->json);
	putc('\n', p->file);
}

/* A table omits columns that are equal on all nodes: read all rows first. */
static void
collect_name(void *arg, const struct phase_row *row)
{
	struct printer *p = arg;

	table_names_add(&p->names, row->node);
	if (p->names.count == 1) {
		snprintf(p->first_name, sizeof(p->first_name), "%.*s",
		    (int)row->node.bytes, row->node.at);
		p->names.first = text_of(p->first_name);
	}
}

static int
print(struct printer *p, struct phase_rows *rows, struct err *err)
{
	if (p->by_node && p->format == STATS_TABLE) {
		if (phase_rows_each(rows, collect_name, p, err) != 0)
			return -1;
		table_names_fit(&p->names, columns[0].width);
	}
	if (phase_rows_each(rows, put, p, err) != 0)
		return -1;
	end(p);
	return p->rows > 0 ? 0 : phase_rows_refuse(rows, err);
}

int
stats_phases(struct source *source, struct text partition,
    const struct wire_query *query, bool by_node, const struct order *order,
    enum stats_format format, FILE *file, struct err *err)
{
	struct printer printer = {
		.file = file,
		.partition = partition,
		.by_node = by_node,
		.format = format,
		.order = order,
		.csv = { .file = file },
	};
	struct phase_rows *rows;
	int rc = phase_rows_open(&rows, source, partition, query, by_node, err);

	if (rc != 0)
		return -1;
	string_table_init(&printer.texts);
	json_init(&printer.json, file,
	    JSON_STRICT | (format == STATS_JSON ? JSON_INDENTED : 0));
	rc = print(&printer, rows, err);
	free(printer.kept);
	string_table_clear(&printer.texts);
	phase_rows_close(&rows);
	return rc;
}
