/*
 * questions - the questions that wait for the index, for their turn, or for
 * the page that is being made.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/questions.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

/* The first routing frame is that of the connection, which the listener has
 * added; a reader could invent those after it. */
bool
questions_same_reader(const struct route *a, const struct route *b)
{
	if (a->bytes == 0 || b->bytes == 0)
		return a->bytes == b->bytes;
	return memcmp(a->at, b->at, (size_t)a->at[0] + 1) == 0;
}

static bool
is_same(const struct question *a, const struct question *b)
{
	return a->route.bytes == b->route.bytes &&
	       memcmp(a->route.at, b->route.at, a->route.bytes) == 0 &&
	       text_equal(a->frame, b->frame);
}

static void
free_question(struct question *question)
{
	free((char *)(uintptr_t)question->frame.at);
	free(question);
}

void
questions_clear(struct questions *questions)
{
	while (questions->count > 0)
		free_question(questions->at[--questions->count]);
	questions->bytes = 0;
}

static struct question *
copy(const struct question *question)
{
	struct question *made = memory_alloc(sizeof(*made));
	uint32_t frame = question->frame.bytes;
	uint32_t readable = question->readable.bytes;
	char *bytes = memory_alloc(frame + readable); /* both, in this order */

	memcpy(bytes, question->frame.at, frame);
	if (readable > 0)
		memcpy(bytes + frame, question->readable.at, readable);
	*made = *question;
	made->frame.at = bytes;
	made->readable.at = bytes + frame;
	made->is_first = true;
	made->is_taken = false;
	return made;
}

enum questions_added
questions_add(struct questions *questions, const struct question *question)
{
	uint32_t bytes = question->frame.bytes, of_reader = 0;
	uint64_t turn = questions->turn + 1;
	struct question *made;

	for (uint32_t i = 0; i < questions->count; i++) {
		const struct question *other = questions->at[i];

		if (!questions_same_reader(&other->route, &question->route))
			continue;
		if (is_same(other, question))
			return QUESTIONS_REPEATED;
		if (other->turn >= turn)
			turn = other->turn + 1;
		of_reader++;
	}
	if (questions->count == QUESTIONS_MAX || bytes == 0 ||
	    of_reader == QUESTIONS_OF_READER ||
	    bytes > QUESTIONS_BYTES - questions->bytes)
		return QUESTIONS_FULL;
	made = copy(question);
	made->turn = turn;
	made->is_first = of_reader == 0;
	questions->at[questions->count++] = made;
	questions->bytes += bytes;
	return QUESTIONS_ADDED;
}

struct question *
questions_take(struct questions *questions,
    bool (*is_ready)(void *arg, struct question *question), void *arg)
{
	struct question *best = NULL;

	for (uint32_t i = 0; i < questions->count; i++) {
		struct question *question = questions->at[i];

		if (question->is_first && !question->is_taken &&
		    (best == NULL || question->turn < best->turn) &&
		    is_ready(arg, question))
			best = question;
	}
	if (best == NULL)
		return NULL;
	best->is_taken = true;
	if (best->turn > questions->turn)
		questions->turn = best->turn;
	return best;
}

static void
remove_at(struct questions *questions, uint32_t index)
{
	struct question *old = questions->at[index];

	questions->bytes -= old->frame.bytes;
	questions->count--;
	memmove(&questions->at[index], &questions->at[index + 1],
	    (questions->count - index) * sizeof(questions->at[0]));
	for (uint32_t i = index; old->is_first && i < questions->count; i++)
		if (questions_same_reader(
			&questions->at[i]->route, &old->route)) {
			questions->at[i]->is_first = true;
			break;
		}
	free_question(old);
}

void
questions_remove(struct questions *questions, const struct question *question)
{
	uint32_t i = 0;

	while (i < questions->count && questions->at[i] != question)
		i++;
	if (i < questions->count)
		remove_at(questions, i);
}

uint32_t
questions_forget(struct questions *questions, const struct route *route)
{
	uint32_t removed = 0;

	for (uint32_t i = questions->count; i-- > 0;)
		if (!questions->at[i]->is_taken &&
		    questions_same_reader(&questions->at[i]->route, route)) {
			remove_at(questions, i);
			removed++;
		}
	return removed;
}
