/*
 * status_verdict - what the counters of a store and its services mean.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/status_verdict.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exporters/source/source.h"
#include "proto/base/memory.h"
#include "proto/format/quantity.h"
#include "proto/os/clock.h"

static int64_t
written_ns(const struct stat *file)
{
	return file->st_mtim.tv_sec * (int64_t)NS_PER_SECOND +
	       file->st_mtim.tv_nsec;
}

static bool
is_segment(const char *name)
{
	const char *end = strrchr(name, '.');

	return end != NULL && strcmp(end, ".seg") == 0;
}

bool
status_spool_read(struct status_spool *spool, const char *path)
{
	DIR *dir = opendir(path);
	int64_t newest_ns = 0, acked_ns = 0;
	const struct dirent *entry;
	struct stat file;

	*spool = (struct status_spool){ 0 };
	if (dir == NULL)
		return false;
	/* A segment that the agent deletes meanwhile does not count. */
	while ((entry = readdir(dir)) != NULL) {
		if (fstatat(dirfd(dir), entry->d_name, &file,
			AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(file.st_mode))
			continue;
		if (strcmp(entry->d_name, "ACKED") == 0) {
			acked_ns = written_ns(&file);
		} else if (is_segment(entry->d_name)) {
			spool->bytes += file.st_size;
			if (newest_ns < written_ns(&file))
				newest_ns = written_ns(&file);
		}
	}
	closedir(dir);
	if (acked_ns != 0 && newest_ns > acked_ns)
		spool->unacked_ns = newest_ns - acked_ns;
	return true;
}

#define MINUTE_NS (60 * (int64_t)NS_PER_SECOND)

/* ---- facts ---- */

void
status_facts_set(
    struct status_facts *facts, enum counter_number counter, int64_t value)
{
	facts->counters[counter] = value;
	facts->is_known[counter] = true;
}

static void
take_number(
    struct status_facts *facts, enum counter_number number, int64_t value)
{
	int64_t before = facts->counters[number], sum;

	if (!facts->is_known[number])
		sum = value;
	else if (number == COUNTER_MIRROR_mirror_until_ns)
		sum = value < before ? value : before;
	else if (counters[number].kind == COUNTER_TIME ||
		 counters[number].kind == COUNTER_DURATION)
		sum = value > before ? value : before;
	else if (__builtin_add_overflow(before, value, &sum))
		sum = INT64_MAX;
	status_facts_set(facts, number, sum);
}

static void
take_text(
    struct status_facts *facts, enum counter_number number, struct text text)
{
	if (facts->text_count == STATUS_TEXTS)
		return;
	facts->texts[facts->text_count].of = number;
	snprintf(facts->texts[facts->text_count++].text, STATUS_PROBLEM_BYTES,
	    "%.*s", (int)text.bytes, text.at);
}

void
status_facts_take(struct status_facts *facts, const struct record *record)
{
	struct text pairs = record->pairs;
	struct record_attribute a;

	facts->stores += text_equal(record->name, text_of("store"));
	if (text_equal(record->name, text_of("broker")))
		facts->broker = SERVICE_RUNNING;
	if (text_equal(record->name, text_of("aggregator")))
		facts->aggregator = SERVICE_RUNNING;
	/* What a broker counts for each aggregator is a part of its sums. */
	if (text_match(text_of("broker:*"), record->name))
		return;
	while (record_next_attribute(&pairs, &a)) {
		enum counter_number number = counter_find(record->name, a.key);

		if (number == COUNTERS)
			continue;
		if (a.value.type == VALUE_INT)
			take_number(facts, number, a.value.is.i);
		else if (a.value.type == VALUE_BOOL)
			take_number(facts, number, a.value.is.boolean);
		else if (a.value.type == VALUE_TEXT)
			take_text(facts, number, a.value.is.text);
	}
}

/* "" if there is none. */
static const char *
text_of_counter(const struct status_facts *facts, struct text name)
{
	for (uint32_t i = 0; i < facts->text_count; i++)
		if (text_equal(
			text_of(counters[facts->texts[i].of].name), name))
			return facts->texts[i].text;
	return "";
}

/* ---- lines ---- */

static struct status_line *
add_line(struct status_lines *lines, struct status_line line)
{
	lines->at = memory_grow(
	    lines->at, &lines->room, lines->count, sizeof(*lines->at));
	lines->at[lines->count] = line;
	return &lines->at[lines->count++];
}

static char *
format_text(const char *format, va_list list)
{
	char *text;

	if (vasprintf(&text, format, list) < 0)
		memory_exhausted(0);
	return text;
}

static void __attribute__((format(printf, 4, 5)))
problem(struct status_verdict *v, enum verdict verdict, const char *key,
    const char *format, ...)
{
	va_list list;

	va_start(list, format);
	add_line(&v->problems, (struct status_line){ verdict, key, NULL,
				   format_text(format, list) });
	va_end(list);
	if (v->verdict < verdict)
		v->verdict = verdict;
}

static void __attribute__((format(printf, 4, 5))) part(struct status_verdict *v,
    const char *name, const char *state, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	add_line(&v->parts, (struct status_line){ VERDICT_OK, name, state,
				format_text(format, list) });
	va_end(list);
}

/* ---- problems ---- */

/* What the table of counters says of one. */
static void
judge_counters(
    struct status_verdict *v, const struct status_facts *f, enum verdict of)
{
	int64_t ahead_ns = f->counters[COUNTER_AGGREGATOR_clock_ahead_ns];
	char time[QUANTITY_TEXT_BYTES], ahead[QUANTITY_TEXT_BYTES + 16] = "";

	for (int i = 0; i < COUNTERS; i++) {
		char name[64], number[32] = "";
		const char *more;

		if (counters[i].verdict != of || of == VERDICT_OK ||
		    f->counters[i] <= 0)
			continue;
		snprintf(name, sizeof(name), "%s_problem", counters[i].name);
		more = text_of_counter(f, text_of(name));
		if (counters[i].kind != COUNTER_FLAG)
			snprintf(number, sizeof(number), "%" PRId64 " ",
			    f->counters[i]);
		if (i == COUNTER_AGGREGATOR_retention_stopped && ahead_ns > 0)
			snprintf(ahead, sizeof(ahead), "it is %s ahead",
			    quantity_time(time, (double)ahead_ns));
		if (i == COUNTER_AGGREGATOR_retention_stopped)
			more = ahead;
		problem(v, of, counters[i].name, "%s%s%s%s", number,
		    counters[i].why, more[0] != '\0' ? "; " : "", more);
	}
}

static void
judge_services(struct status_verdict *v, const struct status_facts *f)
{
	if (f->is_node) {
		if (f->agent != SERVICE_RUNNING)
			problem(v, VERDICT_CRITICAL, "agent",
			    "the agent %s, nothing is sampled",
			    f->agent == SERVICE_SILENT ? "does not answer"
						       : "is not running");
	} else if (f->aggregator == SERVICE_SILENT) {
		problem(
		    v, VERDICT_CRITICAL, "store", "the store does not answer");
	} else if (f->aggregator == SERVICE_STOPPED) {
		problem(v, VERDICT_CRITICAL, "aggregator",
		    "the aggregator is not running, nothing is stored; "
		    "poolscope up");
	}
	judge_counters(v, f, VERDICT_CRITICAL);
	if (f->broker_died || f->broker == SERVICE_SILENT)
		problem(v, VERDICT_CRITICAL, "broker",
		    "the broker %s; poolscope up",
		    f->broker_died ? "has died" : "does not answer");
}

/* A pass takes some seconds, and a cluster may restart; a gateway looks every
 * ten seconds. */
static void
judge_archive(struct status_verdict *v, const struct status_facts *f)
{
	int64_t lag_ns = f->counters[COUNTER_ARCHIVE_archive_lag_ns];
	int64_t ago_ns =
	    clock_wall_ns() - f->counters[COUNTER_MIRROR_mirror_until_ns];
	const char *why = text_of_counter(f, text_of("mirror_problem"));
	char time[QUANTITY_TEXT_BYTES];

	if (f->counters[COUNTER_ARCHIVE_archive_failing] > 0 &&
	    lag_ns >= MINUTE_NS)
		problem(v, VERDICT_WARNING, "archive",
		    "the archive lacks what came in the last %s: %s",
		    quantity_time(time, (double)lag_ns),
		    text_of_counter(f, text_of("archive_problem")));
	if (why[0] != '\0' && ago_ns >= MINUTE_NS)
		problem(v, VERDICT_WARNING, "mirror",
		    "the archive could not be read for the last %s: %s",
		    quantity_time(time, (double)ago_ns), why);
}

/* While somebody is connected to the aggregator, the broker that brought
 * batches may be one of another instance, or one that listens to TCP alone. */
static bool
is_broker_missed(const struct status_facts *f)
{
	if (f->broker != SERVICE_STOPPED || f->broker_died || f->is_node)
		return false;
	return f->broker_ran ||
	       (f->aggregator == SERVICE_RUNNING &&
		   f->counters[COUNTER_AGGREGATOR_broker_ns] != 0 &&
		   f->counters[COUNTER_AGGREGATOR_peers] == 0);
}

/* What somebody may miss: records, a service, nodes. */
static void
judge_missing(struct status_verdict *v, const struct status_facts *f)
{
	char others[64] = "", time[QUANTITY_TEXT_BYTES];

	/* The agent notes within seconds what was acknowledged. */
	if (f->has_spool && f->spool.unacked_ns >= MINUTE_NS)
		problem(v, VERDICT_WARNING, "spool",
		    "the broker acknowledged nothing of what the agent stored "
		    "for %s, the records wait in the spool; the agent's log "
		    "has the reason",
		    quantity_time(time, (double)f->spool.unacked_ns));
	if (is_broker_missed(f))
		problem(v, VERDICT_WARNING, "broker",
		    "the broker is not running, agents that send to it keep "
		    "their records; poolscope up");
	if (f->pools_lost > 1)
		snprintf(others, sizeof(others),
		    " and %" PRId64 " other pool%s", f->pools_lost - 1,
		    f->pools_lost == 2 ? "" : "s");
	if (f->nodes_lost > 0)
		problem(v, VERDICT_WARNING, "nodes",
		    "%" PRId64 " node%s not heard for 10 minutes: poolscope "
		    "nodes -p '%s'%s",
		    f->nodes_lost, f->nodes_lost == 1 ? " was" : "s were",
		    f->lost_partition, others);
}

/* ---- parts ---- */

static void
put_store(struct status_verdict *v, const struct status_facts *f)
{
	const int64_t *c = f->counters;
	int64_t records = 0, nodes = c[COUNTER_STORE_nodes];
	int64_t partitions = c[COUNTER_STORE_partitions];
	int64_t age_ns = clock_wall_ns() - f->newest_ns;
	bool limited = c[COUNTER_STORE_limited] > 0;
	char label[40] = "", text[QUANTITY_TEXT_BYTES];

	/* Those of all kinds, as in the rows of the partitions. */
	for (int i = COUNTER_STORE_records_event;
	     i <= COUNTER_STORE_records_run; i++)
		records += c[i];
	if (f->stores > 1)
		snprintf(
		    label, sizeof(label), "%" PRId64 " stores, ", f->stores);
	part(v, "store", NULL,
	    "%s%" PRId64 " partition%s, %" PRId64 " node%s, %" PRId64
	    " records%s%s",
	    label, partitions, partitions == 1 ? "" : "s", nodes,
	    nodes == 1 ? "" : "s", records, limited ? "" : ", ",
	    limited ? ""
		    : quantity_bytes(
			  text, (double)c[COUNTER_STORE_journal_bytes] +
				    (double)c[COUNTER_STORE_tables_bytes]));
	if (limited)
		part(v, "store", NULL, "this key may read no other partitions");
	/* That all is well says nothing of agents that have stopped. */
	if (f->newest_ns != 0)
		part(v, "newest", NULL, "%s old",
		    quantity_time(text, age_ns > 0 ? (double)age_ns : 0));
	if (c[COUNTER_STORE_rebuilding] > 0 ||
	    c[COUNTER_AGGREGATOR_indexing_behind] > 0 ||
	    c[COUNTER_STORE_indexing_lag] > 0)
		part(v, "index", NULL, "%snot indexed yet: %" PRId64 " batches",
		    c[COUNTER_STORE_rebuilding] > 0 ? "being rebuilt, " : "",
		    c[COUNTER_STORE_indexing_lag]);
	if (c[COUNTER_AGGREGATOR_indexing_behind] > 0)
		part(v, "index", NULL, "senders wait for the indexer, at %s/s",
		    quantity_bytes(
			text, (double)c[COUNTER_AGGREGATOR_indexing_rate]));
	if (c[COUNTER_STORE_records_rejected] > 0)
		part(v, "rejected", NULL,
		    "batches of %s: poolscope dump --kind rejected",
		    quantity_bytes(
			text, (double)c[COUNTER_STORE_rejected_bytes]));
	if (c[COUNTER_AGGREGATOR_groups_refused] > 0)
		part(v, "rejected", NULL,
		    "%" PRId64 " refused definition%s of metric groups, among "
		    "the rejected batches",
		    c[COUNTER_AGGREGATOR_groups_refused],
		    c[COUNTER_AGGREGATOR_groups_refused] == 1 ? "" : "s");
}

static void
put_archive(struct status_verdict *v, const struct status_facts *f)
{
	const int64_t *c = f->counters;
	char text[QUANTITY_TEXT_BYTES], when[CLOCK_TEXT_BYTES];

	if (f->is_known[COUNTER_ARCHIVE_archive_lag] &&
	    c[COUNTER_ARCHIVE_archive_lag_ns] == 0)
		part(v, "archive", NULL, "has everything");
	else if (f->is_known[COUNTER_ARCHIVE_archive_lag])
		part(v, "archive", NULL,
		    "lacks what came in the last %s, %" PRId64 " batches%s",
		    quantity_time(
			text, (double)c[COUNTER_ARCHIVE_archive_lag_ns]),
		    c[COUNTER_ARCHIVE_archive_lag],
		    c[COUNTER_ARCHIVE_archive_one_copy] > 0
			? "; a shard has one copy only"
			: "");
	if (f->is_known[COUNTER_MIRROR_mirror_until_ns])
		part(v, "archive", NULL, "read in place, as of %s",
		    clock_text(when, c[COUNTER_MIRROR_mirror_until_ns], 0));
}

/* `peers` below 0: it has none. */
static void
put_service(struct status_verdict *v, const char *name,
    enum status_service service, bool ran, int64_t peers)
{
	static const char *const words[] = { "", "not running",
		"does not answer", "running" };

	if (service == SERVICE_RUNNING && peers >= 0)
		part(v, name, words[service], "running, %" PRId64 " peer%s",
		    peers, peers == 1 ? "" : "s");
	else if (service != SERVICE_UNASKED)
		part(v, name,
		    service == SERVICE_STOPPED && ran ? "stopped"
						      : words[service],
		    "%s", words[service]);
}

void
status_judge(struct status_verdict *v, const struct status_facts *f)
{
	char text[QUANTITY_TEXT_BYTES];

	*v = (struct status_verdict){ .verdict = VERDICT_OK };
	judge_services(v, f);
	judge_counters(v, f, VERDICT_WARNING);
	judge_archive(v, f);
	judge_missing(v, f);
	if (f->is_node)
		put_service(v, "agent", f->agent, false, -1);
	if (f->has_spool)
		part(v, "spool", NULL, "%s of segments",
		    quantity_bytes(text, (double)f->spool.bytes));
	if (f->stores > 0)
		put_store(v, f);
	put_archive(v, f);
	if (f->stores > 0 || f->aggregator == SERVICE_RUNNING)
		put_service(v, "aggregator", f->aggregator, false,
		    f->counters[COUNTER_AGGREGATOR_peers]);
	put_service(v, "broker", f->broker, f->broker_ran,
	    f->counters[COUNTER_SOCKET_peers]);
	if (f->counters[COUNTER_AGGREGATOR_insecure] > 0 ||
	    f->counters[COUNTER_BROKER_insecure] > 0)
		part(v, "insecure", NULL,
		    "whoever can connect may read and write: --insecure is "
		    "given");
}

static void
clear_lines(struct status_lines *lines)
{
	for (uint32_t i = 0; i < lines->count; i++)
		free(lines->at[i].text);
	free(lines->at);
	*lines = (struct status_lines){ .count = 0 };
}

void
status_verdict_clear(struct status_verdict *verdict)
{
	clear_lines(&verdict->problems);
	clear_lines(&verdict->parts);
}

const char *
verdict_word(enum verdict verdict)
{
	static const char *const words[] = { "ok", "warning", "critical" };

	return words[verdict];
}

const char *
status_verdict_words(
    const struct status_verdict *verdict, const struct status_facts *facts)
{
	if (verdict->problems.count > 0)
		return verdict->problems.at[0].text;
	if (facts->is_node)
		return "the agent runs; poolscope status on the head says what "
		       "was received";
	return facts->counters[COUNTER_STORE_limited] > 0
		   ? "the store answers; a key of all partitions shows its "
		     "health"
		   : "all is well";
}
