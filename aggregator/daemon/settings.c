/*
 * aggregator_settings - the aggregator's options and their defaults.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/daemon/settings.h"

#include <stdio.h>
#include <string.h>

#include "proto/auth/rate_limit.h"
#include "proto/net/zsock.h"
#include "proto/os/clock.h"

enum {
	INTAKE_QUEUE = 64, /* messages; a peer may be a broker of many agents */
	SESSIONS_PER_HOUR = 1024,
	MAP_BYTES_MIN = 1 << 20,
};

/* Servers sort before they send the first byte. */
#define ARCHIVE_READ_NS (30 * NS_PER_SECOND)

const struct aggregator_settings_given aggregator_settings_default = {
	/* A limit by size, not by age: imported history is old on arrival. */
	.retain_bytes = UINT64_C(32) << 30,
	.rejected_bytes = UINT64_C(16) << 20,
	.retire_after_ns = 7 * 24 * 3600 * NS_PER_SECOND,
	.journal_keep_ns = 600 * NS_PER_SECOND,
	.journal_bytes = UINT64_C(1) << 30,
	.map_bytes = UINT64_C(1) << 40,
	.compact_after_ns = 120 * NS_PER_SECOND,
	.archive_after_ns = 10 * NS_PER_SECOND,
	/* For this time agents retain acknowledged batches. */
	.queue = INTAKE_QUEUE,
	.sessions = SESSIONS_PER_HOUR,
	.connects = ZSOCK_CONNECTS_PER_SECOND,
	.key_bytes_per_second = RATE_LIMIT_BYTES_PER_SECOND,
};

const struct opt aggregator_settings_options[] = {
	{ "store", 0, OPT_TEXT, OPT_TO(struct aggregator_settings_given, store),
	    "DIR", "directory of the store (default: DIR/store)" },
	{ "listen", 0, OPT_LIST,
	    OPT_TO(struct aggregator_settings_given, listen), "ENDPOINT",
	    "listen on ENDPOINT for brokers and agents; may be repeated "
	    "(default: ipc://DIR/run/intake.ipc)" },
	{ "reader", 0, OPT_LIST,
	    OPT_TO(struct aggregator_settings_given, reader), "ENDPOINT",
	    "listen on ENDPOINT for readers; may be repeated (default: "
	    "ipc://DIR/run/reader.ipc)" },
	{ "models", 0, OPT_TEXT,
	    OPT_TO(struct aggregator_settings_given, models), "DIR",
	    "read the model files of this directory; empty: none (default: the "
	    "installed ones)" },
	{ "retain", 0, OPT_DURATION,
	    OPT_TO(struct aggregator_settings_given, retain_ns), "TIME",
	    "delete records older than this (default: 0, keep them)",
	    .flags = OPT_RELOAD },
	{ "retain-raw", 0, OPT_DURATION,
	    OPT_TO(struct aggregator_settings_given, retain_raw_ns), "TIME",
	    "delete raw samples older than this, keeping their rollups "
	    "(default: 0, keep them)",
	    .flags = OPT_RELOAD },
	{ "retain-1min", 0, OPT_DURATION,
	    OPT_TO(struct aggregator_settings_given, retain_1min_ns), "TIME",
	    "delete 1-minute rollups older than this (default: 0, keep them)",
	    .flags = OPT_RELOAD },
	{ "retain-bytes", 0, OPT_BYTES,
	    OPT_TO(struct aggregator_settings_given, retain_bytes), "BYTES",
	    "when the tables exceed this size, delete the oldest data, finest "
	    "resolution first (default: 32GiB; 0: no limit)",
	    .flags = OPT_RELOAD },
	{ "rejected-bytes", 0, OPT_BYTES,
	    OPT_TO(struct aggregator_settings_given, rejected_bytes), "BYTES",
	    "store at most this many bytes of rejected batches per partition "
	    "(default: 16MiB; 0: no limit)",
	    .flags = OPT_RELOAD },
	{ "retire-after", 0, OPT_DURATION,
	    OPT_TO(struct aggregator_settings_given, retire_after_ns), "TIME",
	    "count nodes that were not heard for this time as stopped "
	    "(default: 7d; 0: never)" },
	{ "compact-after", 0, OPT_DURATION,
	    OPT_TO(struct aggregator_settings_given, compact_after_ns), "TIME",
	    "compact an hour after it has been idle this long (default: 2m; 0: "
	    "never)" },
	{ "journal-bytes", 0, OPT_BYTES,
	    OPT_TO(struct aggregator_settings_given, journal_bytes), "BYTES",
	    "make senders wait when more than this is not indexed yet "
	    "(default: 1GiB)",
	    .flags = OPT_RELOAD },
	{ "journal-keep", 0, OPT_DURATION,
	    OPT_TO(struct aggregator_settings_given, journal_keep_ns), "TIME",
	    "keep batches in the journal this long after indexing (default: "
	    "10m)",
	    .flags = OPT_RELOAD },
	{ "map-bytes", 0, OPT_BYTES,
	    OPT_TO(struct aggregator_settings_given, map_bytes), "BYTES",
	    "maximum size of the journal and of the tables, each (default: "
	    "1TiB)" },
	{ "queue", 0, OPT_COUNT,
	    OPT_TO(struct aggregator_settings_given, queue), "N",
	    "queue at most this many messages per peer and direction (default: "
	    "64)" },
	{ "sessions-per-hour", 0, OPT_COUNT,
	    OPT_TO(struct aggregator_settings_given, sessions), "N",
	    "accept at most this many new sessions per hour from a node "
	    "(default: 1024; 0: no limit)",
	    .flags = OPT_RELOAD },
	{ "ingest-rate", 0, OPT_BYTES,
	    OPT_TO(struct aggregator_settings_given, key_bytes_per_second),
	    "BYTES",
	    "ingest rate limit per key in bytes/s, burst 10 s (default: 64MiB; "
	    "0: no limit)",
	    .flags = OPT_RELOAD },
	{ "connect-rate", 0, OPT_COUNT,
	    OPT_TO(struct aggregator_settings_given, connects), "N",
	    "accept at most this many TCP connections/s, burst 10 s (default: "
	    "100; 0: no limit)" },
	{ "accept", 0, OPT_LIST,
	    OPT_TO(struct aggregator_settings_given, accept), "PATTERN",
	    "accept new partitions that match PATTERN; may be repeated "
	    "(default: all)",
	    .flags = OPT_RELOAD },
	{ "server-key", 0, OPT_TEXT,
	    OPT_TO(struct aggregator_settings_given, server_key), "FILE",
	    "private key of the TCP listeners (default: DIR/keys/server.key)" },
	{ "insecure", 0, OPT_FLAG,
	    OPT_TO(struct aggregator_settings_given, insecure), NULL,
	    "allow TCP without keys and encryption" },
	{ "archive", 0, OPT_TEXT,
	    OPT_TO(struct aggregator_settings_given, archive), "URL",
	    "copy the store to this archive: "
	    "clickhouse://[USER@]HOST[:PORT][,HOST...]/DATABASE, by TLS "
	    "clickhouses:// (default: none)" },
	{ "archive-password", 0, OPT_TEXT,
	    OPT_TO(struct aggregator_settings_given, archive_password), "FILE",
	    "password of the archive's user, in a file of mode 0600" },
	{ "archive-cacert", 0, OPT_TEXT,
	    OPT_TO(struct aggregator_settings_given, archive_cacert), "FILE",
	    "trust the certificates of this authority (PEM) for the archive" },
	{ "archive-insecure", 0, OPT_FLAG,
	    OPT_TO(struct aggregator_settings_given, archive_insecure), NULL,
	    "allow an archive on other hosts without TLS" },
	{ "archive-after", 0, OPT_DURATION,
	    OPT_TO(struct aggregator_settings_given, archive_after_ns), "TIME",
	    "copy what has changed every TIME (default: 10s)" },
	{ "archive-only", 0, OPT_TEXT,
	    OPT_TO(struct aggregator_settings_given, archive_only), "URL",
	    "store nothing: answer readers from this archive, an address as of "
	    "--archive" },
	{ "force-network-fs", 0, OPT_FLAG,
	    OPT_TO(struct aggregator_settings_given, force_network_fs), NULL,
	    "allow a store on a network file system, which may destroy it" },
	{ .name = NULL },
};

/* What a gateway has in common with an aggregator that has a store. */
static bool
is_of_gateway(const struct opt *opt)
{
	static const char *const names[] = { "reader", "connect-rate",
		"server-key", "insecure", "archive-password", "archive-cacert",
		"archive-insecure", "archive-only" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(opt->name, names[i]) == 0)
			return true;
	return false;
}

static int
check_address(const struct aggregator_settings_given *given, struct err *err)
{
	const struct clickhouse_options how =
	    aggregator_settings_clickhouse(given);
	struct clickhouse *clickhouse = NULL;

	if (clickhouse_open(&clickhouse, &how, "archive-only", err) != 0)
		return -1;
	clickhouse_close(&clickhouse);
	return 0;
}

/* The configuration may be that of an aggregator: its values do not apply, but
 * one that has an archive of its own would stop to store and to copy. */
static int
check_gateway(const struct aggregator_settings_given *given, struct err *err)
{
	enum opt_from from = opt_origin_of(&given->archive_only);

	for (const struct opt *o = aggregator_settings_options; o->name != NULL;
	     o++)
		if (!is_of_gateway(o) && opt_origin(o) == OPT_COMMAND_LINE)
			return err_set_option(err, o->name,
			    "is of an aggregator with a store, and "
			    "--archive-only has none");
	if (given->archive != NULL && opt_origin_of(&given->archive) >= from)
		return err_set_option(
		    err, "archive", "or --archive-only, not both");
	return check_address(given, err);
}

uint64_t
aggregator_settings_map_bytes(const struct aggregator_settings_given *given)
{
	return opt_origin_of(&given->map_bytes) == OPT_DEFAULT
		   ? 0
		   : given->map_bytes;
}

int
aggregator_settings_check(
    const struct aggregator_settings_given *given, struct err *err)
{
	if (given->queue < 1 || given->queue > 1024)
		return err_set_option(err, "queue", "is 1 to 1024");
	if (given->connects > ZSOCK_CONNECTS_MAX)
		return err_set_option(
		    err, "connect-rate", "is at most %d", ZSOCK_CONNECTS_MAX);
	if (given->map_bytes < MAP_BYTES_MIN)
		return err_set_option(err, "map-bytes", "is at least 1MiB");
	if (given->archive_after_ns < NS_PER_SECOND / 10 ||
	    given->archive_after_ns > 3600 * NS_PER_SECOND)
		return err_set_option(err, "archive-after", "is 100ms to 1h");
	return given->archive_only != NULL ? check_gateway(given, err) : 0;
}

void
aggregator_settings_sandbox(
    const struct aggregator_settings_given *given, struct sandbox *sandbox)
{
	char models[MODEL_DIR_BYTES];

	if (given->archive_only != NULL) {
		sandbox_write_or(sandbox, NULL, "run");
	} else {
		sandbox_write_or(sandbox, given->store, "store");
		sandbox_read(sandbox, given->models != NULL
					  ? given->models
					  : model_dir_find(models));
		sandbox_listeners(sandbox, &given->listen, "run/intake.ipc");
		if (given->archive != NULL)
			sandbox_write_or(sandbox, NULL, "run");
	}
	sandbox_read_or(sandbox, given->server_key, "keys/server.key");
	sandbox_read_folder_of(sandbox, given->archive_password);
	sandbox_read_folder_of(sandbox, given->archive_cacert);
	sandbox_listeners(sandbox, &given->reader, "run/reader.ipc");
}

int
aggregator_settings_store(const struct aggregator_settings_given *given,
    struct aggregator_settings *aggregator_settings, struct err *err)
{
	if (given->store != NULL &&
	    snprintf(aggregator_settings->store,
		sizeof(aggregator_settings->store), "%s",
		given->store) >= (int)sizeof(aggregator_settings->store))
		return err_set_option(err, "store", "is too long");
	if (given->store == NULL)
		return instance_path(aggregator_settings->store, "store", err);
	return 0;
}

int
aggregator_settings_resolve(const struct aggregator_settings_given *given,
    struct aggregator_settings *aggregator_settings, struct err *err)
{
	const char *why;

	if (aggregator_settings_store(given, aggregator_settings, err) != 0)
		return -1;
	return instance_node(aggregator_settings->node, NULL, &why, err);
}

struct writer_options
aggregator_settings_retention(const struct aggregator_settings_given *given)
{
	return (struct writer_options){
		.retain_ns = given->retain_ns,
		.retain_raw_ns = given->retain_raw_ns,
		.retain_1min_ns = given->retain_1min_ns,
		.retain_bytes = given->retain_bytes,
		.rejected_bytes = given->rejected_bytes,
	};
}

struct writer_options
aggregator_settings_indexer(const struct aggregator_settings_given *given,
    struct aggregator_settings *aggregator_settings)
{
	struct writer_options indexer = aggregator_settings_retention(given);
	const char *models = given->models;

	indexer.retire_after = (uint64_t)given->retire_after_ns + 1;

	if (models == NULL)
		models = model_dir(aggregator_settings->models);
	else if (models[0] == '\0')
		models = NULL;
	indexer.models = models;
	indexer.node = aggregator_settings->node;
	indexer.compact_after_ns = given->compact_after_ns;
	indexer.map_bytes = aggregator_settings_map_bytes(given);
	indexer.allow_network = given->force_network_fs;
	indexer.archive = given->archive != NULL;
	return indexer;
}

struct clickhouse_options
aggregator_settings_clickhouse(const struct aggregator_settings_given *given)
{
	struct clickhouse_options clickhouse = CLICKHOUSE_DEFAULT;

	clickhouse.url =
	    given->archive_only != NULL ? given->archive_only : given->archive;
	clickhouse.password = given->archive_password;
	clickhouse.cacert = given->archive_cacert;
	clickhouse.insecure = given->archive_insecure;
	clickhouse.timeout_ns = ARCHIVE_READ_NS;
	return clickhouse;
}

struct archiver_options
aggregator_settings_archiver(const struct aggregator_settings_given *given)
{
	struct archiver_options archiver = { .clickhouse = CLICKHOUSE_DEFAULT,
		.after_ns = given->archive_after_ns };

	archiver.clickhouse.url = given->archive;
	archiver.clickhouse.password = given->archive_password;
	archiver.clickhouse.cacert = given->archive_cacert;
	archiver.clickhouse.insecure = given->archive_insecure;
	archiver.endpoint = given->reader.count > 0 ? given->reader.at[0] : "";
	return archiver;
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
aggregator_settings_listeners(struct aggregator_settings_given *given,
    struct aggregator_settings *aggregator_settings, struct err *err)
{
	if (default_endpoint(&given->listen,
		aggregator_settings->intake_endpoint, "intake", err) != 0)
		return -1;
	return aggregator_settings_readers(given, aggregator_settings, err);
}

int
aggregator_settings_readers(struct aggregator_settings_given *given,
    struct aggregator_settings *aggregator_settings, struct err *err)
{
	return default_endpoint(&given->reader,
	    aggregator_settings->reader_endpoint, "reader", err);
}
