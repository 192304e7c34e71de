/*
 * cascade_sum - sort, sum and query the startup of a pool.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/cascade.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/clock.h"

/* ---- numbers ---- */

/* The double nearest to a time in seconds, as parsing its decimal text returns
 * it.  Whole microseconds need no such step. */
int64_t
cascade_us(int64_t ns)
{
	int64_t seconds = ns / NS_PER_SECOND, rest = ns % NS_PER_SECOND;
	double value, whole, us;
	char text[NUMBER_BYTES];

	if (rest % 1000 == 0)
		return ns / 1000;
	snprintf(text, sizeof(text), "%s%lld.%09lld", ns < 0 ? "-" : "",
	    (long long)llabs(seconds), (long long)llabs(rest));
	value = strtod(text, NULL);
	us = nearbyint(modf(value, &whole) * 1e6); /* half to even */
	return (int64_t)whole * 1000000 + (int64_t)us;
}

double
cascade_seconds(int64_t us)
{
	int64_t second = us / 1000000, rest = us % 1000000;

	if (rest < 0) {
		second--;
		rest += 1000000;
	}
	return (double)second + (double)rest / 1e6;
}

/* ---- sorting and summing ---- */

bool
cascade_start_us(const struct cascade_node *node, int64_t *us)
{
	const struct cascade_pair *prep = &node->once[CASCADE_NODEPREP];

	if (!prep->has_begin)
		return false;
	*us = cascade_us(prep->begin_ns);
	return true;
}

/* Group the pairs of each node and phase, in the order of their arrival:
 * compute the position of each, then permute. */
static void
group_pairs(struct cascade *cascade)
{
	uint32_t first = 0, i;
	struct cascade_pair *pairs = cascade->pairs;

	for (i = 0; i < cascade->node_count; i++) {
		for (int run = 0; run < CASCADE_RUNS; run++) {
			cascade->nodes[i].run[run].first = first;
			first += cascade->nodes[i].run[run].count;
		}
	}
	/* `first` moves through the range, and back. */
	for (i = 0; i < cascade->pair_count; i++)
		pairs[i].place =
		    cascade->nodes[pairs[i].place].run[pairs[i].run].first++;
	for (i = 0; i < cascade->node_count; i++) {
		for (int run = 0; run < CASCADE_RUNS; run++)
			cascade->nodes[i].run[run].first -=
			    cascade->nodes[i].run[run].count;
	}
	for (i = 0; i < cascade->pair_count; i++) {
		while (pairs[i].place != i) {
			struct cascade_pair pair = pairs[pairs[i].place];

			pairs[pairs[i].place] = pairs[i];
			pairs[i] = pair;
		}
	}
}

/* The pairs of one image follow each other: add all to the first. */
static void
note_repeats(struct cascade_pair *pair, uint32_t count)
{
	struct cascade_pair *first = pair;

	for (; count > 0; count--, pair++) {
		pair->repeated = pair != first && pair->image == first->image;
		if (pair->repeated)
			first->seconds += pair->seconds;
		else
			first = pair;
	}
}

/* Nodes without a start come last. */
static int
by_start(const void *a, const void *b)
{
	const struct cascade_node *x = a, *y = b;
	const struct cascade_pair *p = &x->once[CASCADE_NODEPREP];
	const struct cascade_pair *q = &y->once[CASCADE_NODEPREP];

	if (p->has_begin != q->has_begin)
		return p->has_begin ? -1 : 1;
	if (p->has_begin && p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	return text_compare(x->name, y->name);
}

/* By begin; ends without a start last; otherwise in the order of arrival. */
static int
by_begin(const void *a, const void *b)
{
	const struct cascade_pair *p = a, *q = b;

	if (p->has_begin != q->has_begin)
		return p->has_begin ? -1 : 1;
	if (p->has_begin && p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	return p->image < q->image ? -1 : p->image > q->image;
}

static void
sort_run(struct cascade *cascade, const struct cascade_node *node, int run)
{
	uint32_t count = node->run[run].count;
	struct cascade_pair *pairs;

	if (count < 2)
		return;
	pairs = cascade->pairs + node->run[run].first;
	note_repeats(pairs, count);
	qsort(pairs, count, sizeof(*pairs), by_begin);
}

static void
count_missing(void *arg, const char *event, struct text image)
{
	struct cascade_node *node = arg;
	size_t bytes = strlen(event);

	/* An end without a start does not make a number unknown. */
	if (image.at != NULL && strcmp(event + bytes - 4, "-end") == 0)
		node->unmatched++;
	else
		node->missing++;
}

static void
take_sizes(struct cascade *cascade, const struct cascade_node *node)
{
	for (int phase = CASCADE_PULL; phase < CASCADE_TORRENT; phase++) {
		uint32_t count;
		const struct cascade_pair *p = cascade_run(
		    cascade, node, (enum cascade_phase)phase, &count);

		for (; count > 0; count--, p++)
			if (p->bytes != CASCADE_NO_SIZE &&
			    cascade->image_bytes[p->image] == CASCADE_NO_SIZE)
				cascade->image_bytes[p->image] = p->bytes;
	}
}

static void
sum(struct cascade *cascade, const struct cascade_node *node)
{
	double seconds;
	bool absent;
	int64_t us = 0;

	if (node->missing != 0)
		return;
	cascade_start_us(node, &us);
	if (cascade->complete++ == 0)
		cascade->first_us = us;
	cascade->last_us = us; /* nodes are visited in this order */
	if (cascade_once(node, CASCADE_GLOBAL, &seconds, &absent))
		cascade->total_global += seconds;
	cascade->total_acquisition += cascade_acquisition(cascade, node);
}

static int
by_image_name(const void *a, const void *b, void *arg)
{
	const struct text *names = arg;

	return text_compare(
	    names[*(const uint32_t *)a], names[*(const uint32_t *)b]);
}

/* Number the images in the order of their names: the order of the records is
 * that of a key of the store. */
static void
sort_images(struct cascade *cascade)
{
	struct string_table *images = &cascade->images;
	size_t count = images->count;
	uint32_t *order = memory_zero(count + 1, sizeof(*order));
	uint32_t *number = memory_zero(count + 1, sizeof(*number));
	struct text *names = memory_zero(count + 1, sizeof(*names));

	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_image_name, images->names);
	for (uint32_t i = 0; i < count; i++) {
		names[i] = images->names[order[i]];
		number[order[i]] = i;
	}
	for (uint32_t i = 0; i < count; i++)
		images->names[i] = names[i];
	for (uint32_t i = 0; i < cascade->pair_count; i++)
		if (cascade->pairs[i].image != CASCADE_NO_IMAGE)
			cascade->pairs[i].image =
			    number[cascade->pairs[i].image];
	free(names);
	free(number);
	free(order);
}

static bool
is_complete(const struct cascade_pair *pair)
{
	return pair->has_begin && pair->has_end;
}

/* NULL: it is of no image. */
static struct text
image_name(const struct cascade *cascade, const struct cascade_pair *pair)
{
	return pair->image == CASCADE_NO_IMAGE
		   ? (struct text){ NULL, 0 }
		   : cascade->images.names[pair->image];
}

/* The event that is there, of a pair without the other one. */
static const char *
unmatched_event(const struct cascade_pair *pair)
{
	return pair->has_begin ? cascade_names[pair->phase].begin
			       : cascade_names[pair->phase].end;
}

/* Of its newest try. */
static void
each_of_try(const struct cascade *cascade, const struct cascade_node *node,
    void (*on_missing)(void *arg, const char *event, struct text image),
    void *arg)
{
	const struct text none = { NULL, 0 };

	for (int i = 0; i < CASCADE_ONCE; i++) {
		const struct cascade_pair *pair = &node->once[i];
		bool needed = i == CASCADE_NODEPREP || i == CASCADE_GLOBAL ||
			      pair->has_begin || pair->has_end;

		if (!needed || i == CASCADE_DOCKER)
			continue;
		if (!pair->has_begin)
			on_missing(arg, cascade_names[i].begin, none);
		if (!pair->has_end)
			on_missing(arg, cascade_names[i].end, none);
	}
	/* A download without a load is not startup time. */
	for (int i = CASCADE_PULL; i < CASCADE_TORRENT; i++) {
		uint32_t count;
		const struct cascade_pair *p =
		    cascade_run(cascade, node, (enum cascade_phase)i, &count);

		for (; count > 0; count--, p++)
			if (!is_complete(p))
				on_missing(arg, unmatched_event(p),
				    image_name(cascade, p));
	}
}

void
cascade_finish(struct cascade *cascade, int64_t from_ns, int64_t to_ns)
{
	size_t room = (size_t)cascade->images.count * sizeof(uint64_t);

	cascade_choose_tries(cascade, from_ns, to_ns);
	sort_images(cascade);
	group_pairs(cascade);
	if (cascade->node_count > 0)
		qsort(cascade->nodes, cascade->node_count,
		    sizeof(struct cascade_node), by_start);
	cascade->image_bytes = memory_alloc(room + 1);
	memset(cascade->image_bytes, 0xFF, room);
	for (uint32_t i = 0; i < cascade->node_count; i++) {
		struct cascade_node *node = &cascade->nodes[i];

		for (int run = 0; run < CASCADE_PER_IMAGE; run++)
			sort_run(cascade, node, run);
		each_of_try(cascade, node, count_missing, node);
		node->unmatched += node->run[CASCADE_EARLIER].count;
		take_sizes(cascade, node);
		sum(cascade, node);
	}
	cascade->start_spread = cascade_seconds(cascade->last_us) -
				cascade_seconds(cascade->first_us);
}

/* ---- queries ---- */

bool
cascade_once(const struct cascade_node *node, enum cascade_phase phase,
    double *seconds, bool *absent)
{
	const struct cascade_pair *pair = &node->once[phase];

	*absent = false;
	*seconds = 0;
	/* Without a private registry the whole preparation is the docker
	 * installation. */
	if (phase == CASCADE_DOCKER && !pair->has_end &&
	    !node->once[CASCADE_REGISTRY].has_begin)
		pair = &node->once[CASCADE_NODEPREP];
	if ((phase == CASCADE_REGISTRY || phase == CASCADE_SHIPYARD) &&
	    !pair->has_begin && !pair->has_end) {
		*absent = true;
		return true;
	}
	*seconds = pair->seconds;
	return is_complete(pair);
}

const struct cascade_pair *
cascade_run(const struct cascade *cascade, const struct cascade_node *node,
    enum cascade_phase phase, uint32_t *count)
{
	*count = node->run[phase - CASCADE_ONCE].count;
	return *count == 0
		   ? NULL
		   : cascade->pairs + node->run[phase - CASCADE_ONCE].first;
}

double
cascade_images_total(const struct cascade *cascade,
    const struct cascade_node *node, enum cascade_phase phase)
{
	uint32_t count;
	const struct cascade_pair *p =
	    cascade_run(cascade, node, phase, &count);
	double total = 0;

	for (; count > 0; count--, p++)
		if (is_complete(p) && !p->repeated)
			total += p->seconds;
	return total;
}

double
cascade_acquisition(
    const struct cascade *cascade, const struct cascade_node *node)
{
	return cascade_images_total(cascade, node, CASCADE_PULL) +
	       cascade_images_total(cascade, node, CASCADE_TORRENT) +
	       cascade_images_total(cascade, node, CASCADE_LOAD);
}

void
cascade_each_missing(const struct cascade *cascade,
    const struct cascade_node *node,
    void (*on_missing)(void *arg, const char *event, struct text image),
    void *arg)
{
	const struct cascade_pair *pair =
	    cascade->pairs + node->run[CASCADE_EARLIER].first;

	each_of_try(cascade, node, on_missing, arg);
	for (uint32_t i = 0; i < node->run[CASCADE_EARLIER].count; i++, pair++)
		on_missing(
		    arg, unmatched_event(pair), image_name(cascade, pair));
}
