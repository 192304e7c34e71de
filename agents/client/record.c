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
#include "proto/os/clock.h"
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

/* What follows the head of a record. */
struct rest {
	const unsigned char *trace;
	const char *track; /* or NULL */
	const char *source, *name;
	const unsigned char *pairs;
	uint8_t track_bytes;
};

/* The parts and lengths of a record; returns how much follows its head. */
static inline uint32_t
measure(struct client_record *head, struct rest *rest)
{
	uint32_t bytes = 0;

	if (memcmp(rest->trace, client.root.id, TRACE_CONTEXT_BYTES) != 0) {
		head->parts |= CLIENT_HAS_TRACE;
		bytes = TRACE_CONTEXT_BYTES;
	}
	if (rest->track != NULL) {
		head->parts |= CLIENT_HAS_TRACK;
		rest->track_bytes = name_bytes(rest->track);
		bytes += 1u + rest->track_bytes;
	}
	head->source_bytes = name_bytes(rest->source);
	head->name_bytes = name_bytes(rest->name);
	return bytes + head->source_bytes + head->name_bytes + head->pair_bytes;
}

/* Room for it was reserved. */
static inline void
put_rest(struct client_record *to, const struct rest *rest)
{
	unsigned char *p = (unsigned char *)(to + 1);

	if (to->parts & CLIENT_HAS_TRACE)
		p = text_copy_short(p, rest->trace, TRACE_CONTEXT_BYTES);
	if (to->parts & CLIENT_HAS_TRACK) {
		*p++ = rest->track_bytes;
		p = text_copy_short(p, rest->track, rest->track_bytes);
	}
	p = text_copy_short(p, rest->source, to->source_bytes);
	p = text_copy_short(p, rest->name, to->name_bytes);
	text_copy_short(p, rest->pairs, to->pair_bytes);
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
publish(struct client_thread *thread, enum client_kind kind, uint16_t cut)
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

static inline void
put(struct client_self *self, struct client_record *head, struct rest *rest)
{
	struct client_record *to =
	    reserve(self->thread, head->kind, measure(head, rest));

	if (to == NULL)
		return;
	*to = *head;
	put_rest(to, rest);
	publish(self->thread, head->kind, head->cut);
}

/* NULL: the library is not open. */
static inline struct client_self *
begin(struct poolscope_span *span, const char *name, const char *category)
{
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_acquire);
	struct client_self *self;

	span->life = life;
	if (life == 0)
		return NULL;
	self = client_me(life);
	span->id = next_id(self);
	span->outer = self->span;
	memcpy(span->outer_trace, self->trace, TRACE_CONTEXT_BYTES);
	span->name = name;
	span->category = category;
	span->track = NULL;
	span->bytes = 0;
	span->count = span->cut = 0;
	return self;
}

void
poolscope_begin(
    struct poolscope_span *span, const char *name, const char *category)
{
	struct client_self *self = begin(span, name, category);

	if (self == NULL)
		return;
	span->parent = self->span;
	memcpy(span->trace, self->trace, TRACE_CONTEXT_BYTES);
	self->span = span->id;
	span->begin = fast_clock_now();
}

/* The context that a program gives, or a new trace. */
static struct trace_context
context_of(struct client_self *self, const char *traceparent)
{
	struct trace_context trace_context;

	if (traceparent == NULL ||
	    !trace_context_parse(&trace_context, traceparent)) {
		uint64_t halves[2] = { next_id(self), next_id(self) };

		memcpy(trace_context.id, halves, TRACE_CONTEXT_BYTES);
		trace_context.span = 0;
	}
	return trace_context;
}

/* That context, or the thread's current span for NULL. */
static struct trace_context
context_within(struct client_self *self, const char *traceparent)
{
	struct trace_context current = { .span = self->span };

	if (traceparent != NULL)
		return context_of(self, traceparent);
	memcpy(current.id, self->trace, TRACE_CONTEXT_BYTES);
	return current;
}

static void
begin_within(
    struct poolscope_span *span, const struct trace_context *trace_context)
{
	span->parent = trace_context->span;
	memcpy(span->trace, trace_context->id, TRACE_CONTEXT_BYTES);
}

void
poolscope_begin_under(struct poolscope_span *span, const char *name,
    const char *category, const char *traceparent)
{
	struct client_self *self = begin(span, name, category);
	struct trace_context trace_context;

	if (self == NULL)
		return;
	trace_context = context_of(self, traceparent);
	begin_within(span, &trace_context);
	self->span = span->id;
	memcpy(self->trace, trace_context.id, TRACE_CONTEXT_BYTES);
	span->begin = fast_clock_now();
}

void
poolscope_begin_beside(struct poolscope_span *span, const char *name,
    const char *category, const char *traceparent, const char *track)
{
	struct client_self *self = begin(span, name, category);
	struct trace_context trace_context;

	if (self == NULL)
		return;
	span->track = track;
	trace_context = context_within(self, traceparent);
	begin_within(span, &trace_context);
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
	} else if (span->cut < UINT16_MAX) {
		span->cut++;
	}
}

static void
remember(struct client_self *self, const struct poolscope_span *span)
{
	struct client_over *over = &self->over[self->overs++ % CLIENT_OVERS];

	over->span = span->id;
	over->outer = span->outer;
	memcpy(over->outer_trace, span->outer_trace, TRACE_CONTEXT_BYTES);
}

/* The thread's current span is the next outer one that is not over. */
static void
leave(struct client_self *self, const struct poolscope_span *span)
{
	self->span = span->outer;
	memcpy(self->trace, span->outer_trace, TRACE_CONTEXT_BYTES);
	if (self->overs == 0)
		return;
	for (int i = 0; i < CLIENT_OVERS; i++) {
		struct client_over *over = &self->over[i];

		if (self->span == 0 || over->span != self->span)
			continue;
		self->span = over->outer;
		memcpy(self->trace, over->outer_trace, TRACE_CONTEXT_BYTES);
		i = -1; /* that one may be over, too */
	}
}

void
poolscope_end(struct poolscope_span *span)
{
	uint64_t end = fast_clock_now();
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_relaxed);
	struct client_record head;
	struct client_self *self;
	struct rest rest;

	/* From before a fork or a close. */
	if (span->life == 0 || span->life != life) {
		span->life = 0;
		return;
	}
	span->life = 0;
	self = client_me(life);
	if (self->span == span->id)
		leave(self, span);
	else if (span->track == NULL)
		remember(self, span);
	head = (struct client_record){
		.begin = span->begin,
		.end = end,
		.id = span->id,
		.parent = span->parent,
		.pair_bytes = span->bytes,
		.kind = CLIENT_SPAN,
		.count = span->count,
		.cut = span->cut,
	};
	rest =
	    (struct rest){ span->trace, span->track, or_empty(span->category),
		    or_empty(span->name), span->pairs, 0 };
	put(self, &head, &rest);
}

/* As many attributes as fit, as pairs: `most` of them. */
static void
put_pairs(struct client_record *head, struct wire_writer *w, unsigned most,
    const struct poolscope_attribute *attributes, size_t attributes_count)
{
	for (size_t i = 0; i < attributes_count; i++) {
		w->full = false; /* a shorter one may fit */
		if (head->count < most &&
		    client_put_attribute(w, &attributes[i]))
			head->count++;
		else if (head->cut < UINT16_MAX)
			head->cut++;
	}
	head->pair_bytes = (uint16_t)w->bytes;
}

/* The agent would refuse all records that are submitted with another time. */
static int64_t
storable(int64_t time_ns)
{
	if (time_ns < TIME_MIN_NS)
		return TIME_MIN_NS;
	return time_ns < TIME_MAX_NS ? time_ns : TIME_MAX_NS;
}

void
poolscope_past(const char *track, const char *name, const char *category,
    const char *traceparent, int64_t begin_ns, int64_t end_ns,
    const struct poolscope_attribute *attributes, size_t attributes_count)
{
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_acquire);
	unsigned char pairs[POOLSCOPE_EVENT_BYTES];
	struct client_record head;
	struct trace_context within;
	struct client_self *self;
	struct wire_writer w;
	struct rest rest;

	if (life == 0)
		return;
	self = client_me(life);
	within = context_within(self, traceparent);
	begin_ns = storable(begin_ns);
	end_ns = storable(end_ns);
	head = (struct client_record){
		.begin = (uint64_t)begin_ns,
		.end = (uint64_t)(end_ns > begin_ns ? end_ns : begin_ns),
		.id = next_id(self),
		.parent = within.span,
		.kind = CLIENT_SPAN,
		.parts = CLIENT_HAS_WALL,
	};
	wire_writer_init(&w, pairs, POOLSCOPE_SPAN_BYTES);
	put_pairs(
	    &head, &w, POOLSCOPE_ATTRIBUTES, attributes, attributes_count);
	rest = (struct rest){ within.id, track, or_empty(category),
		or_empty(name), pairs, 0 };
	put(self, &head, &rest);
}

static void
put_event(struct client_self *self, uint64_t span, const unsigned char *trace,
    const char *source, const char *name,
    const struct poolscope_attribute *attributes, size_t attributes_count)
{
	unsigned char pairs[POOLSCOPE_EVENT_BYTES];
	struct client_record head = {
		.begin = fast_clock_now(),
		.kind = CLIENT_EVENT,
		.id = span,
	};
	struct wire_writer w;
	struct rest rest = { trace, NULL, or_empty(source), or_empty(name),
		pairs, 0 };

	wire_writer_init(&w, pairs, sizeof(pairs));
	put_pairs(
	    &head, &w, POOLSCOPE_ATTRIBUTES, attributes, attributes_count);
	put(self, &head, &rest);
}

void
poolscope_event(const char *source, const char *name,
    const struct poolscope_attribute *attributes, size_t attributes_count)
{
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_acquire);
	struct client_self *self;

	if (life == 0)
		return;
	self = client_me(life);
	put_event(self, self->span, self->trace, source, name, attributes,
	    attributes_count);
}

void
poolscope_event_of(const struct poolscope_span *span, const char *source,
    const char *name, const struct poolscope_attribute *attributes,
    size_t attributes_count)
{
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_acquire);

	if (life != 0 && span->life == life)
		put_event(client_me(life), span->id, span->trace, source, name,
		    attributes, attributes_count);
	else
		poolscope_event(source, name, attributes, attributes_count);
}

void
poolscope_sample(const struct poolscope_number *numbers, size_t numbers_count,
    const struct poolscope_attribute *labels, size_t labels_count)
{
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_acquire);
	unsigned char pairs[POOLSCOPE_EVENT_BYTES];
	struct client_record head = { .begin = fast_clock_now(),
		.kind = CLIENT_SAMPLE };
	struct client_self *self;
	struct wire_writer w;
	struct rest rest = { client.root.id, NULL, "", "", pairs, 0 };

	if (life == 0)
		return;
	wire_writer_init(&w, pairs, sizeof(pairs));
	put_pairs(&head, &w, POOLSCOPE_LABELS, labels, labels_count);
	w.full = false; /* a number may fit where a label does not */
	for (size_t i = 0; i < numbers_count; i++) {
		if (head.id < POOLSCOPE_NUMBERS &&
		    client_put_number(&w, &numbers[i]))
			head.id++;
		else if (head.cut < UINT16_MAX)
			head.cut++;
	}
	head.pair_bytes = (uint16_t)w.bytes;
	self = client_me(life);
	if (head.id > 0)
		put(self, &head, &rest);
	else if (numbers_count > 0)
		atomic_fetch_add_explicit(&self->thread->dropped[CLIENT_SAMPLE],
		    1, memory_order_relaxed);
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
	put_rest(to, &(struct rest){ .source = "",
			 .name = name,
			 .pairs = (const unsigned char *)"" });
	publish(thread, CLIENT_NAME, 0);
}

static void
put_context(char to[POOLSCOPE_TRACEPARENT_BYTES], const unsigned char *trace,
    uint64_t span)
{
	struct trace_context trace_context = { .span = span,
		.flags = client.root.flags };

	memcpy(trace_context.id, trace, TRACE_CONTEXT_BYTES);
	trace_context_text(to, &trace_context);
}

void
poolscope_traceparent(char to[POOLSCOPE_TRACEPARENT_BYTES])
{
	uint32_t life =
	    atomic_load_explicit(&client.life, memory_order_acquire);
	struct client_self *self;

	to[0] = '\0';
	if (life == 0)
		return;
	self = client_me(life);
	put_context(to, self->trace, self->span != 0 ? self->span : client.own);
}

void
poolscope_traceparent_of(
    const struct poolscope_span *span, char to[POOLSCOPE_TRACEPARENT_BYTES])
{
	to[0] = '\0';
	if (span->life != 0 && span->life == atomic_load_explicit(&client.life,
						 memory_order_acquire))
		put_context(to, span->trace, span->id);
}
