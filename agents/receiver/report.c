/*
 * report - what a source has taken, and what it could not take.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/report.h"

#include <string.h>

#include "proto/os/log.h"

enum { EXAMPLE_BYTES = 64 };

void
receiver_report_init(struct receiver_report *report, const char *source)
{
	*report = (struct receiver_report){ .source = source };
	pthread_mutex_init(&report->lock, NULL);
}

void
report_taken(struct receiver_report *report, uint64_t count)
{
	atomic_fetch_add_explicit(&report->taken, count, memory_order_relaxed);
}

void
report_lost(struct receiver_report *report, uint64_t count)
{
	atomic_fetch_add_explicit(&report->lost, count, memory_order_relaxed);
}

/* The last one takes what no other has room for. */
static struct receiver_bad *
bad_of(struct receiver_report *report, const char *reason)
{
	for (uint32_t i = 0; i < report->reasons; i++)
		if (strcmp(report->bad[i].reason, reason) == 0)
			return &report->bad[i];
	if (report->reasons == RECEIVER_REASONS_MAX)
		return &report->bad[RECEIVER_REASONS_MAX - 1];
	report->bad[report->reasons].reason = reason;
	return &report->bad[report->reasons++];
}

void
report_bad(struct receiver_report *report, const char *reason,
    struct text example, const char *why, uint64_t count)
{
	char shown[EXAMPLE_BYTES + 8];
	struct receiver_bad *bad;
	uint64_t news = 0;

	pthread_mutex_lock(&report->lock);
	bad = bad_of(report, reason);
	bad->count += count;
	if (log_is_due(&bad->logged_ns)) {
		news = bad->count - bad->logged;
		bad->logged = bad->count;
	}
	pthread_mutex_unlock(&report->lock);
	if (news > 0)
		log_warn("%s: %llu left out, reason %s: '%s'%s%s",
		    report->source, (unsigned long long)news, reason,
		    text_quote(shown, sizeof(shown), example),
		    why != NULL ? ": " : "", why != NULL ? why : "");
}

/* The place of the name; if there is none, that of the one that was refused
 * least, whose count it inherits: what is refused most is always here (Metwally
 * and others, "Efficient computation of frequent and top-k elements in data
 * streams"). */
static struct receiver_refused *
refused_of(struct receiver_report *report, struct text name)
{
	struct receiver_refused *least = &report->name[0];

	for (uint32_t i = 0; i < report->names; i++) {
		struct receiver_refused *each = &report->name[i];

		if (text_equal(text_of(each->name), name))
			return each;
		if (each->count < least->count)
			least = each;
	}
	if (report->names < RECEIVER_NAMES_MAX)
		least = &report->name[report->names++];
	memcpy(least->name, name.at, name.bytes);
	least->name[name.bytes] = '\0';
	return least;
}

void
report_refused(struct receiver_report *report, struct text name, uint64_t count)
{
	if (name.bytes > NAME_BYTES_MAX)
		name.bytes = NAME_BYTES_MAX;
	atomic_fetch_add_explicit(
	    &report->refused, count, memory_order_relaxed);
	pthread_mutex_lock(&report->lock);
	refused_of(report, name)->count += count;
	pthread_mutex_unlock(&report->lock);
}

uint32_t
report_read_bad(struct receiver_report *report,
    struct receiver_bad to[static RECEIVER_REASONS_MAX])
{
	uint32_t reasons;

	pthread_mutex_lock(&report->lock);
	reasons = report->reasons;
	memcpy(to, report->bad, reasons * sizeof(*to));
	pthread_mutex_unlock(&report->lock);
	return reasons;
}

bool
report_take_refused(
    struct receiver_report *report, struct receiver_refused *most)
{
	most->count = 0;
	pthread_mutex_lock(&report->lock);
	for (uint32_t i = 0; i < report->names; i++)
		if (report->name[i].count > most->count)
			*most = report->name[i];
	report->names = 0;
	memset(report->name, 0, sizeof(report->name));
	pthread_mutex_unlock(&report->lock);
	return most->count > 0;
}
