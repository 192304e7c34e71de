/*
 * cascade - the startup of the nodes of a pool: the phases of model "cascade"
 * (deploy/models/cascade.conf), summed for each node.
 *
 * The input are phase records in the order of aggregator/query/reader.h, in
 * which the pairs of one phase, image and node follow each other, sorted by
 * begin.
 *
 * A node that reboots while it starts begins again, with another
 * nodeprep:start: its numbers are those of the newest try.
 *
 * The length of a pair is the duration of its record; one that no node measured
 * is rounded to microseconds like Python's datetime: the results equal those of
 * the older tool to the last bit.  Sums are taken in the order of the starts,
 * for the same reason.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_CASCADE_H
#define EXPORTERS_CASCADE_CASCADE_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/clock_view.h"
#include "exporters/source/source.h"
#include "proto/base/err.h"
#include "proto/hash/string_table.h"
#include "proto/record/record.h"

enum cascade_phase {
	/* once for each node; the first pair counts */
	CASCADE_NODEPREP,
	CASCADE_DOCKER, /* nodeprep:start to privateregistry:start */
	CASCADE_REGISTRY,
	CASCADE_SHIPYARD, /* pull of the helper image, part of nodeprep */
	CASCADE_GLOBAL,   /* cascade:start to cascade:gr-done */
	CASCADE_ONCE,
	/* once for each image, possibly repeated */
	CASCADE_PULL = CASCADE_ONCE,
	CASCADE_SAVE,
	CASCADE_LOAD,
	CASCADE_TORRENT,
	CASCADE_PHASES,
	CASCADE_PER_IMAGE = CASCADE_PHASES - CASCADE_ONCE,
	/* The pairs of a node in ranges: a phase each, and what it did in
	 * earlier tries and did not end. */
	CASCADE_EARLIER = CASCADE_PER_IMAGE,
	CASCADE_RUNS
};

/* The phases of the model, the events that delimit them, and the older tool's
 * name for their time. */
struct cascade_names {
	const char *name, *begin, *end, *key;
	bool sized; /* its events may have the size of the image */
};
extern const struct cascade_names cascade_names[CASCADE_PHASES];

/* A pair of events, or an unmatched one. */
struct cascade_pair {
	int64_t begin_ns, end_ns, duration_ns;
	double seconds; /* of a repeated image: the sum of all pairs, stored in
			   the first */
	uint64_t bytes; /* of the image; CASCADE_NO_SIZE: unknown */
	uint32_t image; /* index into cascade.images; CASCADE_NO_IMAGE */
	uint32_t place; /* private: its node; later its position in the pairs */
	uint8_t phase;
	uint8_t run; /* private: its range of the node */
	bool has_begin, has_end;
	bool repeated; /* not the first of this image: included in the first */
};
#define CASCADE_NO_SIZE UINT64_MAX

struct cascade_node {
	struct text name;
	struct cascade_pair once[CASCADE_ONCE];
	struct {
		uint32_t first,
		    count;   /* range in cascade.pairs, sorted by begin */
	} run[CASCADE_RUNS]; /* `first` is valid after cascade_finish */
	uint32_t missing;    /* missing events: its numbers are unknown */
	uint32_t unmatched;  /* ends without a start, starts of an earlier try
				without an end: listed, not summed */
	/* private: of the newest try, and the begin of the next one */
	int64_t try_ns, next_ns;
};

struct cascade {
	struct string_table node_names, images;
	struct cascade_node
	    *nodes; /* after cascade_finish: sorted by start, name */
	uint32_t node_room;
	struct cascade_pair *pairs;
	uint32_t pair_count, pair_room;
	uint64_t *image_bytes; /* indexed by image, after cascade_finish */
	uint32_t node_count;
	uint32_t complete;              /* nodes with missing == 0 */
	char clock[SOURCE_CLOCK_WORDS]; /* words for the clock of the times */
	const char *start;              /* words for the start; empty: none */
	uint32_t unread_sizes;          /* sizes that could not be parsed */
	struct text offer,
	    sku; /* of the node that started first; at NULL: none */
	/* The next four are sums of the complete nodes. */
	double start_spread; /* last start - first start, seconds */
	double total_global, total_acquisition;
	int64_t first_us, last_us;
	/* private: the node that started first so far, and the last record */
	int64_t offer_ns;
	struct text offer_node;
	uint32_t last_node, last_image;
	int last_phase;
};

/* The nodes that started in this time; TIME_MIN_NS, TIME_MAX_NS: all nodes,
 * also those whose start is not known. */
struct cascade_window {
	int64_t from_ns, to_ns;
	bool is_start;     /* it is that of a start of the pool */
	const char *start; /* words for pictures; NULL: none */
};

void cascade_init(struct cascade *cascade);
void cascade_clear(struct cascade *cascade);

/* Add a record; ignores all but phases of the model. */
void cascade_add(struct cascade *cascade, const struct record *record);

/* Sort and sum; add nothing after this call.  Of each node the newest try that
 * began in the window; a node without one is removed, unless the window is all
 * time, or a start in which the node ended a preparation that nobody saw
 * begin. */
void cascade_finish(
    struct cascade *cascade, const struct cascade_window *window);

/* nodeprep:start in microseconds; false when it is missing. */
bool cascade_start_us(const struct cascade_node *node, int64_t *us);
/* The same in seconds, as Python's datetime.timestamp() returns it. */
double cascade_seconds(int64_t us);
int64_t cascade_us(int64_t ns);

/* A number of a node.  False: unknown because an event is missing.  The number
 * of a phase that a pool may lack (private registry, helper image) is 0 then,
 * and `*absent` is set. */
bool cascade_once(const struct cascade_node *node, enum cascade_phase phase,
    double *seconds, bool *absent);
/* Of the images whose size is known. */
double cascade_images_total(const struct cascade *cascade,
    const struct cascade_node *node, enum cascade_phase phase);
/* pull + torrent + load */
double cascade_acquisition(
    const struct cascade *cascade, const struct cascade_node *node);

/* The pairs of a node and of a phase that happens for each image. */
const struct cascade_pair *cascade_run(const struct cascade *cascade,
    const struct cascade_node *node, enum cascade_phase phase, uint32_t *count);

/* Describes each event that is missing or unmatched: "cascade:gr-done" is
 * missing; "cascade:pull-start:redis:3" has no end; "cascade:pull-end:redis:3"
 * has no start. */
void cascade_each_missing(const struct cascade *cascade,
    const struct cascade_node *node,
    void (*on_missing)(void *arg, const char *event, struct text image),
    void *arg);

/* Read the startup of a partition from a source. */

/* Fill and finish an initialized cascade.  -1 also when there is no node: "no
 * cascade events of partition ... in ...".  What a node did before the window
 * does not count: it may have started before, too. */
int cascade_read(struct cascade *cascade, struct source *source,
    struct text partition, const struct cascade_window *window,
    struct err *err);

#endif
