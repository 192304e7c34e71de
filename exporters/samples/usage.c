/*
 * usage - use of nodes and jobs, computed from samples.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/usage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/samples/unit.h"
#include "exporters/samples/used.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/stats/exact_sum.h"

#define TEN_MINUTES_NS (600 * NS_PER_SECOND)
#define MINUTE_NS      (60 * NS_PER_SECOND)
#define HOUR_NS        (3600 * NS_PER_SECOND)
#define FINEST_NS      (100 * INT64_C(1000000)) /* of the steps of samples */
#define IDLE_SHARE     0.95
enum { NANO = 1000000000, DOUBTS_MAX = 256 };

/* The queried metrics, and the total that each of them adds to. */
enum way {
	ADD,     /* the increase of a counter */
	PEAK,    /* the greatest value of a gauge */
	CPUS,    /* how many processors there are, and since when */
	IDLE,    /* how long nearly all of them did nothing */
	PHYSICAL /* of interfaces */
};
static const struct source_metric {
	const char *metric, *group; /* patterns of the query */
	const char *name;           /* pattern of metrics in its answers */
	enum usage_number number;
	enum way way;
} metrics[] = {
	{ USED_CPUS, "cpu", "*", USAGE_CPUS, CPUS },
	{ USED_IDLE, "cpu", "*", USAGE_IDLE, IDLE },
	{ "system.cpu.time.*", "cpu", USED_IDLE, USAGE_CPU_UNUSED, ADD },
	{ "system.cpu.time.*", "cpu", USED_IOWAIT, USAGE_CPU_UNUSED, ADD },
	{ "system.cpu.time.*", "cpu", "*", USAGE_CPU_USED, ADD },
	{ USED_MEMORY " " USED_LIMIT, "memory", USED_MEMORY, USAGE_MEMORY_PEAK,
	    PEAK },
	{ USED_MEMORY " " USED_LIMIT, "memory", USED_LIMIT, USAGE_MEMORY_LIMIT,
	    PEAK },
	{ "hw.gpu.*", "gpu/*", USED_GPU, USAGE_GPU_PEAK, PEAK },
	{ "hw.gpu.*", "gpu/*", "hw.gpu.memory.usage", USAGE_GPU_MEMORY_PEAK,
	    PEAK },
	{ "system.disk.io.*", "disk/*", USED_DISK_READ, USAGE_DISK_READ, ADD },
	{ "system.disk.io.*", "disk/*", USED_DISK_WRITTEN, USAGE_DISK_WRITTEN,
	    ADD },
	{ USED_PHYSICAL, "network/*", "*", USAGE_NUMBERS, PHYSICAL },
	{ "system.network.io.*", "network/*", USED_RECEIVED,
	    USAGE_NETWORK_RECEIVED, ADD },
	{ "system.network.io.*", "network/*", USED_SENT, USAGE_NETWORK_SENT,
	    ADD },
	{ "system.linux.pressure.*", "pressure", "*.cpu.some",
	    USAGE_PRESSURE_CPU, ADD },
	{ "system.linux.pressure.*", "pressure", "*.memory.some",
	    USAGE_PRESSURE_MEMORY, ADD },
	{ "system.linux.pressure.*", "pressure", "*.io.some", USAGE_PRESSURE_IO,
	    ADD },
};
static const bool is_hours[USAGE_NUMBERS] = {
	[USAGE_CPU_USED] = true, [USAGE_CPU_UNUSED] = true, [USAGE_IDLE] = true
};
enum { METRICS = sizeof(metrics) / sizeof(*metrics) };

enum { KEY_BYTES = 2 * RECORD_TEXT_BYTES_MAX };

/* What is the same for all points of a series in the answers to a query. */
struct line {
	uint32_t query;                     /* its number; 0: none */
	const struct source_metric *metric; /* NULL: none wants it */
	bool is_carried;
	uint32_t nanos; /* its unit in ns, or 10^-9 of a byte */
	uint32_t row;   /* of the node; UINT32_MAX: none */
	/* Of times of processors; NULL: not known. */
	const struct cpus_of_node *cpus;
	uint32_t cpus_number; /* CPUS */
};

/* What a row adds up to, in ns or 10^-9 of a byte: exactly, so that it does not
 * depend on the steps. */
struct sums {
	struct exact_sum at[USAGE_NUMBERS]; /* USAGE_CPUS: x seconds */
};

/* A step of a series in which the processors did more than they can. */
struct doubt {
	uint32_t number; /* of the series */
	struct text node;
	int64_t begin_ns, end_ns;
};

struct reading {
	struct usage *usage;
	struct sums *sums; /* by the index of the row */
	uint32_t sums_room;
	const struct time_window *window;
	const struct job_intervals *jobs; /* NULL: none */
	struct string_table keys; /* job, NUL, node -> index of its row */
	struct used_carried carried;
	struct cpus cpus;
	bool is_fine; /* processors are read second by second: they change, */
	bool changes; /* within a step */
	uint32_t room;
	uint32_t query;       /* the number of the current one: 1, 2 ... */
	struct doubt *doubts; /* of the current query: at most DOUBTS_MAX */
	uint32_t doubt_count, doubts_room;
	bool is_coarse;     /* a step may have several samples */
	struct line *lines; /* by the number of the series */
	uint32_t lines_room;
	char key[KEY_BYTES]; /* once: it is cleared at each call of a function
				that has it as a variable */
};

/* ---- rows ---- */

static struct text
key_of(char to[static KEY_BYTES], struct text first, struct text second)
{
	memcpy(to, first.at, first.bytes);
	to[first.bytes] = '\0';
	memcpy(to + first.bytes + 1, second.at, second.bytes);
	return (struct text){ to, first.bytes + 1 + second.bytes };
}

/* The index of the row. */
static uint32_t
row_of(struct reading *reading, struct text job, struct text node)
{
	struct usage *usage = reading->usage;
	uint32_t number =
	    string_table_add(&reading->keys, key_of(reading->key, job, node));

	if (number < usage->count)
		return number;
	MEMORY_GROW(usage->rows, reading->room, number);
	MEMORY_GROW_ZERO(reading->sums, reading->sums_room, number);
	usage->rows[number] =
	    (struct usage_row){ string_table_keep(&usage->texts, node),
		    string_table_keep(&usage->texts, job), { 0 } };
	for (int i = 0; i < USAGE_NUMBERS; i++)
		usage->rows[number].at[i] = NAN;
	usage->count++;
	return number;
}

static uint32_t
unit_nanos(struct text unit)
{
	static const struct {
		const char *unit;
		uint32_t nanos;
	} units[] = { { "cs", 10000000 }, { "ms", 1000000 }, { "us", 1000 },
		{ "ns", 1 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (text_equal(unit, text_of(units[i].unit)))
			return units[i].nanos;
	return NANO;
}

/* ---- points ---- */

/* Were nearly all processors idle between the two samples?  Those that were
 * there all of the time: some may have come or gone in between.  The number of
 * processors is added by time; finish_rows divides it. */
static void
take_idle(const struct line *line, struct sums *sums,
    const struct series_point *point, double part)
{
	double before = cpus_at(line->cpus, point->first_ns);
	double behind = cpus_at(line->cpus, point->last_ns);
	double least = before < behind ? before : behind;
	uint64_t ns = (uint64_t)((double)series_point_ns(point) * part + 0.5);

	if (!(point->seconds > 0))
		return;
	exact_sum_add(&sums->at[USAGE_SECONDS], 1, ns);
	if (isnan(least))
		return;
	exact_sum_add(&sums->at[USAGE_CPUS], (before + behind) / 2, ns);
	exact_sum_add(&sums->at[USAGE_IDLE],
	    point->increase * line->nanos >=
		IDLE_SHARE * point->seconds * least * NANO,
	    ns);
}

static bool
is_cpu_time(const struct source_metric *metric)
{
	return metric->number == USAGE_IDLE ||
	       metric->number == USAGE_CPU_USED ||
	       metric->number == USAGE_CPU_UNUSED;
}

static bool
is_impossible(const struct line *line, const struct series_point *point)
{
	return line->cpus != NULL &&
	       !used_is_possible(point->high * line->nanos / NANO,
		   fmax(cpus_at(line->cpus, point->first_ns),
		       cpus_at(line->cpus, point->last_ns)));
}

/* A step that has several samples is read again, so that only the time between
 * two of them is left out. */
static void
leave_out(struct reading *reading, const struct line *line,
    const struct series_point *point)
{
	struct usage *usage = reading->usage;
	struct doubt *last = reading->doubt_count == 0
				 ? NULL
				 : &reading->doubts[reading->doubt_count - 1];
	uint32_t place = UINT32_MAX;

	if (reading->is_coarse && last != NULL &&
	    last->number == point->number && last->end_ns == point->begin_ns) {
		last->end_ns = point->end_ns;
		return;
	}
	if (reading->is_coarse && reading->doubt_count < DOUBTS_MAX) {
		last = MEMORY_ADD(reading->doubts, reading->doubts_room,
		    reading->doubt_count);
		*last = (struct doubt){ point->number,
			string_table_keep(&usage->texts, point->node),
			point->begin_ns, point->end_ns };
		return;
	}
	/* Idle time is judged, and taken once more as what was not used. */
	if (line->metric->number == USAGE_IDLE ||
	    (reading->window->of_jobs != NULL &&
		job_intervals_next(reading->jobs, point->node, point->begin_ns,
		    point->end_ns, &place) == NULL))
		return;
	usage->left_out++;
	string_table_add(&usage->left_out_nodes, point->node);
}

/* Add a point to a row; `part` is the fraction of it that counts. */
static void
take_into(struct reading *reading, const struct line *line, uint32_t row,
    const struct series_point *point, double part)
{
	const struct source_metric *metric = line->metric;
	double *peak = &reading->usage->rows[row].at[metric->number];

	if (metric->way == IDLE)
		take_idle(line, &reading->sums[row], point, part);
	else if (metric->way == PEAK)
		*peak = fmax(*peak, point->high);
	else
		exact_sum_add(&reading->sums[row].at[metric->number],
		    point->increase * part, line->nanos);
}

/* The fraction of the interval that lies between the two times.  Of a gauge the
 * greatest value counts only if all samples lie there: it may be of any. */
static double
part_of(const struct series_point *point, int64_t from_ns, int64_t to_ns)
{
	int64_t from = point->begin_ns > from_ns ? point->begin_ns : from_ns;
	int64_t to = point->end_ns < to_ns ? point->end_ns : to_ns;

	if (!point->counter)
		return point->first_ns >= from_ns && point->last_ns < to_ns;
	return from >= to ? 0
			  : (double)(to - from) /
				(double)(point->end_ns - point->begin_ns);
}

/* The line of the point's series; `first` and `end` limit its metrics. */
static struct line *
line_of(struct reading *reading, const struct source_metric *first,
    const struct source_metric *end, const struct series_point *point)
{
	struct line *line;

	if (point->number >= reading->lines_room)
		MEMORY_GROW_ZERO(
		    reading->lines, reading->lines_room, point->number);
	line = &reading->lines[point->number];
	if (line->query == reading->query)
		return line;
	*line = (struct line){ .query = reading->query,
		.is_carried = used_carried_has(&reading->carried, point),
		.nanos = unit_nanos(point->unit),
		.row = UINT32_MAX };
	while (first < end && !text_match(text_of(first->name), point->metric))
		first++;
	if (first == end)
		return line;
	line->metric = first;
	if (first->way == CPUS)
		line->cpus_number = cpus_number(&reading->cpus, point->node);
	if (is_cpu_time(first))
		line->cpus = cpus_find(&reading->cpus, point->node);
	return line;
}

static void
take_of_jobs(struct reading *reading, const struct line *line,
    const struct series_point *point)
{
	const struct job_interval *at;
	uint32_t place = UINT32_MAX;

	while ((at = job_intervals_next(reading->jobs, point->node,
		    point->begin_ns, point->end_ns, &place)) != NULL) {
		double part = part_of(point, at->from_ns, at->to_ns);
		uint32_t row;

		if (!(part > 0))
			continue;
		row = row_of(reading, at->job, point->node);
		take_into(reading, line, row, point, part);
	}
}

static void
take(struct reading *reading, struct line *line,
    const struct series_point *point)
{
	if (line->metric->way == CPUS) {
		reading->changes =
		    reading->changes || point->low != point->high;
		cpus_add(&reading->cpus, line->cpus_number, point->first_ns,
		    point->low);
		return;
	}
	if (line->metric->way == PHYSICAL) {
		used_carried_take(&reading->carried, point, point->high);
		return;
	}
	if (line->is_carried)
		return;
	if (is_cpu_time(line->metric) && is_impossible(line, point)) {
		leave_out(reading, line, point);
		return;
	}
	if (reading->window->of_jobs == NULL) {
		if (line->row == UINT32_MAX)
			line->row = row_of(reading, text_of(""), point->node);
		take_into(reading, line, line->row, point, 1);
	}
	if (reading->jobs != NULL)
		take_of_jobs(reading, line, point);
}

/* ---- reading ---- */

static int64_t
hour_of(int64_t time_ns)
{
	int64_t in_hour_ns = time_ns % HOUR_NS;

	return time_ns - in_hour_ns - (in_hour_ns < 0 ? HOUR_NS : 0);
}

/* Counters are exact at the edges of the window whatever the step.  What is
 * judged between two samples, or cut by jobs, needs the finest step. */
static struct series_query
query_of(const struct reading *reading, const struct source_metric *metric)
{
	struct series_query query =
	    time_window_query(reading->window, reading->usage->step_ns);

	query.metric = text_of(metric->metric);
	query.group = text_of(metric->group);
	query.intervals = true;
	/* Rollups answer for whole hours: do not cut those at the ends. */
	if (query.nothing_before && query.from_ns > TIME_MIN_NS + HOUR_NS)
		query.from_ns = hour_of(query.from_ns);
	if (query.nothing_behind && query.to_ns < TIME_MAX_NS - HOUR_NS)
		query.to_ns = hour_of(query.to_ns - 1) + HOUR_NS;
	if (metric->way == IDLE || (metric->way == CPUS && reading->is_fine))
		query.step_ns = NS_PER_SECOND;
	else if (metric->way == CPUS && query.step_ns < MINUTE_NS)
		query.step_ns = MINUTE_NS;
	/* So that a step has one sample, which is of a job or is not. */
	if (metric->way == PEAK && reading->jobs != NULL)
		query.step_ns = FINEST_NS;
	/* What interfaces are does not change. */
	if (metric->way == PHYSICAL)
		query.step_ns = HOUR_NS;
	/* The number of processors is that at samples next to the window, too.
	 */
	if (metric->way == CPUS && query.from_ns > TIME_MIN_NS + HOUR_NS)
		query.from_ns -= HOUR_NS;
	if (metric->way == CPUS && query.to_ns < TIME_MAX_NS - HOUR_NS)
		query.to_ns += HOUR_NS;
	return query;
}

/* Steps in doubt once more, sample by sample: what is left of them counts. */
static int
read_doubts(struct reading *reading, struct series *series,
    struct series_query query, struct err *err)
{
	struct series_point point;
	int rc = 0;

	reading->is_coarse = false;
	query.nothing_before = query.nothing_behind = false;
	query.step_ns = FINEST_NS;
	for (uint32_t i = 0; rc == 0 && i < reading->doubt_count; i++) {
		const struct doubt *doubt = &reading->doubts[i];

		query.node = doubt->node;
		query.from_ns = doubt->begin_ns;
		query.to_ns = doubt->end_ns;
		rc = series_select(series, &query, err);
		while (rc == 0 && (rc = series_next(series, &point, err)) > 0) {
			if (point.number == doubt->number)
				take(reading, &reading->lines[point.number],
				    &point);
			rc = 0;
		}
	}
	reading->doubt_count = 0;
	return rc;
}

/* Run the query of metrics[first], which also answers the following metrics
 * with the same query.  Returns the index of the next query. */
static int
read_metrics(struct reading *reading, struct series *series, int first,
    int *next, struct err *err)
{
	struct usage *usage = reading->usage;
	struct series_query query = query_of(reading, &metrics[first]);
	struct series_point point;
	int end = first, rc;

	while (end < METRICS &&
	       strcmp(metrics[end].metric, metrics[first].metric) == 0)
		end++;
	*next = end;
	reading->query++;
	reading->is_coarse = query.step_ns > FINEST_NS;
	if (series_select(series, &query, err) != 0)
		return -1;
	while ((rc = series_next(series, &point, err)) > 0) {
		struct line *line =
		    line_of(reading, &metrics[first], &metrics[end], &point);

		if (line->metric != NULL)
			take(reading, line, &point);
		if (metrics[first].way != CPUS &&
		    query.step_ns == usage->step_ns &&
		    series_rollup_rank(point.rollup) >
			series_rollup_rank(usage->rollup))
			usage->rollup =
			    string_table_keep(&usage->texts, point.rollup);
	}
	return rc == 0 ? read_doubts(reading, series, query, err) : rc;
}

/* They seldom change, so look first whether they do in any step.  A step
 * without a change begins with the sample that has the number. */
static int
read_processors(
    struct reading *reading, struct series *series, int *next, struct err *err)
{
	if (read_metrics(reading, series, 0, next, err) != 0)
		return -1;
	if (reading->is_fine || !reading->changes)
		return 0;
	cpus_clear(&reading->cpus);
	cpus_init(&reading->cpus);
	reading->is_fine = true;
	return read_metrics(reading, series, 0, next, err);
}

static int
by_job(const void *left, const void *right)
{
	const struct usage_row *a = left, *b = right;
	int order = text_compare(a->job, b->job);

	return order != 0 ? order : text_compare(a->node, b->node);
}

/* Jobs begin and end at any time, and so do windows on clocks that are off. */
static int64_t
step_of(const struct time_window *time_window, bool fine)
{
	int64_t span_ns = time_window->to_ns - time_window->from_ns;

	if (fine)
		return NS_PER_SECOND;
	if (time_window->step_ns > 0)
		return series_fit_step(time_window->step_ns);
	if (span_ns <= TEN_MINUTES_NS)
		return NS_PER_SECOND;
	if (span_ns <= 24 * HOUR_NS)
		return 60 * NS_PER_SECOND;
	return TEN_MINUTES_NS;
}

static void
finish_rows(struct reading *reading)
{
	struct usage *usage = reading->usage;

	for (uint32_t i = 0; i < usage->count; i++) {
		double *at = usage->rows[i].at;

		for (int k = 0; k < USAGE_NUMBERS; k++) {
			struct exact_sum *sum = &reading->sums[i].at[k];
			long double of = exact_sum_get(sum) / NANO;

			if (sum->known)
				at[k] = (double)(is_hours[k] ? of / 3600 : of);
			exact_sum_clear(sum);
		}
		/* The mean number of processors by time. */
		at[USAGE_CPUS] /= at[USAGE_SECONDS];
	}
	free(reading->sums);
}

static void
clear_reading(struct reading *reading)
{
	cpus_clear(&reading->cpus);
	string_table_clear(&reading->keys);
	used_carried_clear(&reading->carried);
	free(reading->lines);
	free(reading->doubts);
}

static int
read_all(struct reading *reading, struct source *source, struct text partition,
    struct err *err)
{
	struct usage *usage = reading->usage;
	struct series *series = NULL;
	int rc = series_open(&series, source, partition, err), next = 0;

	if (rc == 0)
		rc = read_processors(reading, series, &next, err);
	while (rc == 0 && next < METRICS)
		rc = read_metrics(reading, series, next, &next, err);
	series_close(&series);
	finish_rows(reading);
	if (rc == 0 && usage->count == 0)
		return err_set(err, "no samples to compute use from");
	if (usage->count > 1)
		qsort(usage->rows, usage->count, sizeof(*usage->rows), by_job);
	while (usage->nodes < usage->count &&
	       usage->rows[usage->nodes].job.bytes == 0)
		usage->nodes++;
	return rc;
}

int
usage_read(struct usage *usage, struct source *source, struct text partition,
    const struct time_window_options *options, struct err *err)
{
	struct reading reading = { .usage = usage };
	struct job_intervals job_intervals = { .at = NULL };
	struct time_window time_window;
	int rc;

	memset(usage, 0, sizeof(*usage));
	string_table_init(&usage->texts);
	string_table_init(&usage->left_out_nodes);
	string_table_init(&reading.keys);
	used_carried_init(&reading.carried);
	cpus_init(&reading.cpus);
	rc = time_window_open(&time_window, options, source, partition, err);
	if (rc == 0)
		rc = time_window_narrow(&time_window, source, partition, err);
	time_window.jobs.node = time_window.node;
	if (rc == 0 && time_window.of_jobs == NULL)
		rc = job_intervals_read(
		    &job_intervals, source, partition, &time_window.jobs, err);
	if (rc == 0) {
		reading.window = &time_window;
		reading.jobs = time_window.of_jobs != NULL ? time_window.of_jobs
							   : &job_intervals;
		if (reading.jobs->count == 0)
			reading.jobs = NULL;
		usage->from_ns = time_window.from_ns;
		usage->to_ns = time_window.to_ns;
		usage->step_ns = step_of(
		    &time_window, reading.jobs != NULL ||
				      source_clock_moves(source_clock(source),
					  SOURCE_CLOCK_EXACT_NS));
		/* The first sample of a step is moved as its last one is. */
		reading.is_fine = source_clock_moves(
		    source_clock(source), SOURCE_CLOCK_EXACT_NS);
		rc = read_all(&reading, source, partition, err);
	}
	source_clock_words(usage->clock, source_clock(source));
	job_intervals_clear(&job_intervals);
	time_window_close(&time_window);
	clear_reading(&reading);
	return rc;
}

void
usage_clear(struct usage *usage)
{
	free(usage->rows);
	string_table_clear(&usage->texts);
	string_table_clear(&usage->left_out_nodes);
	memset(usage, 0, sizeof(*usage));
}

double
usage_share(const struct usage_row *row)
{
	double used = row->at[USAGE_CPU_USED],
	       unused = row->at[USAGE_CPU_UNUSED];

	return used_share(used + unused, unused, NAN);
}
