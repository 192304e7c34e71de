/*
 * sampler_sample_queue - samples, the descriptions of their metric groups, and
 * losses, on the way to the spool.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>

#include "agents/sampler/sampler_private.h"
#include "proto/hash/hash.h"
#include "proto/os/log.h"

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

/* The commit failed: records on the way to the spool are lost. */
static void
forget(struct sampler *sampler)
{
	sampler->defined_count = sampler->defined_stored;
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
			log_info("sampling resumed, %llu samples were lost",
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

static bool
is_defined(struct sampler *sampler, uint64_t hash)
{
	for (uint32_t i = 0; i < sampler->defined_count; i++)
		if (sampler->defined[i] == hash)
			return true;
	return false;
}

/* Append the description of the group, if it was not sent yet.  False: no room
 * in this body. */
static bool
define(struct sampler *sampler, const struct metric_group *metric_group,
    struct text name)
{
	uint64_t hash = hash_bytes(hash_key, name.at, name.bytes);

	if (is_defined(sampler, hash))
		return true;
	/* Devices come and go: start with an empty table; repeating a
	 * description does no harm. */
	if (sampler->defined_count == SAMPLER_GROUPS_MAX)
		sampler->defined_count = sampler->defined_stored = 0;
	if (!metric_group_define(&sampler->descriptions, metric_group, name))
		return false;
	sampler->defined[sampler->defined_count++] = hash;
	return true;
}

void
sampler_add(struct sampler *sampler, const struct metric_group *metric_group,
    struct text name, const struct value *values)
{
	unsigned char bytes[METRIC_GROUP_COLUMNS_MAX * 9];
	bool has_boot = metric_group_has_boot(metric_group);
	struct value boot = sampler_whole(sampler->boot);
	struct wire_writer writer;
	struct record sample = {
		.kind = RECORD_SAMPLE,
		.time_ns = sampler->now_ns,
		.has_time = true,
		.source = name,
		.values = metric_group->count,
	};

	/* A mount point may contain bytes that no name may have. */
	if (text_check_name(name) != TEXT_OK)
		return;
	assert(metric_group->count <= METRIC_GROUP_COLUMNS_MAX);
	wire_writer_init(&writer, bytes, sizeof(bytes));
	if (has_boot)
		wire_put_value(&writer, &boot);
	for (uint32_t i = has_boot; i < metric_group->count; i++)
		wire_put_value(&writer, values++);
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
	uint32_t wanted =
	    metric_group->count - metric_group_has_boot(metric_group);

	assert(count >= wanted);
	for (uint32_t i = 0; i < wanted; i++)
		values[i] = sampler_whole(numbers[i]);
	sampler_add(sampler, metric_group, name, values);
}

struct text
sampler_name(
    char to[static NAME_BYTES_MAX + 1], const char *kind, struct text device)
{
	int n = snprintf(to, NAME_BYTES_MAX + 1, "%s%.*s", kind,
	    (int)device.bytes, device.at);

	/* Truncated names of two devices could be equal. */
	return (struct text){ to, n > NAME_BYTES_MAX ? 0 : (uint32_t)n };
}
