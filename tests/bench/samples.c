/*
 * samples - the recorded samples of a host, as of many hosts, end to end: from
 * senders in this process through poolscope-broker into the journal of
 * poolscope-aggregator, acknowledged after fsync, with the indexer running.
 *
 *     samples [NODES [DIR]]
 *
 * DIR is an instance that runs already, and is left as it is then.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "proto/json/json_reader.h"
#include "proto/record/counter_rate.h"
#include "tests/bench/rig.h"
#include "tests/bench/senders.h"

enum {
	SENDERS = 16,
	ROWS = 1500,
	METRICS = 24,
	COLUMNS = METRICS + 1, /* and which boot counters count from */
	ROWS_A_BATCH = 250,
	PARTS = ROWS / ROWS_A_BATCH,
	ROW_BYTES = COLUMNS * 9,
	GIVE_UP_SECONDS = 300,
};

static struct {
	int64_t time_ns[ROWS];
	unsigned char bytes[ROWS][ROW_BYTES];
	uint32_t used[ROWS];
	char names[1024], types[1024];
} data;

struct bench {
	struct loop *loop;
	struct senders senders;
	struct loop_timer timer;
	unsigned nodes;
	uint64_t records; /* wanted */
	int64_t begin_ns, end_ns;
};

/* ---- the data ---- */

static bool
is_counter(const char *name)
{
	static const char counters[] = " io_r io_w io_rc io_wc lo_s lo_r ext_s "
				       "ext_r user sys idle iow ctx ";
	char word[32];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(counters, word) != NULL;
}

static void
add_column(const char *name, const char *type)
{
	strcat(data.names, data.names[0] ? " " : "");
	strcat(data.names, name);
	strcat(data.types, data.types[0] ? " " : "");
	strcat(data.types, type);
}

static void
take_row(unsigned row, struct text object)
{
	struct json_reader reader;
	struct wire_writer w;
	struct text key;
	struct value boot = { VALUE_INT, .is.i = INT64_C(0x1badb002cafe) };

	wire_writer_init(&w, data.bytes[row], ROW_BYTES);
	wire_put_value(&w, &boot);
	if (row == 0)
		add_column(COUNTER_RATE_BOOT_COLUMN, "gauge");
	json_reader_init(&reader, object);
	json_reader_enter(&reader, '{');
	while (json_reader_member(&reader, &key)) {
		char name[30];
		struct value value;

		json_reader_number(json_reader_take(&reader), &value);
		if (text_equal(key, text_of("timestamp"))) {
			data.time_ns[row] = llrint(value.is.f * 1e9);
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)key.bytes, key.at);
		wire_put_value(&w, &value);
		if (row == 0)
			add_column(
			    name, is_counter(name) ? "counter" : "gauge");
	}
	data.used[row] = (uint32_t)w.bytes;
}

static void
load(void)
{
	static const char path[] = "tests/bench/data/host-samples.jsonl";
	FILE *file = fopen(path, "re");
	char line[4096];

	if (file == NULL)
		rig_fail(path);
	for (unsigned row = 0; row < ROWS; row++) {
		if (fgets(line, sizeof(line), file) == NULL)
			rig_fail(path);
		take_row(row, text_of(line));
	}
	fclose(file);
}

static void
put_definition(struct wire_writer *w)
{
	unsigned char pairs[3072];
	struct wire_writer to;
	struct record set = { .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of("host"),
		.attributes = 2 };

	wire_writer_init(&to, pairs, sizeof(pairs));
	wire_put_text_attribute(&to, text_of("names"), text_of(data.names));
	wire_put_text_attribute(&to, text_of("types"), text_of(data.types));
	set.pairs = (struct text){ (const char *)pairs, (uint32_t)to.bytes };
	wire_put_record(w, &set);
}

/* A stretch of one node: all of them go on side by side. */
static void
fill(void *arg, unsigned index, uint64_t seq, struct wire_writer *w)
{
	const struct bench *bench = arg;
	unsigned each = bench->nodes / SENDERS;
	unsigned node = index * each + (unsigned)((seq - 1) % each);
	unsigned from = (unsigned)((seq - 1) / each) * ROWS_A_BATCH;
	struct record record = { .kind = RECORD_SAMPLE,
		.source = text_of("host"),
		.values = COLUMNS };
	char name[32];

	snprintf(name, sizeof(name), "node-%05u", node);
	wire_put_context(w, text_of(name));
	if (index == 0 && seq == 1)
		put_definition(w);
	for (unsigned row = from; row < from + ROWS_A_BATCH; row++) {
		record.time_ns =
		    data.time_ns[row] + (int64_t)node * 7 * NS_PER_SECOND;
		record.value_bytes =
		    (struct text){ (const char *)data.bytes[row],
			    data.used[row] };
		if (!wire_put_record(w, &record))
			abort(); /* a batch has room for them */
	}
}

/* ---- the run ---- */

static void
on_acked(void *arg, unsigned index, uint64_t upto)
{
	struct bench *bench = arg;

	(void)index;
	(void)upto;
	if (bench->senders.records < bench->records)
		return;
	bench->end_ns = clock_monotonic_ns();
	loop_quit(bench->loop, 0);
}

static void
on_timer(void *arg, struct loop_timer *timer)
{
	struct bench *bench = arg;

	(void)timer;
	fprintf(stderr, "samples: not all acknowledged after %d s\n",
	    GIVE_UP_SECONDS);
	loop_quit(bench->loop, 1);
}

static int
run(struct bench *bench, const char *dir)
{
	char endpoint[RIG_PATH_BYTES + 32];
	struct err err = { 0 };
	int rc;

	if (loop_new(&bench->loop, &err) != 0)
		rig_fail(err.text);
	snprintf(endpoint, sizeof(endpoint), "ipc://%s/run/broker.ipc", dir);
	bench->senders = (struct senders){ .loop = bench->loop,
		.fill = fill,
		.on_acked = on_acked,
		.arg = bench,
		.count = SENDERS };
	bench->records = (uint64_t)bench->nodes * ROWS + 1;
	bench->begin_ns = clock_monotonic_ns();
	senders_open(&bench->senders, endpoint, text_of("acct$samples"));
	for (unsigned i = 0; i < SENDERS; i++) {
		bench->senders.sender[i].made =
		    (uint64_t)PARTS * (bench->nodes / SENDERS);
		senders_push(&bench->senders.line[i % SENDERS_LINES]);
	}
	bench->timer =
	    (struct loop_timer){ .on_timer = on_timer, .arg = bench };
	loop_set_timer(bench->loop, &bench->timer,
	    bench->begin_ns + GIVE_UP_SECONDS * NS_PER_SECOND, 0);
	rc = loop_run(bench->loop);
	loop_stop_timer(bench->loop, &bench->timer);
	senders_close(&bench->senders);
	loop_free(&bench->loop);
	return rc;
}

int
main(int argc, char **argv)
{
	struct bench bench = { .nodes = 192 };
	struct rig rig;
	double seconds, values;
	int rc;

	if (argc > 1)
		bench.nodes = (unsigned)strtoul(argv[1], NULL, 10);
	bench.nodes = (bench.nodes + SENDERS - 1) / SENDERS * SENDERS;
	load();
	if (argc > 2) {
		rc = run(&bench, argv[2]);
	} else {
		rig_up(&rig);
		rc = run(&bench, rig.dir);
		rig_down(&rig);
	}
	if (rc != 0)
		return 1;
	seconds = (double)(bench.end_ns - bench.begin_ns) / 1e9;
	values = (double)bench.nodes * ROWS * METRICS;
	printf("samples: %.2f million values/s acknowledged after fsync "
	       "(%.1f million of %u nodes in %.2f s; goal 8)\n",
	    values / seconds / 1e6, values / 1e6, bench.nodes, seconds);
	return 0;
}
