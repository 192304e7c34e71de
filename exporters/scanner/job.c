/*
 * job - a job of Scanner, read from the store, and sums over its spans.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/scanner/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/base/search.h"

enum { THREADS_MAX = 1 << 22 /* of a job */ };

/* ---- properties ---- */

static int64_t
get_int(const struct record *record, const char *key, int64_t otherwise)
{
	struct value value;

	if (!record_find_attribute(record, text_of(key), &value) ||
	    value.type != VALUE_INT)
		return otherwise;
	return value.is.i;
}

static struct text
get_text(const struct record *record, const char *key)
{
	struct text text = { "", 0 };

	(void)record_find_text(record, key, &text);
	return text;
}

/* ---- the job ---- */

static void
take_job(struct scanner_job *job, const struct record *record)
{
	job->session = record->id.session;
	job->id = string_table_keep(&job->texts, record->name);
	job->name = string_table_keep(&job->texts, get_text(record, "name"));
	job->damage =
	    string_table_keep(&job->texts, get_text(record, "damage"));
	job->base_ns = get_int(record, "base_ns", 0);
	job->begin_ns = get_int(record, "begin_ns", 0);
	job->end_ns = get_int(record, "end_ns", 0);
	job->intervals = get_int(record, "intervals", 0);
	job->damaged = get_int(record, "damaged", 0);
}

static int
find_job(struct scanner_job *job, struct source *source, struct text partition,
    const char *which, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct text wanted = text_of(which);
	struct record record;
	char shown[300], where[300];
	uint32_t named = 0;
	bool is_id = false;
	int rc;

	query.name = text_of(SCANNER_JOB ":*");
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		if (!text_equal(record.source, text_of(SCANNER_JOB)))
			continue;
		if (text_equal(record.name, wanted)) {
			is_id = true;
			take_job(job, &record);
		} else if (!is_id &&
			   text_equal(get_text(&record, "name"), wanted)) {
			named++;
			take_job(job, &record);
		}
	}
	text_quote(shown, sizeof(shown), wanted);
	if (rc == 0 && !is_id && named != 1)
		return err_set(err, "%s '%s' in partition %s of %s",
		    named == 0 ? "no profiles of job"
			       : "there is more than one job called",
		    shown, text_quote(where, sizeof(where), partition),
		    source_name(source));
	return rc;
}

/* ---- entities of the job ---- */

/* Start to read the entities of one kind of the job. */
static int
scanner_job_select(const struct scanner_job *job, struct source *source,
    struct text partition, const char *kind, struct err *err)
{
	char pattern[2 * NAME_BYTES_MAX + 2];
	struct wire_query query = source_query(1u << RECORD_ENTITY);

	snprintf(pattern, sizeof(pattern), "%s:%.*s/*", kind,
	    (int)job->id.bytes, job->id.at);
	query.name = text_of(pattern);
	return source_select(source, SOURCE_RECORDS, partition, &query, err);
}

/* "7/00001/00002": the numbers after the id of the job. */
static bool
parse_numbers(const struct scanner_job *job, struct text id, uint32_t *numbers,
    uint32_t levels)
{
	if (id.bytes != job->id.bytes + 6 * levels ||
	    memcmp(id.at, job->id.at, job->id.bytes) != 0)
		return false;
	for (uint32_t i = 0; i < levels; i++) {
		const char *at = id.at + job->id.bytes + (size_t)6 * i;
		uint64_t number;

		if (at[0] != '/' || number_parse_u64((struct text){ at + 1, 5 },
					&number, NULL) != 0)
			return false;
		numbers[i] = (uint32_t)number;
	}
	return true;
}

/* Like source_next, for entities of the job only; sets `numbers` to the numbers
 * in the id, of which there are `levels`. */
static int
scanner_job_next(const struct scanner_job *job, struct source *source,
    struct record *record, uint32_t *numbers, uint32_t levels, struct err *err)
{
	int rc;

	/* Ignore entities of an earlier import of other files. */
	while ((rc = source_next(source, record, err)) > 0)
		if (session_equal(&record->id.session, &job->session) &&
		    parse_numbers(job, record->name, numbers, levels))
			return 1;
	return rc;
}

static int
read_nodes(struct scanner_job *job, struct source *source,
    struct text partition, struct err *err)
{
	struct record record;
	uint32_t numbers;
	int rc;

	if (scanner_job_select(job, source, partition, SCANNER_NODE, err) != 0)
		return -1;
	while ((rc = scanner_job_next(job, source, &record, &numbers, 1, err)) >
	       0) {
		*MEMORY_ADD(job->nodes, job->node_room, job->node_count) =
		    (struct scanner_job_node){
			    .name = string_table_keep(
				&job->texts, get_text(&record, "node")),
			    .worker = (int64_t)numbers - 1,
			    .begin_ns = get_int(&record, "begin_ns", 0),
			    .end_ns = get_int(&record, "end_ns", 0),
			    .intervals = get_int(&record, "intervals", 0),
			    .damaged = get_int(&record, "damaged", 0),
		    };
	}
	return rc;
}

static bool
find_role(struct text type, enum scanner_role *role)
{
	for (int i = 0; i < SCANNER_ROLES; i++)
		if (text_equal(type, text_of(scanner_roles[i]))) {
			*role = (enum scanner_role)i;
			return true;
		}
	return false;
}

/* The node of a worker; nodes are sorted by worker.  UINT32_MAX: none. */
static uint32_t
find_node(const struct scanner_job *job, int64_t worker)
{
	uint32_t low =
	    LOWER_BOUND(i, 0, job->node_count, job->nodes[i].worker < worker);

	return low < job->node_count && job->nodes[low].worker == worker
		   ? low
		   : UINT32_MAX;
}

static int
read_threads(struct scanner_job *job, struct source *source,
    struct text partition, struct err *err)
{
	struct record record;
	uint32_t numbers[2];
	int rc;

	if (scanner_job_select(job, source, partition, SCANNER_THREAD, err) !=
	    0)
		return -1;
	while ((rc = scanner_job_next(job, source, &record, numbers, 2, err)) >
	       0) {
		struct scanner_job_thread thread = {
			.node = find_node(job, (int64_t)numbers[0] - 1),
			.order = numbers[1],
			.sort = get_int(&record, "sort", 0),
			.intervals = get_int(&record, "intervals", 0),
			.first_ns = get_int(&record, "first_ns", 0),
			.last_ns = get_int(&record, "last_ns", 0),
		};
		struct scanner_job_node *node;

		if (thread.node == UINT32_MAX ||
		    !find_role(get_text(&record, "type"), &thread.role))
			continue;
		if (job->thread_count == THREADS_MAX)
			return err_set(
			    err, "more than %d threads", THREADS_MAX);
		thread.track =
		    string_table_keep(&job->texts, get_text(&record, "track"));
		thread.name =
		    string_table_keep(&job->texts, get_text(&record, "name"));
		node = &job->nodes[thread.node];
		if (node->threads++ == 0)
			node->first = job->thread_count;
		*MEMORY_ADD(job->threads, job->thread_room, job->thread_count) =
		    thread;
	}
	return rc;
}

int
scanner_job_read(struct scanner_job *job, struct source *source,
    struct text partition, const char *which, struct err *err)
{
	memset(job, 0, sizeof(*job));
	string_table_init(&job->texts);
	if (find_job(job, source, partition, which, err) != 0 ||
	    read_nodes(job, source, partition, err) != 0)
		return -1;
	return read_threads(job, source, partition, err);
}

void
scanner_job_clear(struct scanner_job *job)
{
	free(job->nodes);
	free(job->threads);
	string_table_clear(&job->texts);
	memset(job, 0, sizeof(*job));
}

const struct scanner_job_thread *
scanner_job_thread(
    const struct scanner_job *job, const uint32_t numbers[static 2])
{
	uint32_t node = find_node(job, (int64_t)numbers[0] - 1);
	uint32_t low;
	const struct scanner_job_node *n;

	if (node == UINT32_MAX)
		return NULL;
	n = &job->nodes[node];
	low = LOWER_BOUND(
	    i, 0, n->threads, job->threads[n->first + i].order < numbers[1]);
	if (low == n->threads ||
	    job->threads[n->first + low].order != numbers[1])
		return NULL;
	return &job->threads[n->first + low];
}

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
	MEMORY_GROW(sums->at, sums->room, sums->count);
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
