/*
 * loop - waits for sockets, file descriptors, timers and signals in one
 * thread.
 *
 * Callbacks run one after another and must not block.  Timers use absolute
 * times of the monotonic clock, so they do not drift.  An idle loop sleeps; it
 * never polls.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_LOOP_LOOP_H
#define PROTO_NET_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/net/loop/loop_timer.h"
#include "proto/net/zsock.h"
#include "proto/os/thread.h"

struct loop; /* opaque */

enum { LOOP_ZSOCKS_MAX = 16 };

int loop_new(struct loop **loop, struct err *err);
void loop_free(struct loop **loop);

/* Called when the socket may have something to receive, when a connection that
 * returned ZSOCK_AGAIN can take messages again, and when a peer connected or
 * disconnected.  The callback receives until ZSOCK_AGAIN, or stops earlier to
 * let others run: then it is called again after them. */
int loop_add_zsock(struct loop *loop, struct zsock *zsock,
    void (*on_zsock)(void *arg, struct zsock *zsock), void *arg,
    struct err *err);
void loop_remove_zsock(struct loop *loop, struct zsock *zsock);

/* At most FDS_MAX (fds.h).  Level-triggered; `events` are EPOLLIN | EPOLLOUT
 * ... of <sys/epoll.h>. */
int loop_add_fd(struct loop *loop, int fd, uint32_t events,
    void (*on_fd)(void *arg, int fd, uint32_t events), void *arg,
    struct err *err);
int loop_change_fd(struct loop *loop, int fd, uint32_t events);
/* Before the descriptor is closed. */
void loop_remove_fd(struct loop *loop, int fd);

/* First at `at_ns` (monotonic), then every `period_ns` on the same grid, or
 * never again if it is 0.  Periods missed during a stall are skipped. */
void loop_set_timer(struct loop *loop, struct loop_timer *timer, int64_t at_ns,
    int64_t period_ns);
void loop_stop_timer(struct loop *loop, struct loop_timer *timer);

/* The signals are blocked and read through the loop (signalfd). */
int loop_add_signal(struct loop *loop, int signo,
    void (*on_signal)(void *arg, int signo), void *arg, struct err *err);

/* Called after every round of callbacks, before the loop sleeps: the place for
 * group commits. */
void loop_set_idle(struct loop *loop, void (*on_idle)(void *arg), void *arg);

/* Wake the loop from any thread; `on_wake` runs in the loop's thread.  All
 * other functions here belong to the loop's thread. */
void loop_wake(struct loop *loop);
void loop_set_wake(struct loop *loop, void (*on_wake)(void *arg), void *arg);

/* For a thread that the process cannot work without: if it fails, the loop logs
 * which thread and why, and quits with EXIT_FAILURE. */
struct thread_watcher loop_watcher(struct loop *loop);

/* Runs until loop_quit; returns its status. */
int loop_run(struct loop *loop);
void loop_quit(struct loop *loop, int status);

#endif
