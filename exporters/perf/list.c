/*
 * perf_list - print the reports themselves, all or decimated.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf/list.h"

#include <string.h>

#include "exporters/samples/decimate.h"

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

struct printing {
	struct json json;
};

static void
put_object(void *arg, const struct perf_report *report)
{
	struct printing *p = arg;

	json_begin_object(&p->json);
	perf_report_put(&p->json, report);
	json_end_object(&p->json);
}

int
perf_list_save(const struct perf_select *select, const struct perf_pool *pool,
    const struct perf_decimation *decimation, FILE *file, struct err *err)
{
	struct printing p;
	int rc = 0;

	json_init(&p.json, file, JSON_INDENTED | JSON_WIDE);
	json_begin_object(&p.json);
	for (uint32_t i = 0; rc == 0 && i < pool->names.count; i++) {
		uint32_t number = pool->order[i];

		json_key(&p.json, pool->names.names[number]);
		json_begin_array(&p.json);
		rc = perf_list_each(
		    select, pool, number, decimation, put_object, &p, err);
		json_end_array(&p.json);
	}
	json_end_object(&p.json);
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
