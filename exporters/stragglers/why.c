/*
 * stragglers_why - what a phase that took too long waited for.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/why.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/stragglers/robust.h"
#include "proto/base/memory.h"
#include "proto/base/sort.h"
#include "proto/format/quantity.h"
#include "proto/os/clock.h"

#define Z              3.5
#define NAMED          0.25 /* of the lost time */
#define MEASURED       0.5  /* of a window at least */
#define WAIT_FLOOR     0.05 /* of the time, beyond that of peers */
#define WAIT_ALONE     0.25 /* the same, where there are no peers */
#define MORE_BYTES     1.25 /* times as much as peers */
#define SLOWER         0.7  /* of their rate */
#define BYTES_FLOOR    (1 << 20)
#define CLOCK_FLOOR_NS NS_PER_SECOND
enum { SAMPLES_MIN = 2, ERRORS_FLOOR = 1, FAULTS_FLOOR = 200 };

/* A number of the node and of its peers. */
struct compared {
	double own, peers; /* NaN: not measured */
	double z;          /* robust; +-HUGE_VAL where all peers are equal */
};

struct explaining {
	struct straggler *straggler;
	const struct measured *measured;
	const struct measured_window *own;
	const uint32_t *peers; /* that were measured */
	uint32_t peer_count;
	double *room; /* for a number of each peer */
	struct string_table *texts;
	double seconds, lost; /* of the straggler */
	struct straggler_cause found[STRAGGLER_KINDS];
	uint32_t count;
};

/* ---- words ---- */

static struct text words(struct string_table *texts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static struct text
words(struct string_table *texts, const char *format, ...)
{
	char line[400];
	va_list list;

	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	return string_table_keep(texts, text_of(line));
}

/* Whom the node is compared with. */
static const char *
who_else(const struct explaining *e)
{
	return e->straggler->is_of_node ? "earlier" : "others";
}

static const char *
whose_else(const struct explaining *e)
{
	return e->straggler->is_of_node ? "earlier" : "of others";
}

/* ---- numbers ---- */

static double
share_of(const struct measured_window *window, enum measure measure)
{
	double share = window->sum[measure] / window->seconds[measure];

	/* Not fmin(), which makes 1 of what is not measured. */
	return share > 1 ? 1 : share;
}

static double
length_of(const struct measured_window *window)
{
	return (double)(window->end_ns - window->begin_ns) / NS_PER_SECOND;
}

static double
sum_of(const struct measured_window *window, enum measure measure)
{
	return window->sum[measure];
}

static double
rate_of(const struct measured_window *window, enum measure measure)
{
	return window->sum[measure] / length_of(window);
}

/* How long an operation of a disk took. */
static double
latency_of(const struct measured_window *window, enum measure measure)
{
	double operations = window->sum[MEASURE_DISK_OPERATIONS];

	/* Not fmax(), for the same reason. */
	return window->sum[measure] / (operations < 1 ? 1 : operations);
}

/* Of how much it can differ by chance nothing is known if peers are equal:
 * that is `floor`. */
static struct compared
compare(const struct explaining *e,
    double (*number)(
	const struct measured_window *window, enum measure measure),
    enum measure measure, double floor)
{
	struct compared c = { number(e->own, measure), NAN, 0 };
	uint32_t count = 0;

	for (uint32_t i = 0; i < e->peer_count; i++) {
		double of = number(&e->measured->at[e->peers[i]], measure);

		if (!isnan(of))
			e->room[count++] = of;
	}
	if (count < WHY_PEERS_MIN)
		return c;
	sort_doubles(e->room, count);
	c.peers = robust_median(e->room, count);
	c.z =
	    (c.own - c.peers) / fmax(robust_spread(e->room, count), floor / Z);
	return c;
}

/* The share of the time beyond that of peers; 0: it does not differ. */
static double
excess(const struct compared *c)
{
	if (isnan(c->own))
		return 0;
	if (isnan(c->peers))
		return c->own > WAIT_ALONE ? c->own : 0;
	return c->z > Z && c->own - c->peers > WAIT_FLOOR ? c->own - c->peers
							  : 0;
}

static struct straggler_cause *
add(struct explaining *e, enum straggler_kind kind, double seconds,
    struct text metric, const char *unit, const struct compared *c)
{
	struct straggler_cause *cause = &e->found[e->count];

	if (!(seconds > 0))
		return NULL;
	seconds = fmin(seconds, e->lost);
	*cause = (struct straggler_cause){ .kind = kind,
		.share = seconds / e->lost,
		.explained_ns = (int64_t)llround(seconds * NS_PER_SECOND),
		.metric = metric,
		.unit = text_of(unit),
		.value = c->own,
		.peers = c->peers };
	e->count++;
	return cause;
}

/* ---- waiting ---- */

/* Returns the seconds. */
static double
add_wait(struct explaining *e, enum straggler_kind kind, enum measure measure,
    const struct compared *c, double less, const char *what)
{
	double seconds = excess(c) * e->seconds - less;
	struct straggler_cause *cause =
	    add(e, kind, seconds, measure_metric(measure), "1", c);

	if (cause == NULL)
		return 0;
	cause->clause =
	    isnan(c->peers)
		? words(e->texts, "%s %.0f %% of the time", what, c->own * 100)
		: words(e->texts, "%s %.0f %% of the time, %s %.0f %%", what,
		      c->own * 100, who_else(e), c->peers * 100);
	return seconds;
}

/* A disk that takes longer for each operation and is busier, whoever waits. */
static double
slow_disk(struct explaining *e, struct compared *busy)
{
	struct compared latency =
	    compare(e, latency_of, MEASURE_DISK_TIME, 0.001);

	*busy = compare(e, share_of, MEASURE_DISK_BUSY, WAIT_FLOOR);
	return latency.z > Z && latency.own > 1.5 * latency.peers &&
		       !isnan(busy->peers)
		   ? excess(busy)
		   : 0;
}

/* Pages that come back from a disk, again and again: the kernel counts most of
 * that as waiting for the disk, but not the work that each fault is, while the
 * disk is busy with them, too.  Returns the seconds. */
static double
add_memory(struct explaining *e)
{
	struct compared wait =
	    compare(e, share_of, MEASURE_MEMORY_WAIT, WAIT_FLOOR);
	struct compared io = compare(e, share_of, MEASURE_IO_WAIT, WAIT_FLOOR);
	struct compared busy =
	    compare(e, share_of, MEASURE_DISK_BUSY, WAIT_FLOOR);
	double for_pages = fmax(excess(&io), excess(&busy));
	struct compared faults =
	    compare(e, rate_of, MEASURE_MAJOR_FAULTS, FAULTS_FLOOR);
	bool thrashes =
	    faults.z > Z && faults.own - faults.peers > FAULTS_FLOOR;
	struct straggler_cause *cause;
	double seconds;

	if (!thrashes || excess(&wait) >= for_pages)
		return add_wait(e, STRAGGLER_MEMORY, MEASURE_MEMORY_WAIT, &wait,
		    0, "tasks waited for memory");
	seconds = for_pages * e->seconds;
	cause = add(e, STRAGGLER_MEMORY, seconds,
	    measure_metric(MEASURE_MAJOR_FAULTS), "{fault}/s", &faults);
	if (cause != NULL)
		cause->clause = words(e->texts,
		    "%.0f pages a second had to come back to memory, %s %.0f",
		    faults.own, whose_else(e), faults.peers);
	return seconds;
}

/* Returns whether a disk differs, however little that explains. */
static bool
add_disk(struct explaining *e, double memory_seconds)
{
	enum measure measure = MEASURE_IO_WAIT;
	struct compared wait = compare(e, share_of, measure, WAIT_FLOOR);
	struct compared busy;
	double slow = slow_disk(e, &busy);

	if (isnan(wait.own)) {
		measure = MEASURE_IOWAIT;
		wait = compare(e, share_of, measure, WAIT_FLOOR);
	}
	if (excess(&wait) >= slow) {
		add_wait(e, STRAGGLER_DISK, measure, &wait, memory_seconds,
		    "tasks waited for a disk");
		return excess(&wait) > 0;
	}
	add_wait(e, STRAGGLER_DISK, MEASURE_DISK_BUSY, &busy, memory_seconds,
	    "its disk was slow and busy");
	return true;
}

/* Returns whether waiting for a disk or for memory differs. */
static bool
add_waits(struct explaining *e)
{
	struct compared stolen =
	    compare(e, share_of, MEASURE_STEAL, WAIT_FLOOR);
	struct compared throttled =
	    compare(e, share_of, MEASURE_THROTTLED, WAIT_FLOOR);
	struct compared cpu =
	    compare(e, share_of, MEASURE_CPU_WAIT, WAIT_FLOOR);
	double for_memory = add_memory(e);
	double taken = add_wait(e, STRAGGLER_STOLEN, MEASURE_STEAL, &stolen, 0,
	    "the host took its processors");

	taken += add_wait(e, STRAGGLER_THROTTLED, MEASURE_THROTTLED, &throttled,
	    0, "a cgroup was over its limit of processors");
	add_wait(e, STRAGGLER_CPU, MEASURE_CPU_WAIT, &cpu, taken,
	    "tasks waited for a processor");
	return add_disk(e, for_memory) || for_memory > 0;
}

/* ---- data ---- */

static void
put_bytes(struct explaining *e, const struct compared *bytes, double rate,
    struct text metric, const char *what)
{
	char own[QUANTITY_TEXT_BYTES], peers[QUANTITY_TEXT_BYTES];
	struct straggler_cause *cause = add(e, STRAGGLER_BYTES,
	    (bytes->own - bytes->peers) / rate, metric, "By", bytes);

	if (cause != NULL)
		cause->clause = words(e->texts, "it had %s to %s, %s %s",
		    quantity_bytes(own, bytes->own), what, who_else(e),
		    quantity_bytes(peers, bytes->peers));
}

/* More than peers, at about their rate. */
static void
add_bytes(struct explaining *e, enum measure measure)
{
	struct compared bytes = compare(e, sum_of, measure, BYTES_FLOOR);
	struct compared rate = compare(e, rate_of, measure, 1);

	if (bytes.z > Z && bytes.peers > BYTES_FLOOR &&
	    bytes.own > MORE_BYTES * bytes.peers &&
	    rate.own > SLOWER * rate.peers)
		put_bytes(e, &bytes, rate.peers, measure_metric(measure),
		    measure == MEASURE_RECEIVED ? "receive" : "read");
}

/* The time that the same data would not have needed at the rate of peers. */
static double
slowed(const struct explaining *e, const struct compared *rate)
{
	return e->seconds * (1 - rate->own / rate->peers);
}

static bool
is_slow(const struct compared *rate)
{
	return rate->peers * WHY_PEERS_MIN > BYTES_FLOOR / 8 &&
	       rate->own < SLOWER * rate->peers && rate->z < -1;
}

static void
add_errors(struct explaining *e, const struct compared *rate)
{
	struct compared errors =
	    compare(e, rate_of, MEASURE_ERRORS, ERRORS_FLOOR);
	struct straggler_cause *cause;

	if (!(errors.z > Z && errors.own - errors.peers > ERRORS_FLOOR &&
		is_slow(rate)))
		return;
	cause = add(e, STRAGGLER_ERRORS, slowed(e, rate),
	    measure_metric(MEASURE_ERRORS), "{packet}/s", &errors);
	if (cause != NULL)
		cause->clause = words(e->texts,
		    "%.0f packets a second were lost or broken, %s %.0f",
		    errors.own, whose_else(e), errors.peers);
}

static void
add_data(struct explaining *e, const struct compared *rate)
{
	char own[QUANTITY_TEXT_BYTES], peers[QUANTITY_TEXT_BYTES];
	struct straggler_cause *cause;

	if (!is_slow(rate) || isnan(e->own->sum[MEASURE_IO_WAIT]))
		return;
	cause = add(e, STRAGGLER_DATA, slowed(e, rate),
	    measure_metric(MEASURE_RECEIVED), "By/s", rate);
	if (cause != NULL)
		cause->clause = words(e->texts,
		    "data came at %s/s, %s at %s/s: network or registry, "
		    "nothing on the node",
		    quantity_bytes(own, rate->own),
		    e->straggler->is_of_node ? "earlier" : "to others",
		    quantity_bytes(peers, rate->peers));
}

static double
most_explained(const struct explaining *e)
{
	double most = 0;

	for (uint32_t i = 0; i < e->count; i++)
		most = fmax(most, e->found[i].share);
	return most;
}

/* ---- without samples ---- */

static void
add_clock(struct explaining *e)
{
	char step[QUANTITY_TEXT_BYTES];
	struct compared c = { (double)e->own->stepped_ns / NS_PER_SECOND, NAN,
		0 };
	struct straggler_cause *cause;

	if (e->own->stepped_ns < CLOCK_FLOOR_NS)
		return;
	cause = add(e, STRAGGLER_CLOCK, c.own,
	    text_of("poolscope.clock.generation"), "s", &c);
	if (cause != NULL)
		cause->clause = words(e->texts, "its clock was set by %s",
		    quantity_time(step, (double)e->own->stepped_ns));
}

static void
add_place(struct explaining *e, const struct why_known *known)
{
	struct compared c = { known->waited, known->peers_waited, 0 };
	char own[QUANTITY_TEXT_BYTES], peers[QUANTITY_TEXT_BYTES];
	struct straggler_cause *cause = add(e, STRAGGLER_PLACE, c.own - c.peers,
	    (struct text){ NULL, 0 }, "s", &c);

	if (cause != NULL)
		cause->clause = words(e->texts,
		    "it waited %s for places, for the last one until %.*s had "
		    "done with it; others %s",
		    quantity_time(own, c.own * NS_PER_SECOND),
		    (int)known->holder.bytes, known->holder.at,
		    quantity_time(peers, c.peers * NS_PER_SECOND));
}

/* As many as its events say. */
static void
add_size(struct explaining *e, const struct why_known *known)
{
	struct compared c = { known->bytes, known->peers_bytes, 0 };

	if (known->bytes > MORE_BYTES * known->peers_bytes)
		put_bytes(
		    e, &c, known->peers_rate, (struct text){ NULL, 0 }, "move");
}

/* Of peers, which may be much faster, no sample need lie in the time: those
 * around it say what it was like. */
static bool
is_covered(const struct measured_window *window)
{
	return measured_seconds(window) > MEASURED * length_of(window);
}

static bool
is_measured(const struct measured_window *window)
{
	return measured_samples(window) >= SAMPLES_MIN && is_covered(window);
}

/* ---- all ---- */

/* What explains most comes first; of equals what is looked for first. */
static int
by_share(const void *left, const void *right)
{
	const struct straggler_cause *a = left, *b = right;

	if (a->explained_ns != b->explained_ns)
		return a->explained_ns > b->explained_ns ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

void
why_explain_by(
    struct straggler *straggler, enum straggler_kind kind, const char *clause)
{
	straggler->cause[0] = (struct straggler_cause){ .kind = kind,
		.share = NAN,
		.explained_ns = STRAGGLER_NO_NS,
		.value = NAN,
		.peers = NAN,
		.clause = text_of(clause) };
	straggler->causes = 1;
}

/* Together they explain no more than all. */
static void
choose(struct explaining *e, bool is_known)
{
	struct straggler *straggler = e->straggler;
	double sum = 0;

	qsort(e->found, e->count, sizeof(*e->found), by_share);
	straggler->causes = 0;
	for (uint32_t i = 0; i < e->count && e->found[i].share >= NAMED; i++) {
		straggler->cause[straggler->causes++] = e->found[i];
		sum += e->found[i].share;
	}
	for (uint32_t i = 0; sum > 1 && i < straggler->causes; i++) {
		struct straggler_cause *cause = &straggler->cause[i];

		cause->share /= sum;
		cause->explained_ns =
		    (int64_t)llround((double)cause->explained_ns / sum);
	}
	if (straggler->causes > 0)
		return;
	if (is_known)
		why_explain_by(straggler, STRAGGLER_UNKNOWN,
		    isnan(e->own->sum[MEASURE_IO_WAIT])
			? "nothing that is measured differs, but waiting "
			  "(pressure) is not measured there"
			: "nothing that is measured differs");
	else
		why_explain_by(straggler, STRAGGLER_UNMEASURED,
		    measured_seconds(e->own) > 0
			? "there are too few samples of the node in this time"
			: "there are no samples of the node in this time");
}

void
why_explain(struct straggler *straggler, const struct measured *measured,
    uint32_t own, const uint32_t *peers, uint32_t peer_count,
    const struct why_known *from, struct string_table *texts)
{
	uint32_t *known = memory_zero((size_t)peer_count + 1, sizeof(*known));
	struct explaining e = { .straggler = straggler,
		.measured = measured,
		.own = &measured->at[own],
		.peers = known,
		.room = memory_zero((size_t)peer_count + 1, sizeof(double)),
		.texts = texts,
		.seconds = (double)straggler->time_ns / NS_PER_SECOND,
		.lost = (double)straggler->lost_ns / NS_PER_SECOND };
	bool is_known = is_measured(e.own);

	for (uint32_t i = 0; i < peer_count; i++)
		if (is_covered(&measured->at[peers[i]]))
			known[e.peer_count++] = peers[i];
	add_clock(&e);
	add_place(&e, from);
	add_size(&e, from);
	if (is_known) {
		struct compared rate =
		    compare(&e, rate_of, MEASURE_RECEIVED, 1);
		bool is_kept_back = add_waits(&e);

		if (isnan(from->bytes))
			add_bytes(&e, MEASURE_RECEIVED);
		if (isnan(from->bytes) && !is_kept_back)
			add_bytes(&e, MEASURE_DISK_READ);
		add_errors(&e, &rate);
		if (!is_kept_back && most_explained(&e) < NAMED)
			add_data(&e, &rate);
	}
	choose(&e, is_known);
	free(e.room);
	free(known);
}

void
why_explain_begin(struct straggler *straggler, struct string_table *texts)
{
	char own[QUANTITY_TEXT_BYTES], peers[QUANTITY_TEXT_BYTES];
	struct straggler_cause *cause = &straggler->cause[0];

	why_explain_by(straggler, STRAGGLER_BEGAN, "");
	cause->share = 1;
	cause->explained_ns = straggler->lost_ns;
	cause->unit = text_of("s");
	cause->value = (double)straggler->time_ns / NS_PER_SECOND;
	cause->peers = (double)straggler->usual_ns / NS_PER_SECOND;
	cause->clause = words(texts, "it began %s after the start, others %s",
	    quantity_time(own, (double)straggler->time_ns),
	    quantity_time(peers, (double)straggler->usual_ns));
}
