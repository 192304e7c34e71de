/*
 * set - a set of models in memory, and the encoding of its phases.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "proto/hash/hash.h"
#include "proto/base/memory.h"

const char *const model_wait_words[] = { "after", "after_any", "end_after" };

struct text
model_set_own(
    struct model_set *set, struct text a, const char *between, struct text b)
{
	size_t bytes = a.bytes + strlen(between) + b.bytes;
	char *at = memory_alloc(bytes + 1);

	set->owned =
	    memory_resize(set->owned, (set->owners + 1) * sizeof(*set->owned));
	if (a.bytes > 0)
		memcpy(at, a.at, a.bytes);
	memcpy(at + a.bytes, between, strlen(between));
	if (b.bytes > 0)
		memcpy(at + bytes - b.bytes, b.at, b.bytes);
	at[bytes] = '\0';
	set->owned[set->owners++] = (struct text){ at, (uint32_t)bytes };
	return (struct text){ at, (uint32_t)bytes };
}

void
model_set_clear(struct model_set *set)
{
	unsigned i;

	for (i = 0; i < set->owners; i++)
		free((char *)(uintptr_t)set->owned[i].at);
	for (i = 0; i < set->views; i++)
		free(set->view[i].sum);
	for (i = 0; i < set->runs; i++)
		free(set->run[i].property);
	free(set->owned);
	free(set->phase);
	free(set->view);
	free(set->run);
	*set = (struct model_set){ .phase = NULL };
}

static struct text
own_text(struct model_set *set, struct text t)
{
	return t.bytes ? model_set_own(set, t, "", text_of("")) : t;
}

void
model_set_add(struct model_set *set, const struct model_phase *phase)
{
	struct model_phase *to;

	set->phase =
	    memory_resize(set->phase, (set->phases + 1) * sizeof(*set->phase));
	to = &set->phase[set->phases++];
	*to = *phase;
	to->id = own_text(set, phase->id);
	to->start = own_text(set, phase->start);
	to->end = own_text(set, phase->end);
	to->run = own_text(set, phase->run);
	to->key = own_text(set, phase->key);
	to->measured = own_text(set, phase->measured);
	for (int i = 0; i < MODEL_WAITS; i++)
		to->waits[i] = own_text(set, phase->waits[i]);
	to->bytes = own_text(set, phase->bytes);
}

/* ---- encoding ---- */

void
model_put_phase(struct buffer *to, const struct model_phase *phase)
{
	varint_put_text(to, phase->id);
	varint_put_text(to, phase->start);
	varint_put_text(to, phase->end);
	varint_put_text(to, phase->run);
	varint_put_text(to, phase->key);
	varint_put_text(to, phase->measured);
	varint_put(to, (phase->kv ? 1 : 0) | (phase->required ? 2 : 0) |
			   (phase->ignore_unmatched ? 4 : 0) |
			   (phase->fifo ? 8 : 0));
	varint_put(to, phase->place);
	for (int i = 0; i < MODEL_WAITS; i++)
		varint_put_text(to, phase->waits[i]);
	varint_put(to, phase->places);
	/* Without these words it is, and hashes, as before there were any. */
	if (phase->bytes.bytes == 0 && phase->pool.gap_ns == 0 &&
	    phase->pool.share == 0)
		return;
	varint_put_text(to, phase->bytes);
	varint_put(to, phase->pool.gap_ns);
	varint_put(to, phase->pool.share);
}

bool
model_get_phase(struct text from, struct model_phase *phase)
{
	struct varint_reader u = varint_reader_of(from);
	uint64_t flags;

	phase->id = varint_get_text(&u);
	phase->start = varint_get_text(&u);
	phase->end = varint_get_text(&u);
	phase->run = varint_get_text(&u);
	phase->key = varint_get_text(&u);
	phase->measured = varint_get_text(&u);
	flags = varint_get(&u);
	phase->kv = (flags & 1) != 0;
	phase->required = (flags & 2) != 0;
	phase->ignore_unmatched = (flags & 4) != 0;
	phase->fifo = (flags & 8) != 0;
	phase->place = (unsigned)varint_get(&u);
	for (int i = 0; i < MODEL_WAITS; i++)
		phase->waits[i] = text_of("");
	phase->places = 0;
	phase->bytes = text_of("");
	phase->pool = (struct model_pool){ 0, 0 };
	if (varint_left(&u) == 0) /* as version 0.1.0 wrote it */
		return !u.bad;
	for (int i = 0; i < MODEL_WAITS; i++)
		phase->waits[i] = varint_get_text(&u);
	phase->places = (unsigned)varint_get(&u);
	if (varint_left(&u) == 0)
		return !u.bad;
	phase->bytes = varint_get_text(&u);
	phase->pool.gap_ns = varint_get(&u);
	phase->pool.share = (unsigned)varint_get(&u);
	return !u.bad;
}

uint64_t
model_set_hash(const struct model_set *set)
{
	struct buffer all = { NULL, 0, 0 };
	uint64_t hash;
	unsigned i;

	/* The form of the derived rows: another one is another hash, so that
	 * rows that an older program wrote are derived again. */
	varint_put(&all, 4);
	for (i = 0; i < set->phases; i++)
		model_put_phase(&all, &set->phase[i]);
	for (i = 0; i < set->runs; i++)
		model_put_run(&all, &set->run[i]);
	hash = hash_bytes((struct hash_key){ 0, 0 }, all.at, all.bytes);
	buffer_clear(&all);
	return hash;
}
