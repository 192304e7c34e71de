/*
 * cascade - collect the startup phases of the nodes of a pool.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/cascade.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cascade/image_size.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/clock.h"

#define CASCADE_NO_IMAGE UINT32_MAX

/* Which try of its start each node is shown with. */

/* Is `a` more complete than `b`, or equally complete and earlier? */
static bool
comes_first(const struct cascade_pair *a, const struct cascade_pair *b)
{
	int more = a->has_begin + a->has_end - b->has_begin - b->has_end;

	if (more != 0)
		return more > 0;
	return (a->has_begin ? a->begin_ns : a->end_ns) <
	       (b->has_begin ? b->begin_ns : b->end_ns);
}

static bool
begins_try(const struct cascade_pair *pair)
{
	return pair->phase == CASCADE_NODEPREP && pair->has_begin;
}

/* Of its preparation or installation only the end is known. */
static bool
has_lost_begin(const struct cascade_pair *pair)
{
	return !pair->has_begin && pair->has_end &&
	       (pair->phase == CASCADE_NODEPREP ||
		   pair->phase == CASCADE_DOCKER);
}

/* A node that ends a preparation in a start has begun in it, though that is not
 * known: what it does since then is of no earlier start. */
static void
find_lost(struct cascade *cascade, int64_t from_ns, int64_t to_ns)
{
	for (uint32_t i = 0; i < cascade->pair_count; i++) {
		const struct cascade_pair *pair = &cascade->pairs[i];
		struct cascade_node *node = &cascade->nodes[pair->place];

		if (!has_lost_begin(pair) || pair->end_ns < from_ns)
			continue;
		if (pair->end_ns < to_ns && node->try_ns == TIME_MIN_NS)
			node->try_ns = from_ns;
		if (node->next_ns > to_ns &&
		    (pair->end_ns >= to_ns || node->try_ns == from_ns))
			node->next_ns = to_ns;
	}
}

/* The newest begin of each node in the time, and the next one behind it. */
static void
find_tries(struct cascade *cascade, int64_t from_ns, int64_t to_ns)
{
	for (uint32_t i = 0; i < cascade->node_count; i++) {
		cascade->nodes[i].try_ns = TIME_MIN_NS;
		cascade->nodes[i].next_ns = TIME_MAX_NS;
	}
	for (uint32_t i = 0; i < cascade->pair_count; i++) {
		const struct cascade_pair *pair = &cascade->pairs[i];
		struct cascade_node *node = &cascade->nodes[pair->place];

		if (begins_try(pair) && pair->begin_ns >= from_ns &&
		    pair->begin_ns < to_ns && pair->begin_ns > node->try_ns)
			node->try_ns = pair->begin_ns;
	}
	for (uint32_t i = 0; i < cascade->pair_count; i++) {
		const struct cascade_pair *pair = &cascade->pairs[i];
		struct cascade_node *node = &cascade->nodes[pair->place];

		if (begins_try(pair) && pair->begin_ns > node->try_ns &&
		    pair->begin_ns < node->next_ns &&
		    node->try_ns > TIME_MIN_NS)
			node->next_ns = pair->begin_ns;
	}
}

/* Remove the nodes without a try, and say where the others went. */
static void
remove_nodes(struct cascade *cascade, uint32_t *place, bool all)
{
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < cascade->node_count; i++) {
		place[i] = UINT32_MAX;
		if (!all && cascade->nodes[i].try_ns == TIME_MIN_NS)
			continue;
		place[i] = nodes;
		cascade->nodes[nodes++] = cascade->nodes[i];
	}
	cascade->node_count = nodes;
}

/* A start that nobody ended, of a try that was given up.  That of an
 * installation of Docker is the start of the node, and a download that was
 * never loaded has no end. */
static bool
was_given_up(const struct cascade_pair *pair, int64_t from_ns)
{
	return pair->has_begin && !pair->has_end && pair->begin_ns >= from_ns &&
	       pair->phase != CASCADE_DOCKER && pair->phase != CASCADE_TORRENT;
}

/* Is it one of the pairs that stay?  Sets its range. */
static bool
sort_pair(struct cascade_node *node, struct cascade_pair *pair, int64_t from_ns)
{
	int64_t time_ns = pair->has_begin ? pair->begin_ns : pair->end_ns;

	if (time_ns >= node->next_ns)
		return false;
	pair->run = CASCADE_EARLIER;
	if (time_ns < node->try_ns)
		return was_given_up(pair, from_ns);
	if (pair->phase < CASCADE_ONCE) {
		if (comes_first(pair, &node->once[pair->phase]))
			node->once[pair->phase] = *pair;
		return false;
	}
	pair->run = (uint8_t)(pair->phase - CASCADE_ONCE);
	return true;
}

/* Of each node keep the pairs of the newest try that began in [from_ns,
 * to_ns), what it did from one nodeprep:start until the next one, and of
 * earlier tries since from_ns the starts without an end; set `once` and the
 * counts of `run`.  Nodes without such a try are removed, unless the times are
 * TIME_MIN_NS and TIME_MAX_NS: then all of their pairs are kept; nor those
 * whose begin in a start was lost. */
static void
cascade_choose_tries(
    struct cascade *cascade, const struct cascade_window *window)
{
	int64_t from_ns = window->from_ns, to_ns = window->to_ns;
	uint32_t *place = memory_zero(cascade->node_count + 1, sizeof(*place));
	uint32_t pairs = 0;

	find_tries(cascade, from_ns, to_ns);
	if (window->is_start)
		find_lost(cascade, from_ns, to_ns);
	remove_nodes(
	    cascade, place, from_ns == TIME_MIN_NS && to_ns == TIME_MAX_NS);
	for (uint32_t i = 0; i < cascade->pair_count; i++) {
		struct cascade_pair pair = cascade->pairs[i];
		struct cascade_node *node;

		pair.place = place[pair.place];
		if (pair.place == UINT32_MAX)
			continue;
		node = &cascade->nodes[pair.place];
		if (!sort_pair(node, &pair, from_ns))
			continue;
		node->run[pair.run].count++;
		cascade->pairs[pairs++] = pair;
	}
	cascade->pair_count = pairs;
	free(place);
}

/* Sort, sum and query the startup of a pool. */

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
cascade_finish(struct cascade *cascade, const struct cascade_window *window)
{
	size_t room = (size_t)cascade->images.count * sizeof(uint64_t);

	cascade_choose_tries(cascade, window);
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

const struct cascade_names cascade_names[CASCADE_PHASES] = {
	[CASCADE_NODEPREP] = { "nodeprep", "nodeprep:start", "nodeprep:end",
	    "nodeprep", false },
	[CASCADE_DOCKER] = { "docker-install", "nodeprep:start",
	    "privateregistry:start", "docker_install", false },
	[CASCADE_REGISTRY] = { "private-registry", "privateregistry:start",
	    "privateregistry:end", "private_registry_setup", false },
	[CASCADE_SHIPYARD] = { "shipyard-pull", "shipyard:pull-start",
	    "shipyard:pull-end", "docker_shipyard_container_pull", false },
	[CASCADE_GLOBAL] = { "global-resources", "cascade:start",
	    "cascade:gr-done", "global_resources_loaded", false },
	[CASCADE_PULL] = { "pull", "cascade:pull-start", "cascade:pull-end",
	    "pull", true },
	[CASCADE_SAVE] = { "save", "cascade:save-start", "cascade:save-end",
	    "save", true },
	[CASCADE_LOAD] = { "load", "cascade:load-start", "cascade:load-end",
	    "load", true },
	[CASCADE_TORRENT] = { "torrent", "cascade:torrent-start",
	    "cascade:load-start", "torrent", false },
};

void
cascade_init(struct cascade *cascade)
{
	memset(cascade, 0, sizeof(*cascade));
	cascade->start = "";
	string_table_init(&cascade->node_names);
	string_table_init(&cascade->images);
	cascade->last_node = cascade->last_image = UINT32_MAX;
}

void
cascade_clear(struct cascade *cascade)
{
	string_table_clear(&cascade->node_names);
	string_table_clear(&cascade->images);
	free(cascade->nodes);
	free(cascade->pairs);
	free(cascade->image_bytes);
	memset(cascade, 0, sizeof(*cascade));
}

/* ---- numbers ---- */

/* The times of the older tool were whole microseconds. */
static double
seconds_of(const struct record *record)
{
	if (!record->has_time || !record->has_duration)
		return 0;
	if (record->count & RECORD_PHASE_MEASURED)
		return (double)record->duration_ns / NS_PER_SECOND;
	return (double)cascade_us(record->duration_ns) / 1e6;
}

static uint64_t
size_of(struct cascade *cascade, const struct record *record)
{
	struct value size;
	uint64_t bytes;

	if (!record_find_attribute(record, text_of("size"), &size))
		return CASCADE_NO_SIZE;
	if (size.type == VALUE_INT && size.is.i >= 0)
		return (uint64_t)size.is.i;
	if (size.type == VALUE_TEXT &&
	    image_size_parse(size.is.text, &bytes) == 0)
		return bytes;
	cascade->unread_sizes++;
	return CASCADE_NO_SIZE;
}

/* ---- adding records ---- */

static struct cascade_node *
node_of(struct cascade *cascade, struct text name)
{
	uint32_t i = cascade->last_node, tries;
	struct cascade_node *node;

	/* The nodes of each image arrive in the same order: the node is mostly
	 * the last one found, or the next. */
	for (tries = 0; tries < 2 && cascade->node_count > 0; tries++, i++) {
		i = i < cascade->node_count ? i : 0;
		if (text_equal(cascade->nodes[i].name, name)) {
			cascade->last_node = i;
			return &cascade->nodes[i];
		}
	}
	i = string_table_add(&cascade->node_names, name);
	cascade->last_node = i;
	if (i < cascade->node_count)
		return &cascade->nodes[i];
	if (cascade->node_count == cascade->node_room) {
		cascade->node_room += cascade->node_room / 2 + 64;
		cascade->nodes = memory_resize_array(cascade->nodes,
		    cascade->node_room, sizeof(struct cascade_node));
	}
	node = &cascade->nodes[cascade->node_count++];
	memset(node, 0, sizeof(*node));
	node->name = cascade->node_names.names[i];
	return node;
}

static struct cascade_pair
pair_of(struct cascade *cascade, const struct record *record, bool sized)
{
	return (struct cascade_pair){
		.begin_ns = record->has_time ? record->time_ns : 0,
		.end_ns = record->has_end ? record->end_ns : 0,
		.duration_ns = record->duration_ns,
		.seconds = seconds_of(record),
		.bytes = sized ? size_of(cascade, record) : CASCADE_NO_SIZE,
		.has_begin = record->has_time,
		.has_end = record->has_end,
	};
}

/* Offer and sku come from the node that started first. */
static void
note_offer(struct cascade *cascade, const struct record *record)
{
	int64_t ns = record->time_ns;
	struct text text;

	if (!record->has_time)
		return;
	if (cascade->offer_node.bytes != 0 &&
	    (cascade->offer_ns < ns ||
		(cascade->offer_ns == ns &&
		    text_compare(cascade->offer_node, record->node) <= 0)))
		return;
	cascade->offer_ns = ns;
	cascade->offer_node = string_table_keep(&cascade->images, record->node);
	cascade->offer = cascade->sku = (struct text){ NULL, 0 };
	if (record_find_text(record, "offer", &text))
		cascade->offer = string_table_keep(&cascade->images, text);
	if (record_find_text(record, "sku", &text))
		cascade->sku = string_table_keep(&cascade->images, text);
}

static uint32_t
image_of(struct cascade *cascade, struct text key)
{
	uint32_t last = cascade->last_image;

	if (last >= cascade->images.count ||
	    !text_equal(cascade->images.names[last], key))
		cascade->last_image = string_table_add(&cascade->images, key);
	return cascade->last_image;
}

/* Append the pair; cascade_finish gives it to a try of its node. */
static void
add_pair(struct cascade *cascade, const struct cascade_node *node,
    enum cascade_phase phase, const struct record *record)
{
	struct cascade_pair *pair;

	if (cascade->pair_count == cascade->pair_room) {
		cascade->pair_room += cascade->pair_room / 2 + 256;
		cascade->pairs = memory_resize_array(cascade->pairs,
		    cascade->pair_room, sizeof(struct cascade_pair));
	}
	pair = &cascade->pairs[cascade->pair_count++];
	*pair = pair_of(cascade, record, cascade_names[phase].sized);
	pair->image = phase < CASCADE_ONCE ? CASCADE_NO_IMAGE
					   : image_of(cascade, record->key);
	pair->place = (uint32_t)(node - cascade->nodes);
	pair->phase = (uint8_t)phase;
}

/* -1: not a phase of this model. */
static int
phase_of(struct cascade *cascade, const struct record *record)
{
	int last = cascade->last_phase;

	if (record->kind != RECORD_PHASE ||
	    !text_equal(record->source, text_of("cascade")))
		return -1;
	/* Records arrive phase by phase. */
	if (text_equal(record->name, text_of(cascade_names[last].name)))
		return last;
	for (int i = 0; i < CASCADE_PHASES; i++) {
		if (text_equal(record->name, text_of(cascade_names[i].name))) {
			cascade->last_phase = i;
			return i;
		}
	}
	return -1;
}

void
cascade_add(struct cascade *cascade, const struct record *record)
{
	int phase = phase_of(cascade, record);

	if (phase < 0 || record->node.bytes == 0)
		return;
	add_pair(cascade, node_of(cascade, record->node),
	    (enum cascade_phase)phase, record);
	if (phase == CASCADE_NODEPREP)
		note_offer(cascade, record);
}

int
cascade_read(struct cascade *cascade, struct source *source,
    struct text partition, const struct cascade_window *window, struct err *err)
{
	bool all =
	    window->from_ns == TIME_MIN_NS && window->to_ns == TIME_MAX_NS;
	struct wire_query query = source_query(1u << RECORD_PHASE);
	char shown[300];
	struct record record;
	int rc;

	query.name = text_of("cascade:*");
	query.from_ns = window->from_ns;
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		cascade_add(cascade, &record);
	if (rc < 0)
		return -1;
	cascade_finish(cascade, window);
	source_clock_words(cascade->clock, source_clock(source));
	cascade->start = window->start != NULL ? window->start : "";
	if (cascade->node_count == 0)
		return err_set(err, "no %s of partition %s in %s",
		    all ? "cascade events" : "nodes that started in that time",
		    text_quote(shown, sizeof(shown), partition),
		    source_name(source));
	return 0;
}
