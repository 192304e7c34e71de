/*
 * perf_list - the reports of a pool: reading them, summed by node or of one
 * node, and printing them, all or decimated.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf/list.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/config/opt.h"
#include "proto/record/node_list.h"

/* ---- every f-th item, as in the older sampler ---- */

void
decimate_init(struct decimate *decimate, uint64_t max_length, size_t item_bytes)
{
	*decimate = (struct decimate){
		.every = 1,
		.max = max_length + max_length % 2,
		.item_bytes = item_bytes,
	};
}

void
decimate_clear(struct decimate *decimate)
{
	free(decimate->items);
	decimate->items = NULL;
	decimate->length = decimate->room = 0;
}

static unsigned char *
slot(struct decimate *decimate, uint64_t i)
{
	return decimate->items + i * decimate->item_bytes;
}

void
decimate_add(struct decimate *decimate, const void *item)
{
	if (++decimate->seen % decimate->every != 0)
		return;
	if (decimate->length == decimate->room) {
		decimate->room = decimate->room > 0 ? 2 * decimate->room : 16;
		decimate->items = memory_resize_array(
		    decimate->items, decimate->room, decimate->item_bytes);
	}
	memcpy(slot(decimate, decimate->length++), item, decimate->item_bytes);
	if (decimate->length <= decimate->max)
		return;
	for (uint64_t i = 1; i < decimate->max / 2; i++)
		memcpy(slot(decimate, i), slot(decimate, 2 * i),
		    decimate->item_bytes);
	decimate->length = decimate->max / 2;
	/* The overflow of 2^62 cannot happen in practice. */
	if (decimate->every < UINT64_C(1) << 62)
		decimate->every *= 2;
}

/* ---- peaks, first and last item ---- */

static void
store_peaks(struct decimate_peaks *peaks, const void *item, double height)
{
	bool first = peaks->least_at == 0;

	if (first || height < peaks->least || isnan(peaks->least)) {
		peaks->least = height;
		peaks->least_at = peaks->seen;
		memcpy(peaks->held[0], item, peaks->item_bytes);
	}
	if (first || height > peaks->greatest || isnan(peaks->greatest)) {
		peaks->greatest = height;
		peaks->greatest_at = peaks->seen;
		memcpy(peaks->held[1], item, peaks->item_bytes);
	}
}

/* Item numbers start at 1; 0: none. */
static void
give_peaks(struct decimate_peaks *peaks)
{
	bool least_first = peaks->least_at <= peaks->greatest_at;

	if (peaks->least_at == 0)
		return;
	peaks->give(peaks->arg, peaks->held[least_first ? 0 : 1]);
	if (peaks->least_at != peaks->greatest_at)
		peaks->give(peaks->arg, peaks->held[least_first ? 1 : 0]);
	peaks->least_at = peaks->greatest_at = 0;
}

void
decimate_peaks_add(
    struct decimate_peaks *peaks, const void *item, double height)
{
	uint64_t stretches = (peaks->max_length - 2) / 2, section;

	assert(
	    peaks->max_length >= 2 && peaks->item_bytes <= DECIMATE_ITEM_BYTES);
	if (peaks->seen == peaks->count)
		return;
	peaks->seen++;
	if (peaks->count <= peaks->max_length || peaks->seen == 1) {
		peaks->give(peaks->arg, item);
	} else if (peaks->seen == peaks->count) {
		give_peaks(peaks);
		peaks->give(peaks->arg, item);
	} else if (stretches > 0) {
		section = (peaks->seen - 2) * stretches / (peaks->count - 2);
		if (section != peaks->section)
			give_peaks(peaks);
		peaks->section = section;
		store_peaks(peaks, item, height);
	}
}

void
decimate_peaks_end(struct decimate_peaks *peaks)
{
	give_peaks(peaks);
}

enum {
	MAX_LENGTH = 1000, /* capacity of the older sampler's store */
	MAX_LENGTH_MAX = 10000000,
};

const struct opt perf_options[] = {
	{ "now", 0, OPT_TIME, OPT_TO(struct perf_options, now_ns), "TIME",
	    "perf: end the CPU hours at this time (default: the node's last "
	    "report)" },
	{ "cpu-count", 0, OPT_COUNT, OPT_TO(struct perf_options, cpu_count),
	    "N",
	    "perf: assume this many CPUs per node (default: as in its last "
	    "report)" },
	{ "decimate", 0, OPT_CHOICE, OPT_TO(struct perf_options, decimate),
	    "WAY",
	    "perf, reports: reduce the reports: minmax preserves peaks and the "
	    "end, reference works like the older sampler",
	    "minmax|reference" },
	{ "max-length", 0, OPT_COUNT, OPT_TO(struct perf_options, max_length),
	    "N",
	    "reports, --save: at most N reports per node (default: 1000 with "
	    "--decimate)" },
	{ "since-boot", 0, OPT_FLAG, OPT_TO(struct perf_options, since_boot),
	    NULL,
	    "perf: print totals since the node's boot instead of those of the "
	    "reports" },
	{ "mlflow-names", 0, OPT_FLAG, OPT_TO(struct perf_options, mlflow),
	    NULL,
	    "perf: also print the metrics by the names that MLflow accepts",
	    .flags = OPT_OUTPUT },
	{ "prefix", 0, OPT_TEXT, OPT_TO(struct perf_options, prefix), "TEXT",
	    "perf: begin the MLflow names with this text",
	    .flags = OPT_OUTPUT },
	{ "save", 0, OPT_TEXT, OPT_TO(struct perf_options, save), "FILE",
	    "perf: write the reports in the file format of the older sampler",
	    .flags = OPT_OUTPUT },
	{ .name = NULL },
};

struct perf_decimation
perf_decimation_of(
    const struct perf_options *options, bool has_way, bool has_length)
{
	if (!has_way && !has_length)
		return (struct perf_decimation){ .way = PERF_ALL };
	return (struct perf_decimation){
		.way = options->decimate == 1 ? PERF_REFERENCE : PERF_MINMAX,
		.max_length = has_length ? options->max_length : MAX_LENGTH,
	};
}

int
perf_decimation_check(const struct perf_decimation *how, struct err *err)
{
	if (how->way != PERF_ALL && how->max_length > MAX_LENGTH_MAX)
		return err_set(
		    err, "--max-length must be at most %d", MAX_LENGTH_MAX);
	if (how->way == PERF_MINMAX && how->max_length < 2)
		return err_set(err, "--max-length must be at least 2 (the "
				    "first and the last report)");
	return 0;
}

enum { STEP_DIGITS_MAX = 18 };

static struct wire_query
query_of(const struct perf_select *select, enum record_kind kind)
{
	struct wire_query query = source_query(1u << kind);

	query.name = text_of(kind == RECORD_SAMPLE ? "perf" : "node:*");
	query.node = select->node;
	if (kind != RECORD_SAMPLE)
		return query;
	query.from_ns = select->from_ns;
	query.to_ns = select->to_ns;
	if (select->jobs != NULL)
		job_intervals_narrow(select->jobs, &query);
	return query;
}

/* Is the record a report within the requested time range? */
static bool
is_wanted(const struct perf_select *select, const struct record *record)
{
	return perf_report_is(record) &&
	       (select->jobs == NULL ||
		   job_intervals_has(select->jobs, record));
}

static uint32_t
add_node(struct perf_pool *pool, struct text name)
{
	uint32_t number = string_table_add(&pool->names, name);

	MEMORY_GROW_ZERO(pool->nodes, pool->room, number);
	return number;
}

/* Consumes all samples of a record; an older aggregator sends samples one by
 * one. */
static void
add_reports(struct perf_node *node, const struct record *record)
{
	double numbers[PERF_GROUP_COLUMNS];
	struct wire_columns columns;

	if (wire_columns_init(&columns, record)) {
		perf_node_add_columns(node, &columns);
		return;
	}
	record_get_numbers(record, numbers, PERF_GROUP_COLUMNS);
	perf_node_add(node, record->time_ns, numbers);
}

static int
read_reports(
    struct perf_pool *pool, const struct perf_select *select, struct err *err)
{
	struct wire_query query = query_of(select, RECORD_SAMPLE);
	struct record record;
	uint32_t last = 0;
	int rc;

	/* Whether a report belongs to a job must be tested for each report. */
	query.per_record = select->jobs == NULL ? UINT32_MAX : 0;
	if (source_select(select->source, SOURCE_RECORDS, select->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(select->source, &record, err)) > 0) {
		if (!is_wanted(select, &record))
			continue;
		if (pool->names.count == 0 ||
		    !text_equal(pool->names.names[last], record.node))
			last = add_node(pool, record.node);
		add_reports(&pool->nodes[last], &record);
	}
	return rc;
}

static int
read_nodes(
    struct perf_pool *pool, const struct perf_select *select, struct err *err)
{
	struct wire_query query = query_of(select, RECORD_ENTITY);
	const struct job_intervals *job_intervals = select->jobs;
	struct record record;
	int rc;

	for (uint32_t i = 0; job_intervals != NULL && i < job_intervals->count;
	     i++)
		if (node_list_match(query.node, job_intervals->at[i].node))
			add_node(pool, job_intervals->at[i].node);
	if (job_intervals != NULL)
		return 0;
	if (source_select(select->source, SOURCE_RECORDS, select->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(select->source, &record, err)) > 0)
		if (text_equal(record.source, text_of("node")))
			add_node(pool, record.name);
	return rc;
}

/* ---- order of nodes ---- */

static bool
is_number(struct text name)
{
	if (name.bytes == 0 || name.bytes > STEP_DIGITS_MAX ||
	    (name.at[0] == '0' && name.bytes > 1))
		return false;
	for (uint32_t i = 0; i < name.bytes; i++)
		if (name.at[i] < '0' || name.at[i] > '9')
			return false;
	return true;
}

static int
by_name(const void *left, const void *right, void *arg)
{
	const struct perf_pool *pool = arg;
	struct text a = pool->names.names[*(const uint32_t *)left];
	struct text b = pool->names.names[*(const uint32_t *)right];

	/* Numbers without leading zeros: the longer one is the greater. */
	if (pool->numbered && a.bytes != b.bytes)
		return a.bytes < b.bytes ? -1 : 1;
	return text_compare(a, b);
}

static void
sort(struct perf_pool *pool)
{
	uint32_t count = pool->names.count;

	pool->order = memory_zero(count + 1, sizeof(*pool->order));
	pool->numbered = true;
	for (uint32_t i = 0; i < count; i++) {
		pool->order[i] = i;
		if (!is_number(pool->names.names[i]))
			pool->numbered = false;
	}
	qsort_r(pool->order, count, sizeof(*pool->order), by_name, pool);
}

int
perf_read(
    struct perf_pool *pool, const struct perf_select *select, struct err *err)
{
	string_table_init(&pool->names);
	if (read_reports(pool, select, err) != 0 ||
	    read_nodes(pool, select, err) != 0)
		return -1;
	sort(pool);
	return 0;
}

void
perf_pool_clear(struct perf_pool *pool)
{
	string_table_clear(&pool->names);
	free(pool->nodes);
	free(pool->order);
	memset(pool, 0, sizeof(*pool));
}

int64_t
perf_step(const struct perf_pool *pool, uint32_t row)
{
	uint64_t number = row;

	if (pool->numbered)
		number_parse_u64(
		    pool->names.names[pool->order[row]], &number, NULL);
	return (int64_t)number;
}

/* Read every report of the node `node`, in order of time. */
static int
perf_read_node(const struct perf_select *select, struct text node,
    void (*on_report)(void *arg, const struct perf_report *report), void *arg,
    struct err *err)
{
	struct wire_query query = query_of(select, RECORD_SAMPLE);
	char list[2 * NAME_BYTES_MAX];
	struct perf_report report;
	struct record record;
	int rc;

	query.node = node_list_quote(list, node, false);
	if (source_select(select->source, SOURCE_RECORDS, select->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(select->source, &record, err)) > 0)
		if (is_wanted(select, &record) &&
		    perf_report_get(&report, &record))
			on_report(arg, &report);
	return rc;
}

/* ---- decimation ---- */

struct giving {
	void (*on_report)(void *arg, const struct perf_report *report);
	void *arg;
	struct decimate decimate;
	struct decimate_peaks peaks;
};

static void
add_to_store(void *arg, const struct perf_report *report)
{
	struct giving *giving = arg;

	decimate_add(&giving->decimate, report);
}

static void
add_to_peaks(void *arg, const struct perf_report *report)
{
	struct giving *giving = arg;

	decimate_peaks_add(&giving->peaks, report,
	    perf_report_number(report, PERF_GROUP_CPU_AVG));
}

static void
give(void *arg, const void *report)
{
	struct giving *giving = arg;

	giving->on_report(giving->arg, report);
}

int
perf_list_each(const struct perf_select *select, const struct perf_pool *pool,
    uint32_t number, const struct perf_decimation *decimation,
    void (*on_report)(void *arg, const struct perf_report *report), void *arg,
    struct err *err)
{
	struct text name = pool->names.names[number];
	struct giving giving = { .on_report = on_report, .arg = arg };
	int rc = 0;

	switch (decimation->way) {
	case PERF_ALL: return perf_read_node(select, name, on_report, arg, err);
	case PERF_REFERENCE:
		decimate_init(&giving.decimate, decimation->max_length,
		    sizeof(struct perf_report));
		rc = perf_read_node(select, name, add_to_store, &giving, err);
		for (uint64_t i = 0; rc == 0 && i < giving.decimate.length; i++)
			give(&giving, decimate_at(&giving.decimate, i));
		decimate_clear(&giving.decimate);
		break;
	case PERF_MINMAX:
		giving.peaks = (struct decimate_peaks){
			.count = pool->nodes[number].reports,
			.max_length = decimation->max_length,
			.item_bytes = sizeof(struct perf_report),
			.arg = &giving,
			.give = give,
		};
		rc = perf_read_node(select, name, add_to_peaks, &giving, err);
		if (rc == 0)
			decimate_peaks_end(&giving.peaks);
		break;
	}
	return rc;
}

/* ---- output ---- */

static void
put_object(void *arg, const struct perf_report *report)
{
	struct json *json = arg;

	json_begin_object(json);
	perf_report_put(json, report);
	json_end_object(json);
}

int
perf_list_save(const struct perf_select *select, const struct perf_pool *pool,
    const struct perf_decimation *decimation, FILE *file, struct err *err)
{
	struct json json;
	int rc = 0;

	json_init(&json, file, JSON_INDENTED | JSON_WIDE);
	json_begin_object(&json);
	for (uint32_t i = 0; rc == 0 && i < pool->names.count; i++) {
		uint32_t number = pool->order[i];

		json_key(&json, pool->names.names[number]);
		json_begin_array(&json);
		rc = perf_list_each(
		    select, pool, number, decimation, put_object, &json, err);
		json_end_array(&json);
	}
	json_end_object(&json);
	return rc;
}

/* ---- statistics of the older sampler ---- */

static void
add_again(void *arg, const struct perf_report *report)
{
	double numbers[PERF_GROUP_COLUMNS];

	for (int c = 0; c < PERF_GROUP_COLUMNS; c++)
		numbers[c] =
		    perf_report_number(report, (enum perf_group_column)c);
	perf_node_add(arg, report->time_ns, numbers);
}

int
perf_list_resum(const struct perf_select *select, struct perf_pool *pool,
    const struct perf_decimation *decimation, struct err *err)
{
	for (uint32_t i = 0; i < pool->names.count; i++) {
		struct perf_node again = { .reports = 0 };

		if (perf_list_each(select, pool, i, decimation, add_again,
			&again, err) != 0)
			return -1;
		pool->nodes[i] = again;
	}
	return 0;
}
