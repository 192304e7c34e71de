/*
 * sampler_sample_queue - samples, the descriptions of their metric groups, and
 * losses, on the way to the spool.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <string.h>

#include "agents/proc/proc_stat.h"
#include "agents/sampler/sampler_private.h"
#include "proto/hash/hash.h"
#include "proto/os/log.h"
#include "proto/record/counter_rate.h"

/* What a submission holds: the `number` of its ticket. */
enum content { SAMPLES, DESCRIPTIONS, GAP, EVENT };

/* Any fixed key: group names come from kernels. */
static const struct hash_key hash_key = { 0x73657473, 0x73616d70 };

static void
note_loss(struct sampler *sampler, const struct batcher_ticket *ticket,
    enum batcher_result result)
{
	if (sampler->lost == 0) {
		sampler->lost_from_ns = ticket->sent_ns;
		log_warn("sampling paused: %s", result == BATCHER_FULL
						    ? "the spool is full"
						    : "the disk failed");
	}
	sampler->lost_to_ns = ticket->sent_ns;
	sampler->lost += ticket->client;
	sampler->lost_ever += ticket->client;
	sampler->lost_reason = result == BATCHER_FULL ? "full" : "io";
}

/* Its slot: where the hash is, or would be. */
static uint32_t
slot_of(const struct sampler *sampler, uint64_t hash)
{
	uint32_t slot = (uint32_t)hash % SAMPLER_SLOTS;

	while (sampler->slots[slot] != 0 &&
	       sampler->defined[sampler->slots[slot] - 1] != hash)
		slot = (slot + 1) % SAMPLER_SLOTS;
	return slot;
}

/* Keep the first `count` of them. */
static void
forget_defined(struct sampler *sampler, uint32_t count)
{
	sampler->defined_count = count;
	memset(sampler->slots, 0, sizeof(sampler->slots));
	for (uint32_t i = 0; i < count; i++)
		sampler->slots[slot_of(sampler, sampler->defined[i])] =
		    (uint16_t)(i + 1);
}

void
sampler_forget_defined(struct sampler *sampler)
{
	sampler->defined_stored = 0;
	forget_defined(sampler, 0);
}

/* The commit failed: records on the way to the spool are lost. */
static void
forget(struct sampler *sampler)
{
	forget_defined(sampler, sampler->defined_stored);
	sampler->clock.far_reported = 0;
}

static void
on_settled(
    const struct batcher_ticket *ticket, const struct batcher_outcome *outcome)
{
	struct sampler *sampler = ticket->arg;
	bool good = outcome->result == BATCHER_OK;

	switch ((enum content)ticket->number) {
	case SAMPLES:
		sampler->room = good;
		if (!good)
			note_loss(sampler, ticket, outcome->result);
		break;
	case DESCRIPTIONS:
		if (!good)
			forget(sampler);
		else if (ticket->client <= sampler->defined_count)
			sampler->defined_stored = (uint32_t)ticket->client;
		break;
	case GAP:
		if (good) {
			log_info("sampling resumed; samples lost: %llu",
			    (unsigned long long)ticket->client);
			sampler->lost -= ticket->client;
		}
		if (sampler->lost > 0)
			sampler->lost_from_ns = sampler->lost_to_ns;
		break;
	case EVENT:
		if (!good)
			log_warn("an event of the agent itself was lost");
		break;
	}
}

/* Submit a body; `count` is for on_settled. */
static void
put(struct sampler *sampler, const struct wire_writer *body,
    enum content content, uint64_t count)
{
	struct batcher *batcher = sampler->options.batcher;
	struct batcher_ticket ticket = {
		.on_settled = on_settled,
		.arg = sampler,
		.client = count,
		.number = content,
		.sent_ns = sampler->now_ns,
	};
	struct wire_header header = {
		.type = WIRE_PUT,
		.records = body->records,
		.body_bytes = (uint32_t)body->bytes,
	};
	struct text plain = { (const char *)body->at, (uint32_t)body->bytes };
	struct batcher_outcome outcome = { 0 };
	struct err err = { 0 };

	if (body->records == 0)
		return;
	if (batcher_is_due(batcher))
		sampler->options.commit(sampler->options.arg);
	outcome.result = batcher_put(batcher, &ticket, &header, plain, &err);
	if (outcome.result != BATCHER_OK)
		on_settled(&ticket, &outcome);
}

void
sampler_flush(struct sampler *sampler)
{
	put(sampler, &sampler->descriptions, DESCRIPTIONS,
	    sampler->defined_count);
	put(sampler, &sampler->samples, SAMPLES, sampler->samples.records);
	wire_writer_init(&sampler->descriptions, sampler->descriptions_body,
	    sizeof(sampler->descriptions_body));
	wire_writer_init(&sampler->samples, sampler->samples_body,
	    sizeof(sampler->samples_body));
}

void
sampler_put_gap(struct sampler *sampler)
{
	struct record gap = {
		.kind = RECORD_GAP,
		.time_ns = sampler->lost_from_ns,
		.end_ns = sampler->lost_to_ns,
		.has_time = true,
		.has_end = true,
		.source = text_of("sample"),
		.name = text_of(sampler->lost_reason),
		.count = sampler->lost,
	};
	unsigned char body[512];
	struct wire_writer writer;

	wire_writer_init(&writer, body, sizeof(body));
	if (wire_put_record(&writer, &gap))
		put(sampler, &writer, GAP, sampler->lost);
}

void
sampler_event(struct sampler *sampler, const char *name,
    const struct record_attribute *attributes, uint32_t count)
{
	unsigned char uuid[RECORD_ID_BYTES], pairs[1024], body[2048];
	struct record event = {
		.kind = RECORD_EVENT,
		.time_ns = sampler->now_ns,
		.has_time = true,
		.source = text_of("agent"),
		.name = text_of(name),
		.key = { (const char *)uuid, RECORD_ID_BYTES },
		.attributes = count,
	};
	struct wire_writer writer;

	hash_random_bytes(uuid, sizeof(uuid));
	wire_writer_init(&writer, pairs, sizeof(pairs));
	for (uint32_t i = 0; i < count; i++)
		wire_put_attribute(
		    &writer, attributes[i].key, &attributes[i].value);
	event.pairs =
	    (struct text){ (const char *)pairs, (uint32_t)writer.bytes };
	wire_writer_init(&writer, body, sizeof(body));
	if (wire_put_record(&writer, &event))
		put(sampler, &writer, EVENT, 1);
}

/* Append the description of the group, if it was not sent yet.  False: no room
 * in this body. */
static bool
define(struct sampler *sampler, const struct metric_group *metric_group,
    struct text name)
{
	uint64_t hash = hash_bytes(hash_key, name.at, name.bytes);
	uint32_t slot;

	if (sampler->slots[slot_of(sampler, hash)] != 0)
		return true;
	/* Devices come and go: start with an empty table; repeating a
	 * description does no harm. */
	if (sampler->defined_count == SAMPLER_GROUPS_MAX)
		sampler_forget_defined(sampler);
	if (!metric_group_define(&sampler->descriptions, metric_group, name))
		return false;
	slot = slot_of(sampler, hash);
	sampler->defined[sampler->defined_count++] = hash;
	sampler->slots[slot] = (uint16_t)sampler->defined_count;
	return true;
}

void
sampler_add(struct sampler *sampler, const struct metric_group *metric_group,
    struct text name, const struct value *values)
{
	unsigned char bytes[METRIC_GROUP_COLUMNS_MAX * 9];
	struct value boot = sampler_whole(
	    sampler->boot | sampler->epoch << COUNTER_RATE_BOOT_BITS);
	struct wire_writer writer;
	struct record sample = {
		.kind = RECORD_SAMPLE,
		.time_ns = sampler->now_ns,
		.has_time = true,
		.source = name,
		.values = metric_group->count,
	};

	sampler->epoch = 0;
	/* It was too long. */
	if (text_check_name(name) != TEXT_OK) {
		sampler->left_out[LEFT_NAMES]++;
		return;
	}
	assert(metric_group->count <= METRIC_GROUP_COLUMNS_MAX);
	wire_writer_init(&writer, bytes, sizeof(bytes));
	if (metric_group->count > metric_group->values)
		wire_put_value(&writer, &boot);
	for (uint32_t i = 0; i < metric_group->values; i++)
		wire_put_value(&writer, &values[i]);
	sample.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)writer.bytes };
	if (!define(sampler, metric_group, name)) {
		sampler_flush(sampler);
		define(sampler, metric_group, name);
	}
	if (!wire_put_record(&sampler->samples, &sample)) {
		sampler_flush(sampler);
		wire_put_record(&sampler->samples, &sample);
	}
}

void
sampler_add_whole(struct sampler *sampler,
    const struct metric_group *metric_group, struct text name,
    const uint64_t *numbers, size_t count)
{
	struct value values[METRIC_GROUP_COLUMNS_MAX];

	assert(count == metric_group->values);
	for (size_t i = 0; i < count; i++)
		values[i] = sampler_whole(numbers[i]);
	sampler_add(sampler, metric_group, name, values);
}

struct text
sampler_name(
    char to[static NAME_BYTES_MAX + 1], const char *kind, struct text device)
{
	uint32_t front = (uint32_t)strlen(kind), bytes;

	/* Whoever makes a device may call it anything. */
	memcpy(to, kind, front);
	bytes = proc_escape(to + front, NAME_BYTES_MAX - front, device);
	to[front + bytes] = '\0';
	/* Truncated names of two devices could be equal. */
	return (struct text){ to, bytes > 0 ? front + bytes : 0 };
}

/* ---- what is left out ---- */

void
sampler_leave_out(struct sampler *sampler, enum sampler_left_out kind,
    uint64_t count, const char *example)
{
	static const struct {
		const char *what, *why;
	} texts[LEFT_KINDS] = {
		[LEFT_DISKS] = { "disks", "at most 256 are, the busiest" },
		[LEFT_INTERFACES] = { "interfaces",
		    "at most 128 are, the physical ones and the busiest" },
		[LEFT_FILESYSTEMS] = { "file systems", "at most 256 are" },
		[LEFT_GROUPS] = { "control groups",
		    "at most 1024 are, with paths of up to 240 bytes" },
		[LEFT_UNMATCHED] = { "control groups",
		    "they lie where a scheduler has its jobs, but no pattern "
		    "of --cgroups matches them" },
		[LEFT_PROCESSES] = { "processes of jobs", "at most 65536 are" },
		[LEFT_COMMANDS] = { "processes of jobs",
		    "at most 2048 different names are" },
		[LEFT_HIDDEN] = { "processes of jobs",
		    "this agent may not see them (/proc is mounted with "
		    "hidepid, or they are of another PID namespace)" },
		[LEFT_NAMES] = { "samples", "their names are too long" },
	};

	sampler->left_out[kind] = count;
	if (count == 0 || sampler->left_out_said[kind])
		return;
	sampler->left_out_said[kind] = true;
	log_warn("%llu %s are not sampled%s%s: %s", (unsigned long long)count,
	    texts[kind].what, example != NULL ? ", as " : "",
	    example != NULL ? example : "", texts[kind].why);
}
