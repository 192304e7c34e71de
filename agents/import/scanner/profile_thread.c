/*
 * import_profile_thread - finds the next thread of a profile; reads its head
 * and its dictionary.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "agents/import/scanner/profile_private.h"

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

void
profile_leave_thread(struct import_profile *p)
{
	p->thread.order++;
	if (p->thread.role == SCANNER_EVAL)
		p->thread.stage++;
	else
		p->thread.position++;
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

enum profile_item
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
