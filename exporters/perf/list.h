/*
 * perf_list - the reports of a pool: reading them, summed by node or of one
 * node, and printing them, all or decimated.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_LIST_H
#define EXPORTERS_PERF_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "exporters/perf/node_summary.h"
#include "exporters/samples/job_intervals.h"
#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

/* Reduce a long list to a bounded length while it grows.
 *
 * There are two methods.  `struct decimate` stores at most M items (M is made
 * even), like the older sampler: it takes every f-th item, and when it has
 * more than M it drops every other item and doubles f.  The first item is
 * always stored, the newest usually is not.
 *
 * `struct decimate_peaks` knows the number of items in advance and passes on
 * at most M: the first, the last, and the minimum and maximum of each of (M -
 * 2) / 2 equal sections between them, in their original order. */
struct decimate {
	uint64_t length; /* stored items */
	uint64_t every;  /* f: every f-th item is taken */
	uint64_t seen, max;
	size_t item_bytes, room; /* capacity of `items`, in items */
	unsigned char *items;    /* decimate_at */
};

void decimate_init(
    struct decimate *decimate, uint64_t max_length, size_t item_bytes);
void decimate_add(
    struct decimate *decimate, const void *item); /* copies the item */
void decimate_clear(struct decimate *decimate);

static inline const void *
decimate_at(const struct decimate *decimate, uint64_t i)
{
	return decimate->items + i * decimate->item_bytes;
}

/* Set the fields of the first part; all others are zero. */
struct decimate_peaks {
	uint64_t count;      /* number of items to come; more are dropped */
	uint64_t max_length; /* 2 .. 2^24 */
	size_t item_bytes;   /* at most DECIMATE_ITEM_BYTES */
	void *arg;
	void (*give)(void *arg, const void *item);

	uint64_t seen, section, least_at, greatest_at;
	double least, greatest;
	_Alignas(16) unsigned char held[2][160];
};
enum { DECIMATE_ITEM_BYTES = sizeof(((struct decimate_peaks *)0)->held[0]) };

/* `height` is the value whose extremes are peaks; NaN is never one. */
void decimate_peaks_add(
    struct decimate_peaks *peaks, const void *item, double height);
/* Call it when fewer items came than `count`: passes on the last ones. */
void decimate_peaks_end(struct decimate_peaks *peaks);

/* Read the reports of a pool: sums by node, or the list of a node. */

/* Which reports of which pool to read. */
struct perf_select {
	struct source *source;
	struct text partition;
	struct text node; /* pattern; empty: all */
	int64_t from_ns, to_ns;
	const struct job_intervals *
	    jobs; /* restrict to the nodes and times of these jobs; NULL: all */
};

struct perf_pool {
	struct string_table names;
	struct perf_node *nodes; /* indexed by node number */
	uint32_t *order;         /* node numbers, sorted by name */
	uint32_t room;
	bool numbered; /* every node name is a whole number */
};

/* Read all reports.  The result includes nodes without reports: the nodes of
 * the jobs, and nodes that an import declared.  The caller zeroes `pool` first
 * and clears it in any case. */
int perf_read(
    struct perf_pool *pool, const struct perf_select *select, struct err *err);
void perf_pool_clear(struct perf_pool *pool);

/* The number by which the older tool calls a node (its step): the name if all
 * names are numbers, otherwise the index in the sorted order. */
int64_t perf_step(const struct perf_pool *pool, uint32_t row);

enum perf_decimate { PERF_ALL, PERF_REFERENCE, PERF_MINMAX };

struct perf_decimation {
	enum perf_decimate way;
	uint64_t max_length; /* maximum reports per node */
};

/* Call `on_report` for each report of a node after decimation
 * (struct decimate; peaks are those of the CPU average). */
int perf_list_each(const struct perf_select *select,
    const struct perf_pool *pool, uint32_t number,
    const struct perf_decimation *decimation,
    void (*on_report)(void *arg, const struct perf_report *report), void *arg,
    struct err *err);

/* Print one object, node -> list, byte for byte like json.dump(...,
 * indent=4). */
int perf_list_save(const struct perf_select *select,
    const struct perf_pool *pool, const struct perf_decimation *decimation,
    FILE *file, struct err *err);

/* Add up the reports that the older sampler's store would contain at the
 * end. */
int perf_list_resum(const struct perf_select *select, struct perf_pool *pool,
    const struct perf_decimation *decimation, struct err *err);

/* The options of questions about reports of hosts. */

struct perf_options {
	int64_t now_ns;
	uint64_t cpu_count, max_length;
	const char *prefix, *save;
	int decimate;
	bool mlflow, since_boot;
};
#define PERF_OPTIONS_DEFAULT                                                   \
	{                                                                      \
		.prefix = ""                                                   \
	}

/* Bound to the struct. */
extern const struct opt perf_options[];

/* What was given of --decimate and --max-length. */
struct perf_decimation perf_decimation_of(
    const struct perf_options *options, bool has_way, bool has_length);
int perf_decimation_check(const struct perf_decimation *how, struct err *err);

#endif
