/*
 * stats_status - the state of the store and its services, and what is in it.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/status.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "exporters/stats/partition_rows.h"
#include "exporters/stats/status_limited.h"
#include "exporters/stats/status_verdict.h"
#include "proto/config/instance.h"
#include "proto/json/json.h"
#include "proto/format/table.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#define BROKER_SILENCE_NS NS_PER_SECOND
/* A number of nanoseconds above this is a time, below it a duration. */
#define YEARS_NS (10 * 365 * 86400 * NS_PER_SECOND)

enum { LABEL_COLUMNS = 28 };

struct report {
	FILE *file;
	struct json json;
	bool as_json;
	struct source *open; /* NULL: none is open */
	const char *limit;   /* of partitions; NULL: none */
};

static bool
text_begins(struct text text, const char *with)
{
	size_t bytes = strlen(with);

	return text.bytes >= bytes && memcmp(text.at, with, bytes) == 0;
}

/* ---- table ---- */

static bool
ends_in(struct text key, const char *end)
{
	size_t bytes = strlen(end);

	return key.bytes >= bytes &&
	       memcmp(key.at + key.bytes - bytes, end, bytes) == 0;
}

/* Add a readable form (a date, a size) to large numbers. */
static void
put_meaning(FILE *file, const struct record_attribute *a)
{
	char text[CLOCK_TEXT_BYTES];
	int64_t i = a->value.is.i;

	if (a->value.type != VALUE_INT)
		return;
	if (ends_in(a->key, "bytes") && i >= 10000) {
		fputs("  (", file);
		status_put_bytes(file, (double)i);
		putc(')', file);
	} else if (ends_in(a->key, "_ns") &&
		   (i > YEARS_NS || text_begins(a->key, "first_") ||
		       text_begins(a->key, "last_"))) {
		fprintf(file, "  (%s)", clock_text(text, i, 3));
	} else if (ends_in(a->key, "_ns") && i > 0) {
		fputs("  (", file);
		status_put_time(file, (double)i);
		putc(')', file);
	}
}

static void
put_value(FILE *file, const struct value *value)
{
	switch (value->type) {
	case VALUE_NIL: fputs("-", file); break;
	case VALUE_BOOL: fputs(value->is.boolean ? "yes" : "no", file); break;
	case VALUE_INT: fprintf(file, "%" PRId64, value->is.i); break;
	case VALUE_UINT: fprintf(file, "%" PRIu64, value->is.u); break;
	case VALUE_FLOAT: fprintf(file, "%.6g", value->is.f); break;
	case VALUE_TEXT: table_put_elided(file, value->is.text, 48); break;
	}
}

/* Omit counters that are zero; JSON has them all. */
static bool
is_worth_a_line(const struct record_attribute *a)
{
	if (a->value.type == VALUE_BOOL)
		return a->value.is.boolean;
	return a->value.type != VALUE_INT || a->value.is.i != 0 ||
	       text_equal(a->key, text_of("indexing_lag"));
}

static void
put_lines(FILE *file, const struct record *record)
{
	struct text pairs = record->pairs;
	struct record_attribute a;

	table_put_elided(file, record->name, 78);
	putc('\n', file);
	while (record_next_attribute(&pairs, &a)) {
		unsigned width = table_width(a.key);

		if (!is_worth_a_line(&a))
			continue;
		fputs("  ", file);
		table_put_elided(file, a.key, LABEL_COLUMNS);
		fprintf(file, "%*s",
		    width < LABEL_COLUMNS ? (int)(LABEL_COLUMNS + 1 - width)
					  : 1,
		    "");
		put_value(file, &a.value);
		put_meaning(file, &a);
		putc('\n', file);
	}
}

/* ---- both ---- */

/* Print the records of partitions, or all others. */
static int
put_records(struct report *report, struct source *source, bool partitions,
    struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	int rc;

	if (source_select(source, SOURCE_STATUS, (struct text){ NULL, 0 },
		&query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		struct text name;

		if (record.kind != RECORD_ENTITY ||
		    partition_rows_name(&record, &name) != partitions)
			continue;
		if (report->as_json) {
			json_key(&report->json, name);
			json_pairs(&report->json, record.pairs);
		} else {
			put_lines(report->file, &record);
		}
	}
	return rc;
}

static int
put_store(struct report *report, struct source *source, struct err *err)
{
	int rc = 0;

	if (report->as_json) {
		json_add_string(&report->json, "from", source_name(source));
	} else {
		fputs("from ", report->file);
		table_put_elided(
		    report->file, text_of(source_name(source)), 74);
		putc('\n', report->file);
	}
	rc = report->limit != NULL
		 ? status_limited_json(&report->json, source, err)
		 : put_records(report, source, false, err);
	if (rc == 0 && report->as_json) {
		json_add_object(&report->json, "partitions");
	}
	if (rc == 0) {
		rc = put_records(report, source, true, err);
		if (report->as_json)
			json_end_object(&report->json);
	}
	return rc;
}

static int
put_place(struct report *report, const struct source_options *options,
    uint32_t place, struct err *err)
{
	struct source *source = NULL;
	int rc;

	/* The only place is that of the open source. */
	if (report->open != NULL && source_places(options) == 1)
		return put_store(report, report->open, err);
	rc = source_open_place(&source, options, place, err);
	if (rc == 0) {
		source_limit(source, report->limit);
		rc = put_store(report, source, err);
	}
	source_close(&source);
	return rc;
}

/* Of several places each is an object of its own: they have the same keys. */
static int
put_stores(struct report *report, const struct source_options *options,
    struct err *err)
{
	uint32_t places = source_places(options);
	bool array = report->as_json && places > 1;
	int rc = 0;

	if (array) {
		json_add_array(&report->json, "sources");
	}
	for (uint32_t i = 0; i < places && rc == 0; i++) {
		if (array)
			json_begin_object(&report->json);
		else if (i > 0)
			putc('\n', report->file);
		rc = put_place(report, options, i, err);
		if (array)
			json_end_object(&report->json);
	}
	if (array)
		json_end_array(&report->json);
	return rc;
}

static void
put_broker_words(struct report *report, const char *words)
{
	if (report->as_json) {
		json_add_object(&report->json, "broker");
		json_add_string(&report->json, "state", words);
		json_end_object(&report->json);
	} else {
		fprintf(report->file, "broker\n  %s\n", words);
	}
}

static bool
has_file(const char *name)
{
	char path[INSTANCE_PATH_BYTES];
	struct stat there;
	struct err err;

	return instance_path(path, name, &err) == 0 && stat(path, &there) == 0;
}

static void
put_broker(struct report *report, const struct source_options *options)
{
	char endpoint[INSTANCE_PATH_BYTES];
	struct source *source = NULL;
	struct err err;

	if (instance_endpoint(endpoint, "broker", &err) != 0 ||
	    !source_is_listening(endpoint)) {
		put_broker_words(report,
		    has_file("log/broker.log") ? "stopped" : "not running");
		return;
	}
	if (source_open_endpoint(
		&source, options, endpoint, BROKER_SILENCE_NS, &err) != 0 ||
	    put_records(report, source, false, &err) != 0)
		put_broker_words(report, "does not answer");
	source_close(&source);
}

/* ---- the verdict ---- */

static int
take_facts(struct status_facts *facts, struct source *source, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	int rc;

	if (source_select(source, SOURCE_STATUS, (struct text){ NULL, 0 },
		&query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY)
			status_facts_take(facts, &record);
	return rc;
}

/* An instance with an agent's spool and without a store is that of a node. */
static void
ask_agent(struct status_facts *facts)
{
	char path[INSTANCE_PATH_BYTES], endpoint[INSTANCE_PATH_BYTES + 8];
	struct err err;

	facts->is_node = facts->aggregator == SERVICE_STOPPED &&
			 !facts->has_store && has_file("spool") &&
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
		(void)take_facts(facts, source, &err);
	source_close(&source);
}

static void
put_partition(struct table *table, const struct partition_row *row)
{
	char text[CLOCK_TEXT_BYTES];

	table_text(table, row->name);
	table_count(table, row->nodes);
	table_count(table, row->records);
	if (row->last_ns == INT64_MIN)
		table_none(table);
	else
		table_string(table, clock_text(text, row->last_ns, 0));
}

/* Partitions that several places keep; each has a row of its own. */
static void
put_twice(const struct partition_rows *rows, FILE *file)
{
	bool any = false;

	for (uint32_t i = 0; i < rows->count; i++) {
		if (!rows->at[i].is_kept_twice || !rows->at[i].is_read)
			continue;
		if (!any)
			fputs("\nkept by more than one aggregator; read where "
			      "the newest record is:\n",
			    file);
		any = true;
		fputs("  ", file);
		table_put_elided(file, rows->at[i].name, 76);
		putc('\n', file);
	}
}

static int
put_partitions(struct source *source, FILE *file, struct err *err)
{
	static const struct table_column columns[] = {
		{ "PARTITION", 34, false },
		{ "NODES", 7, true },
		{ "RECORDS", 9, true },
		{ "NEWEST", 24, false },
		{ .title = NULL },
	};
	struct partition_rows rows;
	struct table table;
	int rc =
	    partition_rows_read(&rows, source, (struct text){ NULL, 0 }, err);

	if (rows.count > 0) {
		putc('\n', file);
		table_begin(&table, file, columns);
	}
	for (uint32_t i = 0; i < rows.count; i++)
		put_partition(&table, &rows.at[i]);
	put_twice(&rows, file);
	partition_rows_clear(&rows);
	return rc;
}

int
status_facts_read(struct status_facts *facts, struct source *source,
    const struct source_options *options, struct err *err)
{
	bool named = source_is_named(options);
	int rc = -1;

	*facts = (struct status_facts){ .broker = SERVICE_UNASKED };
	if (!named)
		facts->aggregator = SERVICE_STOPPED;
	if (source != NULL)
		rc = take_facts(facts, source, err);
	if (rc != 0 && (source != NULL || named))
		facts->aggregator = SERVICE_SILENT;
	if (!named)
		ask_broker(facts, options);
	if (!named)
		ask_agent(facts);
	return rc;
}

static int
put_summary(const struct source_options *options,
    int (*add_nodes)(
	struct status_facts *facts, struct source *source, struct err *err),
    bool verbose, FILE *file, int *status, struct err *err)
{
	struct status_facts facts;
	struct source *source = NULL;
	int rc;

	(void)source_open(&source, options, err);
	rc = status_facts_read(&facts, source, options, err);
	if (rc == 0)
		rc = add_nodes(&facts, source, err);
	*status = status_verdict_print(&facts, file) == VERDICT_OK ? 0 : 3;
	if (facts.is_node)
		rc = 0; /* there is no store to answer */
	else if (rc == 0 && !verbose)
		rc = put_partitions(source, file, err);
	source_close(&source);
	return rc;
}

static int
put_all(struct report *report, const struct source_options *options,
    struct err *err)
{
	int rc;

	json_init(&report->json, report->file, JSON_INDENTED | JSON_STRICT);
	if (report->as_json)
		json_begin_object(&report->json);
	rc = put_stores(report, options, err);
	/* The store of another instance has nothing to do with the broker of
	 * this one, which serves more partitions than a limit lets see. */
	if (!source_is_named(options) && report->limit == NULL)
		put_broker(report, options);
	if (report->as_json) {
		json_end_object(&report->json);
		putc('\n', report->file);
	}
	return rc;
}

int
stats_status_json(struct source *source, const char *limit,
    const struct source_options *options, FILE *file, struct err *err)
{
	struct report report = {
		.file = file, .as_json = true, .open = source, .limit = limit
	};
	int rc;

	source_limit(source, limit);
	rc = put_all(&report, options, err);
	source_limit(source, NULL);
	return rc;
}

int
stats_status(const struct source_options *options,
    int (*add_nodes)(
	struct status_facts *facts, struct source *source, struct err *err),
    bool json, bool verbose, FILE *file, int *status, struct err *err)
{
	struct report report = { .file = file, .as_json = json };
	int rc;

	if (json)
		return put_all(&report, options, err);
	rc = put_summary(options, add_nodes, verbose, file, status, err);
	if (rc == 0 && verbose) {
		putc('\n', file);
		rc = put_all(&report, options, err);
	}
	if (rc == 0 || *status == 0)
		return rc;
	/* The words say it: an answer, which is bad. */
	log_fail(err);
	return 0;
}
