/*
 * archive_names - a pool of very many nodes: each sends a batch of one sample,
 * of 24 values, every 10 s.  Time goes SPEED times as fast, as long as batches
 * are acknowledged at that pace.
 *
 *     archive_names FIRST NAMES SECONDS SPEED DIR
 *
 * The names begin with number FIRST; SECONDS are those of the pool; DIR is an
 * instance that runs.  Prints how much faster than the pool it was.
 * SPDX-License-Identifier: MIT
 */
#define SENDERS_LINES 16
#include "tests/bench/rig.h"
#include "tests/bench/senders.h"

enum {
	SENDERS = SENDERS_LINES,
	PERIOD = 10, /* seconds */
	VALUES = 24,
	TICK_MS = 20,
	GIVE_UP_SECONDS = 60, /* without progress */
};

struct bench {
	struct loop *loop;
	struct senders senders;
	struct loop_timer timer;
	uint64_t first, names, each; /* of a sender */
	uint64_t batches;            /* wanted, of each sender */
	double speed;
	int64_t base_ns, begin_ns, end_ns, moved_ns;
	uint64_t before;
};

static void
put_definition(struct wire_writer *w)
{
	unsigned char pairs[1024];
	char names[512] = "", types[512] = "";
	struct wire_writer to;
	struct record set = { .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of("load"),
		.attributes = 2 };

	for (unsigned i = 0; i < VALUES; i++) {
		sprintf(names + strlen(names), "%sv%02u", i ? " " : "", i);
		strcat(types, i ? " gauge" : "gauge");
	}
	wire_writer_init(&to, pairs, sizeof(pairs));
	wire_put_text_attribute(&to, text_of("names"), text_of(names));
	wire_put_text_attribute(&to, text_of("types"), text_of(types));
	set.pairs = (struct text){ (const char *)pairs, (uint32_t)to.bytes };
	wire_put_record(w, &set);
}

/* The nodes of a sender in turn: after all of them 10 s have gone by. */
static void
fill(void *arg, unsigned index, uint64_t seq, struct wire_writer *w)
{
	const struct bench *bench = arg;
	uint64_t round = (seq - 1) / bench->each;
	uint64_t node =
	    bench->first + index * bench->each + (seq - 1) % bench->each;
	unsigned char bytes[VALUES * 9];
	struct record record = { .kind = RECORD_SAMPLE,
		.source = text_of("load"),
		.time_ns = bench->base_ns +
			   (int64_t)round * PERIOD * NS_PER_SECOND +
			   (int64_t)(node % 10000) * 1000003,
		.values = VALUES };
	struct wire_writer values;
	char name[32];

	snprintf(name, sizeof(name), "node-%06llu", (unsigned long long)node);
	wire_put_context(w, text_of(name));
	if (seq == 1)
		put_definition(w);
	wire_writer_init(&values, bytes, sizeof(bytes));
	for (unsigned i = 0; i < VALUES; i++) {
		/* Some change at each sample, some now and then. */
		const struct value value = { VALUE_INT,
			.is.i = (int64_t)(node * 31 +
					  round / (1 + i % 6) * 17 * i) };

		wire_put_value(&values, &value);
	}
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)values.bytes };
	if (!wire_put_record(w, &record))
		abort(); /* a batch has room for it */
}

/* ---- the run ---- */

/* What the nodes have made by now. */
static void
on_timer(void *arg, struct loop_timer *timer)
{
	struct bench *bench = arg;
	int64_t now_ns = clock_monotonic_ns();
	double seconds = (double)(now_ns - bench->begin_ns) / 1e9;
	uint64_t made =
	    (uint64_t)(seconds * bench->speed / PERIOD * (double)bench->each);

	(void)timer;
	if (bench->senders.batches > bench->before) {
		bench->before = bench->senders.batches;
		bench->moved_ns = now_ns;
	}
	if (bench->before == bench->batches * SENDERS) {
		bench->end_ns = now_ns;
		loop_quit(bench->loop, 0);
		return;
	}
	if (now_ns - bench->moved_ns > GIVE_UP_SECONDS * NS_PER_SECOND) {
		fprintf(stderr,
		    "archive_names: nothing acknowledged for %d s\n",
		    GIVE_UP_SECONDS);
		loop_quit(bench->loop, 1);
		return;
	}
	if (made > bench->batches)
		made = bench->batches;
	for (unsigned i = 0; i < SENDERS; i++)
		if (made > bench->senders.sender[i].made)
			bench->senders.sender[i].made = made;
	for (unsigned i = 0; i < SENDERS_LINES; i++)
		senders_push(&bench->senders.line[i]);
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
	bench->senders = (struct senders){
		.loop = bench->loop,
		.fill = fill,
		.arg = bench,
		.count = SENDERS,
	};
	bench->base_ns = clock_wall_ns() - 4 * 3600 * NS_PER_SECOND;
	bench->begin_ns = bench->moved_ns = clock_monotonic_ns();
	senders_open(&bench->senders, endpoint, text_of("acct$many"));
	bench->timer =
	    (struct loop_timer){ .on_timer = on_timer, .arg = bench };
	loop_set_timer(bench->loop, &bench->timer, bench->begin_ns,
	    TICK_MS * NS_PER_SECOND / 1000);
	rc = loop_run(bench->loop);
	loop_stop_timer(bench->loop, &bench->timer);
	senders_close(&bench->senders);
	loop_free(&bench->loop);
	return rc;
}

int
main(int argc, char **argv)
{
	struct bench bench = { .names = 0 };
	double seconds, pool;

	if (argc != 6) {
		fputs("usage: archive_names FIRST NAMES SECONDS SPEED DIR\n",
		    stderr);
		return 2;
	}
	bench.first = strtoull(argv[1], NULL, 10);
	bench.each = strtoull(argv[2], NULL, 10) / SENDERS;
	bench.names = bench.each * SENDERS;
	bench.batches = strtoull(argv[3], NULL, 10) / PERIOD * bench.each;
	bench.speed = strtod(argv[4], NULL);
	if (bench.each == 0 || bench.batches == 0 || run(&bench, argv[5]) != 0)
		return 1;
	seconds = (double)(bench.end_ns - bench.begin_ns) / 1e9;
	pool = (double)bench.batches / (double)bench.each * PERIOD;
	printf("archive_names: %llu nodes, %llu batches in %.0f s: %.1f times "
	       "as fast "
	       "as the pool, %.0f batches/s\n",
	    (unsigned long long)bench.names,
	    (unsigned long long)(bench.batches * SENDERS), seconds,
	    pool / seconds, (double)(bench.batches * SENDERS) / seconds);
	return 0;
}
