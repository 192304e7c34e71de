/*
 * spool - a short life of a spool, of which every step may fail.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agents/spool/spool.h"
#include "proto/wire/wire.h"
#include "tests/fault/nth/nth.h"

enum {
	BATCHES = 40,
	BEHIND = NTH_IDS - NTH_STREAMS,
	BODY_BYTES = 200 + 60 * NTH_IDS,
};

static const struct spool_options options = { .bytes_max = 512 << 10,
	.segment_bytes = 16 << 10,
	.retain_bytes = 32 << 10,
	.free_bytes_min = 1 };

/* A body is the id and further bytes that follow from it. */
static struct text
body_of(uint32_t id)
{
	static unsigned char body[BODY_BYTES];

	memset(body, (int)(id * 7 + 1), sizeof(body));
	memcpy(body, &id, sizeof(id));
	return (struct text){ (const char *)body, 200 + id * 60 };
}

/* NTH_IDS: it is none of ours. */
static uint32_t
id_of(struct text body)
{
	uint32_t id;

	if (body.bytes < sizeof(id))
		return NTH_IDS;
	memcpy(&id, body.at, sizeof(id));
	if (id >= NTH_IDS || !text_equal(body, body_of(id)))
		return NTH_IDS;
	return id;
}

/* Into the current session, whichever that is after a failure. */
static enum spool_result
append(struct spool *spool, uint32_t name, uint32_t id)
{
	static const char *const names[NTH_STREAMS] = { "a$0", "a$1", "a$2" };
	struct spool_batch batch = { .records = 1, .body = body_of(id) };
	struct err err = { 0 };
	uint32_t stream;
	uint64_t seq;

	batch.body_bytes = batch.body.bytes;
	if (spool_stream(spool, text_of(names[name]), &stream, &err) != 0)
		return SPOOL_FULL;
	return spool_append(spool, stream, &batch, true, &seq, &err);
}

static int
open_spool(struct spool **spool, const char *dir)
{
	struct err err = { 0 };

	if (spool_open(spool, dir, &options, &err) == 0)
		return 0;
	fprintf(stderr, "open: %s\n", err.text);
	return -1;
}

/* ---- a life ---- */

/* The batches of the stream up to `upto` need not be there any more. */
static void
excuse(struct spool *spool, uint32_t stream, uint64_t upto,
    struct nth_ledger *ledger)
{
	struct spool_batch batch;
	struct err err = { 0 };
	uint64_t seq = spool_first_unacked(spool, stream);

	for (; seq <= upto; seq = batch.last_seq + 1) {
		if (spool_read(spool, stream, seq, &batch, &err) != 1)
			return;
		if (batch.reason == 0 && id_of(batch.body) < NTH_IDS)
			ledger->excused[id_of(batch.body)] = true;
		spool_acked(spool, stream, batch.last_seq);
	}
}

static void
refuse(struct spool *spool, uint32_t stream, struct nth_ledger *ledger)
{
	uint64_t seq = spool_first_unacked(spool, stream);
	struct spool_batch batch;
	struct err err = { 0 };

	if (spool_read(spool, stream, seq, &batch, &err) != 1 ||
	    batch.reason != 0)
		return;
	ledger->excused[id_of(batch.body) % NTH_IDS] = true;
	spool_refuse(spool, stream, seq, WIRE_GAP_REFUSED, &err);
}

/* The aggregator has other content there. */
static void
move(struct spool *spool, uint32_t stream)
{
	struct err err = { 0 };
	uint32_t to;

	if (!session_equal(
		spool_session_of(spool, stream), spool_session(spool)))
		spool_move(spool, stream, &to, &err);
}

/* What may happen to a spool between two commits. */
static void
disturb(struct spool *spool, uint32_t step, struct nth_ledger *ledger)
{
	struct err err = { 0 };
	uint32_t stream = step / 3 % NTH_STREAMS;

	if (step == 24)
		spool_new_session(spool);
	if (stream >= spool_streams(spool) ||
	    spool_partition(spool, stream).at == NULL)
		return;
	switch (step) {
	case 9:
	case 18: excuse(spool, stream, 3, ledger); break;
	case 12:
	case 21:
	case 36: spool_tidy(spool, step, &err); break;
	case 15: refuse(spool, stream, ledger); break;
	case 27:
	case 30: move(spool, stream); break;
	case 33: spool_rewind(spool, stream, 1); break;
	default: break;
	}
}

/* False: the spool has given up. */
static bool
commit(
    struct spool *spool, struct nth_ledger *ledger, uint32_t from, uint32_t to)
{
	struct err err = { 0 };

	if (spool_commit(spool, &err) != SPOOL_OK)
		return false;
	for (; from < to; from++)
		ledger->accepted[from] = ledger->submitted[from];
	return true;
}

static int
live(struct spool *spool, struct nth_ledger *ledger)
{
	uint32_t from = 0, failures = 0;

	for (uint32_t id = 0; id < BATCHES; id++) {
		ledger->submitted[id] = true;
		if (append(spool, id % NTH_STREAMS, id) != SPOOL_OK) {
			/* Nothing since the last commit counts. */
			from = id + 1;
			failures++;
		}
		if (id % 3 == 2) {
			failures = commit(spool, ledger, from, id + 1)
				       ? 0
				       : failures + 1;
			from = id + 1;
			disturb(spool, id + 1, ledger);
		}
		if (failures > 4)
			return -1;
	}
	return 0;
}

static int
run(const char *dir, struct nth_ledger *ledger)
{
	struct spool *spool;
	int rc;

	if (open_spool(&spool, dir) != 0)
		return -1;
	rc = live(spool, ledger);
	spool_close(&spool);
	if (rc != 0 || open_spool(&spool, dir) != 0)
		return -1;
	spool_close(&spool);
	return 0;
}

/* ---- the judge ---- */

static bool
walk(struct spool *spool, uint32_t stream, uint32_t *copies)
{
	uint64_t seq = spool_first_unacked(spool, stream);
	struct spool_batch batch;
	struct err err = { 0 };
	int there;

	while ((there = spool_read(spool, stream, seq, &batch, &err)) == 1) {
		if (batch.reason == 0 && id_of(batch.body) == NTH_IDS)
			return nth_wrong("content", seq, 0);
		if (batch.reason == 0)
			copies[id_of(batch.body)]++;
		seq = batch.last_seq + 1;
	}
	if (there < 0)
		fprintf(stderr, "%s\n", err.text);
	return there == 0;
}

/* Go on with moves that were interrupted, as the agent does. */
static void
finish_moves(struct spool *spool)
{
	struct err err = { 0 };
	uint32_t to;

	for (uint32_t i = 0; i < spool_streams(spool); i++)
		while (spool_partition(spool, i).at != NULL &&
		       spool_is_to_move(spool, i) &&
		       spool_move(spool, i, &to, &err) == SPOOL_OK)
			;
}

static bool
judge_once(const char *dir, const struct nth_ledger *ledger, bool behind)
{
	uint32_t copies[NTH_IDS] = { 0 };
	struct spool *spool;
	struct err err = { 0 };

	if (open_spool(&spool, dir) != 0)
		return false;
	finish_moves(spool);
	for (uint32_t i = 0; i < spool_streams(spool); i++)
		if (spool_partition(spool, i).at != NULL &&
		    !walk(spool, i, copies))
			return false;
	for (uint32_t id = 0; id < BATCHES; id++) {
		if (copies[id] > 1)
			return nth_wrong("copies", copies[id], 1);
		if (ledger->accepted[id] && !ledger->excused[id] &&
		    copies[id] == 0)
			return nth_wrong("lost", id, 0);
		if (!ledger->submitted[id] && copies[id] > 0)
			return nth_wrong("made up", id, 0);
	}
	for (uint32_t i = 0; i < NTH_STREAMS && behind; i++)
		if (copies[BEHIND + i] != 1)
			return nth_wrong("behind it", copies[BEHIND + i], 1);
	for (uint32_t i = 0; i < NTH_STREAMS && !behind; i++)
		if (append(spool, i, BEHIND + i) != SPOOL_OK)
			return nth_wrong("goes on", i, 0);
	if (spool_commit(spool, &err) != SPOOL_OK)
		return nth_wrong(err.text, 0, 0);
	spool_close(&spool);
	return true;
}

static bool
judge(const char *dir, const struct nth_ledger *ledger)
{
	return judge_once(dir, ledger, false) && judge_once(dir, ledger, true);
}

const struct nth_scenario nth_spool = { "spool", NULL, run, judge };
