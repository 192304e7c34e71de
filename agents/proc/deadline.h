/*
 * deadline - asks the system what it may never answer.
 *
 * A query of a path can wait for a server that is gone, or for a driver that
 * hangs.  A thread asks, and the caller waits a moment.  Without an answer in
 * that time the caller goes on; the thread keeps the question until it is
 * answered, and another thread asks the next ones.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_DEADLINE_H
#define AGENTS_PROC_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	DEADLINE_MS = 250,         /* that a caller waits */
	DEADLINE_THREADS_MAX = 16, /* questions without an answer */
};

/* The first member of a question.  While it is asked, it belongs to a thread:
 * whoever has asked reads only what deadline_is_asked returns. */
struct deadline_question {
	void (*ask)(struct deadline_question *question);
	bool asked;
	struct deadline_question *self; /* a list of one */
};

struct deadline; /* opaque */

void deadline_open(struct deadline **deadline);
/* Does not wait for answers: a thread without one, and its question, live as
 * long as the process. */
void deadline_close(struct deadline **deadline);

/* Ask them one after the other.  True: all are answered.  False: not all, or
 * all threads wait.  None of them may wait for an answer from before. */
bool deadline_ask(struct deadline *deadline,
    struct deadline_question **questions, uint32_t count);
/* Ask without waiting, unless all threads wait. */
void deadline_start(
    struct deadline *deadline, struct deadline_question *question);
/* Wait a moment for the answer of what was started.  True: it is there. */
bool deadline_wait(
    struct deadline *deadline, struct deadline_question *question);
/* Does it still wait for its answer? */
bool deadline_is_asked(
    struct deadline *deadline, const struct deadline_question *question);

#endif
