/*
 * libzmq - the functions of libzmq, which is loaded when a socket is wanted.
 *
 * libzmq needs thirteen further libraries; loading them takes longer than all
 * else that a program does which reads a store of this machine.  So no program
 * is linked with it: libzmq_load opens it, once for each process.  The calls
 * read libzmq.send(...) where its manual says zmq_send(...), and have the types
 * that its header declares.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_LIBZMQ_H
#define PROTO_NET_LIBZMQ_H

#include <zmq.h>

#include "proto/base/err.h"

/* Of libzmq 4.2 and later. */
#define LIBZMQ_FUNCTIONS(each)                                                 \
	each(bind) each(close) each(connect) each(ctx_new) each(ctx_set)       \
	    each(ctx_term) each(disconnect) each(getsockopt) each(msg_close)   \
		each(msg_data) each(msg_get) each(msg_gets) each(msg_init)     \
		    each(msg_more) each(msg_recv) each(msg_send)               \
			each(msg_size) each(poll) each(recv) each(send)        \
			    each(setsockopt) each(socket) each(socket_monitor) \
				each(strerror) each(unbind)

#define LIBZMQ_POINTER(name) __typeof__(zmq_##name) *name;
struct libzmq {
	LIBZMQ_FUNCTIONS(LIBZMQ_POINTER)
};
#undef LIBZMQ_POINTER

/* Valid once libzmq_load returned 0. */
extern struct libzmq libzmq;

/* Any number of times, by any thread.  A process that closes itself in
 * (proto/service/sandbox.h) calls it before, if it may want a socket. */
int libzmq_load(struct err *err);

#endif
