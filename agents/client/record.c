/*
 * client_record - the calls of a measured program: into the ring.
 *
 * Everything here is on the path that is measured: no lock; no allocation
 * except at a thread's first use; no system call except to wake a sleeping
 * sender.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "agents/client/client_private.h"
#include "proto/base/text.h"
#include "proto/hash/prng.h"
#include "proto/wire/wire.h"

/* The id of a span need only be unique: a counter with a random seed. */
static uint64_t
next_id(struct client_self *self)
{
	uint64_t id = prng_bits(&self->seed);

	return id != 0 ? id : 1;
}

static uint8_t
name_bytes(const char *name)
{
	size_t bytes = strlen(name);

	return bytes < NAME_BYTES_MAX ? (uint8_t)bytes : NAME_BYTES_MAX;
}

static void
count(_Atomic uint64_t *counter, uint64_t more)
{
	/* One writer: no need to lock the bus. */
	atomic_store_explicit(counter,
	    atomic_load_explicit(counter, memory_order_relaxed) + more,
	    memory_order_relaxed);
}

/* The length of a record's trace part. */
static uint8_t
trace_bytes(const unsigned char *trace)
{
	return memcmp(trace, client.root.id, TRACE_CONTEXT_BYTES) != 0
		   ? TRACE_CONTEXT_BYTES
		   : 0;
}

/* The variable part of a record of the ring: room for it was reserved. */
static inline void
put_rest(struct client_record *to, const unsigned char *trace,
    const char *source, const char *name, const unsigned char *pairs)
{
	unsigned char *p = (unsigned char *)(to + 1);

	p = text_copy_short(p, trace, to->trace_bytes);
	p = text_copy_short(p, source, to->source_bytes);
	p = text_copy_short(p, name, to->name_bytes);
	text_copy_short(p, pairs, to->pair_bytes);
}

/* "" for no text, so that it can be copied. */
static const char *
or_empty(const char *text)
{
	return text != NULL ? text : "";
}

/* Room for a record with `rest` bytes after its head; NULL, and counted, when
 * there is none. */
static inline struct client_record *
reserve(struct client_thread *thread, enum client_kind kind, uint32_t rest)
{
	struct client_record *to =
	    client_ring_reserve(&thread->ring, (uint32_t)sizeof(*to) + rest);

	if (__builtin_expect(to == NULL, 0) && kind < CLIENT_KINDS)
		atomic_fetch_add_explicit(
		    &thread->dropped[kind], 1, memory_order_relaxed);
	return to;
}

/* Publish the record, and wake the sender if it sleeps for lack of records, or
 * if half of the ring is full. */
static inline void
publish(struct client_thread *thread, enum client_kind kind, uint8_t cut)
{
	uint32_t sleep;

	if (kind < CLIENT_KINDS)
		count(&thread->written, 1);
	if (cut > 0)
		count(&thread->cut, cut);
	client_ring_publish(&thread->ring);
	sleep = atomic_load_explicit(&client.sleep, memory_order_relaxed);
	if (sleep == CLIENT_IDLE ||
	    (sleep == CLIENT_NAPPING &&
		client_ring_is_half_full(&thread->ring)))
		client_wake();
}

static void
begin(struct poolscope_span *span, struct client_self *self, const char *name,
    const char *category)
{
	span->id = next_id(self);
	span->outer = self->span;
	memcpy(span->outer_trace, self->trace, TRACE_CONTEXT_BYTES);
	span->name = name;
	span->category = category;
	span->bytes = 0;
	span->count = span->cut = 0;
}

void
poolscope_begin(
    struct poolscope_span *span, const char *name, const char *category)
{
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_acquire);
	struct client_self *self;

	span->life = life;
	if (life == 0)
		return;
	self = client_me(life);
	begin(span, self, name, category);
	span->parent = self->span;
	memcpy(span->trace, self->trace, TRACE_CONTEXT_BYTES);
	self->span = span->id;
	span->begin = fast_clock_now();
}

void
poolscope_begin_under(struct poolscope_span *span, const char *name,
    const char *category, const char *traceparent)
{
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_acquire);
	struct client_self *self;
	struct trace_context trace_context;

	span->life = life;
	if (life == 0)
		return;
	self = client_me(life);
	begin(span, self, name, category);
	if (traceparent == NULL ||
	    !trace_context_parse(&trace_context, traceparent)) {
		uint64_t halves[2] = { next_id(self), next_id(self) };

		memcpy(trace_context.id, halves, TRACE_CONTEXT_BYTES);
		trace_context.span = 0;
	}
	span->parent = trace_context.span;
	memcpy(span->trace, trace_context.id, TRACE_CONTEXT_BYTES);
	self->span = span->id;
	memcpy(self->trace, trace_context.id, TRACE_CONTEXT_BYTES);
	span->begin = fast_clock_now();
}

void
poolscope_set(struct poolscope_span *span, struct poolscope_attribute attribute)
{
	struct wire_writer w;

	if (span->life == 0)
		return;
	wire_writer_init(
	    &w, span->pairs + span->bytes, sizeof(span->pairs) - span->bytes);
	if (span->count < POOLSCOPE_ATTRIBUTES &&
	    client_put_attribute(&w, &attribute)) {
		span->count++;
		span->bytes = (uint16_t)(span->bytes + w.bytes);
	} else if (span->cut < UINT8_MAX) {
		span->cut++;
	}
}

void
poolscope_end(struct poolscope_span *span)
{
	uint64_t end = fast_clock_now();
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_relaxed);
	uint8_t trace, source_bytes, bytes;
	const char *category, *name;
	struct client_record *to;
	struct client_self *self;

	/* From before a fork or a close. */
	if (span->life == 0 || span->life != life) {
		span->life = 0;
		return;
	}
	span->life = 0;
	self = client_me(life);
	if (self->span == span->id) {
		self->span = span->outer;
		memcpy(self->trace, span->outer_trace, TRACE_CONTEXT_BYTES);
	}
	category = or_empty(span->category);
	name = or_empty(span->name);
	trace = trace_bytes(span->trace);
	source_bytes = name_bytes(category);
	bytes = name_bytes(name);
	to = reserve(self->thread, CLIENT_SPAN,
	    (uint32_t)trace + source_bytes + bytes + span->bytes);
	if (to == NULL)
		return;
	*to = (struct client_record){
		.begin = span->begin,
		.end = end,
		.id = span->id,
		.parent = span->parent,
		.pair_bytes = span->bytes,
		.kind = CLIENT_SPAN,
		.trace_bytes = trace,
		.source_bytes = source_bytes,
		.name_bytes = bytes,
		.count = span->count,
		.cut = span->cut,
	};
	put_rest(to, span->trace, category, name, span->pairs);
	publish(self->thread, CLIENT_SPAN, span->cut);
}

/* As many attributes as fit, as pairs. */
static void
put_pairs(struct client_record *head, struct wire_writer *w,
    const struct poolscope_attribute *attributes, size_t attributes_count)
{
	for (size_t i = 0; i < attributes_count; i++) {
		w->full = false; /* a shorter one may fit */
		if (head->count < POOLSCOPE_ATTRIBUTES &&
		    client_put_attribute(w, &attributes[i]))
			head->count++;
		else if (head->cut < UINT8_MAX)
			head->cut++;
	}
	head->pair_bytes = (uint16_t)w->bytes;
}

void
poolscope_event(const char *source, const char *name,
    const struct poolscope_attribute *attributes, size_t attributes_count)
{
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_acquire);
	unsigned char pairs[POOLSCOPE_EVENT_BYTES];
	struct client_record head, *to;
	struct wire_writer w;
	struct client_self *self;

	if (life == 0)
		return;
	self = client_me(life);
	source = or_empty(source);
	name = or_empty(name);
	head = (struct client_record){
		.begin = fast_clock_now(),
		.kind = CLIENT_EVENT,
		.id = self->span,
		.trace_bytes = trace_bytes(self->trace),
		.source_bytes = name_bytes(source),
		.name_bytes = name_bytes(name),
	};
	wire_writer_init(&w, pairs, sizeof(pairs));
	put_pairs(&head, &w, attributes, attributes_count);
	to = reserve(self->thread, CLIENT_EVENT,
	    (uint32_t)head.trace_bytes + head.source_bytes + head.name_bytes +
		head.pair_bytes);
	if (to == NULL)
		return;
	*to = head;
	put_rest(to, self->trace, source, name, pairs);
	publish(self->thread, CLIENT_EVENT, head.cut);
}

void
poolscope_thread(const char *name)
{
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_acquire);
	struct client_record head = { .kind = CLIENT_NAME }, *to;
	struct client_thread *thread;

	if (life == 0)
		return;
	thread = client_me(life)->thread;
	name = or_empty(name);
	head.name_bytes = name_bytes(name);
	/* In order with the records, so that earlier ones keep the thread's
	 * earlier name.  Without room the thread keeps it, too. */
	to = reserve(thread, CLIENT_NAME, head.name_bytes);
	if (to == NULL)
		return;
	*to = head;
	put_rest(
	    to, (const unsigned char *)"", "", name, (const unsigned char *)"");
	publish(thread, CLIENT_NAME, 0);
}

void
poolscope_traceparent(char to[POOLSCOPE_TRACEPARENT_BYTES])
{
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_acquire);
	struct trace_context trace_context;
	struct client_self *self;

	to[0] = '\0';
	if (life == 0)
		return;
	self = client_me(life);
	memcpy(trace_context.id, self->trace, TRACE_CONTEXT_BYTES);
	trace_context.span = self->span != 0 ? self->span : client.own;
	trace_context.flags = client.root.flags;
	trace_context_text(to, &trace_context);
}
