/*
 * stats_status - what is known of a store and its services.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/status.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "exporters/stats/partition_rows.h"
#include "proto/config/instance.h"
#include "proto/os/clock.h"

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
