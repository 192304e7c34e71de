/*
 * scanner - how the store represents a profiled job of Scanner.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/scanner.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "proto/base/number.h"

const char *const scanner_roles[SCANNER_ROLES] = {
	[SCANNER_PROCESS_JOB] = "process_job",
	[SCANNER_LOAD] = "load",
	[SCANNER_EVAL] = "eval",
	[SCANNER_SAVE] = "save",
	[SCANNER_IS_MASTER] = "master",
};

/* ---- threads ---- */

const char *
scanner_tag(
    const struct scanner_thread *thread, const struct scanner_shape *shape)
{
	if (thread->role == SCANNER_IS_MASTER)
		return "master";
	if (thread->role != SCANNER_EVAL)
		return "";
	if (thread->stage == 0)
		return "pre";
	return thread->stage + 1 == shape->stages ? "post" : "eval";
}

void
scanner_track(char to[static SCANNER_TRACK_BYTES],
    const struct scanner_thread *thread, const struct scanner_shape *shape)
{
	const char *role = scanner_roles[thread->role];
	const char *tag = scanner_tag(thread, shape);

	if (thread->role != SCANNER_EVAL)
		snprintf(
		    to, SCANNER_TRACK_BYTES, "%s/%u", role, thread->position);
	else if (tag[0] == 'e')
		snprintf(to, SCANNER_TRACK_BYTES, "%s/%u/%s/%u", role,
		    thread->position, tag, thread->stage - 1);
	else
		snprintf(to, SCANNER_TRACK_BYTES, "%s/%u/%s", role,
		    thread->position, tag);
}

void
scanner_thread_name(char to[static SCANNER_NAME_BYTES],
    const struct scanner_thread *thread, const struct scanner_shape *shape)
{
	const char *tag = scanner_tag(thread, shape);
	int64_t n = thread->number;

	switch (thread->role) {
	case SCANNER_LOAD:
		snprintf(to, SCANNER_NAME_BYTES, "Reader[%" PRId64 "]", n);
		return;
	case SCANNER_SAVE:
		snprintf(to, SCANNER_NAME_BYTES, "Writer[%" PRId64 "]", n);
		return;
	case SCANNER_EVAL: break;
	default: snprintf(to, SCANNER_NAME_BYTES, "EventLoop"); return;
	}
	if (tag[0] == 'e')
		snprintf(to, SCANNER_NAME_BYTES,
		    "Pipeline[%" PRId64 "]:Ops[%u]", n, thread->stage - 1);
	else
		snprintf(to, SCANNER_NAME_BYTES, "Pipeline[%" PRId64 "]:%s", n,
		    tag[1] == 'r' ? "DecodeVideo" : "EncodeVideo");
}

uint32_t
scanner_thread_sort(
    const struct scanner_thread *thread, const struct scanner_shape *shape)
{
	uint32_t stages = shape->stages;

	switch (thread->role) {
	case SCANNER_LOAD: return 1 + thread->position;
	case SCANNER_EVAL:
		return 1 + shape->readers + thread->position * stages +
		       thread->stage;
	case SCANNER_SAVE:
		return 1 + shape->readers + shape->pipelines * stages +
		       thread->position;
	default: return 0;
	}
}

/* ---- sums ---- */

uint32_t
scanner_put_sum(
    char to[static SCANNER_LINE_BYTES], const struct scanner_sum *sum)
{
	char number[NUMBER_BYTES];
	int bytes;

	assert(sum->name.bytes <= NAME_BYTES_MAX);
	number_repr(number, sum->sum_ns);
	if (sum->is_counter)
		bytes = snprintf(to, SCANNER_LINE_BYTES, "c %" PRId64 " %.*s\n",
		    sum->value, (int)sum->name.bytes, sum->name.at);
	else
		bytes =
		    snprintf(to, SCANNER_LINE_BYTES, "i %" PRIu64 " %s %.*s\n",
			sum->count, number, (int)sum->name.bytes, sum->name.at);
	assert(bytes > 0 && bytes < SCANNER_LINE_BYTES);
	return (uint32_t)bytes;
}

/* The next word of `line`, without the blank after it. */
static bool
take_word(struct text *line, struct text *word)
{
	const char *blank =
	    line->bytes > 0 ? memchr(line->at, ' ', line->bytes) : NULL;

	if (blank == NULL)
		return false;
	*word = (struct text){ line->at, (uint32_t)(blank - line->at) };
	line->at = blank + 1;
	line->bytes -= word->bytes + 1;
	return true;
}

static bool
take_integer(struct text *line, int64_t *value)
{
	struct text word;
	uint64_t size;
	bool negative;

	if (!take_word(line, &word))
		return false;
	negative = word.bytes > 0 && word.at[0] == '-';
	word.at += negative;
	word.bytes -= negative;
	if (number_parse_u64(word, &size, NULL) != 0 ||
	    size > (uint64_t)INT64_MAX + negative)
		return false;
	*value = (int64_t)(negative ? ~size + 1 : size);
	return true;
}

static bool
parse(struct text line, struct scanner_sum *sum)
{
	struct text kind, word;
	int64_t count;

	*sum = (struct scanner_sum){ .is_counter = true };
	if (!take_word(&line, &kind) || kind.bytes != 1)
		return false;
	if (kind.at[0] == 'c') {
		if (!take_integer(&line, &sum->value))
			return false;
	} else {
		sum->is_counter = false;
		if (kind.at[0] != 'i' || !take_integer(&line, &count) ||
		    count < 0 || !take_word(&line, &word) ||
		    number_parse_double(word, &sum->sum_ns, NULL) != 0 ||
		    !isfinite(sum->sum_ns))
			return false;
		sum->count = (uint64_t)count;
	}
	sum->name = line;
	return text_check_name(line) == TEXT_OK;
}

bool
scanner_next_sum(struct text *rest, struct scanner_sum *sum)
{
	const char *end =
	    rest->bytes > 0 ? memchr(rest->at, '\n', rest->bytes) : NULL;
	struct text line;

	if (end == NULL)
		return false;
	line = (struct text){ rest->at, (uint32_t)(end - rest->at) };
	if (!parse(line, sum))
		return false;
	rest->at = end + 1;
	rest->bytes -= line.bytes + 1;
	return true;
}
