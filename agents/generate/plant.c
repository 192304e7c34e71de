/*
 * generate_plant - starts of a pool in which given nodes are slow for a given
 * reason.
 * SPDX-License-Identifier: MIT
 */
#include "agents/generate/plant.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/hash/prng.h"
#include "proto/os/clock.h"

#define MS        INT64_C(1000000)
#define US        INT64_C(1000)
#define PREPARE   (20 * NS_PER_SECOND)
#define POLL      (NS_PER_SECOND / 2)
#define LATE_UNIT (60 * NS_PER_SECOND)
/* The first ones find free places. */
#define FULL_RANK (GENERATE_PLANT_PLACES + 4)

/* What it takes usually, in milliseconds. */
static const struct image {
	int64_t bytes, network, cpu, disk, load_cpu, load_disk;
} images[GENERATE_PLANT_IMAGES] = {
	{ 800000000, 4000, 1800, 1000, 1200, 800 },
	{ 4200000000, 22000, 10000, 5500, 7000, 5000 },
};
const char *const generate_plant_images[GENERATE_PLANT_IMAGES] = {
	"docker.io/library/ubuntu:22.04", "gcr.io/ml/train:2.1"
};

static int64_t
usual_start_ns(void)
{
	int64_t ms = 0;

	for (int i = 0; i < GENERATE_PLANT_IMAGES; i++)
		ms += images[i].network + images[i].load_cpu +
		      images[i].load_disk;
	return ms * MS;
}

static bool
has(const struct generate_plant_node *node, enum generate_cause_kind kind)
{
	return node->cause != NULL && node->cause->kind == kind;
}

static int64_t
times(int64_t value, int64_t factor)
{
	return value / GENERATE_CAUSE_ONE * factor +
	       value % GENERATE_CAUSE_ONE * factor / GENERATE_CAUSE_ONE;
}

/* ---- what a node has to do ---- */

/* The longest of what goes on at once. */
static void
add_up(struct generate_plant_work *work)
{
	int64_t local_ns =
	    work->cpu_ns + work->disk_ns + work->memory_ns + work->hidden_ns;

	work->length_ns =
	    work->network_ns > local_ns ? work->network_ns : local_ns;
}

/* The pull takes the factor as long: what is slow takes all that the rest
 * leaves.  What is slow then is as much slower when it loads. */
static void
slow_down(const struct generate_cause *cause, struct generate_plant_work *pull,
    struct generate_plant_work *load)
{
	int64_t goal_ns = times(pull->usual_ns, cause->factor);
	int64_t cpu_ns = pull->cpu_ns, disk_ns = pull->disk_ns;

	switch (cause->kind) {
	case GENERATE_CAUSE_CPU:
	case GENERATE_CAUSE_STEAL:
		pull->cpu_ns = goal_ns - disk_ns;
		load->cpu_ns = load->cpu_ns / MS * (pull->cpu_ns / MS) /
			       (cpu_ns / MS) * MS;
		break;
	case GENERATE_CAUSE_DISK:
		pull->disk_ns = goal_ns - cpu_ns;
		load->disk_ns = load->disk_ns / MS * (pull->disk_ns / MS) /
				(disk_ns / MS) * MS;
		break;
	case GENERATE_CAUSE_MEMORY:
		pull->memory_ns = goal_ns - cpu_ns - disk_ns;
		load->memory_ns = load->cpu_ns / MS * (pull->memory_ns / MS) /
				  (cpu_ns / MS) * MS;
		break;
	case GENERATE_CAUSE_ERRORS:
	case GENERATE_CAUSE_NETWORK: pull->network_ns = goal_ns; break;
	case GENERATE_CAUSE_HIDDEN:
		load->hidden_ns =
		    times(load->usual_ns, cause->factor) - load->usual_ns;
		break;
	default: break;
	}
}

static void
enlarge(struct generate_plant_work *work, int64_t factor)
{
	work->bytes = times(work->bytes, factor);
	work->network_ns = times(work->network_ns, factor);
	work->cpu_ns = times(work->cpu_ns, factor);
	work->disk_ns = times(work->disk_ns, factor);
}

static void
plan_image(struct generate_plant_node *node, int which, uint64_t *state,
    const int64_t even[3])
{
	const struct image *image = &images[which];
	struct generate_plant_work *pull = &node->pull[which];
	struct generate_plant_work *load = &node->load[which];
	int64_t noise = prng_between(state, 980, 1020);

	*pull = (struct generate_plant_work){
		.bytes = image->bytes,
		.network_ns = image->network * even[0] * noise,
		.cpu_ns = image->cpu * even[1] * noise,
		.disk_ns = image->disk * even[2] * noise,
	};
	noise = prng_between(state, 980, 1020);
	*load = (struct generate_plant_work){
		.bytes = image->bytes,
		.cpu_ns = image->load_cpu * even[1] * noise,
		.disk_ns = image->load_disk * even[2] * noise,
	};
	add_up(pull);
	add_up(load);
	pull->usual_ns = pull->length_ns;
	load->usual_ns = load->length_ns;
	if (has(node, GENERATE_CAUSE_SIZE) && which == GENERATE_PLANT_LARGE) {
		enlarge(pull, node->cause->factor);
		enlarge(load, node->cause->factor);
	}
	pull->own_cpu_ns = pull->cpu_ns;
	load->own_cpu_ns = load->cpu_ns;
	if (node->cause != NULL)
		slow_down(node->cause, pull, load);
	add_up(pull);
	add_up(load);
}

/* ---- when ---- */

static bool
has_queue(const struct generate_plant *plant)
{
	for (uint32_t i = 0; i < plant->causes; i++)
		if (plant->cause[i].kind == GENERATE_CAUSE_PLACES)
			return true;
	return false;
}

/* Between the begins of two nodes: a little slower than the places allow, or
 * as fast as they do if one is to wait for a place. */
static int64_t
get_spacing_ns(const struct generate_plant *plant)
{
	int64_t spacing_ns =
	    images[GENERATE_PLANT_LARGE].network * MS / GENERATE_PLANT_PLACES;

	return has_queue(plant) ? spacing_ns : spacing_ns * 106 / 100;
}

/* From the begin of the first node to that of the one with this rank.  Where
 * one is to wait the first ones come faster, so that some always wait. */
static int64_t
get_begin_ns(const struct generate_plant *plant, uint64_t rank)
{
	uint64_t early = rank < FULL_RANK ? rank : FULL_RANK;
	int64_t spacing_ns = get_spacing_ns(plant);

	return (int64_t)rank * spacing_ns -
	       (has_queue(plant) ? (int64_t)early * spacing_ns * 2 / 10 : 0);
}

static int64_t
get_starved_ns(const struct generate_cause *cause)
{
	return times(usual_start_ns(), cause->factor) - usual_start_ns();
}

int64_t
generate_plant_length_ns(const struct generate_plant *plant)
{
	int64_t length_ns = (int64_t)plant->nodes * get_spacing_ns(plant);
	int64_t factor = GENERATE_CAUSE_ONE;

	for (uint32_t i = 0; i < plant->causes; i++)
		if (plant->cause[i].factor > factor)
			factor = plant->cause[i].factor;
	return 2 * length_ns + 2 * PREPARE +
	       times(4 * usual_start_ns() + LATE_UNIT, factor);
}

/* The order in which the nodes begin; who is to wait, when all places are
 * held. */
static void
make_order(const struct generate_plant *plant, uint64_t *order, uint64_t *state)
{
	uint64_t rank = FULL_RANK;

	for (uint64_t i = 0; i < plant->nodes; i++)
		order[i] = i;
	for (uint64_t i = plant->nodes; i-- > 1;) {
		uint64_t other = prng_bits(state) % (i + 1), at = order[i];

		order[i] = order[other];
		order[other] = at;
	}
	for (uint32_t i = 0; i < plant->causes && rank < plant->nodes; i++) {
		uint64_t at = 0, other = order[rank];

		if (plant->cause[i].kind != GENERATE_CAUSE_PLACES)
			continue;
		while (order[at] != plant->cause[i].node - 1)
			at++;
		order[rank++] = order[at];
		order[at] = other;
	}
}

static void
make_begins(struct generate_plant *plant, const uint64_t *order,
    int64_t begin_ns, uint64_t *state)
{
	int64_t spacing_ns = get_spacing_ns(plant);
	int64_t last_ns = begin_ns + (int64_t)plant->nodes * spacing_ns;

	for (uint64_t rank = 0; rank < plant->nodes; rank++) {
		struct generate_plant_node *node = &plant->node[order[rank]];

		node->begin_ns = begin_ns + get_begin_ns(plant, rank) +
				 prng_between(state, 0, spacing_ns / 3);
		if (has(node, GENERATE_CAUSE_LATE))
			node->begin_ns = last_ns +
					 times(LATE_UNIT, node->cause->factor) +
					 (int64_t)plant->nodes * spacing_ns;
		node->prepared_ns =
		    node->begin_ns +
		    PREPARE / 100 * prng_between(state, 93, 107);
		node->asked_ns[0] = node->prepared_ns + 600 * MS;
	}
}

struct poller {
	int64_t at_ns; /* its next poll */
	uint64_t node;
};

static int
by_time(const void *a, const void *b)
{
	const struct poller *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Does the node get a place of the image at this time? */
static bool
take_place(struct generate_plant_node *node, int image, int64_t at_ns,
    int64_t held_ns[static GENERATE_PLANT_PLACES])
{
	if (image == GENERATE_PLANT_LARGE &&
	    at_ns < node->asked_ns[image] + node->starved_ns)
		return false;
	for (int i = 0; i < GENERATE_PLANT_PLACES; i++)
		if (held_ns[i] <= at_ns) {
			node->pull_ns[image] = at_ns;
			held_ns[i] = at_ns + node->pull[image].length_ns;
			return true;
		}
	return false;
}

/* All nodes poll for the places of an image until each has had one. */
static void
hand_out_places(struct generate_plant *plant, int image, uint64_t *state)
{
	struct poller *poller = memory_zero(plant->nodes, sizeof(*poller));
	int64_t held_ns[GENERATE_PLANT_PLACES];
	uint64_t waiting = 0, arrived = 0; /* poller[waiting, arrived) wait */

	for (int i = 0; i < GENERATE_PLANT_PLACES; i++)
		held_ns[i] = INT64_MIN;
	for (uint64_t i = 0; i < plant->nodes; i++)
		poller[i] =
		    (struct poller){ plant->node[i].asked_ns[image], i };
	qsort(poller, plant->nodes, sizeof(*poller), by_time);
	while (waiting < plant->nodes) {
		uint64_t first = waiting;
		struct poller next;

		if (arrived == waiting)
			arrived++;
		for (uint64_t i = waiting; i < arrived; i++)
			if (by_time(&poller[i], &poller[first]) < 0)
				first = i;
		if (arrived < plant->nodes &&
		    by_time(&poller[arrived], &poller[first]) < 0)
			first = arrived++;
		next = poller[first];
		if (!take_place(
			&plant->node[next.node], image, next.at_ns, held_ns)) {
			poller[first].at_ns +=
			    POLL / 10 * prng_between(state, 9, 11);
			continue;
		}
		poller[first] = poller[waiting];
		poller[waiting++] = next;
	}
	free(poller);
}

static void
plan_node(struct generate_plant_node *node, uint64_t state)
{
	int64_t even[3];

	(void)prng_bits(&state);
	for (int i = 0; i < 3; i++)
		even[i] = prng_between(&state, 950, 1050);
	for (int i = 0; i < GENERATE_PLANT_IMAGES; i++)
		plan_image(node, i, &state, even);
	node->clock_ns = prng_between(&state, -50, 50) * MS;
	node->starved_ns =
	    has(node, GENERATE_CAUSE_PLACES) ? get_starved_ns(node->cause) : 0;
}

static void
plan_step(struct generate_plant_node *node)
{
	const struct generate_plant_work *pull =
	    &node->pull[GENERATE_PLANT_LARGE];

	node->step_at_ns = INT64_MAX;
	node->step_ns = 0;
	if (!has(node, GENERATE_CAUSE_CLOCK))
		return;
	node->step_at_ns =
	    node->pull_ns[GENERATE_PLANT_LARGE] + pull->length_ns / 2;
	node->step_ns =
	    times(pull->usual_ns, node->cause->factor) - pull->usual_ns;
}

void
generate_plant_start(
    struct generate_plant *plant, uint64_t start, int64_t begin_ns)
{
	uint64_t *order = memory_zero(plant->nodes, sizeof(*order));
	uint64_t state = plant->seed ^ (start << 32);

	(void)prng_bits(&state);
	for (uint64_t i = 0; i < plant->nodes; i++)
		plan_node(&plant->node[i], prng_bits(&state));
	make_order(plant, order, &state);
	make_begins(plant, order, begin_ns, &state);
	free(order);
	for (int image = 0; image < GENERATE_PLANT_IMAGES; image++) {
		hand_out_places(plant, image, &state);
		for (uint64_t i = 0; i < plant->nodes; i++) {
			struct generate_plant_node *node = &plant->node[i];
			int64_t end_ns = node->pull_ns[image] +
					 node->pull[image].length_ns +
					 node->load[image].length_ns;

			if (image + 1 < GENERATE_PLANT_IMAGES)
				node->asked_ns[image + 1] = end_ns + 50 * MS;
			node->ready_ns = end_ns + 300 * MS;
		}
	}
	for (uint64_t i = 0; i < plant->nodes; i++)
		plan_step(&plant->node[i]);
}

/* ---- what the counters of a node show of it ---- */

/* A share, in thousandths, of a time, in microseconds. */
static int64_t
share(int64_t ns, int64_t thousandths)
{
	return ns / US * thousandths / 1000;
}

/* Whatever the node does meanwhile. */
static void
add_others(const struct generate_plant_node *node, int64_t length_ns,
    int64_t own_ns, int64_t *total)
{
	if (!has(node, GENERATE_CAUSE_CPU))
		return;
	total[PLANT_CPU_SOME] += share(length_ns, 940);
	total[PLANT_USER] +=
	    GENERATE_PLANT_PROCESSORS * share(length_ns - own_ns, 970);
}

static void
add_work(const struct generate_plant_node *node,
    const struct generate_plant_work *work, bool pulls, int64_t *total)
{
	int64_t bytes = pulls ? work->bytes : 0;

	total[PLANT_USER] +=
	    GENERATE_PLANT_PROCESSORS * share(work->own_cpu_ns, 900);
	total[PLANT_SYSTEM] +=
	    GENERATE_PLANT_PROCESSORS * share(work->own_cpu_ns, 100);
	total[PLANT_CPU_SOME] += share(work->own_cpu_ns, 40);
	if (has(node, GENERATE_CAUSE_STEAL))
		total[PLANT_STEAL] +=
		    GENERATE_PLANT_PROCESSORS *
		    share(work->cpu_ns - work->own_cpu_ns, 1000);
	total[PLANT_IOWAIT] += share(work->disk_ns, 900);
	total[PLANT_IO_SOME] +=
	    share(work->disk_ns, 950) + share(work->memory_ns, 750);
	total[PLANT_DISK_TIME] +=
	    share(work->disk_ns, 1600) + share(work->memory_ns, 900);
	total[PLANT_MEMORY_SOME] += share(work->memory_ns, 950);
	total[PLANT_MAJOR] += work->memory_ns / MS * 4;
	total[PLANT_READ] += work->memory_ns / MS * 64000;
	total[pulls ? PLANT_WRITTEN : PLANT_READ] += work->bytes / 10 * 24;
	total[PLANT_RECEIVED] += bytes / 100 * 103;
	if (has(node, GENERATE_CAUSE_ERRORS)) {
		total[PLANT_ERRORS] += bytes / 1400 / 50;
		total[PLANT_DROPS] += bytes / 1400 / 30;
	}
	add_others(node, work->length_ns, work->own_cpu_ns, total);
}

static struct generate_plant_segment *
add_segment(struct generate_plant_segment *to, uint32_t *count,
    int64_t begin_ns, int64_t end_ns)
{
	struct generate_plant_segment *segment = &to[(*count)++];

	*segment = (struct generate_plant_segment){ .begin_ns = begin_ns,
		.end_ns = end_ns };
	return segment;
}

/* The throughput is not even: a first part and a last part of the time, with
 * more and less of the bytes. */
static void
add_uneven(struct generate_plant_segment *to, uint32_t *count,
    const struct generate_plant_segment *whole)
{
	static const int64_t parts[][2] = { { 250, 220 }, { 250, 280 },
		{ 250, 235 }, { 250, 265 } };
	int64_t begin_ns = whole->begin_ns;
	int64_t length_ns = whole->end_ns - whole->begin_ns;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct generate_plant_segment *part = add_segment(to, count,
		    begin_ns, begin_ns + length_ns / 1000 * parts[i][0]);

		begin_ns = part->end_ns;
		for (int c = 0; c < PLANT_COUNTERS; c++)
			part->total[c] = whole->total[c] / 1000 * parts[i][1];
	}
}

uint32_t
generate_plant_segments(const struct generate_plant_node *node,
    struct generate_plant_segment to[static GENERATE_PLANT_SEGMENTS_MAX])
{
	struct generate_plant_segment *segment, whole;
	int64_t waits_ns = node->prepared_ns;
	uint32_t count = 0;

	segment = add_segment(to, &count, node->begin_ns, node->prepared_ns);
	segment->total[PLANT_USER] =
	    GENERATE_PLANT_PROCESSORS *
	    share(node->prepared_ns - node->begin_ns, 150);
	for (int i = 0; i < GENERATE_PLANT_IMAGES; i++) {
		const struct generate_plant_work *pull = &node->pull[i];
		const struct generate_plant_work *load = &node->load[i];
		int64_t have_ns = node->pull_ns[i] + pull->length_ns;

		segment = add_segment(to, &count, waits_ns, node->pull_ns[i]);
		add_others(
		    node, node->pull_ns[i] - waits_ns, 0, segment->total);
		whole = (struct generate_plant_segment){
			.begin_ns = node->pull_ns[i], .end_ns = have_ns
		};
		add_work(node, pull, true, whole.total);
		add_uneven(to, &count, &whole);
		segment =
		    add_segment(to, &count, have_ns, have_ns + load->length_ns);
		add_work(node, load, false, segment->total);
		waits_ns = segment->end_ns;
	}
	return count;
}

/* ---- opening ---- */

static int
check_places(const struct generate_plant *plant,
    const struct generate_cause *cause, struct err *err)
{
	uint64_t least =
	    FULL_RANK + 4 +
	    (uint64_t)(get_starved_ns(cause) / get_spacing_ns(plant));

	if (plant->nodes >= least)
		return 0;
	return err_set(err,
	    "all places are held for so long only in a pool of %" PRIu64
	    " nodes",
	    least);
}

int
generate_plant_open(struct generate_plant *plant, struct err *err)
{
	plant->node = memory_zero(plant->nodes, sizeof(*plant->node));
	for (uint32_t i = 0; i < plant->causes; i++) {
		const struct generate_cause *cause = &plant->cause[i];

		if (cause->kind == GENERATE_CAUSE_NONE)
			continue;
		if (cause->node == 0 || cause->node > plant->nodes)
			return err_set(err,
			    "%s: the pool has nodes 1 to %" PRIu64,
			    generate_cause_names[cause->kind], plant->nodes);
		if (plant->node[cause->node - 1].cause != NULL)
			return err_set(err, "node %" PRIu64 " has two causes",
			    cause->node);
		if (cause->kind == GENERATE_CAUSE_PLACES &&
		    check_places(plant, cause, err) != 0)
			return err_prefix(err, "places");
		plant->node[cause->node - 1].cause = cause;
	}
	return 0;
}

void
generate_plant_close(struct generate_plant *plant)
{
	free(plant->node);
	plant->node = NULL;
}
