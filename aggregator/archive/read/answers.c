/*
 * answers - what the archive answered, for several readers.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/answers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

enum { SLOTS = 4096 };

enum state { ASKING, KEPT, FAILED };

struct answer {
	struct answer *next_in_slot;
	struct answer *newer, *older; /* by use */
	uint64_t version;
	unsigned place;
	uint32_t slot;
	struct text question, text; /* text: of the answer */
	char *bytes[2];             /* of both */
	enum state state;
	unsigned holders;
	bool
	    is_listed; /* in its slot, and by use; else the last holder frees */
	struct err err;
};

struct answers {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* an answer is not being asked any more */
	uint64_t bytes_max;
	struct hash_key key;
	struct answer *slot[SLOTS];
	struct answer *newest, *oldest;
	struct answers_status status;
};

struct answers *
answers_new(uint64_t bytes_max)
{
	struct answers *answers = memory_zero(1, sizeof(*answers));
	pthread_condattr_t monotonic;

	answers->bytes_max = bytes_max;
	answers->key = hash_key_random();
	pthread_mutex_init(&answers->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&answers->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return answers;
}

static uint64_t
bytes_of(const struct answer *answer)
{
	return sizeof(*answer) + answer->question.bytes + answer->text.bytes;
}

static void
free_answer(struct answer *answer)
{
	free(answer->bytes[0]);
	free(answer->bytes[1]);
	free(answer);
}

/* ---- lists, with the lock ---- */

static void
unlink_use(struct answers *answers, struct answer *answer)
{
	*(answer->newer != NULL ? &answer->newer->older : &answers->newest) =
	    answer->older;
	*(answer->older != NULL ? &answer->older->newer : &answers->oldest) =
	    answer->newer;
}

static void
link_newest(struct answers *answers, struct answer *answer)
{
	answer->newer = NULL;
	answer->older = answers->newest;
	*(answer->older != NULL ? &answer->older->newer : &answers->oldest) =
	    answer;
	answers->newest = answer;
}

static void
unlist(struct answers *answers, struct answer *answer)
{
	struct answer **at = &answers->slot[answer->slot];

	while (*at != answer)
		at = &(*at)->next_in_slot;
	*at = answer->next_in_slot;
	unlink_use(answers, answer);
	answer->is_listed = false;
	answers->status.bytes -= bytes_of(answer);
	if (answer->holders == 0)
		free_answer(answer);
}

/* Those that nobody holds, the oldest first. */
static void
make_room(struct answers *answers)
{
	struct answer *answer = answers->oldest, *newer;

	for (; answer != NULL && answers->status.bytes > answers->bytes_max;
	     answer = newer) {
		newer = answer->newer;
		if (answer->holders == 0)
			unlist(answers, answer);
	}
}

static void
release(struct answers *answers, struct answer *answer)
{
	if (--answer->holders == 0 && !answer->is_listed)
		free_answer(answer);
	make_room(answers);
}

static struct answer *
find(struct answers *answers, uint64_t version, unsigned place,
    struct text question, uint32_t slot)
{
	struct answer *answer = answers->slot[slot];

	while (answer != NULL &&
	       (answer->version != version || answer->place != place ||
		   !text_equal(answer->question, question)))
		answer = answer->next_in_slot;
	return answer;
}

static struct answer *
add(struct answers *answers, uint64_t version, unsigned place,
    struct text question, uint32_t slot)
{
	struct answer *answer = memory_zero(1, sizeof(*answer));

	answer->version = version;
	answer->place = place;
	answer->slot = slot;
	answer->bytes[0] = memory_text(question);
	answer->question = (struct text){ answer->bytes[0], question.bytes };
	answer->holders = 1;
	answer->is_listed = true;
	answer->next_in_slot = answers->slot[slot];
	answers->slot[slot] = answer;
	link_newest(answers, answer);
	answers->status.bytes += bytes_of(answer);
	answers->status.asked++;
	return answer;
}

/* ---- taking ---- */

/* False: it took too long. */
static bool
await(struct answers *answers, struct answer *answer, int64_t wait_ns)
{
	int64_t until_ns = clock_monotonic_ns() + wait_ns;
	const struct timespec until = { until_ns / NS_PER_SECOND,
		until_ns % NS_PER_SECOND };
	int rc = 0;

	while (answer->state == ASKING && rc == 0)
		rc = pthread_cond_timedwait(
		    &answers->changed, &answers->lock, &until);
	return answer->state != ASKING;
}

static enum answers_result
take_found(struct answers *answers, struct answer **to, int64_t wait_ns,
    struct err *err)
{
	struct answer *answer = *to;

	answer->holders++;
	if (answer->state == KEPT) {
		unlink_use(answers, answer);
		link_newest(answers, answer);
	}
	if (!await(answers, answer, wait_ns))
		err_set(err, "the same question is not answered for %d s",
		    (int)(wait_ns / NS_PER_SECOND));
	else if (answer->state == KEPT) {
		answers->status.kept++;
		return ANSWERS_KEPT;
	} else
		*err = answer->err;
	release(answers, answer);
	*to = NULL;
	return ANSWERS_FAILED;
}

enum answers_result
answers_take(struct answers *answers, uint64_t version, unsigned place,
    struct text question, int64_t wait_ns, struct answer **answer,
    struct err *err)
{
	enum answers_result result = ANSWERS_ASK;
	uint32_t slot =
	    (uint32_t)(hash_bytes(answers->key, question.at, question.bytes) %
		       SLOTS);

	pthread_mutex_lock(&answers->lock);
	*answer = find(answers, version, place, question, slot);
	if (*answer != NULL)
		result = take_found(answers, answer, wait_ns, err);
	else
		*answer = add(answers, version, place, question, slot);
	pthread_mutex_unlock(&answers->lock);
	return result;
}

void
answers_put(struct answers *answers, struct answer *answer, struct text text)
{
	char *copy = memory_text(text);

	pthread_mutex_lock(&answers->lock);
	answer->bytes[1] = copy;
	answer->text = (struct text){ copy, text.bytes };
	answer->state = KEPT;
	answers->status.bytes += text.bytes;
	pthread_cond_broadcast(&answers->changed);
	make_room(answers);
	pthread_mutex_unlock(&answers->lock);
}

void
answers_fail(
    struct answers *answers, struct answer **answer, const struct err *err)
{
	pthread_mutex_lock(&answers->lock);
	(*answer)->state = FAILED;
	(*answer)->err = *err;
	unlist(answers, *answer);
	pthread_cond_broadcast(&answers->changed);
	release(answers, *answer);
	pthread_mutex_unlock(&answers->lock);
	*answer = NULL;
}

struct text
answer_text(const struct answer *answer)
{
	return answer->text;
}

void
answers_release(struct answers *answers, struct answer **answer)
{
	if (*answer == NULL)
		return;
	pthread_mutex_lock(&answers->lock);
	release(answers, *answer);
	pthread_mutex_unlock(&answers->lock);
	*answer = NULL;
}

void
answers_look(struct answers *answers, struct answers_status *status)
{
	pthread_mutex_lock(&answers->lock);
	*status = answers->status;
	pthread_mutex_unlock(&answers->lock);
}

void
answers_free(struct answers **answers)
{
	struct answers *old = *answers;

	if (old == NULL)
		return;
	while (old->oldest != NULL)
		unlist(old, old->oldest);
	pthread_cond_destroy(&old->changed);
	pthread_mutex_destroy(&old->lock);
	free(old);
	*answers = NULL;
}
