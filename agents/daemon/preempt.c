/*
 * preempt - notices that this host is about to be preempted.
 * SPDX-License-Identifier: MIT
 */
#include "agents/daemon/preempt.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

#define POLL_NS (NS_PER_SECOND / 2)

struct preempt {
	struct loop *loop;
	struct loop_timer timer;
	const char *file;
	void (*on_notice)(void *arg, const char *why);
	void *arg;
};

static void
on_timer(void *arg, struct loop_timer *timer)
{
	struct preempt *preempt = arg;

	if (access(preempt->file, F_OK) != 0)
		return;
	loop_stop_timer(preempt->loop, timer);
	preempt->on_notice(preempt->arg, preempt->file);
}

/* The loop keeps the signal after preempt_close: `arg` must not be ours. */
static void
on_signal(void *arg, int signo)
{
	struct preempt *const *preempt = arg;

	(void)signo;
	if (*preempt != NULL)
		(*preempt)->on_notice((*preempt)->arg, "SIGUSR1");
}

int
preempt_open(struct preempt **made, struct loop *loop, const char *file,
    void (*on_notice)(void *arg, const char *why), void *arg, struct err *err)
{
	struct preempt *preempt = memory_zero(1, sizeof(*preempt));

	preempt->loop = loop;
	preempt->file = file;
	preempt->on_notice = on_notice;
	preempt->arg = arg;
	preempt->timer.on_timer = on_timer;
	preempt->timer.arg = preempt;
	*made = preempt;
	if (file != NULL)
		loop_set_timer(
		    loop, &preempt->timer, clock_monotonic_ns(), POLL_NS);
	return loop_add_signal(loop, SIGUSR1, on_signal, made, err);
}

void
preempt_close(struct preempt **gone)
{
	struct preempt *preempt = *gone;

	*gone = NULL;
	if (preempt == NULL)
		return;
	loop_stop_timer(preempt->loop, &preempt->timer);
	free(preempt);
}
