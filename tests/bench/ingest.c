/*
 * ingest - events acknowledged after fsync, end to end: a load generator,
 * poolscope-broker and poolscope-aggregator as real processes over Unix
 * sockets, all on this machine, with the indexer running.
 *
 * The peer, in the same folder right afterwards: a bare LMDB environment to
 * which values of the same size are appended, as many a commit as the
 * aggregator's commits held on average.
 *
 *     ingest [SECONDS [LATE]]
 *
 * 60 seconds are long enough for the pace of the indexer.  LATE of 1024 nodes
 * send the events of their start four starts too late.
 * SPDX-License-Identifier: MIT
 */
#include <lmdb.h>
#include <sys/stat.h>

#include "tests/bench/rig.h"
#include "tests/bench/senders.h"

enum { SENDERS = 16, NODES = 10000, PEER_SECONDS = 3 };

struct bench {
	struct loop *loop;
	struct senders senders;
	struct rig rig;
	struct loop_timer timer;
	unsigned seconds;
	int64_t start_ns, begin_ns, end_ns;
	uint64_t records, batches; /* at begin_ns */
	uint64_t before;           /* records a second ago */
	double least, most;        /* events/s in a second */
	double indexed;            /* events/s */
	double rate;               /* events/s */
	double batches_rate;
	uint64_t commits;
	double aggregator_anon, aggregator_peak, broker_peak;
};

/* What Batch Shipyard's scripts record while a node starts. */
static const struct step {
	const char *source, *name, *message;
} steps[] = {
	{ "nodeprep", "start", "offer=UbuntuServer,sku=16.04-LTS" },
	{ "privateregistry", "start", "ipaddress=127.0.0.1" },
	{ "privateregistry", "end", NULL },
	{ "cascade", "start", "mode=direct" },
	{ "cascade", "pull-start", "img=alfpark/caffe:cpu" },
	{ "cascade", "pull-end", "img=alfpark/caffe:cpu,diff=12.348812" },
	{ "cascade", "save-start", "img=alfpark/caffe:cpu" },
	{ "cascade", "save-end", "img=alfpark/caffe:cpu,size=187800000" },
	{ "cascade", "pull-start", "img=redis:4.0" },
	{ "cascade", "pull-end", "img=redis:4.0,diff=3.112904" },
	{ "cascade", "load-start", "img=redis:4.0" },
	{ "cascade", "load-end", "img=redis:4.0,diff=1.204411" },
	{ "cascade", "gr-done", "nglobalresources=2" },
	{ "cascade", "end", NULL },
	{ "nodeprep", "end", "diff=31.447801" },
};
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

/* Of 1024 starts of nodes. */
static unsigned late;

static bool
is_late(uint64_t node, uint64_t seq)
{
	return (node * 31 + seq) * UINT64_C(0x9e3779b97f4a7c15) >> 54 < late;
}

/* Nodes one after another, each with all its steps, as long as they fit.  Each
 * sender has nodes of its own, whose events come in the order of time. */
static void
fill(void *arg, unsigned index, uint64_t seq, struct wire_writer *w)
{
	unsigned char buffer[256];
	struct wire_writer pairs;
	struct record record = { .kind = RECORD_EVENT };
	uint64_t node = seq * 37;
	int64_t time_ns =
	    INT64_C(1508000063695798000) + (int64_t)seq * 20 * NS_PER_SECOND;
	int64_t start_ns;
	char name[32];

	(void)arg;
	for (;; node++) {
		snprintf(name, sizeof(name), "tvm-%05u",
		    (unsigned)(index * NODES / SENDERS +
			       node % (NODES / SENDERS)));
		if (!wire_put_context(w, text_of(name)))
			return;
		start_ns = time_ns;
		if (is_late(node, seq))
			start_ns -= 90 * NS_PER_SECOND;
		for (unsigned i = 0; i < STEPS; i++) {
			wire_writer_init(&pairs, buffer, sizeof(buffer));
			if (steps[i].message != NULL)
				wire_put_text_attribute(&pairs,
				    text_of("message"),
				    text_of(steps[i].message));
			record.time_ns = start_ns + i * INT64_C(1234567891);
			record.source = text_of(steps[i].source);
			record.name = text_of(steps[i].name);
			record.attributes = steps[i].message != NULL;
			record.pairs = (struct text){ (const char *)buffer,
				(uint32_t)pairs.bytes };
			if (!wire_put_record(w, &record))
				return;
		}
	}
}

/* ---- what the aggregator says of itself ---- */

static bool
find_numbers(struct text frame, uint64_t *commits, uint64_t *events)
{
	struct wire_room room = { 0 };
	struct wire_header header;
	struct wire_cursor at;
	struct record record;
	struct text body, cursor, records;
	struct value value;
	bool found = false;

	if (wire_open(frame, &header, &body) != WIRE_OK ||
	    header.type != WIRE_PAGE ||
	    wire_page_body(&header, body, &room, &cursor, &records) != WIRE_OK)
		return false;
	wire_cursor_init(&at, &header, records);
	while (wire_next(&at, &record))
		if (text_equal(record.name, text_of("aggregator")) &&
		    record_find_attribute(
			&record, text_of("commits"), &value)) {
			*commits = (uint64_t)value.is.i;
			found = true;
		} else if (text_equal(record.name, text_of("store")) &&
			   record_find_attribute(
			       &record, text_of("records_event"), &value)) {
			*events = (uint64_t)value.is.i;
		}
	wire_room_clear(&room);
	return found;
}

static void
ask(struct bench *bench)
{
	static const struct route none;
	const struct zsock_options how = {
		.insecure = true,
		.kind = ZSOCK_CONNECTION,
		.queue_messages = 4,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
	};
	const struct wire_header question = { .type = WIRE_STATUS };
	unsigned char frame[WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX];
	struct zsock_message message;
	char endpoint[RIG_PATH_BYTES + 32];
	struct zsock *zsock;
	struct err err = { 0 };
	uint64_t events = 0;
	size_t bytes;
	int64_t end_ns = clock_monotonic_ns() + 5 * NS_PER_SECOND;

	snprintf(endpoint, sizeof(endpoint), "ipc://%s/run/reader.ipc",
	    bench->rig.dir);
	if (zsock_open(&zsock, &how, &err) != 0 ||
	    zsock_connect(zsock, endpoint, &err) != 0)
		rig_fail(err.text);
	bytes = wire_frame(
	    frame, sizeof(frame), &question, (struct text){ NULL, 0 });
	zsock_message_init(&message);
	while (zsock_send(zsock, &none,
		   (struct text){ (const char *)frame, (uint32_t)bytes }) !=
		   ZSOCK_DONE &&
	       clock_monotonic_ns() < end_ns)
		usleep(1000);
	while (zsock_recv(zsock, &message) != ZSOCK_DONE &&
	       clock_monotonic_ns() < end_ns)
		usleep(1000);
	if (!message.held ||
	    !find_numbers(message.frame, &bench->commits, &events))
		fprintf(stderr, "the aggregator did not say its commits\n");
	bench->indexed =
	    (double)events /
	    ((double)(clock_monotonic_ns() - bench->start_ns) / 1e9);
	zsock_message_clear(&message);
	zsock_close(&zsock);
}

/* ---- the run ---- */

static void
on_timer(void *arg, struct loop_timer *timer)
{
	struct bench *bench = arg;
	struct senders *s = &bench->senders;
	double seconds, rate;

	seconds = (double)(clock_monotonic_ns() - bench->end_ns) / 1e9;
	rate = (double)(s->records - bench->before) / seconds;
	bench->end_ns = clock_monotonic_ns();
	bench->before = s->records;
	if (bench->begin_ns == 0) { /* warm by now */
		bench->begin_ns = bench->end_ns;
		bench->records = s->records;
		bench->batches = s->batches;
		bench->least = rate;
	}
	if (rate < bench->least)
		bench->least = rate;
	if (rate > bench->most)
		bench->most = rate;
	if (bench->end_ns - bench->begin_ns < bench->seconds * NS_PER_SECOND) {
		loop_set_timer(
		    bench->loop, timer, bench->end_ns + NS_PER_SECOND, 0);
		return;
	}
	seconds = (double)(bench->end_ns - bench->begin_ns) / 1e9;
	bench->rate = (double)(s->records - bench->records) / seconds;
	bench->batches_rate = (double)(s->batches - bench->batches) / seconds;
	loop_quit(bench->loop, 0);
}

static void
run(struct bench *bench)
{
	char endpoint[RIG_PATH_BYTES + 32];
	struct err err = { 0 };

	if (loop_new(&bench->loop, &err) != 0)
		rig_fail(err.text);
	snprintf(endpoint, sizeof(endpoint), "ipc://%s/run/broker.ipc",
	    bench->rig.dir);
	bench->senders.loop = bench->loop;
	bench->senders.fill = fill;
	bench->senders.count = SENDERS;
	senders_open(&bench->senders, endpoint, text_of("acct$ingest"));
	for (unsigned i = 0; i < SENDERS; i++)
		bench->senders.sender[i].made = UINT64_MAX;
	bench->timer =
	    (struct loop_timer){ .on_timer = on_timer, .arg = bench };
	bench->start_ns = bench->end_ns = clock_monotonic_ns();
	loop_set_timer(
	    bench->loop, &bench->timer, bench->start_ns + NS_PER_SECOND, 0);
	loop_run(bench->loop);
	ask(bench);
	bench->aggregator_anon = rig_mib(bench->rig.aggregator, "RssAnon:");
	bench->aggregator_peak = rig_mib(bench->rig.aggregator, "VmHWM:");
	bench->broker_peak = rig_mib(bench->rig.broker, "VmHWM:");
	senders_close(&bench->senders);
	loop_free(&bench->loop);
}

/* ---- the peer ---- */

static void
must(int rc, const char *what)
{
	if (rc != 0) {
		fprintf(stderr, "%s: %s\n", what, mdb_strerror(rc));
		exit(1);
	}
}

/* Values per second of a bare LMDB. */
static double
bare_append(const char *dir, const struct text value, unsigned a_commit)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_val k, v;
	uint64_t number = 0, key;
	int64_t begin_ns, now_ns;

	if (mkdir(dir, 0700) != 0)
		rig_fail(dir);
	must(mdb_env_create(&env), "create");
	must(mdb_env_set_mapsize(env, (size_t)64 << 30), "map size");
	must(mdb_env_open(env, dir, 0, 0600), "open");
	must(mdb_txn_begin(env, NULL, 0, &txn), "begin");
	must(mdb_dbi_open(txn, NULL, 0, &dbi), "table");
	must(mdb_txn_commit(txn), "commit");
	begin_ns = clock_monotonic_ns();
	do {
		must(mdb_txn_begin(env, NULL, 0, &txn), "begin");
		for (unsigned i = 0; i < a_commit; i++) {
			key = __builtin_bswap64(++number);
			k = (MDB_val){ sizeof(key), &key };
			v = (MDB_val){ value.bytes,
				(void *)(uintptr_t)value.at };
			must(mdb_put(txn, dbi, &k, &v, MDB_APPEND), "put");
		}
		must(mdb_txn_commit(txn), "commit");
		now_ns = clock_monotonic_ns();
	} while (now_ns - begin_ns < PEER_SECONDS * NS_PER_SECOND);
	mdb_env_close(env);
	return (double)number / ((double)(now_ns - begin_ns) / 1e9);
}

int
main(int argc, char **argv)
{
	static unsigned char body[WIRE_BATCH_BYTES];
	struct bench bench = { .seconds = 5 };
	struct wire_writer w;
	unsigned a_commit;
	double bare;

	if (argc > 1)
		bench.seconds = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		late = (unsigned)strtoul(argv[2], NULL, 10);
	rig_up(&bench.rig);
	run(&bench);
	rig_end(bench.rig.broker);
	rig_end(bench.rig.aggregator);
	wire_writer_init(&w, body, sizeof(body));
	fill(NULL, 0, 1, &w);
	a_commit = bench.commits > 0
		       ? (unsigned)(bench.senders.batches / bench.commits)
		       : 1;
	a_commit = a_commit > 0 ? a_commit : 1;
	sync(); /* what is still to be written is not the peer's */
	bare = bare_append(rig_path(&bench.rig, "bare"),
	    (struct text){ (const char *)body, (uint32_t)w.bytes }, a_commit);
	rig_remove(&bench.rig);
	bare *= bench.rate / bench.batches_rate; /* in events, too */
	printf("ingest: %.0f events/s acknowledged (bare LMDB append %.0f; "
	       "ratio %.2f)\n",
	    bench.rate, bare, bench.rate / bare);
	printf("ingest: %.0f to %.0f events/s in each second of %u; %.0f "
	       "events/s indexed\n",
	    bench.least, bench.most, bench.seconds, bench.indexed);
	printf("ingest: %.0f batches/s of %u bytes, %u a commit; limits: "
	       "500000 events/s, ratio 0.5\n",
	    bench.batches_rate, (unsigned)w.bytes, a_commit);
	printf("ingest: aggregator %.1f MiB anonymous (peak resident %.1f, "
	       "map included), limit 48; broker peak %.1f MiB, limit 16\n",
	    bench.aggregator_anon, bench.aggregator_peak, bench.broker_peak);
	return 0;
}
