/*
 * status_verdict - what the counters of a store and its services mean.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/status_verdict.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/format/quantity.h"
#include "proto/os/clock.h"

static void
add(int64_t *to, int64_t number)
{
	if (__builtin_add_overflow(*to, number, to))
		*to = INT64_MAX;
}

static void
take_store(struct status_facts *facts, const struct record *record)
{
	char name[32];

	facts->has_store = true;
	facts->stores++;
	facts->limited |= record_count(record, "limited") != 0;
	add(&facts->partitions, record_count(record, "partitions"));
	add(&facts->nodes, record_count(record, "nodes"));
	/* Those of all kinds, as in the rows of the partitions. */
	for (int kind = 0; kind < RECORD_KINDS; kind++) {
		(void)snprintf(name, sizeof(name), "records_%s",
		    record_kind_name((enum record_kind)kind));
		add(&facts->records, record_count(record, name));
	}
	add(&facts->bytes, record_count(record, "journal_bytes"));
	add(&facts->bytes, record_count(record, "tables_bytes"));
	add(&facts->lag, record_count(record, "indexing_lag"));
	add(&facts->rejected_bytes, record_count(record, "rejected_bytes"));
	add(&facts->rejected, record_count(record, "records_rejected"));
	facts->rebuilding |= record_count(record, "rebuilding") != 0;
	add(&facts->damaged, record_count(record, "damaged"));
}

static void
take_words(const struct record *record, const char *name,
    char to[static STATUS_PROBLEM_BYTES])
{
	struct text words;

	if (record_find_text(record, name, &words))
		snprintf(to, STATUS_PROBLEM_BYTES, "%.*s", (int)words.bytes,
		    words.at);
}

static void
take_archive(struct status_facts *facts, const struct record *record)
{
	facts->has_archive = true;
	facts->archive_failing |= record_count(record, "archive_failing") != 0;
	facts->archive_one_copy |=
	    record_count(record, "archive_one_copy") != 0;
	add(&facts->archive_lag, record_count(record, "archive_lag"));
	if (facts->archive_lag_ns < record_count(record, "archive_lag_ns"))
		facts->archive_lag_ns = record_count(record, "archive_lag_ns");
	take_words(record, "archive_problem", facts->archive_problem);
}

static void
take_mirror(struct status_facts *facts, const struct record *record)
{
	int64_t until_ns = record_count(record, "mirror_until_ns");

	if (!facts->has_mirror || until_ns < facts->mirror_until_ns)
		facts->mirror_until_ns = until_ns;
	facts->has_mirror = true;
	take_words(record, "mirror_problem", facts->mirror_problem);
}

void
status_facts_take(struct status_facts *facts, const struct record *record)
{
	if (text_equal(record->name, text_of("store")))
		take_store(facts, record);
	if (text_equal(record->name, text_of("broker"))) {
		facts->broker = SERVICE_RUNNING;
		facts->broker_peers = record_count(record, "peers");
		facts->insecure |= record_count(record, "insecure") != 0;
	}
	if (text_equal(record->name, text_of("aggregator:archive")))
		take_archive(facts, record);
	if (text_equal(record->name, text_of("aggregator:mirror")))
		take_mirror(facts, record);
	if (!text_equal(record->name, text_of("aggregator")))
		return;
	facts->aggregator = SERVICE_RUNNING;
	add(&facts->peers, record_count(record, "peers"));
	if (facts->broker_ns < record_count(record, "broker_ns"))
		facts->broker_ns = record_count(record, "broker_ns");
	facts->full |= record_count(record, "full") != 0;
	take_words(record, "full_problem", facts->full_problem);
	facts->index_paused |= record_count(record, "index_paused") != 0;
	add(&facts->damaged, record_count(record, "index_damaged"));
	facts->retention_stopped |=
	    record_count(record, "retention_stopped") != 0;
	if (facts->clock_ahead_ns < record_count(record, "clock_ahead_ns"))
		facts->clock_ahead_ns = record_count(record, "clock_ahead_ns");
	facts->behind |= record_count(record, "indexing_behind") != 0;
	facts->indexing_rate += (double)record_count(record, "indexing_rate");
	facts->insecure |= record_count(record, "insecure") != 0;
	add(&facts->groups_refused, record_count(record, "groups_refused"));
	facts->no_models |= record_count(record, "no_models") != 0;
}

void
status_put_bytes(FILE *file, double bytes)
{
	char text[QUANTITY_TEXT_BYTES];

	fputs(quantity_bytes(text, bytes), file);
}

void
status_put_time(FILE *file, double ns)
{
	char text[QUANTITY_TEXT_BYTES];

	fputs(quantity_time(text, ns), file);
}

static bool
put_criticals(const struct status_facts *f, FILE *file)
{
	bool any = true;

	if (f->is_node) {
		any = f->agent != SERVICE_RUNNING;
		if (any)
			fprintf(file,
			    "critical: the agent %s, nothing is sampled\n",
			    f->agent == SERVICE_SILENT ? "does not answer"
						       : "is not running");
	} else if (f->aggregator == SERVICE_SILENT)
		fputs("critical: the store does not answer\n", file);
	else if (f->aggregator == SERVICE_STOPPED)
		fputs("critical: the aggregator is not running, nothing is "
		      "stored; poolscope up\n",
		    file);
	else
		any = false;
	if (f->full) {
		fprintf(
		    file, "critical: nothing is stored; %s\n", f->full_problem);
		any = true;
	}
	if (f->index_paused) {
		fputs("critical: the tables are damaged, new records are not "
		      "shown; poolscope admin\n"
		      "  verify names the damage, poolscope admin rebuild "
		      "mends it\n",
		    file);
		any = true;
	}
	if (f->broker_died || f->broker == SERVICE_SILENT) {
		fprintf(file, "critical: the broker %s; poolscope up\n",
		    f->broker_died ? "has died" : "does not answer");
		any = true;
	}
	return any;
}

/* A pass takes some seconds, and a cluster may restart. */
static bool
put_archive_warning(const struct status_facts *f, FILE *file)
{
	if (!f->archive_failing ||
	    f->archive_lag_ns < 60 * (int64_t)NS_PER_SECOND)
		return false;
	fputs("warning: the archive lacks what came in the last ", file);
	status_put_time(file, (double)f->archive_lag_ns);
	fprintf(file, ":\n  %s\n", f->archive_problem);
	return true;
}

/* It looks every ten seconds. */
static bool
put_mirror_warning(const struct status_facts *f, FILE *file)
{
	int64_t ago_ns = clock_wall_ns() - f->mirror_until_ns;

	if (f->mirror_problem[0] == '\0' ||
	    ago_ns < 60 * (int64_t)NS_PER_SECOND)
		return false;
	fputs("warning: the archive could not be read for the last ", file);
	status_put_time(file, (double)ago_ns);
	fprintf(file, ":\n  %s\n", f->mirror_problem);
	return true;
}

/* While somebody is connected to the aggregator, the broker that brought
 * batches may be one of another instance, or one that listens to TCP alone. */
static bool
is_broker_missed(const struct status_facts *f)
{
	if (f->broker != SERVICE_STOPPED || f->broker_died || f->is_node)
		return false;
	return f->broker_ran || (f->aggregator == SERVICE_RUNNING &&
				    f->broker_ns != 0 && f->peers == 0);
}

/* The agent notes within seconds what was acknowledged. */
static bool
put_spool_warning(const struct status_facts *f, FILE *file)
{
	if (!f->has_spool || f->spool.unacked_ns < 60 * (int64_t)NS_PER_SECOND)
		return false;
	fputs("warning: the broker acknowledged nothing of what the agent "
	      "stored for ",
	    file);
	status_put_time(file, (double)f->spool.unacked_ns);
	fputs(",\n  the records wait in the spool; the agent's log has the "
	      "reason\n",
	    file);
	return true;
}

/* What somebody may miss: a service, nodes, records, phases. */
static bool
put_missing(const struct status_facts *f, FILE *file)
{
	bool stopped = is_broker_missed(f);

	if (stopped)
		fputs("warning: the broker is not running, agents that send to "
		      "it keep their records;\n  poolscope up\n",
		    file);
	if (f->nodes_lost > 0) {
		fprintf(file,
		    "warning: %" PRId64 " node%s not heard for 10 minutes: "
		    "poolscope nodes -p\n  '%s'",
		    f->nodes_lost, f->nodes_lost == 1 ? " was" : "s were",
		    f->lost_partition);
		if (f->pools_lost > 1)
			fprintf(file, " and %" PRId64 " other pool%s",
			    f->pools_lost - 1, f->pools_lost == 2 ? "" : "s");
		putc('\n', file);
	}
	if (f->rejected > 0)
		fputs("warning: batches were rejected, their records are in no "
		      "answer: poolscope dump\n  --kind rejected\n",
		    file);
	if (f->no_models)
		fputs("warning: the aggregator has no models, so there are no "
		      "phases and no runs;\n  --models names their directory\n",
		    file);
	return stopped || f->nodes_lost > 0 || f->rejected > 0 || f->no_models;
}

static bool
put_warnings(const struct status_facts *f, FILE *file)
{
	if (f->damaged > 0)
		fprintf(file,
		    "warning: damaged pages and entries: %" PRId64
		    "; poolscope admin verify names them\n",
		    f->damaged);
	if (f->retention_stopped) {
		fputs("warning: the clock of the host jumped", file);
		if (f->clock_ahead_ns > 0) {
			fputs(" (", file);
			status_put_time(file, (double)f->clock_ahead_ns);
			fputs(" ahead)", file);
		}
		fputs(", nothing is deleted by age;\n"
		      "  set it right, or confirm it: poolscope admin "
		      "retain-now\n",
		    file);
	}
	return put_archive_warning(f, file) | put_mirror_warning(f, file) |
		   put_spool_warning(f, file) | put_missing(f, file) ||
	       f->damaged > 0 || f->retention_stopped;
}

static void
put_store(const struct status_facts *f, FILE *file)
{
	char label[32] = "store";

	if (f->stores > 1)
		snprintf(label, sizeof(label), "%" PRId64 " stores", f->stores);
	fprintf(file,
	    "%-12s%" PRId64 " partition%s, %" PRId64 " node%s, %" PRId64
	    " records%s",
	    label, f->partitions, f->partitions == 1 ? "" : "s", f->nodes,
	    f->nodes == 1 ? "" : "s", f->records, f->limited ? "" : ", ");
	if (f->limited)
		fputs("\n            this key may read no other partitions",
		    file);
	else
		status_put_bytes(file, (double)f->bytes);
	putc('\n', file);
	if (f->rebuilding || f->behind || f->lag > 0)
		fprintf(file, "            %s: %" PRId64 " batches\n",
		    f->rebuilding ? "being rebuilt, not indexed yet"
				  : "not indexed yet",
		    f->lag);
	if (f->behind) {
		fputs("            senders wait for the indexer, at ", file);
		status_put_bytes(file, f->indexing_rate);
		fputs("/s\n", file);
	}
	if (f->rejected > 0) {
		fputs("            rejected batches, ", file);
		status_put_bytes(file, (double)f->rejected_bytes);
		fputs(": poolscope dump --kind rejected\n", file);
	}
	if (f->groups_refused > 0)
		fprintf(file,
		    "            %" PRId64 " refused definition%s of metric "
		    "groups, among the rejected batches\n",
		    f->groups_refused, f->groups_refused == 1 ? "" : "s");
}

static void
put_archive(const struct status_facts *f, FILE *file)
{
	fprintf(file, "%-12s", "archive");
	if (f->archive_lag_ns == 0) {
		fputs("has everything\n", file);
		return;
	}
	fputs("lacks what came in the last ", file);
	status_put_time(file, (double)f->archive_lag_ns);
	fprintf(file, ", %" PRId64 " batches%s\n", f->archive_lag,
	    f->archive_one_copy ? "; a shard has one copy only" : "");
}

static void
put_service(
    const char *name, enum status_service state, int64_t peers, FILE *file)
{
	static const char *const words[] = { "", "not running",
		"does not answer", "running" };

	if (state == SERVICE_UNASKED)
		return;
	fprintf(file, "%-12s%s", name, words[state]);
	if (state == SERVICE_RUNNING && peers >= 0)
		fprintf(
		    file, ", %" PRId64 " peer%s", peers, peers == 1 ? "" : "s");
	putc('\n', file);
}

/* How old what is stored is: that all is well says nothing of agents that have
 * stopped. */
static void
put_newest(const struct status_facts *f, FILE *file)
{
	int64_t age_ns = clock_wall_ns() - f->newest_ns;

	if (!f->has_store || f->newest_ns == 0)
		return;
	fputs("    the newest record is ", file);
	status_put_time(file, age_ns > 0 ? (double)age_ns : 0);
	fputs(" old\n", file);
}

enum verdict
status_verdict_print(const struct status_facts *facts, FILE *file)
{
	enum verdict verdict = VERDICT_OK;
	char when[CLOCK_TEXT_BYTES];

	if (put_criticals(facts, file))
		verdict = VERDICT_CRITICAL;
	if (put_warnings(facts, file) && verdict == VERDICT_OK)
		verdict = VERDICT_WARNING;
	if (verdict == VERDICT_OK && facts->is_node)
		fputs("ok: the agent runs; poolscope status on the head says "
		      "what was received\n",
		    file);
	else if (verdict == VERDICT_OK)
		fputs(facts->limited
			  ? "ok: the store answers; a key of all partitions "
			    "shows its health\n"
			  : "ok: all is well\n",
		    file);
	put_newest(facts, file);
	putc('\n', file);
	if (facts->is_node)
		put_service("agent", facts->agent, -1, file);
	if (facts->has_spool) {
		fprintf(file, "%-12s", "spool");
		status_put_bytes(file, (double)facts->spool.bytes);
		fputs(" of segments\n", file);
	}
	if (facts->has_store)
		put_store(facts, file);
	if (facts->has_archive)
		put_archive(facts, file);
	if (facts->has_mirror)
		fprintf(file, "%-12sread in place, as of %s\n", "archive",
		    clock_text(when, facts->mirror_until_ns, 0));
	if (facts->has_store || facts->aggregator == SERVICE_RUNNING)
		put_service(
		    "aggregator", facts->aggregator, facts->peers, file);
	put_service("broker", facts->broker, facts->broker_peers, file);
	if (facts->insecure)
		fputs("insecure    whoever can connect may read and write: "
		      "--insecure is given\n",
		    file);
	return verdict;
}
