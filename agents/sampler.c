/*
 * sampler - samples this host on an absolute timer.
 * SPDX-License-Identifier: MIT
 */
#include "agents/sampler.h"

#include <assert.h>
#include <stdlib.h>

#include "agents/sampler_private.h"
#include "proto/clock.h"
#include "proto/hash.h"
#include "proto/log.h"

/* What a put holds: the `number` of its ticket. */
enum content { SAMPLES, SETS, GAP };

/* Any fixed key: the phase of a node is to be the same after a restart. */
static const struct hash_key hash_key = { 0x706f6f6c, 0x73636f7065 };

static void
note_loss(struct sampler *sampler, const struct gather_ticket *ticket,
    enum gather_result result)
{
	if (sampler->lost == 0) {
		sampler->lost_from_ns = ticket->sent_ns;
		log_warn("samples are not taken: %s", result == GATHER_FULL
							  ? "the spool is full"
							  : "the disk refuses");
	}
	sampler->lost_to_ns = ticket->sent_ns;
	sampler->lost += ticket->client;
	sampler->lost_ever += ticket->client;
	sampler->lost_reason = result == GATHER_FULL ? "full" : "io";
}

static void
on_settled(
    const struct gather_ticket *ticket, const struct gather_outcome *outcome)
{
	struct sampler *sampler = ticket->arg;
	bool good = outcome->result == GATHER_OK;

	switch ((enum content)ticket->number) {
	case SAMPLES:
		sampler->room = good;
		if (!good)
			note_loss(sampler, ticket, outcome->result);
		break;
	case SETS:
		if (!good)
			sampler->defined_count = sampler->sure;
		else if (ticket->client <= sampler->defined_count)
			sampler->sure = (uint32_t)ticket->client;
		break;
	case GAP:
		if (good) {
			log_info("samples are taken again, %llu were lost",
			    (unsigned long long)ticket->client);
			sampler->lost -= ticket->client;
		}
		if (sampler->lost > 0)
			sampler->lost_from_ns = sampler->lost_to_ns;
		break;
	}
}

/* Put a body; `count` is for on_settled. */
static void
put(struct sampler *sampler, const struct wire_writer *body,
    enum content content, uint64_t count)
{
	struct gather *gather = sampler->options.gather;
	struct gather_ticket ticket = {
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
	struct gather_outcome outcome = { 0 };
	struct err err = { "" };

	if (body->records == 0)
		return;
	if (gather_is_due(gather))
		sampler->options.commit(sampler->options.arg);
	outcome.result = gather_put(gather, &ticket, &header, plain, &err);
	if (outcome.result != GATHER_OK)
		on_settled(&ticket, &outcome);
}

static void
flush(struct sampler *sampler)
{
	put(sampler, &sampler->sets, SETS, sampler->defined_count);
	put(sampler, &sampler->samples, SAMPLES, sampler->samples.records);
	wire_writer_init(
	    &sampler->sets, sampler->sets_body, sizeof(sampler->sets_body));
	wire_writer_init(&sampler->samples, sampler->samples_body,
	    sizeof(sampler->samples_body));
}

/* Tell what was lost, once there is room. */
static void
put_gap(struct sampler *sampler)
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

static void
on_timer(void *arg, struct loop_timer *timer)
{
	struct sampler *sampler = arg;

	(void)timer;
	sampler->now_ns = clock_wall_ns();
	if (sampler->lost > 0 && sampler->room)
		put_gap(sampler);
	sampler_read(sampler);
	flush(sampler);
}

static bool
is_defined(struct sampler *sampler, uint64_t hash)
{
	for (uint32_t i = 0; i < sampler->defined_count; i++)
		if (sampler->defined[i] == hash)
			return true;
	return false;
}

/* Say what the set is, if nobody knows yet.  False: no room in this body. */
static bool
define(struct sampler *sampler, const struct set *set, struct text name)
{
	uint64_t hash = hash_bytes(hash_key, name.at, name.bytes);

	if (is_defined(sampler, hash))
		return true;
	/* Devices that come and go: begin anew, saying it twice is no harm. */
	if (sampler->defined_count == SAMPLER_SETS_MAX)
		sampler->defined_count = sampler->sure = 0;
	if (!set_define(&sampler->sets, set, name))
		return false;
	sampler->defined[sampler->defined_count++] = hash;
	return true;
}

void
sampler_add(struct sampler *sampler, const struct set *set, struct text name,
    const struct value *values)
{
	unsigned char bytes[SET_COLUMNS_MAX * 9];
	struct wire_writer writer;
	struct record sample = {
		.kind = RECORD_SAMPLE,
		.time_ns = sampler->now_ns,
		.has_time = true,
		.source = name,
		.values = set->count,
	};

	/* A mount point may be no name at all. */
	if (text_check_name(name) != TEXT_OK)
		return;
	assert(set->count <= SET_COLUMNS_MAX);
	wire_writer_init(&writer, bytes, sizeof(bytes));
	for (uint32_t i = 0; i < set->count; i++)
		wire_put_value(&writer, &values[i]);
	sample.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)writer.bytes };
	if (!define(sampler, set, name)) {
		flush(sampler);
		define(sampler, set, name);
	}
	if (!wire_put_record(&sampler->samples, &sample)) {
		flush(sampler);
		wire_put_record(&sampler->samples, &sample);
	}
}

/* Monotonic time of the first sample. */
static int64_t
first_ns(const struct sampler_options *options)
{
	int64_t wall_ns = clock_wall_ns(), period_ns = options->period_ns;
	int64_t phase_ns = (int64_t)(hash_bytes(hash_key, options->node.at,
					 options->node.bytes) %
				     (uint64_t)period_ns);
	int64_t into_ns = (wall_ns - phase_ns) % period_ns;

	return clock_monotonic_ns() + period_ns - into_ns;
}

void
sampler_open(struct sampler **made, const struct sampler_options *options)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));

	if (sampler == NULL)
		abort();
	sampler->options = *options;
	sampler->timer.on_timer = on_timer;
	sampler->timer.arg = sampler;
	host_files_open(&sampler->files);
	wire_writer_init(
	    &sampler->sets, sampler->sets_body, sizeof(sampler->sets_body));
	wire_writer_init(&sampler->samples, sampler->samples_body,
	    sizeof(sampler->samples_body));
	loop_set_timer(options->loop, &sampler->timer, first_ns(options),
	    options->period_ns);
	*made = sampler;
}

void
sampler_close(struct sampler **gone)
{
	struct sampler *sampler = *gone;

	*gone = NULL;
	if (sampler == NULL)
		return;
	loop_stop_timer(sampler->options.loop, &sampler->timer);
	host_files_close(&sampler->files);
	free(sampler);
}

void
sampler_renew(struct sampler *sampler)
{
	sampler->defined_count = sampler->sure = 0;
}
