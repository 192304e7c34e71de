/*
 * indexer - the speed of indexing events, including phases and statistics, on
 * one core: of a pool that starts, and of test runs.  For comparison: bare
 * LMDB puts of one key for each of the same events.
 *
 *     [ARCHIVE=1] indexer [DIR [EVENTS]]
 *
 * With ARCHIVE the store marks what an archive lacks, and nobody removes the
 * marks: nothing is compacted.
 * SPDX-License-Identifier: MIT
 */
#include <ftw.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aggregator/tables/tables.h"
#include "aggregator/writer/writer.h"
#include "proto/os/clock.h"

enum {
	NODES = 10000,
	STEPS = 16,
	BATCH_BYTES = 64000,
	PUTS = 100000,
	LATE = 15
};
#define T0 (INT64_C(1508000000) * NS_PER_SECOND)

/* The start-up of one node.  Each step happens on all nodes before the next
 * step, as in a pool that starts. */
static const struct step {
	const char *source, *name, *message; /* %d: the image */
} steps[STEPS] = {
	{ "nodeprep", "start", "offer=UbuntuServer,sku=16.04-LTS" },
	{ "shipyard", "pull-start", NULL },
	{ "shipyard", "pull-end", NULL },
	{ "privateregistry", "start", "ipaddress=10.0.0.8" },
	{ "privateregistry", "end", NULL },
	{ "nodeprep", "end", NULL },
	{ "cascade", "start", "mode=docker" },
	{ "cascade", "pull-start", "grtype=docker,img=image-%d:latest" },
	{ "cascade", "pull-end",
	    "grtype=docker,img=image-%d:latest,diff=81.284879,size=188MB" },
	{ "cascade", "save-start", "grtype=docker,img=image-%d:latest" },
	{ "cascade", "save-end",
	    "grtype=docker,img=image-%d:latest,size=187654321,diff=37.3" },
	{ "cascade", "torrent-start", "grtype=docker,img=image-%d:latest" },
	{ "cascade", "load-start",
	    "grtype=docker,img=image-%d:latest,size=187654321" },
	{ "cascade", "load-end",
	    "grtype=docker,img=image-%d:latest,diff=12.5" },
	{ "cascade", "pull-start", "grtype=docker,img=other-%d:latest" },
	{ "cascade", "gr-done", "nglobalresources=2" },
};

static struct journal *journal;
static struct wire_writer batch;
static unsigned char body[BATCH_BYTES + 4096];
static unsigned char frame[WIRE_FRAME_BYTES_MAX];
static uint64_t seq;

static void
must(int rc, const struct err *err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "indexer: %s\n", err->text);
	exit(1);
}

static void
send_batch(void)
{
	struct wire_header header = { .type = WIRE_BATCH,
		.partition = text_of("account$pool"),
		.node = text_of("head"),
		.session = { "a session" },
		.seq = ++seq,
		.records = batch.records,
		.body_bytes = (uint32_t)batch.bytes };
	struct journal_note note = { .seq = seq, .receive_ns = T0 };
	size_t bytes = wire_frame(frame, sizeof(frame), &header,
	    (struct text){ (const char *)body, (uint32_t)batch.bytes });

	journal_append(journal,
	    (struct text){ (const char *)frame, (uint32_t)bytes }, &note);
	wire_writer_init(&batch, body, sizeof(body));
}

/* This many of 1024 events come up to five minutes late. */
static unsigned late;

static void
put_event(uint64_t number, uint64_t events)
{
	uint64_t round = number / (NODES * STEPS);
	const struct step *step = &steps[number / NODES % STEPS];
	unsigned char pairs[256];
	char node[64], message[128];
	struct wire_writer w;
	struct record record = { .kind = RECORD_EVENT,
		.source = text_of(step->source),
		.name = text_of(step->name) };

	/* Half an hour in total, with some jitter between the nodes. */
	record.time_ns = T0 +
			 (int64_t)(number * (1800.0 / (double)events) * 1e9) +
			 (int64_t)(number * 7919 % 10007);
	if (number * UINT64_C(0x9e3779b97f4a7c15) >> 54 < late)
		record.time_ns -= (number % 300) * NS_PER_SECOND;
	snprintf(node, sizeof(node), "tvm-1392786944_%d-20171014t165320z",
	    (int)(number * 7919 % NODES));
	wire_writer_init(&w, pairs, sizeof(pairs));
	if (step->message != NULL) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(message, sizeof(message), step->message, (int)round);
#pragma GCC diagnostic pop
		wire_put_text_attribute(
		    &w, text_of("message"), text_of(message));
		record.attributes = 1;
	}
	record.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	wire_put_context(&batch, text_of(node));
	wire_put_record(&batch, &record);
	if (batch.bytes > BATCH_BYTES)
		send_batch();
}

static void
put_late_event(uint64_t number, uint64_t events)
{
	late = LATE;
	put_event(number, events);
}

/* Consecutive test runs of ten events each, in twenty groups. */
static void
put_run_event(uint64_t number, uint64_t events)
{
	static const char *const names[] = { "request", "queue_start",
		"queue_end", "flash_start", "flash_end", "boot_start",
		"boot_end", "test_start", "test_end", "publish" };
	uint64_t run = number / 10, place = number % 10;
	unsigned char pairs[256];
	char id[33], group[16];
	struct wire_writer w;
	struct record record = { .kind = RECORD_EVENT,
		.source = text_of("run"),
		.name = text_of(names[place]),
		.attributes = 1 };

	(void)events;
	record.time_ns = T0 + (int64_t)(run * 100 + place * 10) * 1000000 +
			 (int64_t)(number * 7919 % 10007) * 500;
	snprintf(id, sizeof(id), "%016llx%016llx",
	    (unsigned long long)(run * UINT64_C(0x9e3779b97f4a7c15)),
	    (unsigned long long)run);
	wire_writer_init(&w, pairs, sizeof(pairs));
	wire_put_text_attribute(&w, text_of("run"), text_of(id));
	if (place == 0) {
		snprintf(group, sizeof(group), "group-%u",
		    (unsigned)(run * 7919 % 20));
		wire_put_text_attribute(
		    &w, text_of("device_group"), text_of(group));
		record.attributes++;
	}
	record.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	wire_put_context(&batch, text_of("farm"));
	wire_put_record(&batch, &record);
	if (batch.bytes > BATCH_BYTES)
		send_batch();
}

static struct scenario {
	void (*put)(uint64_t number, uint64_t events);
	const char *what;
} scenarios[] = {
	{ put_event, "of 10000 nodes with phases" },
	{ put_late_event, "of 10000 nodes with phases, 1.5 % of them late" },
	{ put_run_event, "of test runs in 20 groups" },
};

static void
open_journal(const char *dir)
{
	struct journal_options options = { .map_bytes = INT64_C(4) << 30 };
	struct err err = { 0 };

	must(journal_open(&journal, dir, &options, &err), &err);
}

/* In a process of its own, so that its memory does not count as the
 * indexer's. */
static void
fill_journal(const char *dir, const struct scenario *scenario, uint64_t events)
{
	struct err err = { 0 };
	pid_t child = fork();
	uint64_t i;
	int status;

	if (child != 0) {
		if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
			exit(1);
		return;
	}
	open_journal(dir);
	must(journal_begin(journal, &err), &err);
	wire_writer_init(&batch, body, sizeof(body));
	for (i = 0; i < events; i++)
		scenario->put(i, events);
	if (batch.records > 0)
		send_batch();
	must(journal_commit(journal, &err) == DB_OK ? 0 : -1, &err);
	journal_close(&journal);
	_exit(0);
}

static long
anonymous_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		sscanf(line, "RssAnon: %ld", &kib);
	if (file != NULL)
		fclose(file);
	return kib;
}

/* Measures the memory while the indexer works. */
static _Atomic bool watching;
static long peak_kib;

static void *
watch(void *arg)
{
	struct timespec nap = { 0, 2000000 };

	(void)arg;
	while (watching) {
		long now = anonymous_kib();

		if (now > peak_kib)
			peak_kib = now;
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static double
written_mib(void)
{
	FILE *file = fopen("/proc/self/io", "r");
	char line[256];
	long long bytes = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		sscanf(line, "wchar: %lld", &bytes);
	if (file != NULL)
		fclose(file);
	return (double)bytes / (1 << 20);
}

static double
cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* What indexing leaves to do later, in the same thread: parts of phases are
 * merged, hours are compacted. */
static void
compact(struct writer *writer, uint64_t events)
{
	double cpu = cpu_seconds(), written = written_mib();
	struct db_status status;
	struct err err = { 0 };
	uint64_t bytes = 0;

	must(writer_compact(writer, &err), &err);
	must(db_status(writer_db(writer), &status, &err), &err);
	for (unsigned i = 0; i < TABLES_COUNT; i++)
		bytes += status.bytes[i];
	printf("indexer: then merged and compacted: %.0f ns of CPU and %.0f "
	       "bytes written an event; %.1f bytes an event in the tables:",
	    (cpu_seconds() - cpu) * 1e9 / (double)events,
	    (written_mib() - written) * (1 << 20) / (double)events,
	    (double)bytes / (double)events);
	for (unsigned i = 0; i < TABLES_COUNT; i++)
		if (status.bytes[i] * 20 >= events)
			printf(" %s %.1f", tables_names[i],
			    (double)status.bytes[i] / (double)events);
	printf("\n");
}

static double
indexer_events(
    const char *dir, const struct scenario *scenario, uint64_t events)
{
	const char *models = getenv("MODELS");
	struct writer_options options = { .models =
					      models ? models : "deploy/models",
		.map_bytes = INT64_C(4) << 30,
		.archive = getenv("ARCHIVE") != NULL };
	struct writer_status status;
	struct err err = { 0 };
	struct writer *writer;
	long before = anonymous_kib();
	pthread_t watcher;
	double began, cpu = cpu_seconds(), written = written_mib(), seconds;

	must(writer_open(&writer, dir, journal, &options, &err), &err);
	began = (double)clock_monotonic_ns() / 1e9;
	watching = true;
	if (pthread_create(&watcher, NULL, watch, NULL) != 0)
		must(-1, &(struct err){ .text = "no thread" });
	must(writer_run(writer, &err), &err);
	watching = false;
	pthread_join(watcher, NULL);
	seconds = (double)clock_monotonic_ns() / 1e9 - began;
	writer_status(writer, &status);
	if (status.records != events)
		must(
		    -1, &(struct err){ .text = "not all events were indexed" });
	printf("indexer: %.0f events/s (%llu events %s, "
	       "%.2f s, %.2f s of CPU, %llu commits, %.0f MiB written, %.1f "
	       "MiB of memory); %.0f a second of CPU\n",
	    (double)events / seconds, (unsigned long long)events,
	    scenario->what, seconds, cpu_seconds() - cpu,
	    (unsigned long long)status.commits, written_mib() - written,
	    (double)(peak_kib - before) / 1024,
	    (double)events / (cpu_seconds() - cpu));
	compact(writer, events);
	writer_close(&writer);
	return (double)events / seconds;
}

/* ---- bare LMDB ---- */

struct key {
	unsigned char bytes[31];
};

static int
compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct key));
}

static void
make_key(struct key *key, uint64_t number)
{
	uint64_t node = number * 7919 % NODES;

	memset(key, 0, sizeof(*key));
	key->bytes[7] = (unsigned char)(node >> 8);
	key->bytes[8] = (unsigned char)node;
	for (int i = 0; i < 8; i++)
		key->bytes[16 + i] = (unsigned char)(number >> (56 - 8 * i));
}

static double
bare_puts(const char *dir, uint64_t events)
{
	struct key *keys = malloc(PUTS * sizeof(*keys));
	char value[60] = "a value", path[4200];
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	double began;
	uint64_t i, j;
	int rc;

	snprintf(path, sizeof(path), "%s/bare", dir);
	mkdir(path, 0700);
	mdb_env_create(&env);
	mdb_env_set_mapsize(env, (size_t)4 << 30);
	if (keys == NULL || mdb_env_open(env, path, 0, 0600) != 0)
		exit(1);
	began = (double)clock_monotonic_ns() / 1e9;
	for (i = 0; i < events; i += PUTS) {
		uint64_t count = events - i < PUTS ? events - i : PUTS;

		rc = mdb_txn_begin(env, NULL, 0, &txn);
		rc = rc ? rc : mdb_dbi_open(txn, NULL, MDB_CREATE, &dbi);
		for (j = 0; j < count; j++)
			make_key(&keys[j], i + j);
		qsort(keys, count, sizeof(*keys), compare);
		for (j = 0; j < count && rc == 0; j++) {
			MDB_val k = { sizeof(keys[j]), &keys[j] };
			MDB_val v = { sizeof(value), value };

			rc = mdb_put(txn, dbi, &k, &v, 0);
		}
		rc = rc ? rc : mdb_txn_commit(txn);
		if (rc != 0) {
			fprintf(stderr, "indexer: %s\n", mdb_strerror(rc));
			exit(1);
		}
	}
	began = (double)clock_monotonic_ns() / 1e9 - began;
	mdb_env_close(env);
	free(keys);
	return (double)events / began;
}

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st;
	(void)flag;
	(void)at;
	return remove(path);
}

static void
measure(const char *parent, const struct scenario *scenario, uint64_t events)
{
	char dir[4096];
	double speed, bare;

	snprintf(dir, sizeof(dir), "%s/indexer-XXXXXX", parent);
	if (mkdtemp(dir) == NULL) {
		perror(dir);
		exit(1);
	}
	seq = 0;
	peak_kib = 0;
	fill_journal(dir, scenario, events);
	open_journal(dir);
	speed = indexer_events(dir, scenario, events);
	journal_close(&journal);
	bare = bare_puts(dir, events);
	printf("indexer: %.0f puts/s of bare LMDB, one key per event, %d per "
	       "transaction (ratio %.2f)\n",
	    bare, PUTS, speed / bare);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int
main(int argc, char **argv)
{
	uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		measure(argc > 1 ? argv[1] : "/tmp", &scenarios[i], events);
	return 0;
}
