/*
 * scanner_stats_command - time budget of a profiled Scanner job.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/scanner/stats_command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/trace/scanner/sums.h"
#include "proto/base/memory.h"
#include "proto/format/csv.h"
#include "proto/json/json.h"
#include "proto/format/table.h"
#include "proto/os/log.h"

#define NS 1e9

static double
seconds(int64_t from_ns, int64_t to_ns)
{
	return (double)((__int128)to_ns - from_ns) / NS;
}

/* ---- output of the older tool ---- */

static void
put_seconds_text(struct json *json, double ns)
{
	char text[400];

	snprintf(text, sizeof(text), "%f", ns / NS);
	json_string(json, text);
}

static void
put_reference(
    const struct scanner_job *job, const struct scanner_sums *sums, FILE *file)
{
	const struct scanner_job_node *last = NULL;
	char digits[SCANNER_DIGITS];
	struct json json;

	json_init(&json, file, JSON_INDENTED);
	json_begin_object(&json);
	for (int role = 0; role < SCANNER_IS_MASTER; role++) {
		const struct scanner_total *t;
		uint32_t at = 0;

		if (!scanner_sums_has(job, 0, (enum scanner_role)role))
			continue;
		json_add_object(&json, scanner_roles[role]);
		while ((t = scanner_sums_next(
			    sums, 0, (enum scanner_role)role, &at)) != NULL) {
			json_key(&json, t->name);
			/* The older tool adds counters to the same sums. */
			if (t->is_interval)
				put_seconds_text(
				    &json, t->sum_ns + (double)t->value);
			else
				json_digits(
				    &json, scanner_digits(digits, t->value));
		}
		json_end_object(&json);
	}
	for (uint32_t i = 0; i < job->node_count; i++)
		if (job->nodes[i].worker >= 0)
			last = &job->nodes[i];
	if (last != NULL) {
		json_name(&json, "total_time");
		put_seconds_text(
		    &json, NS * seconds(last->begin_ns, last->end_ns));
	}
	json_end_object(&json);
	putc('\n', file);
}

/* ---- output with --fixed ---- */

static void
put_group(struct json *json, const struct scanner_sums *sums, uint32_t scope,
    enum scanner_role role)
{
	char digits[SCANNER_DIGITS];
	const struct scanner_total *t;
	uint32_t at = 0;

	json_add_object(json, scanner_roles[role]);
	json_add_object(json, "intervals");
	while ((t = scanner_sums_next(sums, scope, role, &at)) != NULL) {
		if (!t->is_interval)
			continue;
		json_key(json, t->name);
		json_begin_object(json);
		json_add_uint(json, "count", t->count);
		json_add_float(json, "seconds", t->sum_ns / NS);
		json_end_object(json);
	}
	json_end_object(json);
	json_add_object(json, "counters");
	at = 0;
	while ((t = scanner_sums_next(sums, scope, role, &at)) != NULL) {
		if (!t->is_counter)
			continue;
		json_key(json, t->name);
		json_digits(json, scanner_digits(digits, t->value));
	}
	json_end_object(json);
	json_end_object(json);
}

static void
put_groups(struct json *json, const struct scanner_job *job,
    const struct scanner_sums *sums, uint32_t scope)
{
	json_add_object(json, "groups");
	for (int role = 0; role < SCANNER_ROLES; role++)
		if ((scope > 0 || role != SCANNER_IS_MASTER) &&
		    scanner_sums_has(job, scope, (enum scanner_role)role))
			put_group(json, sums, scope, (enum scanner_role)role);
	json_end_object(json);
}

static void
put_interval(struct json *json, int64_t begin_ns, int64_t end_ns)
{
	json_add_int(json, "begin_ns", begin_ns);
	json_add_int(json, "end_ns", end_ns);
	json_add_float(json, "seconds", seconds(begin_ns, end_ns));
}

static void
put_damage(struct json *json, struct text damage)
{
	json_add_array(json, "damage");
	while (damage.bytes > 0) {
		const char *end = memchr(damage.at, '\n', damage.bytes);
		uint32_t bytes =
		    end != NULL ? (uint32_t)(end - damage.at) : damage.bytes;

		json_text(json, (struct text){ damage.at, bytes });
		bytes += end != NULL;
		damage.at += bytes;
		damage.bytes -= bytes;
	}
	json_end_array(json);
}

static void
put_fixed(
    const struct scanner_job *job, const struct scanner_sums *sums, FILE *file)
{
	struct json json;

	json_init(&json, file, JSON_INDENTED | JSON_STRICT);
	json_begin_object(&json);
	json_add_text(&json, "job", job->id);
	json_add_text(&json, "name", job->name);
	put_interval(&json, job->begin_ns, job->end_ns);
	json_add_int(&json, "base_ns", job->base_ns);
	json_add_int(&json, "intervals", job->intervals);
	json_add_int(&json, "damaged", job->damaged);
	put_damage(&json, job->damage);
	put_groups(&json, job, sums, 0);
	json_add_array(&json, "nodes");
	for (uint32_t i = 0; i < job->node_count; i++) {
		const struct scanner_job_node *node = &job->nodes[i];

		json_begin_object(&json);
		json_add_text(&json, "node", node->name);
		put_interval(&json, node->begin_ns, node->end_ns);
		json_add_uint(&json, "threads", node->threads);
		json_add_int(&json, "intervals", node->intervals);
		json_add_int(&json, "damaged", node->damaged);
		put_groups(&json, job, sums, 1 + i);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	putc('\n', file);
}

/* ---- tables ---- */

const char *const stats_scanner_columns[] = { "node", "group", "name", "count",
	"seconds", "value", NULL };

struct row {
	struct text node;
	const struct scanner_total *total;
	/* What it shows: a name may be both. */
	bool interval, counter;
};

struct rows {
	struct row *at;
	uint32_t count, room;
};

static struct order_key
key_of(const void *arg, const void *at, int column)
{
	const struct row *row = at;
	const struct scanner_total *t = row->total;
	struct order_key key = { .is_text = column < 3, .number = NAN };

	(void)arg;
	if (column == 0)
		key.text = row->node;
	else if (column == 1)
		key.text = text_of(scanner_roles[t->role]);
	else if (column == 2)
		key.text = t->name;
	else if (column == 3 && row->interval)
		key.number = (double)t->count;
	else if (column == 4 && row->interval)
		key.number = t->sum_ns;
	else if (column == 5 && row->counter)
		key.number = (double)t->value;
	return key;
}

static void
add_row(struct rows *rows, struct row row)
{
	rows->at =
	    memory_grow(rows->at, &rows->room, rows->count, sizeof(*rows->at));
	rows->at[rows->count++] = row;
}

/* `apart`: a row for the intervals of a name, and one for its counter. */
static void
add_rows(struct rows *rows, const struct scanner_sums *sums, uint32_t scope,
    struct text node, bool apart)
{
	for (int role = 0; role < SCANNER_ROLES; role++) {
		const struct scanner_total *t;
		uint32_t at = 0;

		while ((t = scanner_sums_next(sums, scope,
			    (enum scanner_role)role, &at)) != NULL) {
			if (!apart || !t->is_interval || !t->is_counter) {
				add_row(
				    rows, (struct row){ node, t, t->is_interval,
					      t->is_counter });
				continue;
			}
			add_row(rows, (struct row){ node, t, true, false });
			add_row(rows, (struct row){ node, t, false, true });
		}
	}
}

static void
put_csv_row(struct csv *csv, const struct row *row)
{
	const struct scanner_total *t = row->total;
	char digits[SCANNER_DIGITS];

	csv_text(csv, row->node);
	csv_string(csv, scanner_roles[t->role]);
	csv_text(csv, t->name);
	if (row->counter) {
		csv_none(csv);
		csv_none(csv);
		csv_string(csv, scanner_digits(digits, t->value));
	} else {
		csv_uint(csv, t->count);
		csv_float(csv, t->sum_ns / NS);
		csv_none(csv);
	}
	csv_end_row(csv);
}

static void
put_csv(const struct scanner_job *job, const struct scanner_sums *sums,
    const struct order *order, FILE *file)
{
	struct csv csv = { .file = file };
	struct rows rows = { .at = NULL };
	uint32_t shown;

	for (int i = 0; stats_scanner_columns[i] != NULL; i++)
		csv_string(&csv, stats_scanner_columns[i]);
	csv_end_row(&csv);
	for (uint32_t i = 0; i < job->node_count; i++)
		add_rows(&rows, sums, 1 + i, job->nodes[i].name, true);
	shown = order_rows(
	    order, rows.at, rows.count, sizeof(*rows.at), key_of, NULL);
	for (uint32_t i = 0; i < shown; i++)
		put_csv_row(&csv, &rows.at[i]);
	free(rows.at);
}

static void
put_table_row(struct table *table, const struct row *row)
{
	const struct scanner_total *t = row->total;

	table_string(table, scanner_roles[t->role]);
	table_text(table, t->name);
	if (row->interval) {
		table_count(table, t->count);
		table_number(table, t->sum_ns / NS);
	} else {
		table_none(table);
		table_none(table);
	}
	if (!row->counter)
		table_none(table);
	else if (t->value >= 0 && t->value <= UINT64_MAX)
		table_count(table, (uint64_t)t->value);
	else
		table_number(table, (double)t->value);
}

static void
put_table(const struct scanner_job *job, const struct scanner_sums *sums,
    struct text partition, const struct order *order, FILE *file)
{
	static const struct table_column columns[] = {
		{ "GROUP", 11, false },
		{ "NAME", 32, false },
		{ "COUNT", 8, true },
		{ "SECONDS", 10, true },
		{ "VALUE", 10, true },
		{ .title = NULL },
	};
	struct rows rows = { .at = NULL };
	struct table table;
	uint32_t shown;

	fputs("job ", file);
	table_put_elided(file, job->id, 20);
	fputs(" of ", file);
	table_put_elided(file, partition, 40);
	fprintf(file, ", %.3f s; all workers, then the master\n\n",
	    seconds(job->begin_ns, job->end_ns));
	table_begin(&table, file, columns);
	add_rows(&rows, sums, 0, (struct text){ "", 0 }, false);
	if (job->node_count > 0 && job->nodes[0].worker < 0)
		add_rows(&rows, sums, 1, job->nodes[0].name, false);
	shown = order_rows(
	    order, rows.at, rows.count, sizeof(*rows.at), key_of, NULL);
	for (uint32_t i = 0; i < shown; i++)
		put_table_row(&table, &rows.at[i]);
	free(rows.at);
}

int
stats_scanner(struct source *source, struct text partition, const char *which,
    const struct order *order, enum stats_format format, bool fixed, FILE *file,
    struct err *err)
{
	struct scanner_sums sums = { .at = NULL };
	struct scanner_job job;
	int rc = scanner_job_read(&job, source, partition, which, err);

	if (rc == 0)
		rc = scanner_sums_read(&sums, &job, source, partition, err);
	if (rc == 0 && job.damaged > 0)
		log_warn("the profile files of the job were damaged in %lld "
			 "places%s",
		    (long long)job.damaged,
		    fixed ? "" : "; --fixed lists them");
	if (rc == 0 && format == STATS_CSV)
		put_csv(&job, &sums, order, file);
	else if (rc == 0 && format == STATS_TABLE)
		put_table(&job, &sums, partition, order, file);
	else if (rc == 0 && fixed)
		put_fixed(&job, &sums, file);
	else if (rc == 0)
		put_reference(&job, &sums, file);
	scanner_sums_clear(&sums);
	scanner_job_clear(&job);
	return rc;
}
