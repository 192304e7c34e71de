/*
 * import_profile - reads the records of one process of a Scanner job.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/scanner/profile.h"

#include <endian.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/os/clock.h"

enum profile_state {
	AT_HEAD,
	AT_THREAD, /* a thread begins, or the number of threads that follow */
	AT_INTERVALS,
	IN_INTERVALS,
	IN_COUNTERS,
	AT_THREAD_END,
	AT_END,
};

enum {
	PROFILE_NUMBER_BYTES = 8,
	VIEW_BYTES = 64 << 10, /* bytes viewed at a time */
};

/* ---- bytes ---- */

static inline int64_t
profile_load(const char *from)
{
	uint64_t bits;

	memcpy(&bits, from, sizeof(bits));
	return (int64_t)le64toh(bits);
}

/* Like profile_need, for bytes that are not in the view. */
static int
profile_see(struct import_profile *p, uint32_t bytes, struct err *err)
{
	import_file_take(p->file, p->at);
	p->at = 0;
	if (import_file_see(p->file, bytes > VIEW_BYTES ? bytes : VIEW_BYTES,
		&p->view, err) != 0) {
		p->view.bytes = 0;
		return -1;
	}
	return p->view.bytes >= bytes;
}

/* Read nothing after this place. */
static enum profile_item
profile_damaged(
    struct import_profile *p, struct err *err, const char *format, ...)
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

/* Are there `bytes` more?  1, 0: the file ends before, -1: it cannot be
 * read. */
static inline int
profile_need(struct import_profile *p, uint32_t bytes, struct err *err)
{
	if (p->view.bytes - p->at >= bytes)
		return 1;
	return profile_see(p, bytes, err);
}

/* ---- threads ---- */

/* Find the next thread, if the counts before it are known. */
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

/* The result for missing bytes of `what`: 0 or -1, as above. */
static enum profile_item
profile_missing(
    struct import_profile *p, int there, const char *what, struct err *err)
{
	if (there < 0)
		return PROFILE_FAILED;
	return profile_damaged(p, err, "the file ends before %s", what);
}

/* The last thread of a role is followed by the number of threads of the next
 * role. PROFILE_THREAD: the next thread is known; PROFILE_END: there is none.
 */
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
		there = profile_need(p, bytes, err);
		if (there <= 0)
			return profile_missing(p, there,
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

/* The thread was read: continue with the next one of its role. */
static void
profile_leave_thread(struct import_profile *p)
{
	p->thread.order++;
	if (p->thread.role == SCANNER_EVAL)
		p->thread.stage++;
	else
		p->thread.position++;
}

/* Consume a text that ends with a NUL; a view, valid until the next read.  1,
 * 0: the file ends or the text is too long, -1: it cannot be read. */
static int
profile_take_text(struct import_profile *p, struct text *text, struct err *err)
{
	uint32_t seen = 0;

	for (;;) {
		const char *from, *nul;
		int there = profile_need(p, seen + 1, err);

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
profile_take_number(struct import_profile *p, int64_t *number, struct err *err)
{
	int there = profile_need(p, PROFILE_NUMBER_BYTES, err);

	if (there > 0) {
		*number = profile_load(p->view.at + p->at);
		p->at += PROFILE_NUMBER_BYTES;
	}
	return there;
}

/* A text of the file must equal this one. */
static enum profile_item
expect(struct import_profile *p, const char *what, const char *wanted,
    struct err *err)
{
	uint64_t offset = import_profile_offset(p);
	struct text text;
	char shown[64];
	int there = profile_take_text(p, &text, err);

	if (there < 0)
		return PROFILE_FAILED;
	if (there > 0 && text_equal(text, text_of(wanted)))
		return PROFILE_THREAD;
	if (there == 0)
		return profile_damaged(p, err,
		    "the %s of a thread, '%s', is missing", what, wanted);
	p->at -= (uint32_t)(import_profile_offset(p) - offset);
	return profile_damaged(p, err, "the %s of a thread is '%s', not '%s'",
	    what, text_quote(shown, sizeof(shown), text), wanted);
}

static enum profile_item
read_dictionary(struct import_profile *p, struct err *err)
{
	int64_t count;
	int there = profile_take_number(p, &count, err);

	if (there <= 0)
		return profile_missing(p, there, "a number of names", err);
	for (uint32_t i = 0; i < SCANNER_KEYS_MAX; i++)
		p->keys[i].bytes = 0;
	for (int64_t i = 0; i < count; i++) {
		struct import_name key;
		struct text name;
		unsigned char id;

		there = profile_take_text(p, &name, err);
		if (there > 0) {
			p->renamed |= !import_name_set(&key, name);
			there = profile_need(p, 1, err);
		}
		if (there < 0)
			return PROFILE_FAILED;
		if (there == 0)
			return profile_damaged(p, err,
			    "the thread announces %" PRId64
			    " names of intervals, but has only %" PRId64,
			    count, i);
		id = (unsigned char)p->view.at[p->at++];
		p->keys[id] = key;
	}
	p->left = count > SCANNER_KEYS_MAX ? (uint64_t)count : 0;
	p->state = AT_INTERVALS;
	return PROFILE_THREAD;
}

/* Read the next thread up to its dictionary; PROFILE_ON: there is none. */
static enum profile_item
profile_read_thread(struct import_profile *p, struct err *err)
{
	enum profile_item item = find_thread(p, err);
	int there;

	if (item == PROFILE_END) {
		p->state = AT_END;
		return PROFILE_ON;
	}
	if (item != PROFILE_THREAD)
		return item;
	there = profile_take_number(p, &p->node, err);
	if (there <= 0)
		return profile_missing(p, there, "a thread", err);
	item = expect(p, "type", scanner_roles[p->thread.role], err);
	if (item == PROFILE_THREAD)
		item =
		    expect(p, "tag", scanner_tag(&p->thread, &p->shape), err);
	if (item != PROFILE_THREAD)
		return item;
	there = profile_take_number(p, &p->thread.number, err);
	if (there <= 0)
		return profile_missing(p, there, "the number of a thread", err);
	item = read_dictionary(p, err);
	p->has_thread = item == PROFILE_THREAD;
	return item;
}

enum { INTERVAL_BYTES = 1 + 2 * PROFILE_NUMBER_BYTES };

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

/* ---- the head ---- */

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
	*begin_ns = profile_load(bytes);
	*end_ns = profile_load(bytes + PROFILE_NUMBER_BYTES);
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
	int there = profile_need(p, sizeof(head), err);
	struct err why;

	if (there <= 0)
		return profile_missing(
		    p, there, "the job's start and end", err);
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

/* ---- intervals ---- */

static enum profile_item
begin_intervals(struct import_profile *p, struct err *err)
{
	int64_t count;
	int there;

	if (p->left > 0) { /* reported here, where the thread is known */
		err_set(err,
		    "offset %" PRIu64 ": %" PRIu64
		    " names of intervals are more than their ids can "
		    "distinguish (%d): some intervals have the name of another",
		    import_profile_offset(p), p->left, SCANNER_KEYS_MAX);
		p->left = 0;
		return PROFILE_NOTE;
	}
	there = profile_take_number(p, &count, err);
	if (there <= 0)
		return profile_missing(p, there, "a number of intervals", err);
	p->left = p->of = count > 0 ? (uint64_t)count : 0;
	p->state = IN_INTERVALS;
	return PROFILE_ON;
}

static enum profile_item
read_interval(struct import_profile *p, struct err *err)
{
	const char *from;
	int there = profile_need(p, INTERVAL_BYTES, err);
	unsigned char id;

	if (there < 0)
		return PROFILE_FAILED;
	if (there == 0)
		return profile_damaged(p, err,
		    "the file ends, but %" PRIu64 " of %" PRIu64
		    " intervals of the thread are missing",
		    p->left, p->of);
	from = p->view.at + p->at;
	id = (unsigned char)from[0];
	if (p->keys[id].bytes == 0)
		return profile_damaged(p, err,
		    "interval %" PRIu64 " of %" PRIu64
		    " has id %u, which the thread does not define",
		    p->of - p->left + 1, p->of, id);
	if (__builtin_add_overflow(
		p->base_ns, profile_load(from + 1), &p->from_ns) ||
	    __builtin_add_overflow(p->base_ns,
		profile_load(from + 1 + PROFILE_NUMBER_BYTES), &p->to_ns) ||
	    !is_time(p->from_ns) || !is_time(p->to_ns))
		return profile_damaged(p, err,
		    "interval %" PRIu64 " of %" PRIu64
		    " is not between 1900-01-01 and 2200-01-01",
		    p->of - p->left + 1, p->of);
	p->id = id;
	p->at += INTERVAL_BYTES;
	p->left--;
	return PROFILE_INTERVAL;
}

/* ---- counters ---- */

static enum profile_item
begin_counters(struct import_profile *p, struct err *err)
{
	int64_t count;
	int there = profile_take_number(p, &count, err);

	if (there <= 0)
		return profile_missing(p, there, "a number of counters", err);
	p->state = IN_COUNTERS;
	p->left = p->of = count > 0 ? (uint64_t)count : 0;
	if (count <= PROFILE_COUNTERS_MAX)
		return PROFILE_ON;
	p->left = 0;
	err_set(err,
	    "offset %" PRIu64 ": %" PRId64
	    " counters of a thread are more than %d: assuming none",
	    import_profile_offset(p) - PROFILE_NUMBER_BYTES, count,
	    PROFILE_COUNTERS_MAX);
	return PROFILE_NOTE;
}

static enum profile_item
read_counter(struct import_profile *p, struct err *err)
{
	struct text name;
	int there = profile_take_text(p, &name, err);

	if (there > 0) {
		p->renamed |= !import_name_set(&p->counter_name, name);
		there = profile_take_number(p, &p->value, err);
	}
	if (there < 0)
		return PROFILE_FAILED;
	if (there == 0)
		return profile_damaged(p, err,
		    "the thread announces %" PRIu64
		    " counters, but has only %" PRIu64,
		    p->of, p->of - p->left);
	p->left--;
	return PROFILE_COUNTER;
}

/* ---- all of it ---- */

static enum profile_item
end_thread(struct import_profile *p, enum profile_state next)
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
	    "characters: such names were changed",
	    NAME_BYTES_MAX);
	return PROFILE_NOTE;
}

static enum profile_item
step(struct import_profile *p, struct err *err)
{
	switch ((enum profile_state)p->state) {
	case AT_HEAD: return read_head(p, err);
	case AT_THREAD: return profile_read_thread(p, err);
	case AT_INTERVALS: return begin_intervals(p, err);
	case IN_INTERVALS:
		return p->left > 0 ? read_interval(p, err)
				   : begin_counters(p, err);
	case IN_COUNTERS:
		if (p->left > 0)
			return read_counter(p, err);
		profile_leave_thread(p);
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
