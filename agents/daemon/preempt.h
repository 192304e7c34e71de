/*
 * preempt - notices that this host is about to be preempted: signal USR1, or a
 * file that appears.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DAEMON_PREEMPT_H
#define AGENTS_DAEMON_PREEMPT_H

#include "proto/base/err.h"
#include "proto/net/loop/loop.h"

struct preempt; /* opaque */

/* `file` may be NULL; it is checked twice a second.  `why` is the file or the
 * signal.  A file is reported once, a signal each time. */
int preempt_open(struct preempt **preempt, struct loop *loop, const char *file,
    void (*on_notice)(void *arg, const char *why), void *arg, struct err *err);
void preempt_close(struct preempt **preempt);

#endif
