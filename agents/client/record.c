/*
 * client_record - the calls of a measured program: into the ring.
 *
 * Everything here is on the path that is measured: no lock, no allocation but
 * at a thread's first use, no system call but one to wake a sleeping sender.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "agents/client/client_private.h"
#include "proto/base/copy.h"
#include "proto/base/prng.h"
#include "proto/wire/wire.h"

/* Unique is enough for a span's id; the seed is random. */
static uint64_t
next_id(struct lib_self *self)
{
	uint64_t id = draw_bits(&self->seed);

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

/* How many bytes of a record say which trace it is of. */
static uint8_t
trace_bytes(const unsigned char *trace)
{
	return memcmp(trace, lib.root.id, TRACE_BYTES) != 0 ? TRACE_BYTES : 0;
}

/* What stands behind a record of the ring: room for it was reserved. */
static inline void
put_rest(struct lib_record *to, const unsigned char *trace, const char *source,
    const char *name, const unsigned char *pairs)
{
	unsigned char *p = (unsigned char *)(to + 1);

	p = copy_short(p, trace, to->trace_bytes);
	p = copy_short(p, source, to->source_bytes);
	p = copy_short(p, name, to->name_bytes);
	copy_short(p, pairs, to->pair_bytes);
}

/* "" for no text, so that it can be copied. */
static const char *
or_empty(const char *text)
{
	return text != NULL ? text : "";
}

/* Room for a record with `rest` bytes behind its head; NULL, and counted, when
 * there is none. */
static inline struct lib_record *
reserve(struct lib_thread *thread, enum lib_kind kind, uint32_t rest)
{
	struct lib_record *to =
	    lib_ring_reserve(&thread->ring, (uint32_t)sizeof(*to) + rest);

	if (__builtin_expect(to == NULL, 0) && kind < LIB_KINDS)
		atomic_fetch_add_explicit(
		    &thread->dropped[kind], 1, memory_order_relaxed);
	return to;
}

/* Make the record visible, and have the sender look if it sleeps: for lack of
 * records, or (half of the ring is full) too long. */
static inline void
publish(struct lib_thread *thread, enum lib_kind kind, uint8_t cut)
{
	uint32_t sleep;

	if (kind < LIB_KINDS)
		count(&thread->written, 1);
	if (cut > 0)
		count(&thread->cut, cut);
	lib_ring_publish(&thread->ring);
	sleep = atomic_load_explicit(&lib.sleep, memory_order_relaxed);
	if (sleep == LIB_IDLE ||
	    (sleep == LIB_NAPPING && lib_ring_is_half_full(&thread->ring)))
		lib_wake();
}

static void
begin(struct poolscope_span *span, struct lib_self *self, const char *name,
    const char *category)
{
	span->id = next_id(self);
	span->outer = self->span;
	memcpy(span->outer_trace, self->trace, TRACE_BYTES);
	span->name = name;
	span->category = category;
	span->bytes = 0;
	span->count = span->cut = 0;
}

void
poolscope_begin(
    struct poolscope_span *span, const char *name, const char *category)
{
	uint32_t life = atomic_load_explicit(&lib.life, memory_order_acquire);
	struct lib_self *self;

	span->life = life;
	if (life == 0)
		return;
	self = lib_me(life);
	begin(span, self, name, category);
	span->parent = self->span;
	memcpy(span->trace, self->trace, TRACE_BYTES);
	self->span = span->id;
	span->begin = lib_tick_now();
}

void
poolscope_begin_under(struct poolscope_span *span, const char *name,
    const char *category, const char *traceparent)
{
	uint32_t life = atomic_load_explicit(&lib.life, memory_order_acquire);
	struct lib_self *self;
	struct trace trace;

	span->life = life;
	if (life == 0)
		return;
	self = lib_me(life);
	begin(span, self, name, category);
	if (traceparent == NULL || !trace_parse(&trace, traceparent)) {
		uint64_t halves[2] = { next_id(self), next_id(self) };

		memcpy(trace.id, halves, TRACE_BYTES);
		trace.span = 0;
	}
	span->parent = trace.span;
	memcpy(span->trace, trace.id, TRACE_BYTES);
	self->span = span->id;
	memcpy(self->trace, trace.id, TRACE_BYTES);
	span->begin = lib_tick_now();
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
	    lib_put_attribute(&w, &attribute)) {
		span->count++;
		span->bytes = (uint16_t)(span->bytes + w.bytes);
	} else if (span->cut < UINT8_MAX) {
		span->cut++;
	}
}

void
poolscope_end(struct poolscope_span *span)
{
	uint64_t end = lib_tick_now();
	uint32_t life = atomic_load_explicit(&lib.life, memory_order_relaxed);
	uint8_t trace, source_bytes, bytes;
	const char *category, *name;
	struct lib_record *to;
	struct lib_self *self;

	/* Of another life: it is the parent's, or the library was closed. */
	if (span->life == 0 || span->life != life) {
		span->life = 0;
		return;
	}
	span->life = 0;
	self = lib_me(life);
	if (self->span == span->id) {
		self->span = span->outer;
		memcpy(self->trace, span->outer_trace, TRACE_BYTES);
	}
	category = or_empty(span->category);
	name = or_empty(span->name);
	trace = trace_bytes(span->trace);
	source_bytes = name_bytes(category);
	bytes = name_bytes(name);
	to = reserve(self->thread, LIB_SPAN,
	    (uint32_t)trace + source_bytes + bytes + span->bytes);
	if (to == NULL)
		return;
	*to = (struct lib_record){
		.begin = span->begin,
		.end = end,
		.id = span->id,
		.parent = span->parent,
		.pair_bytes = span->bytes,
		.kind = LIB_SPAN,
		.trace_bytes = trace,
		.source_bytes = source_bytes,
		.name_bytes = bytes,
		.count = span->count,
		.cut = span->cut,
	};
	put_rest(to, span->trace, category, name, span->pairs);
	publish(self->thread, LIB_SPAN, span->cut);
}

/* As many attributes as there is room for, as pairs. */
static void
put_pairs(struct lib_record *head, struct wire_writer *w,
    const struct poolscope_attribute *attributes, size_t attributes_count)
{
	for (size_t i = 0; i < attributes_count; i++) {
		w->full = false; /* a shorter one may fit */
		if (head->count < POOLSCOPE_ATTRIBUTES &&
		    lib_put_attribute(w, &attributes[i]))
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
	uint32_t life = atomic_load_explicit(&lib.life, memory_order_acquire);
	unsigned char pairs[POOLSCOPE_EVENT_BYTES];
	struct lib_record head, *to;
	struct wire_writer w;
	struct lib_self *self;

	if (life == 0)
		return;
	self = lib_me(life);
	source = or_empty(source);
	name = or_empty(name);
	head = (struct lib_record){
		.begin = lib_tick_now(),
		.kind = LIB_EVENT,
		.id = self->span,
		.trace_bytes = trace_bytes(self->trace),
		.source_bytes = name_bytes(source),
		.name_bytes = name_bytes(name),
	};
	wire_writer_init(&w, pairs, sizeof(pairs));
	put_pairs(&head, &w, attributes, attributes_count);
	to = reserve(self->thread, LIB_EVENT,
	    (uint32_t)head.trace_bytes + head.source_bytes + head.name_bytes +
		head.pair_bytes);
	if (to == NULL)
		return;
	*to = head;
	put_rest(to, self->trace, source, name, pairs);
	publish(self->thread, LIB_EVENT, head.cut);
}

void
poolscope_thread(const char *name)
{
	uint32_t life = atomic_load_explicit(&lib.life, memory_order_acquire);
	struct lib_record head = { .kind = LIB_NAME }, *to;
	struct lib_thread *thread;

	if (life == 0)
		return;
	thread = lib_me(life)->thread;
	name = or_empty(name);
	head.name_bytes = name_bytes(name);
	/* In its place among the records, so that those before it keep the
	 * name that the thread had.  Without room it keeps that, too. */
	to = reserve(thread, LIB_NAME, head.name_bytes);
	if (to == NULL)
		return;
	*to = head;
	put_rest(
	    to, (const unsigned char *)"", "", name, (const unsigned char *)"");
	publish(thread, LIB_NAME, 0);
}

void
poolscope_traceparent(char to[POOLSCOPE_TRACEPARENT_BYTES])
{
	uint32_t life = atomic_load_explicit(&lib.life, memory_order_acquire);
	struct trace trace;
	struct lib_self *self;

	to[0] = '\0';
	if (life == 0)
		return;
	self = lib_me(life);
	memcpy(trace.id, self->trace, TRACE_BYTES);
	trace.span = self->span != 0 ? self->span : lib.own;
	trace.flags = lib.root.flags;
	trace_text(to, &trace);
}
