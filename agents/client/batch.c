/*
 * client_batch - the current submission: what the library's thread sends next.
 * SPDX-License-Identifier: MIT
 */
#include "agents/client/batch.h"

#include <string.h>

#include "proto/hash/hash.h"
#include "proto/os/clock.h"

static const char *const kind_names[CLIENT_KINDS] = { "span", "event",
	"sample" };

/* ---- losses ---- */

static bool
put_gap(struct client_batch *batch, enum client_kind kind, const char *reason,
    uint64_t count, int64_t now_ns)
{
	struct record record = {
		.kind = RECORD_GAP,
		.time_ns =
		    batch->reported_ns < now_ns ? batch->reported_ns : now_ns,
		.end_ns = now_ns,
		.has_time = true,
		.has_end = true,
		.source = text_of(kind_names[kind]),
		.name = text_of(reason),
		.count = count,
	};

	return wire_put_record(&batch->body, &record);
}

static uint64_t
dropped(enum client_kind kind)
{
	uint64_t sum = atomic_load(&client.nowhere.dropped[kind]);

	for (uint32_t i = 0; i < client_threads(); i++)
		sum += atomic_load(&client_thread_at(i)->dropped[kind]);
	return sum;
}

/* Losses since the last report. */
static void
put_gaps(struct client_batch *batch)
{
	int64_t now_ns = clock_wall_ns();
	bool reported = false;

	for (int kind = 0; kind < CLIENT_KINDS; kind++) {
		uint64_t sum = dropped(kind);

		if (sum > batch->reported[kind] &&
		    put_gap(batch, kind, "full", sum - batch->reported[kind],
			now_ns)) {
			batch->reported[kind] = sum;
			reported = true;
		}
		if (batch->refused[kind] > 0 &&
		    put_gap(
			batch, kind, "refused", batch->refused[kind], now_ns)) {
			batch->refused[kind] = 0;
			reported = true;
		}
	}
	if (reported)
		batch->reported_ns = now_ns;
}

/* ---- rings ---- */

/* That of the thread, or the one of this name; `other` when there are too many
 * of them. */
static struct client_track *
track_of(struct client_batch *batch, struct client_thread *thread,
    const struct client_record *record, struct client_track *other)
{
	struct text name = client_track_name(record);

	if (name.bytes == 0)
		return &thread->track;
	client_take_part(other->name, name);
	other->announced = true;
	for (uint32_t i = 0; i < batch->tracks; i++)
		if (strcmp(batch->track[i].name, other->name) == 0)
			return &batch->track[i];
	if (batch->tracks == CLIENT_TRACKS)
		return other;
	strcpy(batch->track[batch->tracks].name, other->name);
	/* They are shown after the threads. */
	batch->track[batch->tracks].number = POOLSCOPE_THREADS + batch->tracks;
	return &batch->track[batch->tracks++];
}

/* ---- metric groups ---- */

enum put { PUT_DONE, PUT_FULL, PUT_REFUSED };

/* A definition that the agent does not have, with its first sample: alone,
 * because the agent may refuse it. */
static enum put
define(struct client_batch *batch, struct client_group *group, uint64_t hash)
{
	if (batch->body.records > 0)
		return PUT_FULL;
	*group = (struct client_group){ .hash = hash };
	batch->defined = group;
	return wire_put_record(&batch->body, &batch->sample.group.definition) &&
		       wire_put_record(
			   &batch->body, &batch->sample.group.sample)
		   ? PUT_DONE
		   : PUT_REFUSED;
}

/* What batch->sample has; `group` is what is known of its group, NULL: look it
 * up. */
static enum put
put_group(struct client_batch *batch, struct client_group *group)
{
	static const struct hash_key key = { 0 };
	const struct dynamic_group *made = &batch->sample.group;
	uint64_t hash = hash_bytes(key, made->name, strlen(made->name)) | 1;

	if (group == NULL)
		group = &batch->group[(hash >> 1) % CLIENT_GROUPS];
	if (group->hash != hash)
		return define(batch, group, hash);
	if (group->refused)
		return PUT_REFUSED;
	return wire_put_record(&batch->body, &made->sample) ? PUT_DONE
							    : PUT_FULL;
}

/* ---- counters ---- */

static enum put
put_count(struct client_batch *batch, struct poolscope_counter *counter,
    double value, int64_t time_ns)
{
	return client_make_count(&batch->sample, counter, value, time_ns)
		   ? put_group(batch, &counter->group)
		   : PUT_REFUSED;
}

/* The first increase of a counter is that from 0, since when nobody else counts
 * into its series. */
static enum put
put_counter(struct client_batch *batch, struct poolscope_counter *counter)
{
	enum put result = PUT_DONE;
	int64_t since_ns;

	client_process_number(&since_ns);
	if (since_ns < counter->begin_ns)
		since_ns = counter->begin_ns;
	if (!counter->gauge && !counter->begun)
		result = put_count(batch, counter, 0, since_ns);
	counter->begun |= result == PUT_DONE;
	return result == PUT_DONE
		   ? put_count(batch, counter, client_counter_value(counter),
			 clock_wall_ns())
		   : result;
}

static void
put_counters(struct client_batch *batch)
{
	uint32_t counters =
	    atomic_load_explicit(&client.counters, memory_order_acquire);

	for (uint32_t i = 0; i < counters && !batch->more; i++) {
		struct poolscope_counter *counter = &client.counter[i];

		if (!atomic_exchange(&counter->changed, false))
			continue;
		if (put_counter(batch, counter) == PUT_FULL) {
			atomic_store(&counter->changed, true);
			batch->more = true;
		}
		batch->more |= batch->defined != NULL;
	}
}

/* ---- samples ---- */

static enum put
put_sample(struct client_batch *batch, const struct client_record *record)
{
	return client_make_sample(&batch->sample, &batch->ticks, record)
		   ? put_group(batch, NULL)
		   : PUT_REFUSED;
}

/* As put_thread, for a sample. */
static bool
take_sample(struct client_batch *batch, struct client_thread *thread,
    const struct client_record *record)
{
	enum put result = put_sample(batch, record);

	if (result == PUT_FULL)
		return false;
	if (result == PUT_DONE) {
		batch->records[CLIENT_SAMPLE]++;
	} else {
		batch->refused[CLIENT_SAMPLE]++;
		atomic_fetch_add(&client.refused, 1);
	}
	client_ring_take(&thread->ring);
	return batch->defined == NULL;
}

/* The records of one thread; false when the submission is full. */
static bool
put_thread(
    struct client_batch *batch, struct client_thread *thread, struct text node)
{
	const struct client_record *record;
	struct client_track *track, other;
	uint32_t bytes;

	while ((record = client_ring_peek(&thread->ring, &bytes)) != NULL) {
		if (record->kind == CLIENT_NAME) {
			client_take_part(thread->track.name,
			    (struct text){ (const char *)(record + 1),
				record->name_bytes });
			thread->track.announced = false;
			client_ring_take(&thread->ring);
			continue;
		}
		if (record->kind == CLIENT_SAMPLE) {
			if (!take_sample(batch, thread, record))
				return false;
			continue;
		}
		track = track_of(batch, thread, record, &other);
		if (!track->announced &&
		    !client_encode_track(&batch->body, track, node))
			return false;
		track->announced = true;
		if (!client_encode(&batch->body, &batch->ticks, track, record))
			return false;
		batch->records[record->kind]++;
		client_ring_take(&thread->ring);
	}
	return true;
}

/* The thread has ended and all its records are sent: its slot is free. */
static void
recycle(struct client_thread *thread)
{
	if (atomic_load_explicit(&thread->slot, memory_order_acquire) !=
		CLIENT_ENDED ||
	    !client_ring_is_empty(&thread->ring))
		return;
	thread->track.name[0] = '\0';
	thread->track.announced = false;
	atomic_store_explicit(&thread->slot, CLIENT_FREE, memory_order_release);
}

/* ---- the current submission ---- */

void
client_batch_begin(struct client_batch *batch)
{
	batch->reported_ns = clock_wall_ns();
	batch->counted_ns = clock_monotonic_ns();
	fast_clock_init(&batch->ticks);
}

static void
hold(struct client_batch *batch, size_t room)
{
	wire_writer_init(&batch->body, batch->bytes, room);
	memset(batch->records, 0, sizeof(batch->records));
	batch->defined = NULL;
	batch->more = false;
}

void
client_batch_empty(struct client_batch *batch)
{
	hold(batch, 0);
}

bool
client_batch_fill(struct client_batch *batch, struct text node)
{
	int64_t now_ns = clock_monotonic_ns();
	uint32_t count = client_threads();

	hold(batch, sizeof(batch->bytes));
	if (now_ns - batch->counted_ns >= client.counters_ns) {
		put_counters(batch);
		if (!batch->more)
			batch->counted_ns = now_ns;
	}
	/* If it is refused, nothing of the rings is lost. */
	if (batch->defined != NULL)
		return true;
	put_gaps(batch);
	fast_clock_mark(&batch->ticks);
	for (uint32_t i = 0; i < count; i++) {
		struct client_thread *thread =
		    client_thread_at((batch->turn + i) % count);

		if (!put_thread(batch, thread, node)) {
			batch->turn += i; /* it comes first next time */
			break;
		}
		recycle(thread);
	}
	return batch->body.records > 0;
}

void
client_batch_announce_again(struct client_batch *batch)
{
	for (uint32_t i = 0; i < client_threads(); i++)
		client_thread_at(i)->track.announced = false;
	for (uint32_t i = 0; i < batch->tracks; i++)
		batch->track[i].announced = false;
	for (uint32_t i = 0; i < CLIENT_GROUPS; i++)
		if (!batch->group[i].refused)
			batch->group[i].hash = 0;
	for (uint32_t i = 0; i < atomic_load(&client.counters); i++)
		if (!client.counter[i].group.refused)
			client.counter[i].group.hash = 0;
}

uint64_t
client_batch_records(const struct client_batch *batch)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < CLIENT_KINDS; kind++)
		sum += batch->records[kind];
	return sum;
}

void
client_batch_refuse(struct client_batch *batch, bool description)
{
	if (description && batch->defined != NULL)
		batch->defined->refused = true;
	for (int kind = 0; kind < CLIENT_KINDS; kind++)
		batch->refused[kind] += batch->records[kind];
}

void
client_batch_hurry(struct client_batch *batch)
{
	batch->counted_ns = INT64_MIN / 2;
}
