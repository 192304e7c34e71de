/*
 * libzmq_epoll - libzmq hears of a broken connection only by reading it or
 * writing to it.
 *
 * While the queue of a peer is full, libzmq reads nothing of it.  If epoll
 * reports an error or a hang-up of it all the same, libzmq (4.3.4, 4.3.5) gives
 * the descriptor up and keeps the connection until the queue has room.  If a
 * PING of the peer is in what it has read by then, it answers it on the
 * descriptor that it has given up, and ends the process by an assertion.  Every
 * key that may connect could do that.  epoll reports both
 *
 * - to who waits for nothing, and
 * - together with the input: libzmq reads for the error first, which may fill
 * the queue, and then for the input.
 *
 * So epoll_ctl and epoll_wait are defined here, in place of libc's, for the
 * whole program: a descriptor that waits for nothing is taken out, and errors
 * and hang-ups are never reported; a broken socket can be read and written to,
 * which shows it.  A broken connection is noticed when its peer's messages have
 * been taken and it is read again, or when it is written to.  Who wants to hear
 * of them, as the loop does, calls epoll_pwait, which is libc's.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_LIBZMQ_EPOLL_H
#define PROTO_NET_LIBZMQ_EPOLL_H

/* libzmq will use ours: call it before libzmq is loaded. */
void libzmq_epoll_check(void);

#endif
