/*
 * aggregator_settings - the aggregator's options and their defaults.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DAEMON_SETTINGS_H
#define AGGREGATOR_DAEMON_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/archiver.h"
#include "aggregator/model/dir.h"
#include "aggregator/writer/writer.h"
#include "proto/base/err.h"
#include "proto/clickhouse/client.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/service/sandbox.h"

/* The values of the options. */
struct aggregator_settings_given {
	const char *store, *models, *server_key;
	struct opt_list listen, reader, accept;
	int64_t retain_ns, journal_keep_ns, compact_after_ns;
	int64_t retain_raw_ns, retain_1min_ns, retire_after_ns;
	uint64_t retain_bytes, rejected_bytes, journal_bytes, map_bytes, queue;
	uint64_t sessions, connects, key_bytes_per_second;
	bool insecure, force_network_fs;
	const char *archive, *archive_password, *archive_cacert;
	const char *archive_only; /* NULL: it has a store */
	int64_t archive_after_ns;
	bool archive_insecure;
};
extern const struct aggregator_settings_given aggregator_settings_default;
/* They are bound to a struct aggregator_settings_given. */
extern const struct opt aggregator_settings_options[];

/* What follows from them: paths and endpoints of the instance. */
struct aggregator_settings {
	char store[INSTANCE_PATH_BYTES], node[INSTANCE_PATH_BYTES];
	char models[MODEL_DIR_BYTES];
	char intake_endpoint[INSTANCE_PATH_BYTES];
	char reader_endpoint[INSTANCE_PATH_BYTES];
};

/* 0 unless it is set: where address space is limited, the default is less. */
uint64_t aggregator_settings_map_bytes(
    const struct aggregator_settings_given *given);

/* Check the values beyond their types; -1: `err` names the option. */
int aggregator_settings_check(
    const struct aggregator_settings_given *given, struct err *err);
/* Declare the files that the service needs. */
void aggregator_settings_sandbox(
    const struct aggregator_settings_given *given, struct sandbox *sandbox);
/* Find only the store, for an administrative program. */
int aggregator_settings_store(const struct aggregator_settings_given *given,
    struct aggregator_settings *aggregator_settings, struct err *err);
int aggregator_settings_resolve(const struct aggregator_settings_given *given,
    struct aggregator_settings *aggregator_settings, struct err *err);
/* Age and size limits: retain_* and rejected_bytes only. */
struct writer_options aggregator_settings_retention(
    const struct aggregator_settings_given *given);
/* Options of the indexer; finds the model files when --models is not given. */
struct writer_options aggregator_settings_indexer(
    const struct aggregator_settings_given *given,
    struct aggregator_settings *aggregator_settings);
/* How --archive-only is reached. */
struct clickhouse_options aggregator_settings_clickhouse(
    const struct aggregator_settings_given *given);
/* How the archive is reached; only if given->archive is not NULL. */
struct archiver_options aggregator_settings_archiver(
    const struct aggregator_settings_given *given);
/* Add the listeners of the instance to lists that are empty, and create their
 * directory; the second one that of readers only. */
int aggregator_settings_listeners(struct aggregator_settings_given *given,
    struct aggregator_settings *aggregator_settings, struct err *err);
int aggregator_settings_readers(struct aggregator_settings_given *given,
    struct aggregator_settings *aggregator_settings, struct err *err);

#endif
