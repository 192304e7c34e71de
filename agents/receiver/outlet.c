/*
 * outlet - where a source hands its numbers to the agent.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/outlet.h"

#include <stdlib.h>
#include <string.h>

#include "agents/accept/series_limit.h"
#include "agents/receiver/receiver.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/record/counter_rate.h"

struct outlet {
	struct receiver_source *source;
	struct submit_options options;
	struct submit *submit;
	struct series_limit *limit;
	/* Collected in `submit`: how many numbers, and the name of one. */
	uint64_t waiting;
	char waiting_name[NAME_BYTES_MAX + 1];
	bool failed; /* since the last flush: the agent takes nothing */
	int64_t logged_ns;
	const struct prometheus_page *page; /* the caller's */
	struct compose compose;
};

/* The agent refuses a group: what it counts is not only of this process. */
static void
on_refused(void *arg, const struct record *definition, const struct err *err)
{
	struct outlet *outlet = arg;
	struct text names = { "", 0 }, name;

	(void)err;
	record_find_text(definition, "names", &names);
	while ((name = text_next_word(&names)).bytes > 0) {
		if (text_equal(name, text_of(COUNTER_RATE_BOOT_COLUMN)))
			continue;
		report_refused(&outlet->source->report, name, 1);
		outlet->waiting -= outlet->waiting > 0;
	}
}

void
outlet_new(struct outlet **made, struct receiver_source *source)
{
	struct outlet *outlet = memory_zero(1, sizeof(*outlet));

	outlet->source = source;
	outlet->options = source->receiver->submit;
	outlet->options.on_refused = on_refused;
	outlet->options.arg = outlet;
	submit_new(&outlet->submit, &outlet->options);
	series_limit_new(&outlet->limit);
	*made = outlet;
}

void
outlet_free(struct outlet **outlet)
{
	if (*outlet == NULL)
		return;
	submit_free(&(*outlet)->submit);
	series_limit_free(&(*outlet)->limit);
	free(*outlet);
	*outlet = NULL;
}

static void
note_failure(struct outlet *outlet, const struct err *err)
{
	if (log_is_due(&outlet->logged_ns))
		log_warn("%s: the agent does not take the numbers: %s",
		    outlet->source->name, err->text);
}

/* What became of the collected numbers. */
static void
settle(struct outlet *outlet, enum submit_result result, const struct err *err)
{
	struct receiver_report *report = &outlet->source->report;

	switch (result) {
	case SUBMIT_DONE:
	case SUBMIT_FORBIDDEN: report_taken(report, outlet->waiting); break;
	case SUBMIT_FAILED:
		note_failure(outlet, err);
		if (outlet->waiting > 0)
			report_refused(report, text_of(outlet->waiting_name),
			    outlet->waiting);
		break;
	case SUBMIT_LATER:
		note_failure(outlet, err);
		report_lost(report, outlet->waiting);
		outlet->failed = true;
		break;
	}
	outlet->waiting = 0;
}

/* False: a series too many. */
static bool
admits(struct outlet *outlet, const struct dynamic_group *group)
{
	const struct text none = { NULL, 0 };
	struct err err;

	if (series_limit_take(outlet->limit, 0, none, text_of(group->name),
		group->numbers, clock_monotonic_ns(), &err) == 0)
		return true;
	for (uint32_t i = 0; i < group->numbers; i++)
		report_refused(
		    &outlet->source->report, group->number[i].name, 1);
	return false;
}

static void
wait_with(struct outlet *outlet, const struct dynamic_group *group)
{
	struct text name = group->number[0].name;

	memcpy(outlet->waiting_name, name.at, name.bytes);
	outlet->waiting_name[name.bytes] = '\0';
	outlet->waiting += group->numbers;
}

void
outlet_group(struct outlet *outlet, const struct dynamic_group *group)
{
	enum submit_result result;
	struct err err = { 0 };

	if (!admits(outlet, group))
		return;
	if (outlet->failed) {
		report_lost(&outlet->source->report, group->numbers);
		return;
	}
	/* What fails or succeeds while a group is added are those before it. */
	for (int tries = 0; tries < 2; tries++) {
		uint64_t before = submit_events(outlet->submit);

		result = prometheus_page_add(
		    outlet->submit, &outlet->compose, group, &err);
		if (result == SUBMIT_DONE) {
			if (submit_events(outlet->submit) > before)
				settle(outlet, result, &err);
			wait_with(outlet, group);
			return;
		}
		settle(outlet, result, &err);
		if (result == SUBMIT_LATER)
			break;
	}
	wait_with(outlet, group);
	settle(outlet, result, &err);
}

void
outlet_numbers(struct outlet *outlet, struct text origin,
    struct dynamic_label *label, uint32_t labels, struct dynamic_number *number,
    uint32_t numbers, int64_t time_ns)
{
	struct dynamic_group group = {
		.origin = origin,
		.label = label,
		.labels = labels,
		.number = number,
		.numbers = numbers,
		.time_ns = time_ns,
	};
	unsigned char room[4096];
	struct err err;

	if (dynamic_group_make(&group, room, sizeof(room), &err) == 0)
		outlet_group(outlet, &group);
}

bool
outlet_flush(struct outlet *outlet)
{
	struct err err = { 0 };
	bool failed;

	settle(outlet, submit_flush(outlet->submit, &err), &err);
	failed = outlet->failed;
	outlet->failed = false;
	return !failed;
}

/* ---- pages ---- */

static int
on_group(void *arg, const struct dynamic_group *group)
{
	outlet_group(arg, group);
	return 0;
}

static void
on_bad(void *arg, uint64_t line, struct text text, const char *reason,
    const struct err *err)
{
	struct outlet *outlet = arg;

	(void)line;
	report_bad(&outlet->source->report, reason, text, err->text, 1);
}

static bool
wants(void *arg, struct text name)
{
	const struct prometheus_page *page = ((struct outlet *)arg)->page;

	return page->wants(page->arg, name);
}

bool
outlet_page(struct outlet *outlet, struct prometheus_page *page, bool is_new)
{
	struct prometheus_page ours = *page;

	outlet->page = page;
	ours.arg = outlet;
	if (ours.boot == 0)
		ours.boot = outlet->source->receiver->boot;
	ours.on_group = on_group;
	ours.on_bad = is_new ? on_bad : NULL;
	ours.wants = page->wants != NULL ? wants : NULL;
	prometheus_page_read(&ours);
	page->numbers = ours.numbers;
	page->bad = ours.bad;
	return outlet_flush(outlet);
}
