/*
 * libzmq_epoll - libzmq hears of a broken connection only where it waits for
 * something.
 *
 * While the queue of a peer is full, libzmq reads nothing of it; but epoll
 * reports errors and hang-ups also to those who wait for nothing.  libzmq
 * (4.3.4, 4.3.5) then gives the descriptor up and keeps the connection until
 * the queue has room.  If a PING of the peer is in what it has read by then, it
 * answers it on the descriptor that it has given up, and ends the process by an
 * assertion.  Every key that may connect could do that.
 *
 * So epoll_ctl and epoll_wait are defined here, in place of libc's, for the
 * whole program: for a descriptor that waits for nothing they report no errors,
 * for one that only waits to write they report that it can.  A broken
 * connection is noticed when its peer's messages have been taken and it is read
 * again, or when it is written to.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_LIBZMQ_EPOLL_H
#define PROTO_NET_LIBZMQ_EPOLL_H

/* libzmq will use ours: call it before libzmq is loaded. */
void libzmq_epoll_check(void);

#endif
