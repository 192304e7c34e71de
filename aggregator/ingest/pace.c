/*
 * pace - admits batches at the rate at which they are indexed.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/pace.h"

#include <string.h>

#include "proto/os/clock.h"

#define POINT_NS (NS_PER_SECOND / 8)
/* So much may be admitted at once. */
#define BURST_NS (NS_PER_SECOND / 20)
/* The longest turn that is given away; who waits asks again then. */
#define TURN_MAX_NS (30 * NS_PER_SECOND)
/* What a stream may have under way is indexed in this time. */
#define CREDIT_NS (NS_PER_SECOND / 4)

enum {
	CREDIT_MIN = 64 << 10, /* a batch */
	RATE_MIN = 1 << 20,    /* bytes a second: the indexer stands still */
};

/* The multiple of the indexer's rate that is admitted: x is 0 at a quarter of
 * the limit and 1 at nine tenths. */
static double
multiple(double x)
{
	if (x <= 0.75)
		return 1 + 4 * (0.75 - x);
	return x < 1.05 ? 1.75 - x : 0.7;
}

static void
add_point(struct pace *pace, int64_t now_ns, uint64_t indexed)
{
	struct pace_point *last =
	    pace->points > 0 ? &pace->point[pace->points - 1] : NULL;

	if (last != NULL && now_ns - last->at_ns < POINT_NS)
		return;
	if (pace->points == PACE_POINTS)
		memmove(pace->point, pace->point + 1,
		    --pace->points * sizeof(pace->point[0]));
	pace->point[pace->points++] = (struct pace_point){ now_ns, indexed };
}

/* Bytes a second since the oldest point; 0: not known. */
static double
indexing_rate(const struct pace *pace, int64_t now_ns, uint64_t indexed)
{
	const struct pace_point *oldest = &pace->point[0];

	if (pace->points == 0 || now_ns - oldest->at_ns < POINT_NS ||
	    indexed < oldest->indexed)
		return 0;
	return (double)(indexed - oldest->indexed) * NS_PER_SECOND /
	       (double)(now_ns - oldest->at_ns);
}

static void
count_streams(struct pace *pace, int64_t now_ns)
{
	if (now_ns - pace->second_ns < NS_PER_SECOND)
		return;
	pace->second_ns = now_ns;
	pace->streams = pace->counted;
	pace->counted = 0;
	memset(pace->seen, 0, sizeof(pace->seen));
}

void
pace_step(struct pace *pace, int64_t now_ns, uint64_t lag, uint64_t limit)
{
	double low = (double)limit / 4, high = 0.9 * (double)limit;
	double x = ((double)lag - low) / (high - low);
	uint64_t indexed = pace->admitted > lag ? pace->admitted - lag : 0;

	pace->now_ns = now_ns;
	pace->lag = lag;
	/* What was in the journal before this process is indexed, too. */
	if (pace->admitted < lag)
		pace->admitted = lag;
	count_streams(pace, now_ns);
	pace->indexing = indexing_rate(pace, now_ns, indexed);
	add_point(pace, now_ns, indexed);
	pace->paced = x > 0;
	pace->rate = pace->indexing * multiple(x);
	if (pace->rate < RATE_MIN)
		pace->rate = RATE_MIN;
}

static int64_t
time_of(const struct pace *pace, uint32_t bytes)
{
	return (int64_t)((double)bytes * NS_PER_SECOND / pace->rate);
}

static void
note_stream(struct pace *pace, uint64_t stream)
{
	uint64_t bit = stream % PACE_STREAM_BITS;
	uint64_t mask = UINT64_C(1) << bit % 64;

	pace->counted += (pace->seen[bit / 64] & mask) == 0;
	pace->seen[bit / 64] |= mask;
}

uint32_t
pace_take(struct pace *pace, uint32_t bytes, uint64_t stream)
{
	int64_t now_ns = pace->now_ns;

	if (!pace->paced || now_ns >= pace->free_ns - BURST_NS) {
		if (pace->free_ns < now_ns)
			pace->free_ns = now_ns;
		if (pace->paced)
			pace->free_ns += time_of(pace, bytes);
		pace->admitted += bytes;
		note_stream(pace, stream);
		return 0;
	}
	pace->deferred++;
	if (pace->turn_ns < pace->free_ns)
		pace->turn_ns = pace->free_ns;
	pace->turn_ns += time_of(pace, bytes);
	if (pace->turn_ns - now_ns > TURN_MAX_NS)
		pace->turn_ns = now_ns + TURN_MAX_NS;
	return (uint32_t)((pace->turn_ns - now_ns) / 1000000) + 1;
}

uint32_t
pace_credit(const struct pace *pace, uint32_t most)
{
	double bytes = pace->rate * CREDIT_NS / NS_PER_SECOND /
		       (pace->streams > 0 ? pace->streams : 1);

	if (!pace->paced || bytes >= most)
		return most;
	return bytes < CREDIT_MIN ? CREDIT_MIN : (uint32_t)bytes;
}
