/*
 * node_usage - what each node of a partition uses now.
 *
 * A gauge is its last value.  A counter is a rate: between its last two samples
 * (USAGE_LAST), or the mean of the last minutes (USAGE_MEAN).  A node without
 * samples in the window has no numbers.
 *
 * Memory: 120 bytes for each node; while they are read 60 more, and 24 for each
 * series of one metric group.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_NODE_USAGE_H
#define EXPORTERS_NODES_NODE_USAGE_H

#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

/* The phase that each node is in: the one that began last, of
 * those that have not ended.
 *
 * However long ago it began: only phases that have not ended are read.  Those
 * whose model says that unmatched events mean nothing are left out. */
struct open_phase {
	struct text label; /* "pull tf:1.3": its name and its key */
	int64_t begin_ns;  /* by the clock of the node */
};

struct open_phases {
	struct string_table nodes, labels; /* labels: of `at`, and some more */
	struct open_phase *at;             /* by the number of the node */
	uint32_t room;
};

/* The clock of the source is CLOCK_RAW meanwhile.  Clear it in any case. */
int open_phases_read(struct open_phases *phases, struct source *source,
    struct text partition, struct err *err);
void open_phases_init(struct open_phases *phases);
void open_phases_clear(struct open_phases *phases);

/* NULL: the node is in no phase. */
const struct open_phase *open_phases_find(
    const struct open_phases *phases, struct text node);

enum node_usage_number {
	/* Shares: of the processors those that did something, and that waited
	 * for I/O; of the time that in which a process waited for a processor,
	 * for memory, for I/O. */
	USAGE_CPU,
	USAGE_IOWAIT,
	USAGE_CPU_PRESSURE,
	USAGE_MEMORY_PRESSURE,
	USAGE_IO_PRESSURE,
	USAGE_LOAD, /* threads, mean of a minute */
	/* Bytes. */
	USAGE_MEMORY_LIMIT,
	USAGE_MEMORY_USED,
	USAGE_MEMORY_AVAILABLE,
	USAGE_PAGING_USED,
	/* Bytes a second, of all interfaces; read from and written to all
	 * disks. */
	USAGE_RECEIVE,
	USAGE_DISK,
	USAGE_GPU, /* share: the greatest utilization of any GPU */
	USAGE_NUMBERS
};

enum node_usage_rate {
	/* Of the samples from NODE_USAGE_MEAN_NS before until now.  Everything
	 * before USAGE_RECEIVE. */
	USAGE_MEAN,
	/* Of the samples of the last NODE_USAGE_LAST_NS, by the clock of the
	 * node.  Everything but the pressure of processors and memory, what of
	 * memory is available, and paging. */
	USAGE_LAST
};
#define NODE_USAGE_MEAN_NS (300 * INT64_C(1000000000))
#define NODE_USAGE_LAST_NS (120 * INT64_C(1000000000))

struct node_usage {
	double numbers[USAGE_NUMBERS]; /* NaN: unknown */
};

struct node_usages {
	struct string_table nodes;
	struct node_usage *at; /* by number of the node */
	uint32_t room;
};

/* Read them as of `now_ns`.  Clear it in any case. */
int node_usage_read(struct node_usages *usages, struct source *source,
    struct text partition, enum node_usage_rate rate, int64_t now_ns,
    struct err *err);
void node_usage_init(struct node_usages *usages);
void node_usage_clear(struct node_usages *usages);

/* Without samples all are unknown. */
struct node_usage node_usage_of(
    const struct node_usages *usages, struct text node);

#endif
