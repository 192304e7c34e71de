/*
 * libzmq - the functions of libzmq, loaded when the first socket is needed.
 *
 * libzmq needs thirteen further libraries, so no program links it
 * (proto/os/library.h).  libzmq.send(...) is zmq_send(...) of its manual, with
 * the types that its header declares.
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

/* Valid after libzmq_load has returned 0. */
extern struct libzmq libzmq;

/* May be called any number of times, by any thread.  A process that enters a
 * sandbox (proto/service/sandbox.h) and may need a socket calls it before. */
int libzmq_load(struct err *err);

#endif
