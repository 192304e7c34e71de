/*
 * aggregator_settings - the aggregator's options, and what follows from them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/daemon/settings.h"

#include <stdio.h>

#include "proto/auth/rate_limit.h"
#include "proto/net/zsock.h"
#include "proto/os/clock.h"

enum {
	INTAKE_QUEUE = 64, /* messages; one peer may be a broker of many */
	SESSIONS_PER_HOUR = 1024,
};

struct aggregator_settings_given aggregator_settings_given = {
	/* By size, not by age: history that is imported is old on arrival. */
	.retain_bytes = UINT64_C(32) << 30,
	.rejected_bytes = UINT64_C(16) << 20,
	.journal_keep_ns = 600 * NS_PER_SECOND,
	.journal_bytes = UINT64_C(1) << 30,
	.compact_after_ns = 120 * NS_PER_SECOND,
	.restore_wait_ns = 24 * 3600 * NS_PER_SECOND, /* as agents retain */
	.queue = INTAKE_QUEUE,
	.sessions = SESSIONS_PER_HOUR,
	.connects = ZSOCK_CONNECTS_PER_SECOND,
	.key_bytes = RATE_LIMIT_BYTES_PER_SECOND,
};

const struct opt aggregator_settings_options[] = {
	{ "store", 0, OPT_TEXT, &aggregator_settings_given.store, "DIR",
	    "where everything is kept, default store in the instance", NULL,
	    false },
	{ "listen", 0, OPT_LIST, &aggregator_settings_given.listen, "ENDPOINT",
	    "door for brokers and agents; may be repeated", NULL, false },
	{ "reader", 0, OPT_LIST, &aggregator_settings_given.reader, "ENDPOINT",
	    "door for readers; may be repeated", NULL, false },
	{ "models", 0, OPT_TEXT, &aggregator_settings_given.models, "DIR",
	    "where the models are; empty: no phases", NULL, false },
	{ "retain", 0, OPT_DURATION, &aggregator_settings_given.retain_ns,
	    "TIME", "records of a time longer ago go; 0, the default: none",
	    NULL, OPT_RELOAD },
	{ "retain-raw", 0, OPT_DURATION,
	    &aggregator_settings_given.retain_raw_ns, "TIME",
	    "samples go before that, and leave their tiers; 0, the default: "
	    "never",
	    NULL, OPT_RELOAD },
	{ "retain-10s", 0, OPT_DURATION,
	    &aggregator_settings_given.retain_10s_ns, "TIME",
	    "the same of samples by 10 seconds", NULL, OPT_RELOAD },
	{ "retain-1min", 0, OPT_DURATION,
	    &aggregator_settings_given.retain_1min_ns, "TIME", "... by minutes",
	    NULL, OPT_RELOAD },
	{ "retain-10min", 0, OPT_DURATION,
	    &aggregator_settings_given.retain_10min_ns, "TIME",
	    "... by 10 minutes", NULL, OPT_RELOAD },
	{ "retain-bytes", 0, OPT_BYTES, &aggregator_settings_given.retain_bytes,
	    "BYTES",
	    "the finest samples, then the oldest records go when the tables "
	    "are larger; default 32GiB, 0: never",
	    NULL, OPT_RELOAD },
	{ "rejected-bytes", 0, OPT_BYTES,
	    &aggregator_settings_given.rejected_bytes, "BYTES",
	    "of a partition's dead letters whose content is kept; default "
	    "16MiB, 0: of all",
	    NULL, OPT_RELOAD },
	{ "compact-after", 0, OPT_DURATION,
	    &aggregator_settings_given.compact_after_ns, "TIME",
	    "pack hours that are over and rest for so long; default 2m, 0: "
	    "never",
	    NULL, false },
	{ "journal-bytes", 0, OPT_BYTES,
	    &aggregator_settings_given.journal_bytes, "BYTES",
	    "senders wait when more than this is not folded yet", NULL,
	    OPT_RELOAD },
	{ "journal-keep", 0, OPT_DURATION,
	    &aggregator_settings_given.journal_keep_ns, "TIME",
	    "how long batches stay in the journal once folded", NULL,
	    OPT_RELOAD },
	{ "restore-wait", 0, OPT_DURATION,
	    &aggregator_settings_given.restore_wait_ns, "TIME",
	    "what a restored store lacks becomes gaps when nobody has brought "
	    "it again after so long; default 24h",
	    NULL, OPT_RELOAD },
	{ "map-bytes", 0, OPT_BYTES, &aggregator_settings_given.map_bytes,
	    "BYTES", "bound of journal and of tables, default 1 TiB each", NULL,
	    false },
	{ "queue", 0, OPT_COUNT, &aggregator_settings_given.queue, "N",
	    "messages queued per peer and direction", NULL, false },
	{ "sessions-per-hour", 0, OPT_COUNT,
	    &aggregator_settings_given.sessions, "N",
	    "new sessions that one node may begin; 0: any number", NULL,
	    OPT_RELOAD },
	{ "ingest-rate", 0, OPT_BYTES, &aggregator_settings_given.key_bytes,
	    "BYTES",
	    "of batches that one key may bring a second, and ten times as many "
	    "at once; default 64MiB, 0: any number",
	    NULL, OPT_RELOAD },
	{ "connect-rate", 0, OPT_COUNT, &aggregator_settings_given.connects,
	    "N",
	    "connections that may come to a tcp door, and ten times as many at "
	    "once; default 100, 0: any number",
	    NULL, false },
	{ "accept", 0, OPT_LIST, &aggregator_settings_given.owns, "PATTERN",
	    "partitions that may begin here, default all; may be repeated",
	    NULL, OPT_RELOAD },
	{ "server-key", 0, OPT_TEXT, &aggregator_settings_given.server_key,
	    "FILE",
	    "key of the tcp doors, default keys/server.key in the instance",
	    NULL, false },
	{ "insecure", 0, OPT_FLAG, &aggregator_settings_given.insecure, NULL,
	    "let tcp doors be without keys and encryption", NULL, false },
	{ "force-network-fs", 0, OPT_FLAG,
	    &aggregator_settings_given.force_network_fs, NULL,
	    "keep the store on a network file system, at your risk", NULL,
	    false },
	{ .name = NULL },
};

int
aggregator_settings_check(struct err *err)
{
	if (aggregator_settings_given.queue < 1 ||
	    aggregator_settings_given.queue > 1024)
		return err_set_option(err, "queue", "is 1 to 1024");
	if (aggregator_settings_given.connects > ZSOCK_CONNECTS_MAX)
		return err_set_option(
		    err, "connect-rate", "is at most %d", ZSOCK_CONNECTS_MAX);
	return 0;
}

void
aggregator_settings_sandbox(struct sandbox *sandbox)
{
	char models[MODEL_DIR_BYTES];

	sandbox_write_or(sandbox, aggregator_settings_given.store, "store");
	sandbox_read(sandbox, aggregator_settings_given.models != NULL
				  ? aggregator_settings_given.models
				  : model_dir_find(models));
	sandbox_read_or(
	    sandbox, aggregator_settings_given.server_key, "keys/server.key");
	sandbox_doors(
	    sandbox, &aggregator_settings_given.listen, "run/intake.ipc");
	sandbox_doors(
	    sandbox, &aggregator_settings_given.reader, "run/reader.ipc");
}

int
aggregator_settings_store(
    struct aggregator_settings *aggregator_settings, struct err *err)
{
	if (aggregator_settings_given.store != NULL &&
	    snprintf(aggregator_settings->store,
		sizeof(aggregator_settings->store), "%s",
		aggregator_settings_given.store) >=
		(int)sizeof(aggregator_settings->store))
		return err_set_option(err, "store", "is too long");
	if (aggregator_settings_given.store == NULL)
		return instance_path(aggregator_settings->store, "store", err);
	return 0;
}

int
aggregator_settings_resolve(
    struct aggregator_settings *aggregator_settings, struct err *err)
{
	const char *why;

	if (aggregator_settings_store(aggregator_settings, err) != 0)
		return -1;
	return instance_node(aggregator_settings->node, NULL, &why, err);
}

struct writer_options
aggregator_settings_retention(void)
{
	return (struct writer_options){
		.retain_ns = aggregator_settings_given.retain_ns,
		.retain_rollup_ns = { aggregator_settings_given.retain_raw_ns,
		    aggregator_settings_given.retain_10s_ns,
		    aggregator_settings_given.retain_1min_ns,
		    aggregator_settings_given.retain_10min_ns },
		.retain_bytes = aggregator_settings_given.retain_bytes,
		.rejected_bytes = aggregator_settings_given.rejected_bytes,
	};
}

struct writer_options
aggregator_settings_indexer(struct aggregator_settings *aggregator_settings)
{
	struct writer_options indexer = aggregator_settings_retention();
	const char *models = aggregator_settings_given.models;

	if (models == NULL)
		models = model_dir(aggregator_settings->models);
	else if (models[0] == '\0')
		models = NULL;
	indexer.models = models;
	indexer.compact_after_ns = aggregator_settings_given.compact_after_ns;
	indexer.map_bytes = aggregator_settings_given.map_bytes;
	indexer.allow_network = aggregator_settings_given.force_network_fs;
	return indexer;
}

static int
default_endpoint(struct opt_list *list, char to[static INSTANCE_PATH_BYTES],
    const char *name, struct err *err)
{
	char run[INSTANCE_PATH_BYTES];

	if (list->count > 0)
		return 0;
	if (instance_endpoint(to, name, err) != 0 ||
	    instance_path(run, "run", err) != 0 ||
	    instance_make_dir(run, err) != 0)
		return -1;
	list->at[list->count++] = to;
	return 0;
}

int
aggregator_settings_doors(
    struct aggregator_settings *aggregator_settings, struct err *err)
{
	if (default_endpoint(&aggregator_settings_given.listen,
		aggregator_settings->intake_endpoint, "intake", err) != 0)
		return -1;
	return default_endpoint(&aggregator_settings_given.reader,
	    aggregator_settings->reader_endpoint, "reader", err);
}
