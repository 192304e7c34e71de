/*
 * question_scanner - where the time of a profiled Scanner job went: a row for
 * each name of each group of threads of all workers, and of each node.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "exporters/question/question.h"
#include "exporters/scanner/job.h"
#include "proto/os/clock.h"

/* Whole numbers that every reader of JSON keeps. */
#define EXACT_MAX (INT64_C(1) << 53)

struct row {
	struct text node, group, name;
	uint64_t count;
	double seconds;
	struct value value;
};

static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),
	    "the worker, or master; unknown: all workers together" },
	{ "group", "GROUP", ANSWER_AT_TEXT(struct row, group),
	    "the threads: process_job, load, eval, save or master" },
	{ "name", "NAME", ANSWER_AT_TEXT(struct row, name),
	    "of intervals, of a counter, or of both" },
	{ "count", "COUNT", ANSWER_AT_COUNT(struct row, count),
	    "how many intervals there are" },
	{ "seconds", "SECONDS", ANSWER_AT_NUMBER(struct row, seconds),
	    "how long they are together, over all threads", "s" },
	{ "value", "VALUE", ANSWER_AT_VALUE(struct row, value),
	    "of the counter, over all threads; text if beyond 2^53" },
	{ .key = NULL },
};

struct node_row {
	struct text node;
	int64_t begin, end, intervals, damaged;
	double seconds;
	uint64_t threads;
};

#define AT_TIME(member)  ANSWER_AT_TIME(struct node_row, member)
#define AT_WHOLE(member) ANSWER_AT_WHOLE(struct node_row, member)

static const struct answer_column node_columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct node_row, node),
	    "the worker, or master" },
	{ "begin", "BEGIN", AT_TIME(begin), "when its profile begins" },
	{ "end", NULL, AT_TIME(end), "when its profile ends" },
	{ "seconds", "SECONDS", ANSWER_AT_NUMBER(struct node_row, seconds),
	    "the time in between", "s" },
	{ "threads", "THREADS", ANSWER_AT_COUNT(struct node_row, threads),
	    "how many threads have a profile" },
	{ "intervals", "INTERVALS", AT_WHOLE(intervals),
	    "how many intervals its threads have" },
	{ "damaged", "DAMAGED", AT_WHOLE(damaged),
	    "how many places of its file are damaged" },
	{ .key = NULL },
};

struct damage_row {
	struct text place;
};

static const struct answer_column damage_columns[] = {
	{ "place", "PLACE", ANSWER_AT_TEXT(struct damage_row, place),
	    "the file, where in it, and what is wrong" },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "job", ANSWER_HEAD(ANSWER_TEXT), "the id of the job" },
	{ "name", ANSWER_HEAD(ANSWER_TEXT), "its name" },
	{ "begin", ANSWER_HEAD(ANSWER_TIME), "when its first node began" },
	{ "end", ANSWER_HEAD(ANSWER_TIME), "when its last node ended" },
	{ "seconds", ANSWER_HEAD(ANSWER_NUMBER), "the time in between", "s" },
	{ "base", ANSWER_HEAD(ANSWER_TIME),
	    "what the times of traces are after" },
	{ "intervals", ANSWER_HEAD(ANSWER_WHOLE), "how many intervals it has" },
	{ "damaged", ANSWER_HEAD(ANSWER_WHOLE),
	    "how many places of its files are damaged" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "sums", columns },
	{ "nodes", node_columns }, { "damage", damage_columns },
	{ "head", head }, { .name = NULL } };

static double
seconds_of(int64_t from_ns, int64_t to_ns)
{
	return (double)((__int128)to_ns - from_ns) / (double)NS_PER_SECOND;
}

static struct answer_cell
whole(int64_t number)
{
	return (struct answer_cell){ .type = ANSWER_WHOLE, .is.ns = number };
}

static void
put_head(
    const struct scanner_job *job, struct text partition, struct answer *answer)
{
	double seconds = seconds_of(job->begin_ns, job->end_ns);
	char id[300], pool[300];

	answer_title(answer,
	    "job %s of %s, %.3f s; all workers, then the master",
	    text_quote(id, sizeof(id), job->id),
	    text_quote(pool, sizeof(pool), partition), seconds);
	answer_head(answer, "job", answer_text(job->id));
	answer_head(answer, "name", answer_text(job->name));
	answer_head(answer, "begin", answer_time(job->begin_ns));
	answer_head(answer, "end", answer_time(job->end_ns));
	answer_head(answer, "seconds", answer_number(seconds));
	answer_head(answer, "base", answer_time(job->base_ns));
	answer_head(answer, "intervals", whole(job->intervals));
	answer_head(answer, "damaged", whole(job->damaged));
	if (job->damaged > 0)
		answer_note(answer, "damaged", (uint64_t)job->damaged,
		    "the profile files of the job were damaged in %" PRId64
		    " places",
		    job->damaged);
}

static void
put_total(
    struct answer *answer, struct text node, const struct scanner_total *total)
{
	char digits[SCANNER_DIGITS];
	struct row row = { .node = node,
		.group = text_of(scanner_roles[total->role]),
		.name = total->name,
		.count = total->is_interval ? total->count : ANSWER_NO_COUNT,
		.seconds = total->is_interval
			       ? total->sum_ns / (double)NS_PER_SECOND
			       : NAN,
		.value = { .type = VALUE_NIL } };

	if (total->is_counter && total->value >= -EXACT_MAX &&
	    total->value <= EXACT_MAX) {
		row.value.type = VALUE_INT;
		row.value.is.i = (int64_t)total->value;
	} else if (total->is_counter) {
		row.value.type = VALUE_TEXT;
		row.value.is.text =
		    text_of(scanner_digits(digits, total->value));
	}
	answer_row(answer, &row, NULL);
}

/* Scope 0: all workers. */
static void
put_scope(struct answer *answer, const struct scanner_sums *sums,
    uint32_t scope, struct text node)
{
	for (int role = 0; role < SCANNER_ROLES; role++) {
		const struct scanner_total *total;
		uint32_t at = 0;

		while ((total = scanner_sums_next(
			    sums, scope, (enum scanner_role)role, &at)) != NULL)
			put_total(answer, node, total);
	}
}

static void
put_nodes(struct answer *answer, const struct scanner_job *job)
{
	answer_begin_table(answer, "nodes");
	for (uint32_t i = 0; i < job->node_count; i++) {
		const struct scanner_job_node *node = &job->nodes[i];
		struct node_row row = { .node = node->name,
			.begin = node->begin_ns,
			.end = node->end_ns,
			.seconds = seconds_of(node->begin_ns, node->end_ns),
			.threads = node->threads,
			.intervals = node->intervals,
			.damaged = node->damaged };

		answer_row(answer, &row, NULL);
	}
}

static void
put_damage(struct answer *answer, struct text damage)
{
	answer_begin_table(answer, "damage");
	while (damage.bytes > 0) {
		const char *end = memchr(damage.at, '\n', damage.bytes);
		uint32_t bytes =
		    end != NULL ? (uint32_t)(end - damage.at) : damage.bytes;
		struct damage_row row = { { damage.at, bytes } };

		answer_row(answer, &row, NULL);
		bytes += end != NULL;
		damage.at += bytes;
		damage.bytes -= bytes;
	}
}

/* People see all workers, and the master, who is the first node. */
static void
put(struct answer *answer, const struct scanner_job *job,
    const struct scanner_sums *sums)
{
	bool for_people = answer_is_for_people(answer);

	put_scope(answer, sums, 0, (struct text){ NULL, 0 });
	for (uint32_t i = 0; i < job->node_count; i++)
		if (!for_people || job->nodes[i].worker < 0)
			put_scope(answer, sums, 1 + i, job->nodes[i].name);
	put_nodes(answer, job);
	put_damage(answer, job->damage);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct scanner_sums sums = { .at = NULL };
	struct scanner_job job;
	int rc = scanner_job_read(&job, asked->source, asked->partition,
	    asked->values->window.jobs.job, err);

	if (rc == 0)
		rc = scanner_sums_read(
		    &sums, &job, asked->source, asked->partition, err);
	if (rc == 0) {
		put_head(&job, asked->partition, answer);
		put(answer, &job, &sums);
	}
	scanner_sums_clear(&sums);
	scanner_job_clear(&job);
	return rc;
}

static int
check(const struct question_values *values, struct err *err)
{
	return values->window.jobs.job != NULL
		   ? 0
		   : err_set(err, "missing option: --job names the job");
}

const struct question question_scanner = { .word = "scanner",
	.summary = "where the time of a scanner job went",
	.options = "job sort top columns",
	.examples = "poolscope stats scanner --job 17\n"
		    "poolscope stats scanner --job 17 --sort seconds --top 9\n",
	.tables = tables,
	.kinds = 1u << RECORD_ENTITY,
	.check = check,
	.ask = ask };
