/*
 * latency - from the moment an event should be sent to its acknowledgement,
 * at a steady pace, through broker and aggregator as real processes.
 *
 * Each event is timed from its place in the schedule, not from when the
 * generator came to it, so a stall counts for every event that it delayed.
 * The measure is this disk's own fdatasync of 4 KiB, in the same folder and
 * the same seconds, by a thread that does one every 10 ms.
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "tests/bench/rig.h"
#include "tests/bench/senders.h"

enum {
	SENDERS = 8,
	PER_SECOND = 1000,
	EVENTS_MAX = 600000,
	SYNCS = 20000,
	SYNC_PAGES = 1024,
	SYNC_PAUSE_US = 10000,
};

struct bench {
	struct loop *loop;
	struct senders senders;
	unsigned events_a_batch;
	uint64_t made, wanted; /* events given out, and to give out */
	uint64_t acked;
	int64_t begin_ns;
	int64_t latency[EVENTS_MAX];
	uint32_t latencies;
};

static int
compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Of a sorted array, in microseconds. */
static double
quantile(const int64_t *sorted, uint32_t count, double q)
{
	return (double)sorted[(uint32_t)(q * (count - 1))] / 1000;
}

/* ---- the measure: a thread that syncs 4 KiB now and then ---- */

struct meter {
	pthread_t thread;
	int fd;
	atomic_bool stop;
	uint32_t count;
	int64_t took[SYNCS];
};

static void *
meter_run(void *arg)
{
	static char page[4096];
	struct meter *meter = arg;
	int64_t begin_ns;

	while (!atomic_load(&meter->stop) && meter->count < SYNCS) {
		memset(page, (int)meter->count, sizeof(page));
		begin_ns = clock_monotonic_ns();
		if (pwrite(meter->fd, page, sizeof(page),
			meter->count % SYNC_PAGES * sizeof(page)) < 0 ||
		    fdatasync(meter->fd) != 0)
			rig_fail("fdatasync");
		meter->took[meter->count++] = clock_monotonic_ns() - begin_ns;
		usleep(SYNC_PAUSE_US);
	}
	return NULL;
}

/* The blocks are there and were written before: nothing but data to sync. */
static void
meter_start(struct meter *meter, const char *path)
{
	static char page[4096];

	memset(meter, 0, sizeof(*meter));
	meter->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (meter->fd < 0)
		rig_fail(path);
	for (unsigned i = 0; i < SYNC_PAGES; i++)
		if (pwrite(meter->fd, page, sizeof(page), i * sizeof(page)) < 0)
			rig_fail(path);
	if (fsync(meter->fd) != 0 ||
	    pthread_create(&meter->thread, NULL, meter_run, meter) != 0)
		rig_fail(path);
}

static void
meter_stop(struct meter *meter)
{
	atomic_store(&meter->stop, true);
	pthread_join(meter->thread, NULL);
	close(meter->fd);
	qsort(meter->took, meter->count, sizeof(meter->took[0]), compare);
}

/* ---- the load ---- */

/* Batch `seq` of sender i holds the events of slot (seq - 1) * SENDERS + i. */
static int64_t
due_ns(const struct bench *bench, unsigned index, uint64_t seq)
{
	uint64_t slot = (seq - 1) * SENDERS + index;

	return bench->begin_ns + (int64_t)(slot * bench->events_a_batch) *
				     (NS_PER_SECOND / PER_SECOND);
}

static void
fill(void *arg, unsigned index, uint64_t seq, struct wire_writer *w)
{
	struct bench *bench = arg;
	unsigned char buffer[128];
	struct wire_writer pairs;
	struct record record = {
		.kind = RECORD_EVENT,
		.source = text_of("cascade"),
		.name = text_of(seq % 2 ? "pull-start" : "pull-end"),
		.time_ns =
		    INT64_C(1508000063695798000) + (int64_t)seq * NS_PER_SECOND,
		.attributes = 1,
	};

	(void)index;
	wire_writer_init(&pairs, buffer, sizeof(buffer));
	wire_put_text_attribute(
	    &pairs, text_of("message"), text_of("img=alfpark/caffe:cpu"));
	record.pairs =
	    (struct text){ (const char *)buffer, (uint32_t)pairs.bytes };
	for (unsigned i = 0; i < bench->events_a_batch; i++)
		wire_put_record(w, &record);
}

static void
on_acked(void *arg, unsigned index, uint64_t upto)
{
	struct bench *bench = arg;
	int64_t now_ns = clock_monotonic_ns();
	static uint64_t before[SENDERS];

	if (upto == 1)
		before[index] = 0;
	for (uint64_t seq = before[index] + 1; seq <= upto; seq++) {
		bench->acked += bench->events_a_batch;
		if (bench->latencies < EVENTS_MAX)
			bench->latency[bench->latencies++] =
			    now_ns - due_ns(bench, index, seq);
	}
	before[index] = upto;
	if (bench->acked >= bench->wanted)
		loop_quit(bench->loop, 0);
}

/* Every millisecond, exactly, which a loop's timers are not: what is due by
 * now may go. */
static void
on_tick(void *arg, int fd, uint32_t events)
{
	struct bench *bench = arg;
	int64_t now_ns = clock_monotonic_ns();
	uint64_t ticks;

	(void)events;
	if (read(fd, &ticks, sizeof(ticks)) != sizeof(ticks))
		return;
	for (unsigned i = 0; i < SENDERS; i++) {
		struct sender *s = &bench->senders.sender[i];

		while (due_ns(bench, i, s->made + 1) <= now_ns &&
		       bench->made < bench->wanted) {
			s->made++;
			bench->made += bench->events_a_batch;
		}
	}
	for (unsigned i = 0; i < SENDERS_LINES; i++)
		senders_push(&bench->senders.line[i]);
}

static void
run(struct bench *bench, const struct rig *rig, unsigned seconds)
{
	char endpoint[RIG_PATH_BYTES + 32];
	struct itimerspec tick;
	struct err err = { 0 };
	int fd;

	if (loop_new(&bench->loop, &err) != 0)
		rig_fail(err.text);
	snprintf(
	    endpoint, sizeof(endpoint), "ipc://%s/run/broker.ipc", rig->dir);
	bench->wanted = (uint64_t)seconds * PER_SECOND /
			(bench->events_a_batch * SENDERS) *
			(bench->events_a_batch * SENDERS);
	bench->senders = (struct senders){
		.loop = bench->loop,
		.fill = fill,
		.on_acked = on_acked,
		.arg = bench,
		.count = SENDERS,
	};
	senders_open(&bench->senders, endpoint, text_of("acct$latency"));
	/* Half a second for hellos and welcomes. */
	bench->begin_ns = clock_monotonic_ns() + NS_PER_SECOND / 2;
	tick = (struct itimerspec){
		.it_interval.tv_nsec = NS_PER_SECOND / 1000,
		.it_value.tv_sec = bench->begin_ns / NS_PER_SECOND,
		.it_value.tv_nsec = bench->begin_ns % NS_PER_SECOND,
	};
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd < 0 ||
	    timerfd_settime(fd, TFD_TIMER_ABSTIME, &tick, NULL) != 0 ||
	    loop_add_fd(bench->loop, fd, EPOLLIN, on_tick, bench, &err) != 0)
		rig_fail("timer");
	loop_run(bench->loop);
	loop_remove_fd(bench->loop, fd);
	close(fd);
	senders_close(&bench->senders);
	loop_free(&bench->loop);
}

static void
measure(const struct rig *rig, unsigned events_a_batch, unsigned seconds)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	static struct meter meter;
	double p50, p99, sync;

	if (bench == NULL)
		abort();
	bench->events_a_batch = events_a_batch;
	meter_start(&meter, rig_path(rig, "syncs"));
	run(bench, rig, seconds);
	meter_stop(&meter);
	qsort(bench->latency, bench->latencies, sizeof(bench->latency[0]),
	    compare);
	p50 = quantile(bench->latency, bench->latencies, 0.5);
	p99 = quantile(bench->latency, bench->latencies, 0.99);
	sync = quantile(meter.took, meter.count, 0.5);
	printf("latency: fdatasync of 4 KiB meanwhile: p50 %.0f us, p99 %.0f "
	       "us\n",
	    sync, quantile(meter.took, meter.count, 0.99));
	printf("latency: %u events/s in batches of %u: p50 %.0f us "
	       "(%.1f fsyncs, limit 4), p99 %.0f us (%.1f fsyncs, limit 12)\n",
	    PER_SECOND, events_a_batch, p50, p50 / sync, p99, p99 / sync);
	free(bench);
}

int
main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 5;
	struct rig rig;

	rig_up(&rig);
	measure(&rig, 1, seconds);
	measure(&rig, 10, seconds);
	rig_down(&rig);
	return 0;
}
