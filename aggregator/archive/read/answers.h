/*
 * answers - what the archive answered, for several readers.
 *
 * An answer is kept by the question and the version of what was asked about:
 * what has changed since has another version, so no answer is old.  Of equal
 * questions one is asked: who comes meanwhile waits for its answer, or its
 * failure.  When there is no room, answers that nobody took for long go.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_ANSWERS_H
#define AGGREGATOR_ARCHIVE_READ_ANSWERS_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

struct answers; /* opaque; any thread may use it */
struct answer;  /* opaque; one that is held does not go */

struct answers_status {
	uint64_t asked, kept; /* questions that were, and needed not be */
	uint64_t bytes;
};

struct answers *answers_new(uint64_t bytes_max);
void answers_free(struct answers **answers);
void answers_look(struct answers *answers, struct answers_status *status);

enum answers_result {
	ANSWERS_KEPT,   /* it is held: answer_text */
	ANSWERS_ASK,    /* ask, then answers_put or answers_fail */
	ANSWERS_FAILED, /* somebody else has asked, and the error says why */
};
/* `version`: from 1 on.  Waits at most `wait_ns` for somebody else. */
enum answers_result answers_take(struct answers *answers, uint64_t version,
    unsigned place, struct text question, int64_t wait_ns,
    struct answer **answer, struct err *err);
/* Copies; the answer is held. */
void answers_put(
    struct answers *answers, struct answer *answer, struct text text);
void answers_fail(
    struct answers *answers, struct answer **answer, const struct err *err);
struct text answer_text(const struct answer *answer);
void answers_release(struct answers *answers, struct answer **answer);

#endif
