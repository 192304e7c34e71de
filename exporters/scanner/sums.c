/*
 * scanner_sums - sums of the intervals and counters of a job.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/scanner/sums.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum { TOTALS_MAX = 1 << 22 };

static struct scanner_total *
find_total(struct scanner_sums *sums, uint32_t scope, enum scanner_role role,
    struct text name)
{
	struct scanner_range *range = &sums->ranges[scope];
	char key[sizeof(scope) + 1 + NAME_BYTES_MAX];
	uint32_t number;

	memcpy(key, &scope, sizeof(scope));
	key[sizeof(scope)] = (char)role;
	memcpy(key + sizeof(scope) + 1, name.at, name.bytes);
	number = string_table_add(&sums->keys,
	    (struct text){ key, (uint32_t)sizeof(scope) + 1 + name.bytes });
	if (number < sums->count)
		return &sums->at[number];
	sums->at =
	    memory_grow(sums->at, &sums->room, sums->count, sizeof(*sums->at));
	name.at = sums->keys.names[number].at + sizeof(scope) + 1;
	sums->at[sums->count++] = (struct scanner_total){
		.scope = scope, .role = role, .name = name
	};
	if (range->last == 0)
		range->first = number;
	range->last = number + 1;
	return &sums->at[number];
}

static void
add(struct scanner_sums *sums, uint32_t scope, enum scanner_role role,
    const struct scanner_sum *sum)
{
	struct scanner_total *total = find_total(sums, scope, role, sum->name);

	if (sum->is_counter) {
		total->is_counter = true;
		total->value += sum->value;
	} else {
		total->is_interval = true;
		total->count += sum->count;
		total->sum_ns += sum->sum_ns;
	}
}

static int
take_lines(struct scanner_sums *sums, const struct scanner_job *job,
    const struct scanner_job_thread *thread, const struct record *record,
    struct err *err)
{
	struct scanner_sum sum;
	struct text rest;

	if (!record_find_text(record, "lines", &rest))
		return err_set(err, "%s %.*s has no lines", SCANNER_SUMS,
		    (int)record->name.bytes, record->name.at);
	while (scanner_next_sum(&rest, &sum)) {
		if (sums->count > TOTALS_MAX)
			return err_set(err,
			    "job %.*s has more than %d names of intervals "
			    "and counters",
			    (int)job->id.bytes, job->id.at, TOTALS_MAX);
		add(sums, 1 + thread->node, thread->role, &sum);
		if (thread->role != SCANNER_IS_MASTER)
			add(sums, 0, thread->role, &sum);
	}
	if (rest.bytes > 0)
		return err_set(err, "cannot parse a line of %s %.*s",
		    SCANNER_SUMS, (int)record->name.bytes, record->name.at);
	return 0;
}

int
scanner_sums_read(struct scanner_sums *sums, const struct scanner_job *job,
    struct source *source, struct text partition, struct err *err)
{
	struct record record;
	uint32_t numbers[3];
	int rc;

	memset(sums, 0, sizeof(*sums));
	string_table_init(&sums->keys);
	sums->ranges = memory_zero(1 + job->node_count, sizeof(*sums->ranges));
	rc = scanner_job_select(job, source, partition, SCANNER_SUMS, err);
	while (rc == 0 && (rc = scanner_job_next(
			       job, source, &record, numbers, 3, err)) > 0) {
		const struct scanner_job_thread *thread =
		    scanner_job_thread(job, numbers);

		rc = thread == NULL
			 ? 0
			 : take_lines(sums, job, thread, &record, err);
	}
	return rc;
}

void
scanner_sums_clear(struct scanner_sums *sums)
{
	free(sums->at);
	free(sums->ranges);
	string_table_clear(&sums->keys);
	memset(sums, 0, sizeof(*sums));
}

const struct scanner_total *
scanner_sums_next(const struct scanner_sums *sums, uint32_t scope,
    enum scanner_role role, uint32_t *at)
{
	const struct scanner_range *range = &sums->ranges[scope];

	if (*at < range->first)
		*at = range->first;
	while (*at < range->last) {
		const struct scanner_total *total = &sums->at[(*at)++];

		if (total->scope == scope && total->role == role)
			return total;
	}
	return NULL;
}

const char *
scanner_digits(char to[static SCANNER_DIGITS], __int128 value)
{
	unsigned __int128 size =
	    value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
	char *at = to + SCANNER_DIGITS - 1;

	*at = '\0';
	do
		*--at = (char)('0' + (int)(size % 10));
	while ((size /= 10) > 0);
	if (value < 0)
		*--at = '-';
	return at;
}
