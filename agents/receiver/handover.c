/*
 * handover - what a source hands its numbers to the agent with.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/handover.h"

#include <stdlib.h>
#include <string.h>

#include "agents/accept/series_limit.h"
#include "agents/receiver/receiver.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/record/counter_rate.h"

struct handover {
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
	struct handover *handover = arg;
	struct text names = { "", 0 }, name;

	(void)err;
	record_find_text(definition, "names", &names);
	while ((name = text_next_word(&names)).bytes > 0) {
		if (text_equal(name, text_of(COUNTER_RATE_BOOT_COLUMN)))
			continue;
		report_refused(&handover->source->report, name, 1);
		handover->waiting -= handover->waiting > 0;
	}
}

void
handover_new(struct handover **made, struct receiver_source *source)
{
	struct handover *handover = memory_zero(1, sizeof(*handover));

	handover->source = source;
	handover->options = source->receiver->submit;
	handover->options.on_refused = on_refused;
	handover->options.arg = handover;
	submit_new(&handover->submit, &handover->options);
	series_limit_new(&handover->limit);
	*made = handover;
}

void
handover_free(struct handover **handover)
{
	if (*handover == NULL)
		return;
	submit_free(&(*handover)->submit);
	series_limit_free(&(*handover)->limit);
	free(*handover);
	*handover = NULL;
}

static void
note_failure(struct handover *handover, const struct err *err)
{
	if (log_is_due(&handover->logged_ns))
		log_warn("%s: the agent does not take the numbers: %s",
		    handover->source->name, err->text);
}

/* What became of the collected numbers. */
static void
settle(
    struct handover *handover, enum submit_result result, const struct err *err)
{
	struct receiver_report *report = &handover->source->report;

	switch (result) {
	case SUBMIT_DONE:
	case SUBMIT_FORBIDDEN: report_taken(report, handover->waiting); break;
	case SUBMIT_FAILED:
		note_failure(handover, err);
		if (handover->waiting > 0)
			report_refused(report, text_of(handover->waiting_name),
			    handover->waiting);
		break;
	case SUBMIT_LATER:
		note_failure(handover, err);
		report_lost(report, handover->waiting);
		handover->failed = true;
		break;
	}
	handover->waiting = 0;
}

/* False: a series too many. */
static bool
admits(struct handover *handover, const struct dynamic_group *group)
{
	const struct text none = { NULL, 0 };
	struct err err;

	if (series_limit_take(handover->limit, 0, none, text_of(group->name),
		group->numbers, clock_monotonic_ns(), &err) == 0)
		return true;
	for (uint32_t i = 0; i < group->numbers; i++)
		report_refused(
		    &handover->source->report, group->number[i].name, 1);
	return false;
}

static void
wait_with(struct handover *handover, const struct dynamic_group *group)
{
	struct text name = group->number[0].name;

	memcpy(handover->waiting_name, name.at, name.bytes);
	handover->waiting_name[name.bytes] = '\0';
	handover->waiting += group->numbers;
}

void
handover_group(struct handover *handover, const struct dynamic_group *group)
{
	enum submit_result result;
	struct err err = { 0 };

	if (!admits(handover, group))
		return;
	if (handover->failed) {
		report_lost(&handover->source->report, group->numbers);
		return;
	}
	/* What fails or succeeds while a group is added are those before it. */
	for (int tries = 0; tries < 2; tries++) {
		uint64_t before = submit_events(handover->submit);

		result = prometheus_page_add(
		    handover->submit, &handover->compose, group, &err);
		if (result == SUBMIT_DONE) {
			if (submit_events(handover->submit) > before)
				settle(handover, result, &err);
			wait_with(handover, group);
			return;
		}
		settle(handover, result, &err);
		if (result == SUBMIT_LATER)
			break;
	}
	wait_with(handover, group);
	settle(handover, result, &err);
}

void
handover_numbers(struct handover *handover, struct text origin,
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
		handover_group(handover, &group);
}

bool
handover_flush(struct handover *handover)
{
	struct err err = { 0 };
	bool failed;

	settle(handover, submit_flush(handover->submit, &err), &err);
	failed = handover->failed;
	handover->failed = false;
	return !failed;
}

/* ---- pages ---- */

static int
on_group(void *arg, const struct dynamic_group *group)
{
	handover_group(arg, group);
	return 0;
}

static void
on_bad(void *arg, uint64_t line, struct text text, const char *reason,
    const struct err *err)
{
	struct handover *handover = arg;

	(void)line;
	report_bad(&handover->source->report, reason, text, err->text, 1);
}

static bool
wants(void *arg, struct text name)
{
	const struct prometheus_page *page = ((struct handover *)arg)->page;

	return page->wants(page->arg, name);
}

bool
handover_page(
    struct handover *handover, struct prometheus_page *page, bool is_new)
{
	struct prometheus_page ours = *page;

	handover->page = page;
	ours.arg = handover;
	if (ours.boot == 0)
		ours.boot = handover->source->receiver->boot;
	ours.on_group = on_group;
	ours.on_bad = is_new ? on_bad : NULL;
	ours.wants = page->wants != NULL ? wants : NULL;
	prometheus_page_read(&ours);
	page->numbers = ours.numbers;
	page->bad = ours.bad;
	return handover_flush(handover);
}
