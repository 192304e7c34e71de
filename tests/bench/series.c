/*
 * series - read one metric of many nodes from a store.  A pool is made in DIR
 * (an instance without processes), or an existing one is read: once cold, then
 * several times.  `open`: slices are compacted while the hour is filled, as the
 * aggregator does.  `wide`: each node has one sample of 24 values a period,
 * half of them counters, instead of four with 5 on average.
 *
 *     series fill DIR NODES SECONDS [PERIOD_S [open | wide]]
 *     series read DIR METRIC STEP_S [RUNS]
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "aggregator/writer/writer_private.h"
#include "exporters/samples/series.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"

enum { SETS = 4, COLUMNS_MAX = 11, WIDE = 24, PATH_BYTES = 400 };
#define T0        (INT64_C(1791000000) * NS_PER_SECOND)
#define PARTITION "bench$pool"

/* The columns of poolscope-agent, or as many as needed. */
static const struct def {
	const char *set, *names, *units, *types;
	unsigned columns;
} defs[SETS] = {
	{ "cpu",
	    "poolscope.boot system.cpu.time.user system.cpu.time.nice "
	    "system.cpu.time.system system.cpu.time.idle "
	    "system.cpu.time.iowait system.cpu.time.interrupt "
	    "system.cpu.time.softirq system.cpu.time.steal "
	    "system.cpu.logical.count system.cpu.context_switches",
	    "1 cs cs cs cs cs cs cs cs {cpu} {switch}",
	    "gauge counter counter counter counter counter counter counter "
	    "counter gauge counter",
	    11 },
	{ "memory",
	    "system.memory.limit system.memory.usage.used "
	    "system.memory.usage.free",
	    "By By By", "gauge gauge gauge", 3 },
	{ "disk/sda", "poolscope.boot system.disk.io.read system.disk.io.write",
	    "1 By By", "gauge counter counter", 3 },
	{ "network/eth0",
	    "poolscope.boot system.network.io.receive "
	    "system.network.io.transmit",
	    "1 By By", "gauge counter counter", 3 },
};

/* A node, and the current values of its counters. */
struct node {
	double busy, idle, read, written, received, sent, switches;
};

static struct journal *journal;
static struct writer *writer;
static struct wire_writer batch;
static unsigned char body[WIRE_BATCH_BYTES + 65536], frame[256 << 10];
static uint64_t seq, pending;
static struct err err;

static void
good(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "series: %s\n", err.text);
	exit(1);
}

/* ---- filling ---- */

static void
compact_slices(void)
{
	bool more = true;

	writer->compact.next_ns = 0;
	while (more)
		if (compact_step(writer, &more, &err) != DB_OK)
			good(-1);
}

static void
run_indexer(void)
{
	if (pending == 0)
		return;
	if (journal_commit(journal, &err) != DB_OK)
		good(-1);
	pending = 0;
	good(writer_run(writer, &err));
	if (writer->options.compact_after_ns > 0)
		compact_slices();
}

static void
send_batch(void)
{
	struct wire_header header = { .type = WIRE_BATCH,
		.partition = text_of(PARTITION),
		.node = text_of("head"),
		.session = { { 's', 'e', 'r', 'i', 'e', 's' } },
		.seq = ++seq,
		.records = batch.records,
		.body_bytes = (uint32_t)batch.bytes };
	struct journal_note note = { .seq = seq, .receive_ns = T0 };
	size_t bytes = wire_frame(frame, sizeof(frame), &header,
	    (struct text){ (const char *)body, (uint32_t)batch.bytes });

	if (bytes == 0)
		exit(1);
	if (pending++ == 0)
		good(journal_begin(journal, &err));
	journal_append(journal,
	    (struct text){ (const char *)frame, (uint32_t)bytes }, &note);
	wire_writer_init(&batch, body, sizeof(body));
	if (pending == 256)
		run_indexer();
}

static void
put(const char *node, const struct record *record)
{
	wire_put_context(&batch, text_of(node));
	wire_put_record(&batch, record);
	if (batch.bytes > WIRE_BATCH_BYTES - 4096)
		send_batch();
}

static void
define_group(const struct def *def)
{
	unsigned char pairs[2048];
	struct wire_writer w;
	struct record entity = { .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of(def->set),
		.attributes = 3 };

	wire_writer_init(&w, pairs, sizeof(pairs));
	wire_put_text_attribute(&w, text_of("names"), text_of(def->names));
	wire_put_text_attribute(&w, text_of("units"), text_of(def->units));
	wire_put_text_attribute(&w, text_of("types"), text_of(def->types));
	entity.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	put("head", &entity);
}

static void
define_wide(void)
{
	char names[16 * WIDE] = "", units[2 * WIDE] = "", types[8 * WIDE] = "";
	const struct def def = { "wide", names, units, types, WIDE };

	for (unsigned i = 0; i < WIDE; i++) {
		const char *between = i > 0 ? " " : "";

		sprintf(names + strlen(names), "%sbench.v%u", between, i);
		sprintf(units + strlen(units), "%s1", between);
		sprintf(types + strlen(types), "%s%s", between,
		    i % 2 == 0 ? "counter" : "gauge");
	}
	define_group(&def);
}

static void
put_sample(const char *node, unsigned set, int64_t time_ns, const double *f)
{
	unsigned char bytes[16 * COLUMNS_MAX];
	struct wire_writer w;
	struct record record = { .kind = RECORD_SAMPLE,
		.time_ns = time_ns,
		.source = text_of(defs[set].set),
		.values = defs[set].columns };

	wire_writer_init(&w, bytes, sizeof(bytes));
	for (unsigned i = 0; i < defs[set].columns; i++)
		wire_put_value(
		    &w, &(struct value){ VALUE_INT, { .i = (int64_t)f[i] } });
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	put(node, &record);
}

static double
noise(uint64_t a, uint64_t b)
{
	uint64_t z = (a * UINT64_C(0x9E3779B97F4A7C15)) ^
		     (b * UINT64_C(0xBF58476D1CE4E5B9));

	z = (z ^ z >> 30) * UINT64_C(0x94D049BB133111EB);
	return (double)(z >> 40) / (double)(1 << 24);
}

/* Jobs come and go: a share of the nodes is busy at a time, and some never
 * are. */
static double
load_of(unsigned node, double t)
{
	double phase = noise(node, 1) * 900;
	bool busy = fmod(t + phase, 900) < 300 + 400 * noise(node, 2);

	if (node % 17 == 3)
		return 0.01;
	return busy ? 0.7 + 0.3 * noise(node, (uint64_t)t) : 0.03;
}

static void
put_node(struct node *n, unsigned number, double t, double period)
{
	double load = load_of(number, t), cpus = 8;
	int64_t time_ns =
	    T0 + (int64_t)(t * 1e9) + (int64_t)(noise(number, 5) * 9e8);
	double boot = 1000 + number, limit = 64e9;
	char name[32];

	snprintf(name, sizeof(name), "node-%05u", number);
	n->busy += load * cpus * 100 * period;
	n->idle += (1 - load) * cpus * 100 * period;
	n->switches += 1000 * period * (1 + load);
	n->read += period * load * 2e7 * noise(number, 6);
	n->written += period * load * 1e7;
	n->received += period * load * 5e6;
	n->sent += period * load * 1e6;
	put_sample(name, 0, time_ns,
	    (double[]){ boot, n->busy * 0.8, 0, n->busy * 0.2, n->idle, 0, 0, 0,
		0, cpus, n->switches });
	put_sample(name, 1, time_ns,
	    (double[]){ limit, limit * (0.1 + 0.6 * load),
		limit * (0.9 - 0.6 * load) });
	put_sample(name, 2, time_ns, (double[]){ boot, n->read, n->written });
	put_sample(name, 3, time_ns, (double[]){ boot, n->received, n->sent });
}

static void
put_wide(struct node *n, unsigned number, double t, double period)
{
	struct record record = { .kind = RECORD_SAMPLE,
		.time_ns = T0 + (int64_t)(t * 1e9),
		.source = text_of("wide"),
		.values = WIDE };
	unsigned char bytes[16 * WIDE];
	struct wire_writer w;
	char name[32];

	snprintf(name, sizeof(name), "node-%05u", number);
	n->busy += load_of(number, t) * 100 * period;
	wire_writer_init(&w, bytes, sizeof(bytes));
	for (unsigned i = 0; i < WIDE; i++)
		wire_put_value(&w,
		    i % 2 == 0 ? &(struct value){ VALUE_INT,
				     { .i = (int64_t)(n->busy * (i + 1)) } }
			       : &(struct value){ VALUE_FLOAT,
				     { .f = noise(number + i, (uint64_t)t) } });
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	put(name, &record);
}

static int
fill(const char *dir, unsigned nodes, double seconds, double period,
    const char *how)
{
	bool is_open = strcmp(how, "open") == 0,
	     is_wide = strcmp(how, "wide") == 0;
	struct journal_options options = { .map_bytes = INT64_C(64) << 30 };
	/* The hour has not ended. */
	struct writer_options indexing = { .map_bytes = INT64_C(64) << 30,
		.compact_after_ns = is_open ? 50 * 365 * 24 * KEY_HOUR_NS : 0 };
	struct node *all = calloc(nodes, sizeof(*all));
	char store[PATH_BYTES];

	if (all == NULL)
		abort();
	mkdir(dir, 0700);
	snprintf(store, sizeof(store), "%s/store", dir);
	mkdir(store, 0700);
	good(journal_open(&journal, store, &options, &err));
	good(writer_open(&writer, store, journal, &indexing, &err));
	wire_writer_init(&batch, body, sizeof(body));
	for (unsigned i = 0; i < SETS && !is_wide; i++)
		define_group(&defs[i]);
	if (is_wide)
		define_wide();
	for (double t = 0; t < seconds; t += period)
		for (unsigned i = 0; i < nodes; i++)
			(is_wide ? put_wide : put_node)(&all[i], i, t, period);
	send_batch();
	run_indexer();
	writer_close(&writer);
	journal_close(&journal);
	free(all);
	return 0;
}

/* ---- reading ---- */

static double
cpu_seconds(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static double
read_once(struct text metric, int64_t step_ns, uint64_t *points,
    uint64_t *samples, char *rollup)
{
	struct series_query query = { .metric = metric,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
		.step_ns = step_ns };
	int64_t start_ns = clock_monotonic_ns();
	struct source *source = NULL;
	struct series *series = NULL;
	struct series_point point;
	struct text last = { "none", 4 };
	int rc;

	*points = *samples = 0;
	good(source_open(&source, &(struct source_options){ 0 }, &err));
	good(series_open(&series, source, text_of(PARTITION), &err));
	good(series_select(series, &query, &err));
	while ((rc = series_next(series, &point, &err)) > 0) {
		++*points;
		*samples += point.count;
		last = point.rollup;
	}
	snprintf(rollup, 16, "%.*s", (int)last.bytes, last.at);
	good(rc);
	series_close(&series);
	source_close(&source);
	return (double)(clock_monotonic_ns() - start_ns) / 1e9;
}

static int
read_metric(const char *metric, double step, unsigned runs)
{
	int64_t step_ns = (int64_t)(step * 1e9);
	uint64_t points = 0, samples = 0;
	struct rusage use;
	char rollup[16] = "none";
	double first = 0, best = INFINITY, best_cpu = INFINITY;

	for (unsigned i = 0; i <= runs; i++) {
		double before = cpu_seconds();
		double s = read_once(
		    text_of(metric), step_ns, &points, &samples, rollup);

		if (cpu_seconds() - before < best_cpu)
			best_cpu = cpu_seconds() - before;
		if (i == 0)
			first = s;
		if (s < best)
			best = s;
	}
	getrusage(RUSAGE_SELF, &use);
	printf("%s, steps of %g s: %llu points of %llu samples from %s: "
	       "%.1f ms, %.1f ms CPU (first time %.1f ms), %.1f MiB\n",
	    metric, step, (unsigned long long)points,
	    (unsigned long long)samples, rollup, best * 1e3, best_cpu * 1e3,
	    first * 1e3, (double)use.ru_maxrss / 1024);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc >= 5 && strcmp(argv[1], "fill") == 0)
		return fill(argv[2], (unsigned)atoi(argv[3]), atof(argv[4]),
		    argc > 5 ? atof(argv[5]) : 1, argc > 6 ? argv[6] : "");
	if (argc >= 5 && strcmp(argv[1], "read") == 0) {
		opt_common_values.dir = argv[2];
		return read_metric(argv[3], atof(argv[4]),
		    argc > 5 ? (unsigned)atoi(argv[5]) : 3);
	}
	fputs("series fill DIR NODES SECONDS [PERIOD_S [open | wide]]\n"
	      "series read DIR METRIC STEP_S [RUNS]\n",
	    stderr);
	return 2;
}
