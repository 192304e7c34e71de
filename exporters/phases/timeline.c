/*
 * stats_timeline - what each node did when, as a table of times in bands.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/phases/node_bands.h"
#include "exporters/phases/read.h"
#include "proto/base/memory.h"
#include "proto/base/nearest.h"
#include "proto/format/csv.h"
#include "proto/format/table.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"

enum { NAME_ROOM = 2 * NAME_BYTES_MAX + 3, SHOWN_BYTES = 300 };

const char *const stats_timeline_columns[] = { "node", "begin", "total", NULL };

struct row {
	const struct bands_row *of;
	uint32_t nodes; /* that it stands for */
};

struct timeline {
	struct phases_names names;
	struct phases_read phases;
	struct text model;
	struct bands bands;
	int64_t first_ns; /* the begin of the first phase */
	struct row *rows;
	uint32_t count;
	char clock[SOURCE_CLOCK_WORDS];
};

/* ---- reading ---- */

static int
read_model(struct timeline *t, struct source *source, struct text partition,
    const struct stats_timeline *what, struct text model, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	char name[NAME_ROOM];

	snprintf(name, sizeof(name), "%.*s:*", (int)model.bytes, model.at);
	query.name = text_of(name);
	query.node = what->node;
	query.from_ns = what->from_ns;
	query.to_ns = what->to_ns;
	t->model = model;
	phases_read_clear(&t->phases);
	return phases_read(
	    &t->phases, &t->names, source, partition, &query, err);
}

static int
refuse_model(const struct timeline *t, const char *model, struct err *err)
{
	char question[3 * NEAREST_WORD_BYTES + 32], shown[SHOWN_BYTES];
	struct nearest nearest;

	nearest_begin(&nearest, model);
	for (uint32_t i = 0; i < t->names.models.count; i++) {
		char *name = memory_text(t->names.models.names[i]);

		nearest_offer(&nearest, name);
		free(name);
	}
	return err_set(err, "no model %s%s",
	    text_quote(shown, sizeof(shown), text_of(model)),
	    nearest_question(&nearest, "", question, sizeof(question)));
}

static int
read_phases(struct timeline *t, struct source *source, struct text partition,
    const struct stats_timeline *what, struct err *err)
{
	const struct string_table *models = &t->names.models;
	char shown[SHOWN_BYTES];
	uint32_t number;
	int rc = phases_names_read(&t->names, source, partition, err);

	if (rc == 0 && what->model != NULL &&
	    !string_table_find(models, text_of(what->model), &number))
		rc = refuse_model(t, what->model, err);
	else if (rc == 0 && what->model != NULL)
		rc = read_model(
		    t, source, partition, what, models->names[number], err);
	for (uint32_t i = 0; rc == 0 && what->model == NULL &&
			     i < models->count && t->phases.count == 0;
	     i++)
		rc = read_model(
		    t, source, partition, what, models->names[i], err);
	if (rc == 0 && t->phases.count == 0)
		rc = err_set(err, "no complete phases%s of partition %s in %s",
		    what->from_ns != TIME_MIN_NS || what->to_ns != TIME_MAX_NS
			? " that begin in that time"
			: "",
		    text_quote(shown, sizeof(shown), partition),
		    source_name(source));
	return rc;
}

static int
by_begin(const void *left, const void *right)
{
	const struct bands_row *a = left, *b = right;

	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	return text_compare_natural(a->node, b->node);
}

static struct order_key
key_of(const void *arg, const void *at, int column)
{
	const struct bands_row *row = at;

	(void)arg;
	return (struct order_key){ .is_text = column == 0,
		.text = row->node,
		.number = column == 1 ? row->start_s : row->total_s };
}

/* The middle one of each group of nodes that follow each other. */
static void
make_rows(struct timeline *t, uint64_t most, uint32_t shown)
{
	uint64_t count = shown < most ? shown : most;

	t->rows = memory_zero(count, sizeof(*t->rows));
	for (uint64_t i = 0; i < count; i++) {
		uint64_t first = i * shown / count,
			 end = (i + 1) * shown / count;

		t->rows[t->count++] =
		    (struct row){ &t->bands.rows[(first + end - 1) / 2],
			    (uint32_t)(end - first) };
	}
}

static void
make(struct timeline *t, const struct stats_timeline *what)
{
	uint64_t most = what->rows > 0 ? what->rows : STATS_TIMELINE_ROWS;

	node_bands_make(&t->bands, &t->names, &t->phases);
	qsort(t->bands.rows, t->bands.count, sizeof(*t->bands.rows), by_begin);
	t->first_ns = INT64_MAX;
	for (uint32_t i = 0; i < t->phases.count; i++)
		if (t->phases.items[i].begin_ns < t->first_ns)
			t->first_ns = t->phases.items[i].begin_ns;
	make_rows(t, most,
	    order_rows(what->order, t->bands.rows, t->bands.count,
		sizeof(*t->bands.rows), key_of, NULL));
}

/* ---- printing ---- */

static int64_t
ms_of(double seconds)
{
	return llround(seconds * 1000);
}

static void
put_names(struct json *json, const struct timeline *t)
{
	json_add_text(json, "model", t->model);
	json_add_array(json, "models");
	for (uint32_t i = 0; i < t->names.models.count; i++)
		json_text(json, t->names.models.names[i]);
	json_end_array(json);
}

static void
put_head(struct json *json, const struct timeline *t)
{
	char text[CLOCK_TEXT_BYTES];

	put_names(json, t);
	json_add_string(json, "clock", t->clock);
	json_add_string(json, "t0", clock_text(text, t->first_ns, 3));
	json_name(json, "t0_ns");
	snprintf(text, sizeof(text), "%" PRId64, t->first_ns);
	json_string(json, text);
	json_add_uint(json, "nodes", t->bands.count);
	json_add_uint(json, "left_out", t->phases.left_out);
}

/* Columns of milliseconds: a tenth of what objects take. */
static void
put_json(const struct timeline *t, FILE *file)
{
	struct json json;

	json_init(&json, file, JSON_LINE | JSON_STRICT);
	json_begin_object(&json);
	put_head(&json, t);
	json_add_array(&json, "node");
	for (uint32_t i = 0; i < t->count; i++)
		json_text(&json, t->rows[i].of->node);
	json_end_array(&json);
	json_add_array(&json, "of");
	for (uint32_t i = 0; i < t->count; i++)
		json_uint(&json, t->rows[i].nodes);
	json_end_array(&json);
	json_add_array(&json, "begin");
	for (uint32_t i = 0; i < t->count; i++)
		json_int(&json, ms_of(t->rows[i].of->start_s));
	json_end_array(&json);
	json_add_array(&json, "total");
	for (uint32_t i = 0; i < t->count; i++)
		json_int(&json, ms_of(t->rows[i].of->total_s));
	json_end_array(&json);
	json_add_array(&json, "bands");
	for (unsigned b = 0; b < t->bands.band_count; b++) {
		json_begin_object(&json);
		json_add_text(&json, "name", t->bands.band[b].title);
		json_add_array(&json, "ms");
		for (uint32_t i = 0; i < t->count; i++)
			json_int(&json, ms_of(t->rows[i].of->seconds[b]));
		json_end_array(&json);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	putc('\n', file);
}

static void
put_csv(const struct timeline *t, FILE *file)
{
	struct csv csv = { .file = file };

	csv_titles(&csv, "node nodes begin total");
	for (unsigned b = 0; b < t->bands.band_count; b++)
		csv_text(&csv, t->bands.band[b].title);
	csv_end_row(&csv);
	for (uint32_t i = 0; i < t->count; i++) {
		const struct bands_row *row = t->rows[i].of;

		csv_text(&csv, row->node);
		csv_uint(&csv, t->rows[i].nodes);
		csv_float(&csv, row->start_s);
		csv_float(&csv, row->total_s);
		for (unsigned b = 0; b < t->bands.band_count; b++)
			csv_float(&csv, row->seconds[b]);
		csv_end_row(&csv);
	}
}

static unsigned
longest_of(const struct timeline *t, const struct bands_row *row)
{
	unsigned longest = 0;

	for (unsigned b = 1; b < t->bands.band_count; b++)
		if (row->seconds[b] > row->seconds[longest])
			longest = b;
	return longest;
}

static void
put_table(const struct timeline *t, struct text partition, FILE *file)
{
	static const struct table_column columns[] = {
		{ "NODE", 28, false },
		{ "NODES", 6, true },
		{ "BEGIN", 8, true },
		{ "TOTAL", 8, true },
		{ "LONGEST", 16, false },
		{ "TIME", 8, true },
		{ .title = NULL },
	};
	struct table table;

	fputs("phases of model ", file);
	table_put_elided(file, t->model, 20);
	fputs(" in ", file);
	table_put_elided(file, partition, 32);
	fputs(", in seconds\n\n", file);
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < t->count; i++) {
		const struct bands_row *row = t->rows[i].of;
		unsigned longest = longest_of(t, row);

		table_text(&table, row->node);
		table_count(&table, t->rows[i].nodes);
		table_number(&table, row->start_s);
		table_number(&table, row->total_s);
		table_text(&table, t->bands.band[longest].title);
		table_number(&table, row->seconds[longest]);
	}
}

int
stats_timeline(struct source *source, struct text partition,
    const struct stats_timeline *what, enum stats_format format, FILE *file,
    struct err *err)
{
	struct timeline t = { .count = 0 };
	int rc;

	if (what->rows > STATS_TIMELINE_ROWS_MAX)
		return err_set(err,
		    "--rows: at most %d; a row then stands for "
		    "several nodes",
		    STATS_TIMELINE_ROWS_MAX);
	rc = read_phases(&t, source, partition, what, err);
	if (rc == 0) {
		source_clock_words(t.clock, source_clock(source));
		make(&t, what);
	}
	if (rc == 0 && format == STATS_JSON)
		put_json(&t, file);
	else if (rc == 0 && format == STATS_CSV)
		put_csv(&t, file);
	else if (rc == 0)
		put_table(&t, partition, file);
	free(t.rows);
	free(t.bands.rows);
	phases_read_clear(&t.phases);
	phases_names_clear(&t.names);
	return rc;
}
