/*
 * generate_plant - starts of a pool in which given nodes are slow for a given
 * reason.
 *
 * Each node pulls two images, one after the other, and loads each; places are
 * polled twice a second.  A pull fetches, unpacks and writes at once: it takes
 * as long as the network needs, or as processors and disk need together if that
 * is longer.  So whatever is short slows everything else, as on a machine.
 * What a node does is a series of segments, in which all counters grow evenly.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_PLANT_H
#define AGENTS_GENERATE_PLANT_H

#include "agents/generate/cause.h"

enum {
	GENERATE_PLANT_IMAGES = 2, /* the second is the large one */
	GENERATE_PLANT_LARGE = 1,
	GENERATE_PLANT_PLACES = 10, /* of each image, as in cascade.conf */
	GENERATE_PLANT_CAUSES_MAX = 64,
	GENERATE_PLANT_PROCESSORS = 4,
	GENERATE_PLANT_SEGMENTS_MAX = 20,
};

/* What the counters of a node count; times in microseconds. */
enum generate_plant_counter {
	PLANT_USER,
	PLANT_SYSTEM,
	PLANT_IOWAIT,
	PLANT_STEAL,
	PLANT_CPU_SOME,
	PLANT_MEMORY_SOME,
	PLANT_IO_SOME,
	PLANT_RECEIVED, /* bytes */
	PLANT_ERRORS,
	PLANT_DROPS,
	PLANT_READ, /* bytes */
	PLANT_WRITTEN,
	PLANT_DISK_TIME,
	PLANT_MAJOR, /* faults */
	PLANT_COUNTERS
};

struct generate_plant_segment {
	int64_t begin_ns, end_ns;
	int64_t total[PLANT_COUNTERS];
};

/* A pull or a load: what each part of the node has to do for it. */
struct generate_plant_work {
	int64_t bytes, network_ns, cpu_ns, disk_ns, memory_ns, hidden_ns;
	int64_t own_cpu_ns; /* of cpu_ns, what it computes itself */
	int64_t length_ns, usual_ns;
};

/* A node in a start; all times are true ones. */
struct generate_plant_node {
	int64_t begin_ns, prepared_ns, ready_ns;
	int64_t asked_ns[GENERATE_PLANT_IMAGES];
	int64_t pull_ns[GENERATE_PLANT_IMAGES]; /* it has a place */
	struct generate_plant_work pull[GENERATE_PLANT_IMAGES];
	struct generate_plant_work load[GENERATE_PLANT_IMAGES];
	const struct generate_cause *cause; /* NULL: none */
	int64_t clock_ns;                   /* its clock is this far ahead */
	int64_t step_at_ns, step_ns;
	int64_t starved_ns; /* it gets no place for this long */
};

struct generate_plant {
	uint64_t seed, nodes;
	struct generate_cause cause[GENERATE_PLANT_CAUSES_MAX];
	uint32_t causes;
	struct generate_plant_node *node;
};

extern const char *const generate_plant_images[GENERATE_PLANT_IMAGES];

/* Are the causes possible in a pool of this size?  Then it can be made. */
int generate_plant_open(struct generate_plant *plant, struct err *err);
void generate_plant_close(struct generate_plant *plant);

/* From the first begin of a start to its last ready. */
int64_t generate_plant_length_ns(const struct generate_plant *plant);
/* Plan the start with this number, from `begin_ns` on. */
void generate_plant_start(
    struct generate_plant *plant, uint64_t start, int64_t begin_ns);

/* What a node does, in order; returns the number of segments. */
uint32_t generate_plant_segments(const struct generate_plant_node *node,
    struct generate_plant_segment to[static GENERATE_PLANT_SEGMENTS_MAX]);

#endif
