/*
 * poolscope - spans, events and counters of a program, for the agent.
 *
 * 	poolscope_open(NULL);
 * 	poolscope_thread("decoder");
 * 	{
 * 		poolscope_scope(span, "decode", "video");
 * 		poolscope_set(&span, poolscope_int("frames", 30));
 * 	}
 * 	poolscope_close();
 *
 * Calls in measured code do not block, take a lock or allocate: records go
 * into a ring of the calling thread (created at its first use), and a thread
 * of the library submits them to the agent of this host.  Records that do not
 * fit are counted and published as a gap.  Without an agent, or before
 * poolscope_open, all calls are harmless.
 *
 * All calls may be made from any thread, none from a signal handler.  After
 * fork() the child continues independently: what the parent had recorded stays
 * the parent's.
 *
 * A name has 1 to 255 bytes of UTF-8 without control characters; a text has a
 * maximum length.  Values that break these rules are repaired ("?" for bad
 * bytes, cut), not refused.  Texts are copied before a call returns, unless
 * stated otherwise.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CLIENT_POOLSCOPE_H
#define AGENTS_CLIENT_POOLSCOPE_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

enum {
	POOLSCOPE_SPAN_BYTES = 448,      /* attributes of a span */
	POOLSCOPE_EVENT_BYTES = 4096,    /* attributes of an event */
	POOLSCOPE_ATTRIBUTES = 32,       /* of a span or an event */
	POOLSCOPE_NUMBERS = 128,         /* of a sample */
	POOLSCOPE_LABELS = 16,           /* of a sample */
	POOLSCOPE_COUNTERS = 256,        /* of a process */
	POOLSCOPE_THREADS = 1024,        /* at a time */
	POOLSCOPE_TRACEPARENT_BYTES = 56 /* with the NUL */
};

/* ---- open and close ---- */

/* Zero or NULL: the default.  The texts are copied. */
struct poolscope_options {
	const char *program;   /* the executable's name */
	const char *socket;    /* $POOLSCOPE_SOCKET, else DIR/run/agent.sock of
				  the instance ($POOLSCOPE_DIR) */
	const char *partition; /* $POOLSCOPE_PARTITION, else the agent's */
	const char *node;      /* $POOLSCOPE_NODE, else the agent's */
	size_t ring_bytes;     /* of a thread (256 KiB), a power of two */
	size_t total_bytes;    /* of all rings (16 MiB) */
	int64_t period_ns;     /* send records within this time (50 ms) ... */
	int64_t counters_ns;   /* ... and read counters this often (1 s) */
	int quiet;             /* do not report that there is no agent */
};

/* Start.  `options` may be NULL.  Each call needs a poolscope_close; the
 * options of the first one count.  A valid TRACEPARENT in the environment is
 * the parent of this program's spans.  0, or -1 with errno when no thread can
 * be created, or a path or name is invalid (EINVAL). */
int poolscope_open(const struct poolscope_options *options);

/* The last close submits the remaining records, for at most two seconds;
 * without an agent it discards them at once.  A process that returns from main
 * without it gets the same. */
void poolscope_close(void);

/* Wait until everything recorded so far is on disk in the agent's spool: 0, or
 * -1 and ETIMEDOUT. */
int poolscope_flush(int64_t timeout_ns);

struct poolscope_stats {
	uint64_t recorded; /* spans, events and samples, since the start or the
			      fork */
	uint64_t dropped;  /* ... that did not fit; published as gaps */
	uint64_t sent;     /* ... on disk in the agent's spool */
	uint64_t refused;  /* ... that the agent refused; gaps, too */
	uint64_t lost;     /* ... discarded at the close */
	uint64_t cut;      /* attributes that did not fit in their record */
	uint64_t ring_bytes, rings;
	int connected; /* to an agent, at the last contact */
};
void poolscope_get_stats(struct poolscope_stats *stats);

/* Name the calling thread, and create its ring if it has none. */
void poolscope_thread(const char *name);

/* ---- attributes ---- */

enum poolscope_type {
	POOLSCOPE_INT,
	POOLSCOPE_FLOAT,
	POOLSCOPE_BOOL,
	POOLSCOPE_TEXT
};

/* Key and text must live until the call that takes the attribute returns. */
struct poolscope_attribute {
	const char *key;
	enum poolscope_type type;
	union {
		int64_t i;
		double f;
		int boolean;
		const char *text;
	} is;
};

static inline struct poolscope_attribute
poolscope_int(const char *key, int64_t value)
{
	struct poolscope_attribute attribute;

	attribute.key = key;
	attribute.type = POOLSCOPE_INT;
	attribute.is.i = value;
	return attribute;
}

static inline struct poolscope_attribute
poolscope_float(const char *key, double value)
{
	struct poolscope_attribute attribute;

	attribute.key = key;
	attribute.type = POOLSCOPE_FLOAT;
	attribute.is.f = value;
	return attribute;
}

static inline struct poolscope_attribute
poolscope_bool(const char *key, int value)
{
	struct poolscope_attribute attribute;

	attribute.key = key;
	attribute.type = POOLSCOPE_BOOL;
	attribute.is.boolean = value;
	return attribute;
}

static inline struct poolscope_attribute
poolscope_text(const char *key, const char *value)
{
	struct poolscope_attribute attribute;

	attribute.key = key;
	attribute.type = POOLSCOPE_TEXT;
	attribute.is.text = value;
	return attribute;
}

/* ---- spans ---- */

/* On the caller's stack or in its memory; all members are private. */
struct poolscope_span {
	uint64_t begin, id, parent;
	unsigned char trace[16];
	uint64_t outer; /* the thread's span before it */
	unsigned char outer_trace[16];
	const char *name, *category, *track;
	uint32_t life; /* 0: nothing to record */
	uint32_t bytes : 10, count : 6, cut : 16;
	unsigned char pairs[POOLSCOPE_SPAN_BYTES];
};

/* Begin a span within this thread's current one.  `name` and `category` (may
 * be NULL) must live until its end.  A span is shown on the thread that ends
 * it, and a thread ends its own spans in reverse order; a few that end before
 * one within them are passed over. */
void poolscope_begin(
    struct poolscope_span *span, const char *name, const char *category);

/* Begin a span within `traceparent` (W3C Trace Context); if that is NULL or
 * invalid, a new trace begins. */
void poolscope_begin_under(struct poolscope_span *span, const char *name,
    const char *category, const char *traceparent);

/* Begin a span that overlaps others: it is no thread's current one, any thread
 * may end it, and in any order.  It is within `traceparent`, or if that is NULL
 * within this thread's current span.  It is shown on the track PROGRAM/`track`;
 * spans that overlap need tracks of their own.  `name`, `category` and `track`
 * must live until its end. */
void poolscope_begin_beside(struct poolscope_span *span, const char *name,
    const char *category, const char *traceparent, const char *track);

/* A span that is over, within `traceparent` as above: its times are ns since
 * the epoch.  `track` may be NULL: this thread's. */
void poolscope_past(const char *track, const char *name, const char *category,
    const char *traceparent, int64_t begin_ns, int64_t end_ns,
    const struct poolscope_attribute *attributes, size_t count);

/* The last value for a key counts. */
void poolscope_set(
    struct poolscope_span *span, struct poolscope_attribute attribute);

/* Ending a span again has no effect. */
void poolscope_end(struct poolscope_span *span);

/* The context to pass on, in a header or in the environment of a child: this
 * thread's current span, else the program's context; "" before the open. */
void poolscope_traceparent(char to[POOLSCOPE_TRACEPARENT_BYTES]);

/* The context of a span that has begun and is not over, else "". */
void poolscope_traceparent_of(
    const struct poolscope_span *span, char to[POOLSCOPE_TRACEPARENT_BYTES]);

/* ---- events and numbers ---- */

void poolscope_event(const char *source, const char *name,
    const struct poolscope_attribute *attributes, size_t count);

/* An event of `span`, of this thread's current one if that is over. */
void poolscope_event_of(const struct poolscope_span *span, const char *source,
    const char *name, const struct poolscope_attribute *attributes,
    size_t count);

/* A counter only grows while the process runs. */
struct poolscope_number {
	const char *name, *unit; /* words; the unit as in UCUM, or NULL */
	int counter;
	double value;
};

/* Numbers of this moment, all with these labels, as many as fit in
 * POOLSCOPE_EVENT_BYTES.  They are stored as columns of one metric group,
 * which has no other columns and no other labels. */
void poolscope_sample(const struct poolscope_number *numbers, size_t count,
    const struct poolscope_attribute *labels, size_t labels_count);

/* A number that is read every counters_ns and published when it has changed.  A
 * counter only grows, from 0 in this process: what would make it less has no
 * effect.  The same name gives the same number, with its first type and unit.
 * NULL, which all calls accept, when there are too many or the name has a
 * blank.  `unit` as in UCUM ("By", "1");
 * NULL: unknown. */
struct poolscope_counter; /* opaque */
struct poolscope_counter *poolscope_get_counter(
    const char *name, const char *unit);
struct poolscope_counter *poolscope_get_gauge(
    const char *name, const char *unit);
void poolscope_add(struct poolscope_counter *counter, double value);
void poolscope_put(struct poolscope_counter *counter, double value);

#ifdef __cplusplus
}

namespace poolscope
{

/* poolscope::span span("decode", "video"); it ends with its scope. */
class span
{
      public:
	explicit span(const char *name, const char *category = nullptr)
	{
		poolscope_begin(&span_, name, category);
	}
	span(const char *name, const char *category, const char *traceparent)
	{
		poolscope_begin_under(&span_, name, category, traceparent);
	}
	~span()
	{
		poolscope_end(&span_);
	}
	span(const span &) = delete;
	span &operator=(const span &) = delete;

	void
	set(poolscope_attribute attribute)
	{
		poolscope_set(&span_, attribute);
	}
	void
	end()
	{
		poolscope_end(&span_);
	}

      private:
	poolscope_span span_;
};

} // namespace poolscope
#else

/* A span from here to the end of the block. */
#define poolscope_scope(span, name, category)                                  \
	struct poolscope_span span __attribute__((cleanup(poolscope_end)));    \
	poolscope_begin(&(span), (name), (category))

#endif
#pragma GCC visibility pop
#endif
