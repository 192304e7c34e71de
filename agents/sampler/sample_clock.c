/*
 * sampler_sample_clock - samples of this host's clock: its offset.
 *
 * A report depends on an answer of the aggregator, not on the time: an agent
 * that sends nothing learns nothing and reports nothing.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents/sampler/sampler_private.h"

enum {
	RUN_BITS = 16
}; /* bits of a generation's number, below the number of the start */

/* An expected report waits for other samples that are due within this time. */
#define WAIT_NS (15 * NS_PER_SECOND)
#define HOUR_NS (3600 * NS_PER_SECOND)

static void
on_timer(void *arg, struct loop_timer *timer)
{
	struct sampler *sampler = arg;

	(void)timer;
	sampler_read_clock(sampler);
	sampler_flush(sampler);
}

void
sampler_open_clock(struct sampler *sampler)
{
	struct sampler_clock *clock = &sampler->clock;

	clock_offset_init(&clock->clock_offset, &sampler->options.began,
	    sampler->options.start_count << RUN_BITS);
	clock->timer.on_timer = on_timer;
	clock->timer.arg = sampler;
}

void
sampler_close_clock(struct sampler *sampler)
{
	loop_stop_timer(sampler->options.loop, &sampler->clock.timer);
}

/* The bit of far_reported for an offset of 2^k hours or more: 2k, or 2k + 1 if
 * the offset is negative. */
static unsigned
class_of(int64_t offset_ns)
{
	unsigned class = 0;

	for (int64_t hours = llabs(offset_ns) / HOUR_NS; hours > 1; hours /= 2)
		class ++;
	return 2 * class + (offset_ns < 0);
}

/* A query for a time must know which clocks were so far off that their samples
 * are stored under other hours. */
static void
report_far(struct sampler *sampler, int64_t offset_ns)
{
	unsigned class = class_of(offset_ns);
	int64_t least_ns = HOUR_NS << class / 2, greatest_ns = 2 * least_ns;
	struct value least = { VALUE_INT, { .i = least_ns } };
	struct value greatest = { VALUE_INT, { .i = greatest_ns } };
	char id[NAME_BYTES_MAX + 16];
	unsigned char pairs[64];
	struct wire_writer writer;
	struct record entity = { .kind = RECORD_ENTITY,
		.source = text_of("clock"),
		.attributes = 2 };

	if (llabs(offset_ns) < HOUR_NS ||
	    (sampler->clock.far_reported >> class & 1) != 0)
		return;
	if (offset_ns < 0) {
		least.is.i = -greatest_ns;
		greatest.is.i = -least_ns;
	}
	snprintf(id, sizeof(id), "%.*s/%u", (int)sampler->options.node.bytes,
	    sampler->options.node.at, class);
	entity.name = text_of(id);
	if (text_check_name(entity.name) != TEXT_OK)
		return;
	wire_writer_init(&writer, pairs, sizeof(pairs));
	wire_put_attribute(&writer, text_of("least_ns"), &least);
	wire_put_attribute(&writer, text_of("greatest_ns"), &greatest);
	entity.pairs =
	    (struct text){ (const char *)pairs, (uint32_t)writer.bytes };
	if (!wire_put_record(&sampler->descriptions, &entity)) {
		sampler_flush(sampler);
		wire_put_record(&sampler->descriptions, &entity);
	}
	sampler->clock.far_reported |= UINT64_C(1) << class;
}

static void
add(struct sampler *sampler, const struct clock_offset_estimate *estimate)
{
	const struct value values[] = { [METRIC_CLOCK_OFFSET] = { VALUE_INT,
					    { .i = estimate->offset_ns } },
		[METRIC_CLOCK_ERROR] = { VALUE_INT,
		    { .i = estimate->error_ns } },
		[METRIC_CLOCK_DRIFT] = { VALUE_INT,
		    { .i = llround(estimate->drift * 1e9) } },
		[METRIC_CLOCK_DRIFT_ERROR] = { VALUE_INT,
		    { .i = (int64_t)ceil(estimate->drift_error * 1e9) } },
		[METRIC_CLOCK_ROUND_TRIP] = { VALUE_INT,
		    { .i = estimate->round_trip_ns } },
		[METRIC_CLOCK_GENERATION] = sampler_whole(estimate->generation),
		[METRIC_CLOCK_BEGIN] = {
		    VALUE_INT, { .i = estimate->begin_ns } } };
	int64_t now_ns = sampler->now_ns;

	if (estimate->time_ns < TIME_MIN_NS || estimate->time_ns > TIME_MAX_NS)
		return;
	report_far(sampler, estimate->offset_ns);
	sampler->now_ns = estimate->time_ns;
	sampler_add(sampler, &metric_group_clock, text_of("clock"), values);
	sampler->now_ns = now_ns;
}

/* Report the last estimate of a generation as well: it marks its end. */
static void
end_generation(
    struct sampler_clock *clock, const struct clock_offset_estimate *last)
{
	if (clock->steps == SAMPLER_STEPS_MAX)
		clock->steps--;
	clock->last[clock->steps++] = *last;
}

/* Is `estimate` as good as the stored one has become with age? */
static bool
is_better(const struct clock_offset_estimate *estimate,
    const struct clock_offset_estimate *than)
{
	double aged =
	    than->drift_error * (double)(estimate->time_ns - than->time_ns);

	return than->generation != estimate->generation ||
	       estimate->error_ns <= than->error_ns + (int64_t)aged;
}

/* Take the report now: an answer has just come, and the estimate will not get
 * better before the next one. */
static void
find_news(struct sampler_clock *clock)
{
	uint64_t probes = clock->clock_offset.probes - clock->reported_probes;
	struct clock_offset_now now = clock_offset_now();
	struct clock_offset_estimate estimate;

	if (!clock_offset_get(&clock->clock_offset, &now, &estimate))
		return;
	if (clock->reported.generation != 0 && clock->news.generation == 0 &&
	    !clock_offset_is_news(&clock->reported, &estimate, probes))
		return;
	if (clock->news.generation == 0 || is_better(&estimate, &clock->news))
		clock->news = estimate;
}

static void
set_timer(struct sampler *sampler)
{
	struct sampler_clock *clock = &sampler->clock;
	int64_t now_ns = clock_monotonic_ns();
	bool surprise =
	    clock->reported.generation != clock->clock_offset.generation;

	if (clock->timer.at_ns != 0 ||
	    (!surprise &&
		schedule_next_ns(&sampler->schedule) - now_ns < WAIT_NS))
		return;
	loop_set_timer(sampler->options.loop, &clock->timer,
	    now_ns + sampler->options.send_interval_ns, 0);
}

static void
check_news(struct sampler *sampler)
{
	find_news(&sampler->clock);
	if (sampler->clock.steps > 0 || sampler->clock.news.generation != 0)
		set_timer(sampler);
}

void
sampler_watch_clock(struct sampler *sampler)
{
	struct clock_offset_now now = clock_offset_now();
	struct clock_offset_estimate last;
	bool known;

	if (sampler == NULL || !clock_offset_watch(&sampler->clock.clock_offset,
				   &now, &last, &known))
		return;
	if (known)
		end_generation(&sampler->clock, &last);
	check_news(sampler);
}

/* The first batch after a pause wakes every process on its way, while the
 * answer finds them awake: that biases the offset by half of the difference.
 * A probe sent at once afterwards is biased less, and its round trip is
 * shorter. */
static bool
wants_another(
    struct sampler_clock *clock, const struct clock_offset_probe *probe)
{
	int64_t slot = probe->arrived_ns / clock->clock_offset.drift.slot_ns;
	bool wants = slot != clock->asked_slot;

	clock->asked_slot = slot;
	return wants;
}

bool
sampler_probed(struct sampler *sampler, const struct clock_offset_probe *probe)
{
	struct clock_offset_estimate last;
	bool known;

	if (sampler == NULL)
		return false;
	sampler_watch_clock(sampler);
	clock_offset_add(&sampler->clock.clock_offset, probe, &last, &known);
	if (known)
		end_generation(&sampler->clock, &last);
	check_news(sampler);
	return wants_another(&sampler->clock, probe);
}

void
sampler_read_clock(struct sampler *sampler)
{
	struct sampler_clock *clock = &sampler->clock;

	sampler_watch_clock(sampler);
	loop_stop_timer(sampler->options.loop, &clock->timer);
	for (uint32_t i = 0; i < clock->steps; i++)
		add(sampler, &clock->last[i]);
	clock->steps = 0;
	if (clock->news.generation == 0)
		return;
	add(sampler, &clock->news);
	clock->reported = clock->news;
	clock->news.generation = 0;
	clock->reported_probes = clock->clock_offset.probes;
}
