/*
 * stats_status - what is known of a store and its services, and what it means.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/status.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exporters/nodes/partition_rows.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
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

/* False: `path` cannot be read. */
static bool
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

static void
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
	else if (number == COUNTER_READ_read_until_ns)
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

/* Add a record of an answer to the question SOURCE_STATUS, also of several
 * stores. */
static void
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
	MEMORY_GROW(lines->at, lines->room, lines->count);
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
	    clock_wall_ns() - f->counters[COUNTER_READ_read_until_ns];
	const char *why = text_of_counter(f, text_of("read_problem"));
	char time[QUANTITY_TEXT_BYTES];

	if (f->counters[COUNTER_ARCHIVE_archive_failing] > 0 &&
	    lag_ns >= MINUTE_NS)
		problem(v, VERDICT_WARNING, "archive",
		    "the archive lacks what came in the last %s: %s",
		    quantity_time(time, (double)lag_ns),
		    text_of_counter(f, text_of("archive_problem")));
	if (why[0] != '\0' && ago_ns >= MINUTE_NS)
		problem(v, VERDICT_WARNING, "archive",
		    "what came to the archive in the last %s is not known: %s",
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
	if (f->pools_attended > 1)
		snprintf(others, sizeof(others),
		    " and %" PRId64 " other pool%s", f->pools_attended - 1,
		    f->pools_attended == 2 ? "" : "s");
	if (f->nodes_attended > 0)
		problem(v, VERDICT_WARNING, "nodes",
		    "node%s attention (%s): poolscope nodes -p '%s'%s",
		    f->nodes_attended == 1 ? " needs" : "s need",
		    f->attended_why, f->attended_partition, others);
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
	if (f->is_known[COUNTER_READ_read_until_ns])
		part(v, "archive", NULL, "read in place, as of %s",
		    clock_text(when, c[COUNTER_READ_read_until_ns], 0));
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

#define BROKER_SILENCE_NS NS_PER_SECOND

static int
select_status(struct source *source, struct err *err)
{
	const struct wire_query query = source_query(1u << RECORD_ENTITY);

	return source_select(
	    source, SOURCE_STATUS, (struct text){ NULL, 0 }, &query, err);
}

static bool
has_file(const char *name)
{
	char path[INSTANCE_PATH_BYTES];
	struct stat there;
	struct err err;

	return instance_path(path, name, &err) == 0 && stat(path, &there) == 0;
}

/* ---- records ---- */

static int
each_of(struct source *source,
    void (*on_record)(
	void *arg, const struct record *record, struct text place),
    void *arg, struct err *err)
{
	struct record record;
	struct text name;
	int rc = select_status(source, err);

	while (rc == 0 && (rc = source_next(source, &record, err)) > 0) {
		rc = 0;
		if (record.kind == RECORD_ENTITY &&
		    !partition_rows_name(&record, &name))
			on_record(arg, &record,
			    text_of(source_place_name(
				source, source_place(source))));
	}
	return rc;
}

int
status_each(struct source *source, const struct source_options *options,
    void (*on_record)(
	void *arg, const struct record *record, struct text place),
    void *arg, struct err *err)
{
	char endpoint[INSTANCE_PATH_BYTES];
	struct source *broker = NULL;
	struct err ignored;

	if (source != NULL && each_of(source, on_record, arg, err) != 0)
		return -1;
	/* The store of another instance has nothing to do with the broker of
	 * this one. */
	if (!source_is_named(options) &&
	    instance_endpoint(endpoint, "broker", &ignored) == 0 &&
	    source_is_listening(endpoint) &&
	    source_open_endpoint(
		&broker, options, endpoint, BROKER_SILENCE_NS, &ignored) == 0)
		(void)each_of(broker, on_record, arg, &ignored);
	source_close(&broker);
	return 0;
}

/* ---- facts ---- */

/* Who may see some partitions gets what an aggregator gives a key of these:
 * sums, and nothing that others add to. */
static void
take_limited(struct status_facts *facts, const struct record *record)
{
	struct record sums = *record;
	struct text name;

	if (!partition_rows_name(record, &name)) {
		if (record_count(record, "rebuilding") != 0)
			status_facts_set(facts, COUNTER_STORE_rebuilding, 1);
		return;
	}
	sums.name = text_of(counters[COUNTER_STORE_partitions].of);
	status_facts_take(facts, &sums);
	status_facts_set(facts, COUNTER_STORE_partitions,
	    facts->counters[COUNTER_STORE_partitions] + 1);
}

static int
take_facts(struct status_facts *facts, struct source *source, const char *limit,
    struct err *err)
{
	struct record record;
	int rc = select_status(source, err);

	while (rc == 0 && (rc = source_next(source, &record, err)) > 0) {
		rc = 0;
		if (record.kind != RECORD_ENTITY)
			continue;
		if (limit != NULL)
			take_limited(facts, &record);
		else
			status_facts_take(facts, &record);
	}
	if (rc == 0 && limit != NULL) {
		facts->stores = 1;
		status_facts_set(facts, COUNTER_STORE_limited, 1);
	}
	return rc;
}

/* An instance with an agent's spool and without a store is that of a node. */
static void
ask_agent(struct status_facts *facts)
{
	char path[INSTANCE_PATH_BYTES], endpoint[INSTANCE_PATH_BYTES + 8];
	struct err err;

	facts->is_node = facts->aggregator == SERVICE_STOPPED &&
			 facts->stores == 0 && has_file("spool") &&
			 !has_file("store");
	if (!facts->is_node || instance_path(path, "run/agent.sock", &err) != 0)
		return;
	snprintf(endpoint, sizeof(endpoint), "ipc://%s", path);
	facts->agent =
	    source_is_listening(endpoint) ? SERVICE_RUNNING : SERVICE_STOPPED;
	facts->has_spool = instance_path(path, "spool", &err) == 0 &&
			   status_spool_read(&facts->spool, path);
}

static void
ask_broker(struct status_facts *facts, const struct source_options *options)
{
	char endpoint[INSTANCE_PATH_BYTES];
	struct source *source = NULL;
	struct stat left;
	struct err err;

	facts->broker = SERVICE_STOPPED;
	/* `poolscope up` began one. */
	facts->broker_ran = has_file("log/broker.log");
	if (instance_endpoint(endpoint, "broker", &err) != 0)
		return;
	if (!source_is_listening(endpoint)) {
		/* A broker that ends removes its socket. */
		facts->broker_died = strncmp(endpoint, "ipc://", 6) == 0 &&
				     stat(endpoint + 6, &left) == 0;
		return;
	}
	facts->broker = SERVICE_SILENT;
	if (source_open_endpoint(
		&source, options, endpoint, BROKER_SILENCE_NS, &err) == 0)
		(void)take_facts(facts, source, NULL, &err);
	source_close(&source);
}

int
status_facts_read(struct status_facts *facts, struct source *source,
    const struct source_options *options, const char *limit, struct err *err)
{
	bool named = source_is_named(options) || limit != NULL;
	int rc = -1;

	*facts = (struct status_facts){ .broker = SERVICE_UNASKED };
	if (!named)
		facts->aggregator = SERVICE_STOPPED;
	if (source != NULL)
		rc = take_facts(facts, source, limit, err);
	if (rc != 0 && (source != NULL || named))
		facts->aggregator = SERVICE_SILENT;
	if (!named)
		ask_broker(facts, options);
	if (!named)
		ask_agent(facts);
	return rc;
}
