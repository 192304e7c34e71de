/*
 * stats_phases - print the statistics of every phase.
 *
 * Nothing is computed here.  Of all time aggregator/phases/duration_stats.c
 * computes the statistics, aggregator/query/phases/phase_stats.c (counts) and
 * aggregator/query/page/answer.c (durations) send them as attributes.  Of a
 * window phases_window.c computes them; the store's attributes still say which
 * phases there are.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/phases.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/select/known.h"
#include "exporters/stats/phases_window.h"
#include "proto/base/memory.h"
#include "proto/format/csv.h"
#include "proto/json/json.h"
#include "proto/format/table.h"
#include "proto/os/clock.h"

enum { LINE_COLUMNS = 79 };

/* A row that waits to be sorted. */
struct kept {
	struct record record; /* its texts are in `texts` of the printer */
	const struct phases_window_row *row;
};

struct printer {
	FILE *file;
	struct text partition;
	bool by_node;
	enum stats_format format;
	uint64_t rows;
	struct phases_window *window; /* NULL: all time */
	/* Of all time, but on corrected clocks, the phases that pass from node
	 * to node; NULL: the store has them all. */
	struct phases_window *crossing;
	/* The statistics that replace those of the store; NULL: nothing
	 * occurred.  `of_store`: none do. */
	const struct phases_window_row *row;
	const struct order *order;
	struct kept *kept;
	uint32_t kept_count, kept_room;
	struct string_table texts;
	struct json json;
	struct csv csv;
	struct table table;
	struct table_column columns[12];
	struct table_names names;
	char first_name[NAME_BYTES_MAX + 1];  /* buffer of names.first */
	char heading[2 * NAME_BYTES_MAX + 2]; /* heading of the last row */
};

static const struct phases_window_row of_store;

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

/* Seconds and counts, in the order of the CSV columns. */
static const char *const numbers[] = { "count", "sum", "min", "max", "mean",
	"std_population", "std_sample", "p50", "p90", "p99", "open_starts",
	"open_ends" };

static bool
find(const struct printer *p, const struct record *record, const char *key,
    struct value *value)
{
	if (p->row != &of_store &&
	    phases_window_value(p->row, text_of(key), value))
		return true;
	return record_find_attribute(record, text_of(key), value);
}

static double
number_of(const struct printer *p, const struct record *record, const char *key)
{
	struct value value;

	if (!find(p, record, key, &value))
		return 0;
	switch (value.type) {
	case VALUE_INT: return (double)value.is.i;
	case VALUE_UINT: return (double)value.is.u;
	case VALUE_FLOAT: return value.is.f;
	default: return 0;
	}
}

/* Can the phase have unmatched starts and ends? */
static bool
is_ignored(const struct record *record)
{
	struct text text;

	return record_find_text(record, "unmatched", &text) &&
	       text_equal(text, text_of("ignore"));
}

/* A model has phases that a pool never goes through, and some whose start alone
 * means nothing: people do not want to read of them, programs want every
 * phase. */
static bool
is_listed(const struct printer *p, const struct record *record)
{
	return p->format != STATS_TABLE || number_of(p, record, "count") > 0 ||
	       (!is_ignored(record) &&
		   (number_of(p, record, "open_starts") > 0 ||
		       number_of(p, record, "open_ends") > 0));
}

/* ---- table ---- */

/* Rows are grouped under their model; with --by node under their phase. */
static void
split_name(const struct printer *p, const struct record *record,
    struct text *heading, struct text *label)
{
	struct text name = record->name;
	uint32_t colon = 0;

	while (colon < name.bytes && name.at[colon] != ':')
		colon++;
	if (p->by_node) {
		*heading = name;
		*label = table_names_rest(&p->names, record->node);
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
put_row(struct printer *p, const struct record *record)
{
	static const char *const shown[] = { "min", "p50", "p90", "p99", "max",
		"mean", "std_population" };
	double count = number_of(p, record, "count");
	double open = number_of(p, record, "open_starts") +
		      number_of(p, record, "open_ends");
	struct text heading, label;

	split_name(p, record, &heading, &label);
	if (!text_equal(heading, text_of(p->heading))) {
		fputs(p->heading[0] ? "\n" : "", p->file);
		table_put_elided(p->file, heading, LINE_COLUMNS);
		putc('\n', p->file);
		snprintf(p->heading, sizeof(p->heading), "%.*s",
		    (int)heading.bytes, heading.at);
	}
	table_text(&p->table, label);
	table_count(&p->table, (uint64_t)count);
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		if (count > 0)
			table_number(&p->table, number_of(p, record, shown[i]));
		else
			table_none(&p->table);
	}
	if (is_ignored(record))
		table_none(&p->table);
	else
		table_count(&p->table, (uint64_t)open);
}

/* ---- JSON, CSV ---- */

static void
put_object(struct printer *p, const struct record *record)
{
	struct text pairs = record->pairs;
	struct record_attribute a;

	json_begin_object(&p->json);
	json_name(&p->json, "phase");
	json_text(&p->json, record->name);
	if (p->by_node) {
		json_name(&p->json, "node");
		json_text(&p->json, record->node);
	}
	while (record_next_attribute(&pairs, &a)) {
		if (p->row != &of_store)
			(void)phases_window_value(p->row, a.key, &a.value);
		json_key(&p->json, a.key);
		json_value(&p->json, &a.value);
	}
	json_end_object(&p->json);
}

static void
put_csv(struct printer *p, const struct record *record)
{
	csv_text(&p->csv, record->name);
	csv_text(&p->csv, record->node);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct value value;

		if (!find(p, record, numbers[i], &value) ||
		    value.type == VALUE_NIL)
			csv_none(&p->csv);
		else if (value.type == VALUE_INT)
			csv_int(&p->csv, value.is.i);
		else
			csv_float(&p->csv, number_of(p, record, numbers[i]));
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
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
			csv_string(&p->csv, numbers[i]);
		csv_end_row(&p->csv);
		break;
	case STATS_JSON:
		json_begin_object(&p->json);
		json_name(&p->json, "partition");
		json_text(&p->json, p->partition);
		json_name(&p->json, "phases");
		json_begin_array(&p->json);
		break;
	case STATS_JSONL: break;
	}
}

static void
put_now(struct printer *p, const struct record *record)
{
	if (p->rows++ == 0)
		begin(p);
	switch (p->format) {
	case STATS_TABLE: put_row(p, record); break;
	case STATS_CSV: put_csv(p, record); break;
	case STATS_JSON: put_object(p, record); break;
	case STATS_JSONL:
		put_object(p, record);
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
	struct printer p = *(const struct printer *)arg;
	const struct kept *kept = at;
	struct order_key key = { .is_text = column < 2,
		.text = column == 0 ? kept->record.name : kept->record.node,
		.number = NAN };
	struct value value;

	p.row = kept->row;
	if (!key.is_text &&
	    find(&p, &kept->record, stats_phases_columns[column], &value) &&
	    value.type != VALUE_NIL)
		key.number =
		    number_of(&p, &kept->record, stats_phases_columns[column]);
	return key;
}

static void
put_kept(struct printer *p)
{
	uint32_t shown = order_rows(
	    p->order, p->kept, p->kept_count, sizeof(*p->kept), key_of, p);

	for (uint32_t i = 0; i < shown; i++) {
		p->row = p->kept[i].row;
		put_now(p, &p->kept[i].record);
	}
	p->kept_count = 0;
	string_table_clear(&p->texts);
	string_table_init(&p->texts);
}

/* Rows of a phase are sorted apart, so that the worst nodes of each are seen.
 */
static void
put(struct printer *p, const struct record *record)
{
	struct kept *kept;

	if (!is_listed(p, record))
		return;
	if (!order_is_given(p->order)) {
		put_now(p, record);
		return;
	}
	if (p->by_node && p->kept_count > 0 &&
	    !text_equal(p->kept[0].record.name, record->name)) {
		const struct phases_window_row *row = p->row;

		put_kept(p);
		p->row = row;
	}
	p->kept = memory_grow(
	    p->kept, &p->kept_room, p->kept_count, sizeof(*p->kept));
	kept = &p->kept[p->kept_count++];
	*kept = (struct kept){ *record, p->row };
	kept->record.name = string_table_keep(&p->texts, record->name);
	kept->record.node = string_table_keep(&p->texts, record->node);
	kept->record.pairs = string_table_keep(&p->texts, record->pairs);
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

static void
collect_name(struct printer *p, struct text node)
{
	table_names_add(&p->names, node);
	if (p->names.count == 1) {
		snprintf(p->first_name, sizeof(p->first_name), "%.*s",
		    (int)node.bytes, node.at);
		p->names.first = text_of(p->first_name);
	}
}

/* A table omits columns that are equal on all nodes: read all rows first. */
static int
collect_names(struct printer *p, struct source *source,
    const struct wire_query *query, struct err *err)
{
	struct record record;
	int rc = 0;

	if (p->window != NULL)
		for (uint32_t i = 0; i < p->window->nodes.count; i++)
			collect_name(p, p->window->nodes.names[i]);
	else if (source_select(source, SOURCE_STATS_BY_NODE, p->partition,
		     query, err) != 0)
		return -1;
	else
		while ((rc = source_next(source, &record, err)) > 0)
			collect_name(p, record.node);
	table_names_fit(&p->names, columns[0].width);
	return rc;
}

/* A phase of the window: a row, or one for each of its nodes. */
static void
put_window(struct printer *p, struct record *record)
{
	const struct phases_window *window = p->window;
	const struct phases_window_row *row =
	    phases_window_find(window, record->name);

	p->row = row;
	if (!p->by_node) {
		put(p, record);
		return;
	}
	for (; row != NULL && row < window->rows + window->row_count &&
	       text_equal(row->phase, record->name);
	     row++) {
		p->row = row;
		record->node = row->node;
		put(p, record);
	}
}

/* A row of the store, unless it goes by clocks that were off. */
static void
put_stored(struct printer *p, const struct record *record)
{
	p->row = &of_store;
	if (p->crossing != NULL && source_clock_crosses(record))
		p->row = phases_window_find_node(p->crossing, record->name,
		    p->by_node ? record->node : (struct text){ "", 0 });
	put(p, record);
}

static int
put_all(struct printer *p, struct source *source,
    const struct wire_query *query, struct err *err)
{
	bool by_node = p->by_node && p->window == NULL;
	struct record record;
	int rc;

	if (p->by_node && p->format == STATS_TABLE &&
	    collect_names(p, source, query, err) != 0)
		return -1;
	if (source_select(source, by_node ? SOURCE_STATS_BY_NODE : SOURCE_STATS,
		p->partition, query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		if (record.kind != RECORD_ENTITY)
			continue;
		if (p->window != NULL)
			put_window(p, &record);
		else
			put_stored(p, &record);
	}
	return rc;
}

/* ---- phases that pass from node to node ---- */

static int
read_names(struct string_table *names, struct source *source,
    struct text partition, const struct wire_query *query, struct err *err)
{
	struct wire_query all = *query;
	struct record record;
	int rc;

	all.kinds = 1u << RECORD_ENTITY;
	if (source_select(source, SOURCE_STATS, partition, &all, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (source_clock_crosses(&record))
			(void)string_table_add(names, record.name);
	return rc;
}

/* Are clocks off, so that the statistics of the store are not right? */
static int
read_crossing(struct printer *p, struct phases_window *crossing,
    struct source *source, const struct wire_query *query, struct err *err)
{
	struct wire_query clocks = source_query(1u << RECORD_PHASE);
	struct string_table names;
	int rc;

	string_table_init(&names);
	rc = read_names(&names, source, p->partition, query, err);
	if (rc == 0 && names.count > 0)
		rc = source_load_clocks(source, p->partition, &clocks, err);
	if (rc == 0 && names.count > 0 &&
	    source_clock_pairs(source_clock(source))) {
		p->crossing = crossing;
		rc = phases_window_read_runs(
		    crossing, source, p->partition, &names, p->by_node, err);
	}
	string_table_clear(&names);
	return rc;
}

/* There is no row: does the name exist? */
static int
refuse(const struct printer *p, struct source *source,
    const struct wire_query *query, struct err *err)
{
	char shown[300], typed[2 * NAME_BYTES_MAX + 2];

	err_set(err, "no phases%s of partition %s in %s",
	    p->window != NULL ? " that begin in that time" : "",
	    text_quote(shown, sizeof(shown), p->partition),
	    source_name(source));
	snprintf(typed, sizeof(typed), "%.*s", (int)query->name.bytes,
	    query->name.at);
	known_suggest(source, SOURCE_STATS, p->partition, query, typed, err);
	return -1;
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
	struct wire_query all = *query;
	struct phases_window window;
	int rc;

	string_table_init(&printer.texts);
	json_init(&printer.json, file,
	    JSON_STRICT | (format == STATS_JSON ? JSON_INDENTED : 0));
	if (query->from_ns != TIME_MIN_NS || query->to_ns != TIME_MAX_NS) {
		printer.window = &window;
		all.from_ns = TIME_MIN_NS;
		all.to_ns = TIME_MAX_NS;
		rc = phases_window_read(
		    &window, source, partition, query, by_node, err);
	} else {
		rc = read_crossing(&printer, &window, source, query, err);
	}
	if (rc == 0)
		rc = put_all(&printer, source, &all, err);
	if (rc == 0)
		end(&printer);
	if (rc == 0 && printer.rows == 0)
		rc = refuse(&printer, source, &all, err);
	free(printer.kept);
	string_table_clear(&printer.texts);
	if (printer.window != NULL || printer.crossing != NULL)
		phases_window_clear(&window);
	return rc;
}
