/*
 * generate_plant_rows - what the nodes of a pool with planted causes report.
 * SPDX-License-Identifier: MIT
 */
#include "agents/generate/plant_rows.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "proto/format/output.h"
#include "proto/hash/prng.h"
#include "proto/os/clock.h"

enum { CLOCK_EVERY = 10, LOST_OF_1000 = 20, HOLES_EVERY = 10 };
#define MEMORY_BYTES (INT64_C(16) << 30)
#define BEFORE_NS    (5 * NS_PER_SECOND)
#define AFTER_NS     (8 * NS_PER_SECOND)

static const struct group {
	const char *name;
	const struct metric_group *is;
} groups[] = {
	{ "cpu", &metric_group_cpu },
	{ "memory", &metric_group_memory },
	{ "vmstat", &metric_group_vmstat },
	{ "pressure", &metric_group_pressure },
	{ "disk/vda", &metric_group_disk },
	{ "network/eth0", &metric_group_network },
	{ "clock", &metric_group_clock },
};
enum { GROUPS = sizeof(groups) / sizeof(*groups) };

static const struct generate_plant_node *
current(const struct generate_plant_rows *rows)
{
	return &rows->plant.node[rows->node];
}

/* What the node's clock shows. */
static int64_t
by_its_clock(const struct generate_plant_node *node, int64_t true_ns)
{
	return true_ns + node->clock_ns +
	       (true_ns >= node->step_at_ns ? node->step_ns : 0);
}

/* ---- a node ---- */

static void
add_event(struct generate_plant_rows *rows, int64_t time_ns, const char *source,
    const char *name, int image, int64_t since_ns)
{
	rows->event[rows->events++] = (struct generate_plant_event){ time_ns,
		source, name, image, since_ns };
}

static void
make_events(struct generate_plant_rows *rows)
{
	const struct generate_plant_node *node = current(rows);
	int64_t cascade_ns = node->prepared_ns + NS_PER_SECOND / 2;

	rows->events = 0;
	add_event(rows, node->begin_ns, "nodeprep", "start", -1, INT64_MIN);
	add_event(
	    rows, node->prepared_ns, "nodeprep", "end", -1, node->begin_ns);
	add_event(rows, cascade_ns, "cascade", "start", -1, INT64_MIN);
	for (int i = 0; i < GENERATE_PLANT_IMAGES; i++) {
		int64_t begin_ns = node->pull_ns[i];
		int64_t have_ns = begin_ns + node->pull[i].length_ns;
		int64_t end_ns = have_ns + node->load[i].length_ns;

		add_event(
		    rows, begin_ns, "cascade", "pull-start", i, INT64_MIN);
		add_event(rows, have_ns, "cascade", "pull-end", i, begin_ns);
		add_event(rows, have_ns, "cascade", "load-start", i, INT64_MIN);
		add_event(rows, end_ns, "cascade", "load-end", i, have_ns);
	}
	add_event(rows, node->ready_ns, "cascade", "gr-done", -1, cascade_ns);
}

static void
begin_node(struct generate_plant_rows *rows)
{
	const struct generate_plant_node *node = current(rows);
	int64_t length_ns = node->ready_ns - node->begin_ns;

	rows->state =
	    rows->plant.seed ^ (rows->start << 40) ^ ((rows->node + 1) << 8);
	(void)prng_bits(&rows->state);
	snprintf(rows->node_name, sizeof(rows->node_name), "cn%0*" PRIu64,
	    rows->plant.nodes < 1000 ? 3 : 5, rows->node + 1);
	make_events(rows);
	rows->segments = generate_plant_segments(node, rows->segment);
	rows->sample_ns = node->begin_ns - BEFORE_NS +
			  prng_between(&rows->state, 0, rows->period_ns);
	rows->hole_ns = INT64_MIN;
	if (prng_bits(&rows->state) % HOLES_EVERY == 0)
		rows->hole_ns =
		    node->begin_ns + prng_between(&rows->state, 0, length_ns);
	rows->sample = 0;
	rows->idle = 0;
	rows->step = 0;
	memset(rows->other, 0, sizeof(rows->other));
}

/* ---- samples ---- */

/* What a counter shows at the time of the sample. */
static int64_t
count(const struct generate_plant_rows *rows, enum generate_plant_counter which)
{
	int64_t sum = rows->other[which];

	for (uint32_t i = 0; i < rows->segments; i++) {
		const struct generate_plant_segment *s = &rows->segment[i];
		int64_t whole_ms = (s->end_ns - s->begin_ns) / 1000000;
		int64_t passed_ms = (rows->sample_ns - s->begin_ns) / 1000000;

		if (passed_ms >= whole_ms)
			sum += s->total[which];
		else if (passed_ms > 0)
			sum += s->total[which] / 1000 * passed_ms / whole_ms *
				   1000 +
			       s->total[which] % 1000 * passed_ms / whole_ms;
	}
	return sum;
}

/* In hundredths of a second; the processors are idle for the rest. */
static void
put_cpu(struct generate_plant_rows *rows, int64_t *v)
{
	const struct generate_plant_node *node = current(rows);
	int64_t passed_us =
	    (rows->sample_ns - node->begin_ns + BEFORE_NS) / 1000;
	int64_t busy_us = count(rows, PLANT_USER) + count(rows, PLANT_SYSTEM) +
			  count(rows, PLANT_IOWAIT) + count(rows, PLANT_STEAL);
	int64_t idle =
	    (passed_us * GENERATE_PLANT_PROCESSORS - busy_us) / 10000;

	if (rows->idle < idle)
		rows->idle = idle;
	v[METRIC_CPU_USER] = count(rows, PLANT_USER) / 10000;
	v[METRIC_CPU_SYSTEM] = count(rows, PLANT_SYSTEM) / 10000;
	v[METRIC_CPU_IOWAIT] = count(rows, PLANT_IOWAIT) / 10000;
	v[METRIC_CPU_STEAL] = count(rows, PLANT_STEAL) / 10000;
	v[METRIC_CPU_IDLE] = rows->idle;
	v[METRIC_CPU_PROCESSORS] = GENERATE_PLANT_PROCESSORS;
}

static void
put_memory(int64_t *v)
{
	v[METRIC_MEMORY_LIMIT] = MEMORY_BYTES;
	v[METRIC_MEMORY_USED] = MEMORY_BYTES / 4;
	v[METRIC_MEMORY_FREE] = MEMORY_BYTES / 4;
	v[METRIC_MEMORY_CACHED] = MEMORY_BYTES / 2;
	v[METRIC_MEMORY_AVAILABLE] = MEMORY_BYTES / 2;
}

static void
put_vmstat(const struct generate_plant_rows *rows, int64_t *v)
{
	int64_t major = count(rows, PLANT_MAJOR);

	v[METRIC_VMSTAT_MINOR] = count(rows, PLANT_SYSTEM) / 100;
	v[METRIC_VMSTAT_MAJOR] = major;
	v[METRIC_VMSTAT_IN] = major * 16;
	v[METRIC_VMSTAT_SCANNED] = major * 40;
	v[METRIC_VMSTAT_RECLAIMED] = major * 16;
	v[METRIC_VMSTAT_DIRECT] = major * 12;
}

static void
put_pressure(const struct generate_plant_rows *rows, int64_t *v)
{
	v[METRIC_PRESSURE_CPU_SOME] = count(rows, PLANT_CPU_SOME);
	v[METRIC_PRESSURE_MEMORY_SOME] = count(rows, PLANT_MEMORY_SOME);
	v[METRIC_PRESSURE_MEMORY_FULL] = count(rows, PLANT_MEMORY_SOME) / 2;
	v[METRIC_PRESSURE_IO_SOME] = count(rows, PLANT_IO_SOME);
	v[METRIC_PRESSURE_IO_FULL] = count(rows, PLANT_IO_SOME) / 10 * 7;
}

static void
put_disk(const struct generate_plant_rows *rows, int64_t *v)
{
	int64_t time_ms = count(rows, PLANT_DISK_TIME) / 1000;

	v[METRIC_DISK_READ] = count(rows, PLANT_READ);
	v[METRIC_DISK_WRITTEN] = count(rows, PLANT_WRITTEN);
	v[METRIC_DISK_READS] = count(rows, PLANT_READ) / 131072;
	v[METRIC_DISK_WRITES] = count(rows, PLANT_WRITTEN) / 524288;
	v[METRIC_DISK_READ_TIME] = time_ms / 4;
	v[METRIC_DISK_WRITE_TIME] = time_ms - time_ms / 4;
	v[METRIC_DISK_IO_TIME] = time_ms / 2;
	v[METRIC_DISK_WEIGHTED] = time_ms;
}

static void
put_network(const struct generate_plant_rows *rows, int64_t *v)
{
	v[METRIC_NETWORK_RECEIVED] = count(rows, PLANT_RECEIVED);
	v[METRIC_NETWORK_SENT] = count(rows, PLANT_RECEIVED) / 60;
	v[METRIC_NETWORK_PACKETS_RECEIVED] = count(rows, PLANT_RECEIVED) / 1400;
	v[METRIC_NETWORK_PACKETS_SENT] = count(rows, PLANT_RECEIVED) / 2800;
	v[METRIC_NETWORK_ERRORS_RECEIVED] = count(rows, PLANT_ERRORS);
	v[METRIC_NETWORK_DROPS_RECEIVED] = count(rows, PLANT_DROPS);
	v[METRIC_NETWORK_PHYSICAL] = 1;
}

static void
put_clock(const struct generate_plant_rows *rows, int64_t *v)
{
	const struct generate_plant_node *node = current(rows);
	bool stepped = rows->sample_ns >= node->step_at_ns;

	v[METRIC_CLOCK_OFFSET] =
	    rows->sample_ns - by_its_clock(node, rows->sample_ns);
	v[METRIC_CLOCK_ERROR] = 80000;
	v[METRIC_CLOCK_DRIFT_ERROR] = 15000;
	v[METRIC_CLOCK_ROUND_TRIP] = 90000;
	v[METRIC_CLOCK_GENERATION] =
	    (int64_t)((rows->start + 1) << 16) + stepped;
	v[METRIC_CLOCK_BEGIN] = by_its_clock(
	    node, stepped ? node->step_at_ns : node->begin_ns - BEFORE_NS);
}

/* Is the clock reported with this sample: now and then, and on both sides of a
 * step? */
static bool
has_clock(const struct generate_plant_rows *rows)
{
	int64_t step_ns = current(rows)->step_at_ns;

	return rows->sample % CLOCK_EVERY == 0 ||
	       (rows->sample_ns >= step_ns - rows->period_ns &&
		   rows->sample_ns < step_ns + rows->period_ns);
}

static void
put_sample(
    struct generate_plant_rows *rows, struct import_row *row, uint32_t which)
{
	const struct metric_group *group = groups[which].is;
	int64_t values[METRIC_GROUP_COLUMNS_MAX] = { 0 };
	/* First the boot, where there are counters. */
	uint32_t boot = group->count - group->values;
	int64_t *v = values + boot;

	values[0] = current(rows)->begin_ns - BEFORE_NS;
	if (group == &metric_group_cpu)
		put_cpu(rows, v);
	else if (group == &metric_group_memory)
		put_memory(v);
	else if (group == &metric_group_vmstat)
		put_vmstat(rows, v);
	else if (group == &metric_group_pressure)
		put_pressure(rows, v);
	else if (group == &metric_group_disk)
		put_disk(rows, v);
	else if (group == &metric_group_network)
		put_network(rows, v);
	else
		put_clock(rows, v);
	generate_row_sample(row, groups[which].name,
	    by_its_clock(current(rows), rows->sample_ns), values, group->count,
	    rows->body);
}

static void
grow(struct generate_plant_rows *rows, enum generate_plant_counter which,
    int64_t least, int64_t most)
{
	rows->other[which] += prng_between(&rows->state, least, most) *
			      (rows->period_ns / 1000) / 1000000;
}

/* The next sample is a period later; what else runs has gone on. */
static void
next_sample(struct generate_plant_rows *rows)
{
	rows->sample++;
	rows->sample_ns += rows->period_ns;
	grow(rows, PLANT_USER, 40000, 160000); /* a second */
	grow(rows, PLANT_SYSTEM, 10000, 60000);
	grow(rows, PLANT_CPU_SOME, 3000, 20000);
	grow(rows, PLANT_IO_SOME, 1000, 10000);
	grow(rows, PLANT_MEMORY_SOME, 0, 300);
	grow(rows, PLANT_RECEIVED, 4000, 30000);
	grow(rows, PLANT_READ, 0, 200000);
	grow(rows, PLANT_WRITTEN, 20000, 300000);
	grow(rows, PLANT_DISK_TIME, 1000, 9000);
	grow(rows, PLANT_MAJOR, 0, 3);
	rows->other[PLANT_DROPS] += prng_bits(&rows->state) % 50 == 0;
}

static bool
has_samples(const struct generate_plant_rows *rows)
{
	return rows->sample_ns <= current(rows)->ready_ns + AFTER_NS;
}

static bool
is_lost(struct generate_plant_rows *rows)
{
	if (rows->hole_ns != INT64_MIN && rows->sample_ns >= rows->hole_ns &&
	    rows->sample_ns - rows->hole_ns < 4 * rows->period_ns)
		return true;
	return prng_bits(&rows->state) % 1000 < LOST_OF_1000;
}

/* ---- rows ---- */

static int
put_text(
    struct import_row *row, const char *key, const char *text, struct err *err)
{
	struct value value = { .type = VALUE_TEXT, .is.text = text_of(text) };

	return import_row_put(row, key, &value, err);
}

static int
put_event(struct generate_plant_rows *rows, struct import_row *row,
    const struct generate_plant_event *event, struct err *err)
{
	const struct generate_plant_node *node = current(rows);
	int64_t now_ns = by_its_clock(node, event->time_ns), took_us;
	char text[32];

	row->record.kind = RECORD_EVENT;
	row->record.time_ns = now_ns;
	row->record.source = text_of(event->source);
	row->record.name = text_of(event->name);
	if (event->image >= 0 &&
	    put_text(row, "img", generate_plant_images[event->image], err) != 0)
		return -1;
	if (event->since_ns == INT64_MIN)
		return 0;
	if (event->image >= 0) {
		snprintf(text, sizeof(text), "%" PRId64,
		    node->pull[event->image].bytes);
		if (put_text(row, "size", text, err) != 0)
			return -1;
	}
	took_us = (now_ns - by_its_clock(node, event->since_ns)) / 1000;
	snprintf(text, sizeof(text), "%" PRId64 ".%06" PRId64,
	    took_us / 1000000, took_us % 1000000);
	return put_text(row, "diff", text, err);
}

static void
begin_start(struct generate_plant_rows *rows)
{
	int64_t every_ns = generate_plant_length_ns(&rows->plant) +
			   GENERATE_PLANT_PAUSE_S * NS_PER_SECOND;

	generate_plant_start(&rows->plant, rows->start,
	    rows->base_ns + (int64_t)rows->start * every_ns);
	rows->node = 0;
	begin_node(rows);
}

/* The next one of the start, or the first one of the next start.  False: that
 * was the last one. */
static bool
next_node(struct generate_plant_rows *rows)
{
	if (rows->node + 1 < rows->plant.nodes) {
		rows->node++;
		begin_node(rows);
		return true;
	}
	if (rows->start + 1 >= rows->starts)
		return false;
	rows->start++;
	begin_start(rows);
	return true;
}

/* Put the row of the step, if it has one: the definitions, the events, then
 * each group of each sample. */
static int
put_step(struct generate_plant_rows *rows, struct import_row *row, bool *put,
    struct err *err)
{
	uint32_t step = rows->step++, before = GROUPS + rows->events, group;

	*put = true;
	if (step < GROUPS) {
		generate_row_define(
		    row, rows->node_name, groups[step].is, groups[step].name);
		return 0;
	}
	if (step < before)
		return put_event(rows, row, &rows->event[step - GROUPS], err);
	group = (step - before) % GROUPS;
	if (group == 0 && is_lost(rows)) {
		rows->step += GROUPS - 1;
		group = GROUPS - 1;
		*put = false;
	} else if (groups[group].is != &metric_group_clock || has_clock(rows)) {
		put_sample(rows, row, group);
	} else {
		*put = false;
	}
	if (group == GROUPS - 1)
		next_sample(rows);
	return 0;
}

static enum import_next
next_row(void *arg, struct import_row *row, struct err *err)
{
	struct generate_plant_rows *rows = arg;
	bool put = false;

	while (!put) {
		if (rows->step >= GROUPS + rows->events && !has_samples(rows) &&
		    !next_node(rows))
			return IMPORT_END;
		row->aside = false;
		row->partition = (struct text){ NULL, 0 };
		row->record = (struct record){ .has_time = true,
			.node = text_of(rows->node_name) };
		if (put_step(rows, row, &put, err) != 0)
			return IMPORT_FAILED;
	}
	rows->given++;
	return IMPORT_LINE;
}

/* ---- the source ---- */

int64_t
generate_plant_rows_length_s(const struct generate_plant_rows *rows)
{
	int64_t length_s =
	    generate_plant_length_ns(&rows->plant) / NS_PER_SECOND;

	return (int64_t)rows->starts * (length_s + GENERATE_PLANT_PAUSE_S);
}

static void
rewind_rows(void *arg)
{
	struct generate_plant_rows *rows = arg;

	rows->start = rows->given = 0;
	begin_start(rows);
}

static void
make_digest(struct generate_plant_rows *rows)
{
	const struct generate_plant *plant = &rows->plant;
	crypto_generichash_state state;
	char which[256];

	/* Change this word when the same numbers give another pool. */
	snprintf(which, sizeof(which),
	    "generate plant 1 %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64
	    " %" PRId64,
	    plant->seed, plant->nodes, rows->starts, rows->base_ns,
	    rows->period_ns);
	crypto_generichash_init(&state, NULL, 0, sizeof(rows->digest));
	crypto_generichash_update(
	    &state, (const unsigned char *)which, strlen(which));
	for (uint32_t i = 0; i < plant->causes; i++) {
		snprintf(which, sizeof(which), " %s:%" PRIu64 ":%" PRId64,
		    generate_cause_names[plant->cause[i].kind],
		    plant->cause[i].node, plant->cause[i].factor);
		crypto_generichash_update(
		    &state, (const unsigned char *)which, strlen(which));
	}
	crypto_generichash_final(&state, rows->digest, sizeof(rows->digest));
}

int
generate_plant_rows_open(struct generate_plant_rows *rows, struct err *err)
{
	if (sodium_init() < 0)
		return err_set(err, "libsodium does not start");
	if (rows->base_ns < TIME_MIN_NS + NS_PER_SECOND * 60 ||
	    rows->base_ns > TIME_MAX_NS - generate_plant_rows_length_s(rows) *
					      NS_PER_SECOND)
		return err_set(err,
		    "%" PRIu64 " starts are not all between the years 1900 "
		    "and 2200",
		    rows->starts);
	if (generate_plant_open(&rows->plant, err) != 0) {
		generate_plant_close(&rows->plant);
		return err_prefix(err, "--cause");
	}
	make_digest(rows);
	rewind_rows(rows);
	return 0;
}

void
generate_plant_rows_close(struct generate_plant_rows *rows)
{
	generate_plant_close(&rows->plant);
}

static uint64_t
get_given(const void *arg)
{
	const struct generate_plant_rows *rows = arg;

	return rows->given;
}

/* Rows, about: a node is there for about a minute and a half. */
static uint64_t
count_rows(const struct generate_plant_rows *rows)
{
	uint64_t samples = (uint64_t)(90 * NS_PER_SECOND / rows->period_ns);

	return rows->plant.nodes * rows->starts *
	       (GROUPS + GENERATE_PLANT_EVENTS + GROUPS * samples);
}

int64_t
generate_plant_rows_end_ns(struct generate_plant_rows *rows)
{
	int64_t end_ns = INT64_MIN;

	rows->start = rows->starts - 1;
	begin_start(rows);
	for (uint64_t i = 0; i < rows->plant.nodes; i++)
		if (rows->plant.node[i].ready_ns > end_ns)
			end_ns = rows->plant.node[i].ready_ns;
	rewind_rows(rows);
	return end_ns + AFTER_NS;
}

struct import_source
generate_plant_rows_source(struct generate_plant_rows *rows)
{
	return (struct import_source){
		.kind = IMPORT_RECORDS,
		.name = "pool",
		.bytes = count_rows(rows),
		.digest = rows->digest,
		.next = next_row,
		.offset = get_given,
		.line = get_given,
		.rewind = rewind_rows,
		.arg = rows,
	};
}

/* ---- the truth ---- */

static const char *
shows_in(enum generate_cause_kind kind)
{
	if (kind == GENERATE_CAUSE_PLACES)
		return "global-resources";
	if (kind == GENERATE_CAUSE_LATE)
		return "nodeprep";
	return kind == GENERATE_CAUSE_HIDDEN ? "load" : "pull";
}

/* A member of a list: all texts are names without special characters. */
static void
write_cause(FILE *file, const struct generate_plant_rows *rows,
    const struct generate_cause *cause, bool first)
{
	const struct generate_plant_node *node =
	    &rows->plant.node[cause->node - 1];
	const struct generate_plant_work *work =
	    cause->kind == GENERATE_CAUSE_HIDDEN
		? &node->load[GENERATE_PLANT_LARGE]
		: &node->pull[GENERATE_PLANT_LARGE];

	fprintf(file,
	    "%s{\"kind\": \"%s\", \"node\": \"cn%0*" PRIu64
	    "\", \"factor\": %" PRId64 ".%03" PRId64
	    ", \"phase\": \"%s\", \"key\": \"%s\", \"usual_ns\": %" PRId64
	    ", \"took_ns\": %" PRId64 ", \"waited_ns\": %" PRId64 "}",
	    first ? "" : ", ", generate_cause_names[cause->kind],
	    rows->plant.nodes < 1000 ? 3 : 5, cause->node,
	    cause->factor / GENERATE_CAUSE_ONE,
	    cause->factor % GENERATE_CAUSE_ONE, shows_in(cause->kind),
	    generate_plant_images[GENERATE_PLANT_LARGE], work->usual_ns,
	    work->length_ns + node->step_ns,
	    node->pull_ns[GENERATE_PLANT_LARGE] -
		node->asked_ns[GENERATE_PLANT_LARGE]);
}

/* Of the last start, whose rows have just been read. */
int
generate_plant_rows_truth(
    struct generate_plant_rows *rows, const char *dir, struct err *err)
{
	const struct generate_plant *plant = &rows->plant;
	char path[OUTPUT_PATH_BYTES];
	struct output output;
	bool first = true;

	if ((size_t)snprintf(path, sizeof(path), "%s/truth.json", dir) >=
	    sizeof(path))
		return err_set(err, "%s: the path is too long", dir);
	if (output_open(&output, path, err) != 0)
		return -1;
	fprintf(output.file,
	    "{\"nodes\": %" PRIu64 ", \"starts\": %" PRIu64
	    ", \"seed\": %" PRIu64 ", \"causes\": [",
	    plant->nodes, rows->starts, plant->seed);
	for (uint32_t i = 0; i < plant->causes; i++) {
		if (plant->cause[i].kind == GENERATE_CAUSE_NONE)
			continue;
		write_cause(output.file, rows, &plant->cause[i], first);
		first = false;
	}
	fputs("]}\n", output.file);
	return output_commit(&output, err);
}
