/*
 * scanner_job - a profiled Scanner job, as stored.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/scanner/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"

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

int
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

int
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
		job->nodes = memory_grow(job->nodes, &job->node_room,
		    job->node_count, sizeof(*job->nodes));
		job->nodes[job->node_count++] = (struct scanner_job_node){
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
	uint32_t low = 0, high = job->node_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (job->nodes[middle].worker < worker)
			low = middle + 1;
		else
			high = middle;
	}
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
		job->threads = memory_grow(job->threads, &job->thread_room,
		    job->thread_count, sizeof(*job->threads));
		job->threads[job->thread_count++] = thread;
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
	uint32_t low = 0, high;
	const struct scanner_job_node *n;

	if (node == UINT32_MAX)
		return NULL;
	n = &job->nodes[node];
	high = n->threads;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (job->threads[n->first + middle].order < numbers[1])
			low = middle + 1;
		else
			high = middle;
	}
	if (low == n->threads ||
	    job->threads[n->first + low].order != numbers[1])
		return NULL;
	return &job->threads[n->first + low];
}
