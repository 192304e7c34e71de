/*
 * fallback_reader - moves the events of the fallback queue to the spool.
 *
 * One round is one function, so that nothing is sent in between: take, commit,
 * remove, sync.  A crash after the commit leaves the file, whose uuids the
 * spool then knows.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_FALLBACK_READER_H
#define AGENTS_ACCEPT_FALLBACK_READER_H

#include <stdint.h>

#include "agents/accept/batcher.h"
#include "proto/base/err.h"
#include "proto/net/loop/loop.h"

struct fallback_reader_options {
	struct loop *loop;
	struct batcher *batcher;
	const char *dir;

	void *arg;
	/* Commit the batcher. */
	void (*commit)(void *arg);
	/* true: a file whose events are in the spool cannot be removed, so
	 * nothing in the spool may be sent.  false: it was removed. */
	void (*hold)(void *arg, bool hold);
};

struct fallback_reader; /* opaque */

int fallback_reader_open(struct fallback_reader **fallback_reader,
    const struct fallback_reader_options *options, struct err *err);
void fallback_reader_close(struct fallback_reader **fallback_reader);

/* Read the directory (at the start; later the kernel notifies of changes). */
void fallback_reader_round(struct fallback_reader *fallback_reader);

#endif
