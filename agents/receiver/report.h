/*
 * report - what a source has taken, and what it could not take.
 *
 * Published every --period as group `receiver` with label `source`;
 * what is wrong is also logged, once a minute for each reason, with
 * the first bytes of an example.  From any thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_REPORT_H
#define AGENTS_RECEIVER_REPORT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/record/record.h"

enum { RECEIVER_REASONS_MAX = 32, RECEIVER_NAMES_MAX = 32 };

/* What was wrong for this reason. */
struct receiver_bad {
	const char *reason;
	uint64_t count, logged;
	int64_t logged_ns;
};

/* What was refused of this name. */
struct receiver_refused {
	char name[NAME_BYTES_MAX + 1];
	uint64_t count;
};

struct receiver_report {
	const char *source;
	/* Numbers, lines, spans: what the source counts. */
	_Atomic uint64_t taken;
	_Atomic uint64_t lost;    /* did not get here: by the kernel's count */
	_Atomic uint64_t refused; /* one too many, here or by the agent */
	pthread_mutex_t lock;     /* of what follows */
	struct receiver_bad bad[RECEIVER_REASONS_MAX];
	uint32_t reasons;
	struct receiver_refused name[RECEIVER_NAMES_MAX];
	uint32_t names;
};

void receiver_report_init(struct receiver_report *report, const char *source);

void report_taken(struct receiver_report *report, uint64_t count);
void report_lost(struct receiver_report *report, uint64_t count);
/* `reason` is a literal: a word, "value", for bad.REASON.  `example` is what
 * was wrong, of which the log has the first bytes, and `why` (or NULL) the
 * sentence. */
void report_bad(struct receiver_report *report, const char *reason,
    struct text example, const char *why, uint64_t count);
/* Series or numbers of this name are too many. */
void report_refused(
    struct receiver_report *report, struct text name, uint64_t count);

/* Copy what was wrong; returns how many reasons there are. */
uint32_t report_read_bad(struct receiver_report *report,
    struct receiver_bad to[static RECEIVER_REASONS_MAX]);

/* The name of which most was refused since the last call; false: nothing was.
 */
bool report_take_refused(
    struct receiver_report *report, struct receiver_refused *most);

#endif
