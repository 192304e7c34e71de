/*
 * source_open - choose, open and close a source.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/source_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporters/source/local_source.h"
#include "exporters/source/remote_source.h"
#include "proto/answer/answer.h"
#include "proto/base/memory.h"
#include "proto/net/endpoint.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#define SILENCE_NS (10 * NS_PER_SECOND)

const struct opt source_options[] = {
	{ "store", 0, OPT_TEXT, OPT_TO(struct source_options, store), "DIR",
	    "read this store directory; its aggregator need not run",
	    .flags = OPT_SELDOM },
	{ "connect", 0, OPT_LIST, OPT_TO(struct source_options, connect),
	    "ENDPOINT",
	    "query the aggregator at this endpoint, such as tcp://head:5571, "
	    "or read its archive: "
	    "clickhouse://[USER@]HOST[:PORT][,HOST...]/DATABASE, "
	    "clickhouses:// by TLS; may be given several times: each partition "
	    "is read where it is kept (default: that of the instance if it "
	    "runs, else its store)",
	    .flags = OPT_SELDOM },
	{ "clock", 0, OPT_CHOICE, OPT_TO(struct source_options, clock), "CLOCK",
	    "show times on the nodes' clocks (raw), on the aggregator's "
	    "(corrected), or corrected where a clock was off (auto, the "
	    "default except for dump and upload)",
	    "auto|raw|corrected", .flags = OPT_SELDOM },
	{ "tz", 0, OPT_ZONE, OPT_TO(struct source_options, tz), "ZONE",
	    "read and print times in this zone: UTC (default), local, +01:00, "
	    "Europe/Berlin",
	    .flags = OPT_SELDOM },
	{ "damaged", 0, OPT_CHOICE, OPT_TO(struct source_options, damaged),
	    "WHAT",
	    "when rows of the store are damaged, give the rest and exit with 1 "
	    "(fail, the default) or with 0 (skip)",
	    "fail|skip", .flags = OPT_SELDOM },
	{ "key", 0, OPT_TEXT, OPT_TO(struct source_options, key.key), "FILE",
	    "use this key for a TCP endpoint (default: DIR/keys/reader.key)",
	    .flags = OPT_SELDOM },
	{ "insecure", 0, OPT_FLAG, OPT_TO(struct source_options, key.insecure),
	    NULL, "connect to a TCP endpoint without a key, unencrypted",
	    .flags = OPT_SELDOM },
	{ "archive-password", 0, OPT_TEXT,
	    OPT_TO(struct source_options, archive.password), "FILE",
	    "read the password of an archive's user from this file of mode "
	    "0600",
	    .flags = OPT_SELDOM },
	{ "archive-cacert", 0, OPT_TEXT,
	    OPT_TO(struct source_options, archive.cacert), "FILE",
	    "trust only the certificate authorities in this PEM file for an "
	    "archive",
	    .flags = OPT_SELDOM },
	{ "archive-insecure", 0, OPT_FLAG,
	    OPT_TO(struct source_options, archive.insecure), NULL,
	    "allow clickhouse:// beyond this machine: others on the network "
	    "can read records and password",
	    .flags = OPT_SELDOM },
	{ .name = NULL },
};

void
source_default_clock(struct source_options *options, enum clock_choice choice)
{
	if (opt_origin_of(&options->clock) == OPT_DEFAULT)
		options->clock = (int)choice;
}

static struct source *
make(const struct source_options *options)
{
	struct source *s = memory_zero(1, sizeof(*s));

	s->clock.choice = s->choice = (enum clock_choice)options->clock;
	s->damaged = (enum source_damaged)options->damaged;
	s->complete_ns = INT64_MAX;
	return s;
}

static int
open_endpoint(struct source *source, const struct source_options *options,
    const char *endpoint, int64_t silence_ns, struct err *err)
{
	struct place *place = places_add(&source->places, endpoint);

	place->is_local = strncmp(endpoint, "ipc://", 6) == 0;
	return remote_source_open(
	    &place->pages, &options->key, endpoint, silence_ns, err);
}

static int
open_archive(struct source *source, const struct source_options *options,
    const char *address, struct err *err)
{
	char name[PLACE_NAME_BYTES];
	struct place *place;

	archive_source_name(name, sizeof(name), address);
	place = places_add(&source->places, name);
	place->is_archive = true;
	if (archive_source_open(
		&place->pages, &options->archive, address, err) == 0)
		return 0;
	/* The sentence about an option names it, and what is wrong with it. */
	return err->code == ERR_OPTION ? -1 : err_prefix(err, "%s", name);
}

static int
open_endpoints(struct source **source, const struct source_options *options,
    const char *const endpoints[], uint32_t count, int64_t silence_ns,
    struct err *err)
{
	struct source *s = *source = make(options);

	for (uint32_t i = 0; i < count; i++) {
		int rc = archive_source_is_named(endpoints[i])
			     ? open_archive(s, options, endpoints[i], err)
			     : open_endpoint(
				   s, options, endpoints[i], silence_ns, err);

		if (rc != 0) {
			source_close(source);
			return -1;
		}
	}
	return 0;
}

int
source_open_endpoint(struct source **source,
    const struct source_options *options, const char *endpoint,
    int64_t silence_ns, struct err *err)
{
	return open_endpoints(source, options, &endpoint, 1, silence_ns, err);
}

static int
open_store(struct source **source, const struct source_options *options,
    const char *dir, struct err *err)
{
	struct reader *reader = NULL;
	uint64_t lag;

	if (reader_open(&reader, dir, err) != 0 ||
	    reader_lag(reader, &lag, err) != 0) {
		reader_close(&reader);
		return err_prefix(err, "%s", dir);
	}
	*source = make(options);
	local_source_open(&places_add(&(*source)->places, dir)->pages, reader);
	(*source)->lag = lag;
	return 0;
}

/* Does a process listen at `endpoint`?  A listener holds a lock on the file
 * next to its socket.  If that file cannot be read, test the socket. */
bool
source_is_listening(const char *endpoint)
{
	const char *path = endpoint + strlen("ipc://");
	char lock[INSTANCE_PATH_BYTES + 8];
	struct stat st;
	bool held;
	int fd;

	if (stat(path, &st) != 0)
		return false;
	snprintf(lock, sizeof(lock), "%s.lock", path);
	fd = open(lock, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT;
	held = flock(fd, LOCK_SH | LOCK_NB) != 0;
	close(fd);
	return held;
}

/* Of places with equally new records the first is read: an aggregator, which
 * has them sooner than its archive. */
static void
put_archives_last(struct opt_list *connect)
{
	struct opt_list archives = { .count = 0 };
	uint32_t others = 0;

	for (uint32_t i = 0; i < connect->count; i++)
		if (archive_source_is_named(connect->at[i]))
			archives.at[archives.count++] = connect->at[i];
		else
			connect->at[others++] = connect->at[i];
	for (uint32_t i = 0; i < archives.count; i++)
		connect->at[others + i] = archives.at[i];
}

/* If both a store and an endpoint are named, use the one from the stronger
 * origin (command line over environment over file).  The command line itself
 * may name only one. */
static struct source_options
choose(const struct source_options *given)
{
	struct source_options options = *given;
	enum opt_from store = opt_origin_of(&given->store);
	enum opt_from connect = opt_origin_of(&given->connect);

	for (uint32_t i = 0; i < options.connect.count; i++)
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(options.connect.at[i],
				options.connect.at[k]) == 0)
				opt_usage("--connect %s is given twice",
				    options.connect.at[i]);
	put_archives_last(&options.connect);
	if (options.store == NULL || options.connect.count == 0)
		return options;
	if (store == connect)
		opt_usage("--store or --connect, not both");
	if (store > connect)
		options.connect.count = 0;
	else
		options.store = NULL;
	return options;
}

bool
source_is_named(const struct source_options *options)
{
	return options->store != NULL || options->connect.count > 0;
}

/* Complete the endpoints to query: those that were named, else `own` when the
 * aggregator of the instance runs; none: read a store. */
static void
find_endpoints(
    struct source_options *options, char own[static INSTANCE_PATH_BYTES])
{
	struct err err;

	if (source_is_named(options))
		return;
	/* A directory whose path is too long for a socket can still hold a
	 * store. */
	if (instance_endpoint(own, "reader", &err) == 0 &&
	    source_is_listening(own))
		options->connect =
		    (struct opt_list){ .at = { own }, .count = 1 };
}

/* A process must not begin with an address that is wrong. */
static void
declare_addresses(struct sandbox *sandbox, const struct source_options *options)
{
	struct err err;
	bool any = false;

	for (uint32_t i = 0; i < options->connect.count; i++) {
		const char *address = options->connect.at[i];

		if (!archive_source_is_named(address)) {
			if (endpoint_check(address, &err) != 0)
				opt_usage("--connect: %s", err.text);
			continue;
		}
		if (archive_source_check(&options->archive, address, &err) != 0)
			opt_usage("%s", err.text);
		any = true;
	}
	if (any)
		archive_source_sandbox(&options->archive, sandbox);
}

void
source_sandbox(struct sandbox *sandbox, const struct source_options *given)
{
	struct source_options options = choose(given);
	char own[INSTANCE_PATH_BYTES], store[INSTANCE_PATH_BYTES];
	struct err err;
	bool named = source_is_named(&options);

	find_endpoints(&options, own);
	if (options.connect.count > 0)
		sandbox_sockets();
	declare_addresses(sandbox, &options);
	/* Readers write to the lock files of the store. */
	if (options.store != NULL)
		sandbox_write(sandbox, options.store);
	else if (!named && instance_path(store, "store", &err) == 0)
		sandbox_write(sandbox, store);
	sandbox_read_or(sandbox, options.key.key, "keys/reader.key");
}

uint32_t
source_places(const struct source_options *given)
{
	const struct source_options options = choose(given);

	return options.connect.count > 1 ? options.connect.count : 1;
}

bool
source_reads_store(const struct source_options *given)
{
	struct source_options options = choose(given);
	char own[INSTANCE_PATH_BYTES];

	find_endpoints(&options, own);
	return options.connect.count == 0;
}

int
source_open(
    struct source **source, const struct source_options *given, struct err *err)
{
	struct source_options options = choose(given);
	char own[INSTANCE_PATH_BYTES], store[INSTANCE_PATH_BYTES];
	struct stat st;

	*source = NULL;
	find_endpoints(&options, own);
	if (options.connect.count > 0)
		return open_endpoints(source, &options, options.connect.at,
		    options.connect.count, SILENCE_NS, err);
	if (options.store != NULL)
		return open_store(source, &options, options.store, err);
	if (instance_path(store, "store", err) != 0)
		return -1;
	if (stat(store, &st) != 0)
		return err_set(err,
		    "no store in %s and no aggregator running there; give "
		    "--dir, --store or --connect",
		    store);
	return open_store(source, &options, store, err);
}

/* -1: it left out what is damaged, which nobody has accepted. */
static int
judge_damage(const struct source *s, struct err *err)
{
	uint64_t places = places_damaged(&s->places);

	if (places == 0 || s->damaged != DAMAGED_FAIL)
		return 0;
	return err_set(err,
	    "%s: %" PRIu64 " damaged rows or pages were left out; the rest is "
	    "complete (poolscope-admin verify names them, --damaged skip "
	    "accepts it)",
	    source_name(s), places);
}

int
source_check_damage(const struct source *s, int rc, struct err *err)
{
	uint64_t places = places_damaged(&s->places);

	if (rc == 0 && judge_damage(s, err) != 0)
		return -1;
	if (places > 0)
		log_warn("%s: %" PRIu64 " damaged rows or pages were left out",
		    source_name(s), places);
	return rc;
}

int
source_end_answer(
    const struct source *source, struct answer *answer, int rc, struct err *err)
{
	struct err damage = { 0 };

	if (source != NULL && judge_damage(source, &damage) != 0)
		answer_lacks(answer, damage.text);
	return answer_end(answer, rc, err);
}

int
source_finish(struct source **source, int rc, struct err *err)
{
	if (*source != NULL)
		rc = source_check_damage(*source, rc, err);
	source_close(source);
	return rc;
}

void
source_close(struct source **source)
{
	struct source *s = *source;

	if (s == NULL)
		return;
	places_clear(&s->places);
	source_clock_clear(&s->clock);
	phase_pairs_clear(&s->pairs);
	free(s);
	*source = NULL;
}

const char *
source_name(const struct source *source)
{
	return places_name(&source->places);
}

uint32_t
source_place(const struct source *source)
{
	return (uint32_t)(source->places.now - source->places.at);
}

const char *
source_place_name(const struct source *source, uint32_t place)
{
	return source->places.at[place].name;
}
