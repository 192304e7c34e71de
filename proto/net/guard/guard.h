/*
 * guard - what libzmq must not hear, because it would end the process.
 *
 * libzmq (4.3.4, 4.3.5) takes some things that a peer, the network or the
 * kernel can do for bugs of its own and ends the process by an assertion.  So
 * the program defines the functions below, which libzmq calls, in place of
 * libc's and libsodium's.  proto/net/libzmq.md lists every assertion that a
 * peer might reach, and why it cannot.
 *
 * epoll_ctl, epoll_wait.  While the queue of a peer is full, libzmq reads
 * nothing of it.  If epoll reports an error or a hang-up of it all the same,
 * libzmq gives the descriptor up and keeps the connection until the queue has
 * room.  If a PING of the peer is in what it has read by then, it answers it on
 * the descriptor that it has given up: an assertion.  epoll reports both
 *
 * - to who waits for nothing, and
 * - together with the input: libzmq reads for the error first, which may fill
 * the queue, and then for the input.
 *
 * So a descriptor that waits for nothing is taken out, and errors and hang-ups
 * are never reported; a broken socket can be read and written to, which shows
 * it.  Who wants to hear of them, as the loop does, calls epoll_pwait, which is
 * libc's.
 *
 * accept4, recv, send, getsockopt.  For libzmq's calls only: errors that it
 * does not expect become those that it does.  A quarter of the descriptors is
 * kept for files: connections beyond that are closed at once.  The peers of a
 * listener speak ZMTP 3 and give themselves no name (handshake.h).
 *
 * crypto_box_open.  A peer with a key that gives itself a name has an INITIATE
 * that cannot be opened.
 *
 * crypto_box_beforenm.  A public key that has no shared secret gets a random
 * one, so that its owner cannot open anything.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_GUARD_GUARD_H
#define PROTO_NET_GUARD_GUARD_H

#include <stdbool.h>

enum { GUARD_FILES_MAX = 1 << 20 };

/* libzmq will use ours: call it before libzmq is loaded. */
void guard_check(void);
bool guard_has_epoll(void);
bool guard_has_sockets(void);
bool guard_has_crypto(void);

/* The library is libzmq, from now on. */
void guard_begin(void *library);

/* Is the return address of a call in libzmq? */
bool guard_is_libzmq(const void *caller);

#endif
