/*
 * cascade - how the nodes of a pool got ready: the phases of model "cascade"
 * (deploy/models/cascade.conf), summed node by node.
 *
 * Fed with phase records in the order of aggregator/query/reader.h, in which
 * the pairs of one phase, image and node come together, by begin.
 *
 * The length of a pair is what the node measured (attribute diff), else the
 * distance of its events in whole microseconds, computed as Python's datetime
 * does from a time in seconds held in a double: the older tool's numbers come
 * out to the last bit.  Sums are taken in the order of the starts, for the
 * same reason.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_CASCADE_H
#define EXPORTERS_CASCADE_CASCADE_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/clock_view.h"
#include "proto/hash/string_table.h"
#include "proto/record/record.h"

enum cascade_phase {
	/* once a node; the first pair counts */
	CASCADE_NODEPREP,
	CASCADE_DOCKER, /* nodeprep:start to privateregistry:start */
	CASCADE_REGISTRY,
	CASCADE_SHIPYARD, /* pull of the helper image, inside nodeprep */
	CASCADE_GLOBAL,   /* cascade:start to cascade:gr-done */
	CASCADE_ONCE,
	/* once an image, and maybe again */
	CASCADE_PULL = CASCADE_ONCE,
	CASCADE_SAVE,
	CASCADE_LOAD,
	CASCADE_TORRENT,
	CASCADE_PHASES,
	CASCADE_PER_IMAGE = CASCADE_PHASES - CASCADE_ONCE,
};

/* The phases in the model, the events that bound them, and the older tool's
 * word for their number. */
struct cascade_names {
	const char *name, *begin, *end, *key;
	bool sized; /* an image's size may come with its events */
};
extern const struct cascade_names cascade_names[CASCADE_PHASES];

/* One pair of events, or half of one. */
struct cascade_pair {
	int64_t begin_ns, end_ns;
	double
	    seconds; /* of a repeated image: of all its pairs, in the first */
	uint64_t bytes; /* of the image; CASCADE_NO_SIZE: not said */
	uint32_t image; /* number in cascade.images */
	uint32_t place; /* private: of which node; then where in the pairs */
	uint8_t run;    /* private: of which phase, from CASCADE_ONCE on */
	bool has_begin, has_end;
	bool repeated; /* not the first of this image: counted there */
};
#define CASCADE_NO_SIZE UINT64_MAX

struct cascade_node {
	struct text name;
	struct cascade_pair once[CASCADE_ONCE];
	struct {
		uint32_t first, count; /* in cascade.pairs, by begin */
	} run[CASCADE_PER_IMAGE];      /* `first`: after cascade_finish */
	uint32_t missing;   /* events without which its numbers are not known */
	uint32_t lone_ends; /* ends without a start: noted, counted nowhere */
};

struct cascade {
	struct string_table node_names, images;
	struct cascade_node *nodes; /* after cascade_finish: by start, name */
	uint32_t node_room;
	struct cascade_pair *pairs;
	uint32_t pair_count, pair_room;
	uint64_t *image_bytes; /* by image, after cascade_finish */
	uint32_t node_count;
	uint32_t complete;              /* nodes with missing == 0 */
	char clock[SOURCE_CLOCK_WORDS]; /* which one the times are on */
	uint32_t unread_sizes;          /* size texts that nobody understands */
	struct text offer, sku; /* of the node that came first; at NULL: none */
	/* The next four are of the complete nodes. */
	double start_spread; /* last start - first start, seconds */
	double total_global, total_acquisition;
	int64_t first_us, last_us;
	/* private: the node that came first so far, what came last */
	int64_t offer_ns;
	struct text offer_node;
	uint32_t last_node, last_image;
	int last_phase;
};

void cascade_init(struct cascade *cascade);
void cascade_clear(struct cascade *cascade);

/* Take in a record; others than phases of the model are passed over. */
void cascade_add(struct cascade *cascade, const struct record *record);

/* Sort and sum; nothing is added afterwards. */
void cascade_finish(struct cascade *cascade);

/* nodeprep:start in microseconds; false when it is missing. */
bool cascade_start_us(const struct cascade_node *node, int64_t *us);
/* The same in seconds as Python's datetime.timestamp() gives it. */
double cascade_seconds(int64_t us);
int64_t cascade_us(int64_t ns);

/* The numbers of a node.  False: not known, an event is missing.  What a pool
 * need not have (private registry, helper image) is 0 and `*absent`. */
bool cascade_once(const struct cascade_node *node, enum cascade_phase phase,
    double *seconds, bool *absent);
/* Of the images that are known. */
double cascade_images_total(const struct cascade *cascade,
    const struct cascade_node *node, enum cascade_phase phase);
/* pull + torrent + load */
double cascade_acquisition(
    const struct cascade *cascade, const struct cascade_node *node);

/* The pairs of a node and a phase that is per image. */
const struct cascade_pair *cascade_run(const struct cascade *cascade,
    const struct cascade_node *node, enum cascade_phase phase, uint32_t *count);

/* Names an event, for each that a node lacks its partner of or lacks itself:
 * "cascade:gr-done" is missing; "cascade:pull-start:redis:3" has no end;
 * "cascade:pull-end:redis:3" has no start. */
void cascade_each_missing(const struct cascade *cascade,
    const struct cascade_node *node,
    void (*on_missing)(void *arg, const char *event, struct text image),
    void *arg);

#endif
