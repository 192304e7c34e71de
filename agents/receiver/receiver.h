/*
 * receiver - what the sources of the receiver have in common.
 *
 * A kind of source is a row of the table in agents/receiver.c.  The steps of a
 * start: options are read; `add` of each kind adds its sources, which is before
 * the sandbox and the place to fork what it would hinder; `declare` says which
 * files they need; in the sandbox each source is opened, then each gets its
 * thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_RECEIVER_H
#define AGENTS_RECEIVER_RECEIVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agents/receiver/settings.h"
#include "agents/receiver/source.h"
#include "agents/submit/submit.h"
#include "proto/service/sandbox.h"

enum { RECEIVER_SOURCES_MAX = 256 };

struct receiver {
	struct receiver_settings settings; /* first: the values of options */
	struct submit_options submit;      /* of a source: submit_new */
	char socket[INSTANCE_PATH_BYTES];
	int stop_fd;          /* readable once the process stops */
	atomic_bool stopping; /* set with it */
	/* What counters of others count from, as far as is known: the start of
	 * this process (dynamic_group.boot). */
	uint64_t boot;
	struct receiver_source *source[RECEIVER_SOURCES_MAX];
	uint32_t sources;
};

struct receiver_kind {
	/* May be NULL. */
	int (*check)(const struct receiver_settings *settings, struct err *err);
	/* Add the sources that the settings name. */
	int (*add)(struct receiver *receiver, struct err *err);
	/* May be NULL. */
	void (*declare)(
	    const struct receiver_settings *settings, struct sandbox *sandbox);
};

/* `source` must live until its close returns. */
int receiver_add(
    struct receiver *receiver, struct receiver_source *source, struct err *err);

bool receiver_is_stopping(const struct receiver_source *source);
/* Sleep until the monotonic time; false: the process stops. */
bool receiver_sleep(const struct receiver_source *source, int64_t until_ns);

#endif
