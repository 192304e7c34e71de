/*
 * import_profile - what one process of a Scanner job recorded.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import_profile.h"

#include <endian.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "proto/clock.h"

enum state {
	AT_HEAD,
	AT_THREAD, /* one begins, or what says how many follow */
	AT_INTERVALS,
	IN_INTERVALS,
	IN_COUNTERS,
	AT_THREAD_END,
	AT_END,
};

enum {
	NUMBER_BYTES_LE = 8,
	INTERVAL_BYTES = 1 + 2 * NUMBER_BYTES_LE,
	VIEW_BYTES = 64 << 10, /* asked for at a time */
};

static inline int64_t
load(const char *from)
{
	uint64_t bits;

	memcpy(&bits, from, sizeof(bits));
	return (int64_t)le64toh(bits);
}

void
import_profile_init(struct import_profile *p, struct import_file *file,
    bool is_master, int64_t base_ns)
{
	memset(p, 0, sizeof(*p));
	p->file = file;
	p->base_ns = base_ns;
	p->thread.role = is_master ? SCANNER_IS_MASTER : SCANNER_PROCESS_JOB;
}

uint64_t
import_profile_offset(const struct import_profile *p)
{
	return p->file->offset + p->at;
}

/* ---- bytes -------------------------------------------------------------- */

/* Are `bytes` there?  1, 0 the file ends before, -1 it cannot be read. */
static int
need(struct import_profile *p, uint32_t bytes, struct err *err)
{
	if (p->view.bytes - p->at >= bytes)
		return 1;
	import_file_take(p->file, p->at);
	p->at = 0;
	if (import_file_see(p->file, bytes > VIEW_BYTES ? bytes : VIEW_BYTES,
		&p->view, err) != 0) {
		p->view.bytes = 0;
		return -1;
	}
	return p->view.bytes >= bytes;
}

static enum profile_item damaged(struct import_profile *p, struct err *err,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

static enum profile_item
damaged(struct import_profile *p, struct err *err, const char *format, ...)
{
	char why[ERR_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	err_set(err, "offset %" PRIu64 ": %s", import_profile_offset(p), why);
	p->state = p->has_thread ? AT_THREAD_END : AT_END;
	return PROFILE_DAMAGED;
}

/* What `need` found instead of bytes. */
static enum profile_item
missing(struct import_profile *p, int there, const char *what, struct err *err)
{
	if (there < 0)
		return PROFILE_FAILED;
	return damaged(p, err, "the file ends, and %s follows", what);
}

/* A text that ends with a NUL, taken; a view, valid until the file is read
 * on.  1, 0 the file ends or it is too long, -1 it cannot be read. */
static int
take_text(struct import_profile *p, struct text *text, struct err *err)
{
	uint32_t seen = 0;

	for (;;) {
		const char *from, *nul;
		int there = need(p, seen + 1, err);

		if (there <= 0)
			return there;
		from = p->view.at + p->at;
		nul = memchr(from + seen, '\0', p->view.bytes - p->at - seen);
		if (nul != NULL) {
			*text = (struct text){ from, (uint32_t)(nul - from) };
			if (text->bytes > PROFILE_NAME_BYTES_MAX)
				return 0;
			p->at += text->bytes + 1;
			return 1;
		}
		seen = p->view.bytes - p->at;
		if (seen > PROFILE_NAME_BYTES_MAX)
			return 0;
	}
}

static int
take_number(struct import_profile *p, int64_t *number, struct err *err)
{
	int there = need(p, NUMBER_BYTES_LE, err);

	if (there > 0) {
		*number = load(p->view.at + p->at);
		p->at += NUMBER_BYTES_LE;
	}
	return there;
}

/* ---- the head ----------------------------------------------------------- */

static bool
is_time(int64_t time_ns)
{
	return time_ns >= TIME_MIN_NS && time_ns <= TIME_MAX_NS;
}

int
import_profile_head(const unsigned char head[static PROFILE_HEAD_BYTES],
    int64_t *begin_ns, int64_t *end_ns, struct err *err)
{
	char bytes[PROFILE_HEAD_BYTES];

	memcpy(bytes, head, sizeof(bytes));
	*begin_ns = load(bytes);
	*end_ns = load(bytes + NUMBER_BYTES_LE);
	if (is_time(*begin_ns) && is_time(*end_ns))
		return 0;
	return err_set(err,
	    "offset 0: start and end of the job are not between 1900-01-01 "
	    "and 2200-01-01");
}

static enum profile_item
read_head(struct import_profile *p, struct err *err)
{
	unsigned char head[PROFILE_HEAD_BYTES];
	int there = need(p, sizeof(head), err);
	struct err why;

	if (there <= 0)
		return missing(p, there, "the job's start and end", err);
	memcpy(head, p->view.at + p->at, sizeof(head));
	if (import_profile_head(head, &p->begin_ns, &p->end_ns, &why) != 0) {
		*err = why;
		p->state = AT_END;
		return PROFILE_DAMAGED;
	}
	p->at += sizeof(head);
	p->state = AT_THREAD;
	return PROFILE_ON;
}

/* ---- threads ------------------------------------------------------------ */

/* Which thread comes next, when the counts before it are known. */
static bool
step_thread(struct import_profile *p)
{
	struct scanner_thread *t = &p->thread;

	switch (t->role) {
	case SCANNER_LOAD: return t->position < p->shape.readers;
	case SCANNER_EVAL:
		if (t->stage >= p->shape.stages) {
			t->stage = 0;
			t->position++;
		}
		return p->shape.stages > 0 && t->position < p->shape.pipelines;
	case SCANNER_SAVE: return t->position < p->shape.writers;
	default: return t->position == 0;
	}
}

/* Behind the last thread of a role stands how many the next one has.
 * PROFILE_THREAD: it is known which comes; PROFILE_END: none does. */
static enum profile_item
find_thread(struct import_profile *p, struct err *err)
{
	while (!step_thread(p)) {
		uint32_t bytes = p->thread.role == SCANNER_LOAD ? 2 : 1;
		const unsigned char *from;
		int there;

		if (p->thread.role == SCANNER_SAVE ||
		    p->thread.role == SCANNER_IS_MASTER)
			return PROFILE_END;
		there = need(p, bytes, err);
		if (there <= 0)
			return missing(p, there,
			    p->thread.role == SCANNER_LOAD
				? "the number of pipelines"
			    : p->thread.role == SCANNER_EVAL
				? "the number of writers"
				: "the number of readers",
			    err);
		from = (const unsigned char *)p->view.at + p->at;
		p->at += bytes;
		if (p->thread.role == SCANNER_PROCESS_JOB) {
			p->shape.readers = from[0];
		} else if (p->thread.role == SCANNER_LOAD) {
			p->shape.pipelines = from[0];
			p->shape.stages = from[1];
		} else {
			p->shape.writers = from[0];
		}
		p->thread.role++;
		p->thread.position = p->thread.stage = 0;
	}
	return PROFILE_THREAD;
}

/* The thread was read: the next one of its role. */
static void
leave_thread(struct import_profile *p)
{
	p->thread.order++;
	if (p->thread.role == SCANNER_EVAL)
		p->thread.stage++;
	else
		p->thread.position++;
}

/* A text of the file must be this one. */
static enum profile_item
expect(struct import_profile *p, const char *what, const char *wanted,
    struct err *err)
{
	uint64_t offset = import_profile_offset(p);
	struct text text;
	char shown[64];
	int there = take_text(p, &text, err);

	if (there < 0)
		return PROFILE_FAILED;
	if (there > 0 && text_equal(text, text_of(wanted)))
		return PROFILE_THREAD;
	if (there == 0)
		return damaged(p, err,
		    "no %s of a thread ends here, '%s' is "
		    "wanted",
		    what, wanted);
	p->at -= (uint32_t)(import_profile_offset(p) - offset);
	return damaged(p, err, "the %s of a thread is '%s', not '%s'", what,
	    text_quote(shown, sizeof(shown), text), wanted);
}

static enum profile_item
read_dictionary(struct import_profile *p, struct err *err)
{
	int64_t count;
	int there = take_number(p, &count, err);

	if (there <= 0)
		return missing(p, there, "a number of names", err);
	for (uint32_t i = 0; i < SCANNER_KEYS_MAX; i++)
		p->keys[i].bytes = 0;
	for (int64_t i = 0; i < count; i++) {
		struct import_name key;
		struct text name;
		unsigned char id;

		there = take_text(p, &name, err);
		if (there > 0) {
			p->renamed |= !import_name_set(&key, name);
			there = need(p, 1, err);
		}
		if (there < 0)
			return PROFILE_FAILED;
		if (there == 0)
			return damaged(p, err,
			    "%" PRId64 " names of intervals were promised, "
			    "%" PRId64 " are there",
			    count, i);
		id = (unsigned char)p->view.at[p->at++];
		p->keys[id] = key;
	}
	p->left = count > SCANNER_KEYS_MAX ? (uint64_t)count : 0;
	p->state = AT_INTERVALS;
	return PROFILE_THREAD;
}

static enum profile_item
read_thread(struct import_profile *p, struct err *err)
{
	enum profile_item item = find_thread(p, err);
	int there;

	if (item == PROFILE_END) {
		p->state = AT_END;
		return PROFILE_ON;
	}
	if (item != PROFILE_THREAD)
		return item;
	there = take_number(p, &p->node, err);
	if (there <= 0)
		return missing(p, there, "a thread", err);
	item = expect(p, "type", scanner_roles[p->thread.role], err);
	if (item == PROFILE_THREAD)
		item =
		    expect(p, "tag", scanner_tag(&p->thread, &p->shape), err);
	if (item != PROFILE_THREAD)
		return item;
	there = take_number(p, &p->thread.number, err);
	if (there <= 0)
		return missing(p, there, "the number of a thread", err);
	item = read_dictionary(p, err);
	p->has_thread = item == PROFILE_THREAD;
	return item;
}

/* ---- intervals ---------------------------------------------------------- */

static enum profile_item
begin_intervals(struct import_profile *p, struct err *err)
{
	int64_t count;
	int there;

	if (p->left > 0) { /* told here, so that the thread is known */
		err_set(err,
		    "offset %" PRIu64 ": %" PRIu64 " names of intervals are "
		    "more than their ids can tell apart (%d): some intervals "
		    "have the name of another",
		    import_profile_offset(p), p->left, SCANNER_KEYS_MAX);
		p->left = 0;
		return PROFILE_NOTE;
	}
	there = take_number(p, &count, err);
	if (there <= 0)
		return missing(p, there, "a number of intervals", err);
	p->left = p->of = count > 0 ? (uint64_t)count : 0;
	p->state = IN_INTERVALS;
	return PROFILE_ON;
}

static enum profile_item
read_interval(struct import_profile *p, struct err *err)
{
	const char *from;
	int there = need(p, INTERVAL_BYTES, err);
	unsigned char id;

	if (there < 0)
		return PROFILE_FAILED;
	if (there == 0)
		return damaged(p, err,
		    "the file ends, and %" PRIu64 " of %" PRIu64
		    " intervals of the thread follow",
		    p->left, p->of);
	from = p->view.at + p->at;
	id = (unsigned char)from[0];
	if (p->keys[id].bytes == 0)
		return damaged(p, err,
		    "interval %" PRIu64 " of %" PRIu64
		    " has id %u, which is none of the thread's",
		    p->of - p->left + 1, p->of, id);
	if (__builtin_add_overflow(p->base_ns, load(from + 1), &p->from_ns) ||
	    __builtin_add_overflow(
		p->base_ns, load(from + 1 + NUMBER_BYTES_LE), &p->to_ns) ||
	    !is_time(p->from_ns) || !is_time(p->to_ns))
		return damaged(p, err,
		    "interval %" PRIu64 " of %" PRIu64
		    " is not between 1900-01-01 and 2200-01-01",
		    p->of - p->left + 1, p->of);
	p->id = id;
	p->at += INTERVAL_BYTES;
	p->left--;
	return PROFILE_INTERVAL;
}

/* ---- counters ----------------------------------------------------------- */

static enum profile_item
begin_counters(struct import_profile *p, struct err *err)
{
	int64_t count;
	int there = take_number(p, &count, err);

	if (there <= 0)
		return missing(p, there, "a number of counters", err);
	p->state = IN_COUNTERS;
	p->left = p->of = count > 0 ? (uint64_t)count : 0;
	if (count <= PROFILE_COUNTERS_MAX)
		return PROFILE_ON;
	p->left = 0;
	err_set(err,
	    "offset %" PRIu64 ": %" PRId64 " counters of a thread are more "
	    "than %d: taken for none",
	    import_profile_offset(p) - NUMBER_BYTES_LE, count,
	    PROFILE_COUNTERS_MAX);
	return PROFILE_NOTE;
}

static enum profile_item
read_counter(struct import_profile *p, struct err *err)
{
	struct text name;
	int there = take_text(p, &name, err);

	if (there > 0) {
		p->renamed |= !import_name_set(&p->counter_name, name);
		there = take_number(p, &p->value, err);
	}
	if (there < 0)
		return PROFILE_FAILED;
	if (there == 0)
		return damaged(p, err,
		    "%" PRIu64 " counters of a thread were promised, "
		    "%" PRIu64 " are there",
		    p->of, p->of - p->left);
	p->left--;
	return PROFILE_COUNTER;
}

/* ---- all of it ---------------------------------------------------------- */

static enum profile_item
end_thread(struct import_profile *p, enum state next)
{
	p->has_thread = false;
	p->state = next;
	return PROFILE_THREAD_END;
}

static enum profile_item
end_file(struct import_profile *p, struct err *err)
{
	if (!p->renamed)
		return PROFILE_END;
	p->renamed = false;
	err_set(err,
	    "not every name in it is 1 to %d bytes of UTF-8 without control "
	    "characters: such names are kept changed",
	    NAME_BYTES_MAX);
	return PROFILE_NOTE;
}

static enum profile_item
step(struct import_profile *p, struct err *err)
{
	switch ((enum state)p->state) {
	case AT_HEAD: return read_head(p, err);
	case AT_THREAD: return read_thread(p, err);
	case AT_INTERVALS: return begin_intervals(p, err);
	case IN_INTERVALS:
		return p->left > 0 ? read_interval(p, err)
				   : begin_counters(p, err);
	case IN_COUNTERS:
		if (p->left > 0)
			return read_counter(p, err);
		leave_thread(p);
		return end_thread(p, AT_THREAD);
	case AT_THREAD_END: return end_thread(p, AT_END);
	case AT_END: break;
	}
	return end_file(p, err);
}

enum profile_item
import_profile_next(struct import_profile *p, struct err *err)
{
	enum profile_item item;

	do
		item = step(p, err);
	while (item == PROFILE_ON);
	return item;
}
