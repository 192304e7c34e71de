/*
 * publish - the source that publishes the reports of all others.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/publish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/submit/prometheus_page.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { NUMBERS_MAX = 3 + RECEIVER_REASONS_MAX, NAME_BYTES = 64 };

/* Of a source that is refused something at every turn, an event is enough. */
#define EVENT_NS (3600 * NS_PER_SECOND)

/* A report as a group. */
struct publisher {
	struct receiver_source source; /* its own */
	struct submit *submit;
	struct compose compose;
	int64_t logged_ns;
	int64_t event_ns[RECEIVER_SOURCES_MAX]; /* the last one; 0: none */
	char name[RECEIVER_REASONS_MAX][NAME_BYTES];
	struct receiver_bad bad[RECEIVER_REASONS_MAX];
	struct dynamic_number number[NUMBERS_MAX];
	uint32_t numbers;
	unsigned char room[16 << 10];
};

static void
add_number(struct publisher *publisher, const char *name, uint64_t count)
{
	publisher->number[publisher->numbers++] = (struct dynamic_number){
		.name = text_of(name),
		.counter = true,
		.value = { .type = VALUE_INT, .is.i = (int64_t)count },
	};
}

static void
take_numbers(struct publisher *publisher, struct receiver_report *report)
{
	uint32_t reasons = report_read_bad(report, publisher->bad);

	publisher->numbers = 0;
	add_number(
	    publisher, "poolscope.receiver.taken", atomic_load(&report->taken));
	add_number(
	    publisher, "poolscope.receiver.lost", atomic_load(&report->lost));
	add_number(publisher, "poolscope.receiver.refused",
	    atomic_load(&report->refused));
	for (uint32_t i = 0; i < reasons; i++) {
		snprintf(publisher->name[i], NAME_BYTES,
		    "poolscope.receiver.bad.%s", publisher->bad[i].reason);
		add_number(
		    publisher, publisher->name[i], publisher->bad[i].count);
	}
}

static enum submit_result
put_group(struct publisher *publisher, struct receiver_report *report,
    struct err *err)
{
	struct dynamic_label label = { text_of("source"),
		text_of(report->source) };
	struct dynamic_group group = {
		.origin = text_of("receiver"),
		.label = &label,
		.number = publisher->number,
		.labels = 1,
		.time_ns = clock_wall_ns(),
		.boot = publisher->source.receiver->boot,
	};

	take_numbers(publisher, report);
	group.numbers = publisher->numbers;
	if (dynamic_group_make(
		&group, publisher->room, sizeof(publisher->room), err) != 0)
		return SUBMIT_FAILED;
	return prometheus_page_add(
	    publisher->submit, &publisher->compose, &group, err);
}

/* The event that says which name has too many series. */
static enum submit_result
put_refused(struct publisher *publisher, struct receiver_report *report,
    int64_t *event_ns, struct err *err)
{
	int64_t now_ns = clock_monotonic_ns();
	struct compose *compose = &publisher->compose;
	struct receiver_refused most;

	if ((*event_ns != 0 && now_ns - *event_ns < EVENT_NS) ||
	    !report_take_refused(report, &most))
		return SUBMIT_DONE;
	*event_ns = now_ns;
	if (compose_event(
		compose, text_of("receiver"), text_of("refused"), err) != 0 ||
	    compose_attribute(compose, text_of("source"),
		&(struct value){
		    .type = VALUE_TEXT, .is.text = text_of(report->source) },
		err) != 0 ||
	    compose_attribute(compose, text_of("metric"),
		&(struct value){
		    .type = VALUE_TEXT, .is.text = text_of(most.name) },
		err) != 0 ||
	    compose_attribute(compose, text_of("count"),
		&(struct value){
		    .type = VALUE_INT, .is.i = (int64_t)most.count },
		err) != 0 ||
	    compose_end(compose, err) != 0)
		return SUBMIT_FAILED;
	return submit_add(publisher->submit, compose, err);
}

static void
publish(struct publisher *publisher)
{
	const struct receiver *receiver = publisher->source.receiver;
	enum submit_result result = SUBMIT_DONE;
	struct err err = { 0 };

	for (uint32_t i = 0; i < receiver->sources; i++) {
		struct receiver_source *source = receiver->source[i];

		if (source == &publisher->source)
			continue;
		if (result == SUBMIT_DONE)
			result = put_group(publisher, &source->report, &err);
		if (result == SUBMIT_DONE)
			result = put_refused(publisher, &source->report,
			    &publisher->event_ns[i], &err);
	}
	if (result == SUBMIT_DONE)
		result = submit_flush(publisher->submit, &err);
	if (result != SUBMIT_DONE && log_is_due(&publisher->logged_ns))
		log_warn("the agent does not take the receiver's own numbers: "
			 "%s",
		    err.text);
}

static void
run(struct receiver_source *source)
{
	struct publisher *publisher = source->arg;
	int64_t next_ns = clock_monotonic_ns();
	bool more = true;

	/* Once more when the process stops. */
	while (more) {
		next_ns += source->receiver->settings.period_ns;
		more = receiver_sleep(source, next_ns);
		publish(publisher);
	}
}

static int
open_it(struct receiver_source *source, struct err *err)
{
	struct publisher *publisher = source->arg;

	(void)err;
	submit_new(&publisher->submit, &source->receiver->submit);
	return 0;
}

static void
close_it(struct receiver_source *source)
{
	struct publisher *publisher = source->arg;

	submit_free(&publisher->submit);
	free(publisher);
}

int
publish_add(struct receiver *receiver, struct err *err)
{
	struct publisher *publisher = memory_zero(1, sizeof(*publisher));

	publisher->source = (struct receiver_source){
		.name = "receiver",
		.open = open_it,
		.run = run,
		.close = close_it,
		.arg = publisher,
	};
	return receiver_add(receiver, &publisher->source, err);
}
