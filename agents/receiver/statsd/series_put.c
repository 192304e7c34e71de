/*
 * series_put - the numbers of what the lines of statsd add up to.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/series_private.h"

#include <assert.h>
#include <math.h>

/* Whole numbers up to here are exact as double. */
#define WHOLE_MAX 9007199254740992.0

static const struct value none = { .type = VALUE_NIL };

/* Whole as long as that is exact, as they came. */
static struct value
value_of(double number)
{
	struct value value = { .type = VALUE_FLOAT, .is.f = number };

	if (number >= -WHOLE_MAX && number <= WHOLE_MAX &&
	    number == nearbyint(number)) {
		value.type = VALUE_INT;
		value.is.i = (int64_t)number;
	}
	return value;
}

/* A period without values has no least, greatest and 99 %. */
static void
put_timer(struct dynamic_number *number, const struct statsd_one *one)
{
	const struct statsd_timer *timer = &one->timer;
	struct text unit = text_of(one->type == STATSD_TIMER ? "ms" : "");
	bool any = timer->seen > 0;

	number[0] = (struct dynamic_number){ one->name[0], text_of(""), true,
		value_of(timer->count) };
	number[1] = (struct dynamic_number){ one->name[1], unit, !timer->fell,
		value_of(timer->sum) };
	number[2] = (struct dynamic_number){ one->name[2], unit, false,
		any ? value_of(timer->min) : none };
	number[3] = (struct dynamic_number){ one->name[3], unit, false,
		any ? value_of(timer->max) : none };
	number[4] = (struct dynamic_number){ one->name[4], unit, false,
		any ? value_of(statsd_timer_p99(timer)) : none };
}

static void
put_one(
    struct dynamic_number *number, const struct statsd_one *one, int64_t now_ns)
{
	struct value value = value_of(
	    one->type == STATSD_SET ? one->distinct.count : one->value);

	if (statsd_is_timer(one->type)) {
		put_timer(number, one);
		return;
	}
	if (one->type != STATSD_COUNTER && statsd_is_silent(one, now_ns))
		value = none;
	*number = (struct dynamic_number){ one->name[0], text_of(""),
		one->type == STATSD_COUNTER, value };
}

/* A group of these numbers, of the series. */
static struct dynamic_group
make(struct statsd_series *series, uint32_t tag_set, uint32_t numbers,
    int64_t time_ns, uint64_t boot)
{
	return (struct dynamic_group){
		.origin = text_of("statsd"),
		.label = series->tag_set[tag_set].label,
		.labels = series->tag_set[tag_set].labels,
		.number = series->number,
		.numbers = numbers,
		.time_ns = time_ns,
		.boot = boot,
	};
}

struct putting {
	enum statsd_put (*on_group)(
	    void *arg, const struct dynamic_group *group);
	void *arg;
};

static enum statsd_put
hand_over(struct statsd_series *series, struct dynamic_group *group,
    const struct putting *putting)
{
	struct err err;
	int rc = dynamic_group_make(
	    group, series->bytes, sizeof(series->bytes), &err);

	assert(rc == 0); /* begin_series has looked at everything */
	return putting->on_group(putting->arg, group);
}

static enum statsd_put
put_group(struct statsd_series *series, struct statsd_group *group,
    uint64_t boot, int64_t now_ns, int64_t wall_ns,
    const struct putting *putting)
{
	struct dynamic_group made;
	enum statsd_put put;
	uint32_t numbers = 0;

	if (statsd_group_has_ended(series, group, now_ns) ||
	    (group->refused_ns != 0 &&
		now_ns - group->refused_ns < STATSD_REFUSED_NS))
		return STATSD_PUT;
	for (uint32_t i = 0; i < group->members; i++) {
		const struct statsd_one *one = &series->one[group->member[i]];

		put_one(series->number + numbers, one, now_ns);
		numbers += statsd_columns_of(one);
	}
	made = make(series, group->tag_set, numbers, wall_ns, boot);
	put = hand_over(series, &made, putting);
	if (put == STATSD_PUT_REFUSED)
		group->refused_ns = now_ns;
	group->is_published |= put != STATSD_PUT_END;
	return put;
}

static enum statsd_put
put_timed(struct statsd_series *series, const struct statsd_timed *timed,
    const struct putting *putting)
{
	const struct statsd_one *one = &series->one[timed->series];
	struct dynamic_group made =
	    make(series, one->tag_set, 1, timed->time_ns, 0);

	series->number[0] = (struct dynamic_number){ one->name[0], text_of(""),
		false, value_of(timed->value) };
	return hand_over(series, &made, putting);
}

int
statsd_series_put(struct statsd_series *series, uint64_t boot, int64_t now_ns,
    int64_t wall_ns,
    enum statsd_put (*on_group)(void *arg, const struct dynamic_group *group),
    void *arg)
{
	const struct putting putting = { on_group, arg };
	enum statsd_put put = STATSD_PUT;

	for (uint32_t i = 0; i < series->groups && put != STATSD_PUT_END; i++)
		put = put_group(
		    series, &series->group[i], boot, now_ns, wall_ns, &putting);
	for (uint32_t i = 0; i < series->timed_count && put != STATSD_PUT_END;
	     i++)
		put = put_timed(series, &series->timed[i], &putting);
	return put == STATSD_PUT_END ? -1 : 0;
}
