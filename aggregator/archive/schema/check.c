/*
 * check - print what the replicas of an archive have, and say what must be
 * done.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/schema/check.h"

#include <inttypes.h>
#include <stdarg.h>

#include "proto/os/log.h"

enum { VERSION_BYTES = 24, DELAY_S_MAX = 300 };

static const struct table_column columns[] = {
	{ "shard", 5, true },
	{ "replica", 9, false },
	{ "version", 7, false },
	{ "table", 11, false },
	{ "rows", 7, true },
	{ "bytes", 7, true },
	{ "queue", 5, true },
	{ "delay", 5, true },
	{ "copies", 6, true },
	{ "state", 9, false },
	{ NULL, 0, false },
};

static const char *const names[] = { "shard", "replica", "version", "table",
	"rows", "bytes", "queue", "delay_s", "copies", "state", "host", "port",
	"format", NULL };

/* What is printed of a replica. */
struct printing {
	struct report report;
	const struct clickhouse_replica *replica;
	const struct survey_replica *survey;
	const struct survey *all;
	unsigned shard; /* from 0 */
	unsigned faults;
};

static const char *
state_of(const struct survey_table *table)
{
	return !table->exists      ? "missing"
	       : table->read_only  ? "read-only"
	       : table->lacks != 0 ? "old"
				   : "ok";
}

static void
put_identity(struct printing *to)
{
	char version[VERSION_BYTES];

	snprintf(version, sizeof(version), "%u.%u", to->replica->version / 1000,
	    to->replica->version % 1000);
	report_count(&to->report, to->shard + 1);
	if (to->replica->up)
		report_text(&to->report, text_of(to->replica->name));
	else
		report_text(&to->report, text_of(to->replica->host));
	if (to->replica->up)
		report_text(&to->report, text_of(version));
	else
		report_none(&to->report);
}

static void
put_rest(struct printing *to, const char *state)
{
	report_text(&to->report, text_of(state));
	if (to->report.format == REPORT_TABLE)
		return;
	report_text(&to->report, text_of(to->replica->host));
	if (to->replica->port != 0)
		report_count(&to->report, to->replica->port);
	else
		report_none(&to->report);
	report_count(&to->report, to->survey->format);
}

static void
put_table(struct printing *to, unsigned number)
{
	const struct survey_table *table = &to->survey->table[number];

	put_identity(to);
	report_text(&to->report, text_of(schema_tables[number].name));
	report_count(&to->report, table->rows);
	report_count(&to->report, table->bytes);
	report_count(&to->report, table->queue);
	report_count(&to->report, table->delay_s);
	report_count(&to->report, survey_copies(to->all, to->shard, number));
	put_rest(to, state_of(table));
}

static void
put_down(struct printing *to)
{
	put_identity(to);
	for (unsigned i = 0; i < 6; i++)
		report_none(&to->report);
	put_rest(to, "down");
}

/* ---- what must be done ---- */

static void __attribute__((format(printf, 2, 3)))
say(struct printing *to, const char *format, ...)
{
	char words[ERR_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	to->faults++;
	log_error("shard %u, replica %s: %s", to->shard + 1,
	    to->replica->up ? to->replica->name : to->replica->host, words);
}

static void
judge_table(struct printing *to, unsigned number)
{
	const struct survey_table *table = &to->survey->table[number];
	const char *name = schema_tables[number].name;

	if (!table->exists)
		say(to, "has no table %s; run poolscope archive create", name);
	else if (table->lacks != 0)
		say(to,
		    "table %s lacks a column; run poolscope archive migrate",
		    name);
	else if (table->read_only)
		say(to, "table %s is read-only; see whether its ZooKeeper runs",
		    name);
	else if (table->delay_s > DELAY_S_MAX)
		say(to, "table %s is %" PRIu64 " s behind", name,
		    table->delay_s);
}

static void
judge(struct printing *to)
{
	unsigned missing = 0;

	if (!to->survey->up) {
		say(to, "%.200s", to->survey->why);
		return;
	}
	for (unsigned i = 0; i < SCHEMA_TABLES; i++)
		missing += !to->survey->table[i].exists;
	if (missing == SCHEMA_TABLES)
		say(to, "has no tables; run poolscope archive create");
	else
		for (unsigned i = 0; i < SCHEMA_TABLES; i++)
			judge_table(to, i);
	if (missing == 0 && to->survey->format == 0)
		say(to, "has no format; run poolscope archive create");
}

static void
print(struct printing *to)
{
	if (!to->survey->up) {
		put_down(to);
		return;
	}
	for (unsigned i = 0; i < SCHEMA_TABLES; i++)
		put_table(to, i);
}

static void
visit(struct printing *to, const struct survey *survey,
    void (*visitor)(struct printing *))
{
	const struct clickhouse_cluster *cluster = survey->cluster;

	for (unsigned s = 0; s < cluster->shards; s++)
		for (unsigned r = 0; r < cluster->shard[s].replicas; r++) {
			to->shard = s;
			to->replica = &cluster->shard[s].replica[r];
			to->survey = &survey->replica[s][r];
			visitor(to);
		}
}

int
check_archive(struct clickhouse *clickhouse, enum report_format format,
    FILE *file, struct err *err)
{
	struct survey *survey = survey_open(clickhouse);
	struct printing to = { .all = survey };
	int rc =
	    survey_check_format(survey, clickhouse_database(clickhouse), err);

	if (rc == 0) {
		report_begin(&to.report, file, format, names, columns);
		visit(&to, survey, print);
		report_end(&to.report);
		fflush(file);
		visit(&to, survey, judge);
		rc = to.faults > 0;
	}
	survey_close(&survey);
	return rc;
}
