/*
 * nodes - print which nodes of a pool are heard, and what is wrong with the
 * others.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/nodes/node_states.h"
#include "proto/format/csv.h"
#include "proto/format/quantity.h"
#include "proto/format/table.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"

/* What is printed. */
struct rows {
	const struct node_states *states;
	uint32_t shown; /* of states->at, from the first one on */
};

/* ---- order ---- */

static int
by_name(const void *left, const void *right)
{
	const struct node_state *a = left, *b = right;

	return text_compare(a->name, b->name);
}

static int
by_state(const void *left, const void *right)
{
	const struct node_state *a = left, *b = right;
	int order = (int)b->condition - (int)a->condition;

	return order != 0 ? order : by_name(left, right);
}

const char *const nodes_columns[] = { "state", "node", "heard", "received",
	"spool", "clock", NULL };

/* NaN: unknown. */
static double
received_age(const struct node_state *node)
{
	int64_t now_ns = clock_wall_ns();

	return node->received_ns == INT64_MIN ? NAN
	       : node->received_ns >= now_ns
		   ? 0
		   : (double)(now_ns - node->received_ns);
}

static struct order_key
key_of(const void *arg, const void *at, int column)
{
	const struct node_state *node = at;
	const double numbers[] = { (double)node->condition, 0,
		(double)node->age_ns, received_age(node), node->spool,
		fabs(node->clock_ns) };

	(void)arg;
	return (struct order_key){ .is_text = column == 1,
		.text = node->name,
		.number = numbers[column] };
}

/* ---- output ---- */

static void
put_table(const struct rows *rows, FILE *file)
{
	static const struct table_column columns[] = {
		{ "NODE", 17, false },
		{ "STATE", 6, false },
		{ "HEARD", 8, true },
		{ "RECEIVED", 8, true },
		{ "SPOOL", 9, true },
		{ "CLOCK", 9, true },
		{ "WRONG", 17, false },
		{ .title = NULL },
	};
	char text[QUANTITY_TEXT_BYTES];
	struct table table;

	for (int i = 0; i < NODE_CONDITIONS; i++)
		fprintf(file, "%s%" PRIu32 " %s", i > 0 ? ", " : "",
		    rows->states->conditions[i], node_condition_words[i]);
	fputs("\n\n", file);
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < rows->shown; i++) {
		const struct node_state *node = &rows->states->at[i];

		table_text(&table, node->name);
		table_string(&table, node_condition_words[node->condition]);
		table_string(&table, quantity_time(text, (double)node->age_ns));
		if (node->received_ns == INT64_MIN)
			table_none(&table);
		else
			table_string(
			    &table, quantity_time(text, received_age(node)));
		if (isnan(node->spool))
			table_none(&table);
		else
			table_string(&table, quantity_bytes(text, node->spool));
		if (isnan(node->clock_ns))
			table_none(&table);
		else
			table_string(
			    &table, quantity_time(text, node->clock_ns));
		table_string(&table, node_state_wrong(text, node));
	}
}

static void
put_csv(const struct rows *rows, FILE *file)
{
	struct csv csv = { .file = file };
	char wrong[NODE_STATE_WRONG_BYTES];

	csv_titles(&csv, "node state heard silence received last_record "
			 "spool_bytes clock_offset wrong");
	csv_end_row(&csv);
	for (uint32_t i = 0; i < rows->shown; i++) {
		const struct node_state *node = &rows->states->at[i];

		csv_text(&csv, node->name);
		csv_string(&csv, node_condition_words[node->condition]);
		csv_time(&csv, node->heard_ns);
		csv_float(&csv, (double)node->age_ns / 1e9);
		csv_time(&csv, node->received_ns);
		csv_time(&csv, node->last_ns);
		csv_float(&csv, node->spool);
		csv_float(&csv, node->clock_ns / 1e9);
		csv_string(&csv, node_state_wrong(wrong, node));
		csv_end_row(&csv);
	}
}

static void
put_json(const struct rows *rows, bool lines, FILE *file)
{
	char wrong[NODE_STATE_WRONG_BYTES];
	struct json json;

	json_init(&json, file, JSON_STRICT | (lines ? 0 : JSON_INDENTED));
	if (!lines)
		json_begin_array(&json);
	for (uint32_t i = 0; i < rows->shown; i++) {
		const struct node_state *node = &rows->states->at[i];

		json_begin_object(&json);
		json_add_text(&json, "node", node->name);
		json_add_string(
		    &json, "state", node_condition_words[node->condition]);
		json_add_time(&json, "heard", node->heard_ns, 3);
		json_add_float(&json, "silence", (double)node->age_ns / 1e9);
		json_add_time(&json, "received", node->received_ns, 3);
		json_add_time(&json, "last_record", node->last_ns, 3);
		json_add_float(&json, "spool_bytes", node->spool);
		json_add_float(&json, "clock_offset", node->clock_ns / 1e9);
		json_add_string(&json, "wrong", node_state_wrong(wrong, node));
		json_end_object(&json);
		if (lines)
			putc('\n', file);
	}
	if (!lines) {
		json_end_array(&json);
		putc('\n', file);
	}
}

static int
refuse_none(struct text partition, struct err *err)
{
	char shown[300];

	return err_set(err,
	    "no node of partition %s was heard since then (--from asks for a "
	    "longer time)",
	    text_quote(shown, sizeof(shown), partition));
}

int
nodes_print(struct source *source, struct text partition,
    const struct nodes_options *options, enum stats_format format, FILE *file,
    int *status, struct err *err)
{
	struct node_states states;
	struct rows rows = { .states = &states };
	int rc = node_states_read(&states, source, partition, options->node,
	    options->from_ns, clock_wall_ns(), err);

	if (rc == 0 && states.count == 0)
		rc = refuse_none(partition, err);
	if (rc == 0) {
		qsort(states.at, states.count, sizeof(*states.at), by_state);
		rows.shown = order_rows(options->order, states.at, states.count,
		    sizeof(*states.at), key_of, NULL);
		*status = node_states_status(&states);
	}
	if (rc == 0 && format == STATS_TABLE)
		put_table(&rows, file);
	else if (rc == 0 && format == STATS_CSV)
		put_csv(&rows, file);
	else if (rc == 0)
		put_json(&rows, format == STATS_JSONL, file);
	node_states_clear(&states);
	return rc;
}
