/*
 * zap - answers libzmq's authentication requests (ZAP, ZeroMQ RFC 27).
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "proto/auth/auth_private.h"
#include "proto/net/libzmq.h"
#include "proto/net/zsock_socket.h"
#include "proto/os/heartbeat.h"

enum {
	/* version, request, domain, address, identity, mechanism, key */
	REQUEST_FRAMES = 7,
	REQUEST_FRAME_BYTES = 256,
	AT_REQUEST = 1,
	AT_DOMAIN = 2,
	AT_MECHANISM = 5,
	AT_KEY = 6,
};

static const char zap_endpoint[] = "inproc://zeromq.zap.01";
static const char stop_endpoint[] = "inproc://zap-stop";

struct request {
	struct {
		char at[REQUEST_FRAME_BYTES];
		int bytes;
	} frame[REQUEST_FRAMES];
	int frames;
	bool is_whole; /* requests with a key */
};

static void
receive(void *listener, struct request *request)
{
	int more = 1, frames = 0;
	size_t size = sizeof(more);

	request->is_whole = true;
	for (; more; frames++) {
		char rest[1];
		bool fits = frames < REQUEST_FRAMES;
		char *at = fits ? request->frame[frames].at : rest;
		int n = libzmq.recv(
		    listener, at, fits ? REQUEST_FRAME_BYTES : sizeof(rest), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || n > REQUEST_FRAME_BYTES || !fits)
			request->is_whole = false;
		else
			request->frame[frames].bytes = n;
		if (n < 0 ||
		    libzmq.getsockopt(listener, ZMQ_RCVMORE, &more, &size) != 0)
			break;
	}
	request->frames = request->is_whole ? frames : 0;
	request->is_whole = request->is_whole && frames == REQUEST_FRAMES;
}

static bool
frame_is(const struct request *request, int frame, const char *text)
{
	return request->frame[frame].bytes == (int)strlen(text) &&
	       memcmp(request->frame[frame].at, text, strlen(text)) == 0;
}

static bool
has_key(const struct request *request)
{
	return request->is_whole &&
	       frame_is(request, AT_DOMAIN, ZSOCK_DOMAIN_KEYS) &&
	       frame_is(request, AT_MECHANISM, "CURVE") &&
	       request->frame[AT_KEY].bytes == ZSOCK_KEY_BYTES;
}

/* The listener also has a Unix socket, whose permissions control access.  A
 * request without credentials has one frame less. */
static bool
is_local(const struct request *request)
{
	return request->frames == REQUEST_FRAMES - 1 &&
	       frame_is(request, AT_DOMAIN, ZSOCK_DOMAIN_LOCAL) &&
	       frame_is(request, AT_MECHANISM, "NULL");
}

static void
put(void *listener, const void *at, size_t bytes, bool more)
{
	while (libzmq.send(listener, at, bytes, more ? ZMQ_SNDMORE : 0) < 0 &&
	       errno == EINTR)
		;
}

static void
answer(struct auth *auth, const struct request *request)
{
	void *listener = auth->zap.listener;
	char user[Z85_CHARACTERS];
	unsigned char key[ZSOCK_KEY_BYTES];
	bool keyed = has_key(request), yes = is_local(request);

	if (keyed) {
		memcpy(key, request->frame[AT_KEY].at, sizeof(key));
		yes = auth_admits(auth, key);
		z85_encode(user, key);
	}
	put(listener, "1.0", 3, true);
	put(listener, request->frame[AT_REQUEST].at,
	    request->frames > AT_REQUEST
		? (size_t)request->frame[AT_REQUEST].bytes
		: 0,
	    true);
	put(listener, yes ? "200" : "400", 3, true);
	put(listener, yes ? "OK" : "no", 2, true);
	put(listener, user, yes && keyed ? sizeof(user) : 0, true);
	put(listener, "", 0, false);
}

static int
run(void *arg, struct err *err)
{
	struct auth *auth = arg;
	zmq_pollitem_t items[] = {
		{ .socket = auth->zap.listener, .events = ZMQ_POLLIN },
		{ .socket = auth->zap.stop_there, .events = ZMQ_POLLIN },
	};
	struct request request;

	for (;;) {
		heartbeat_rest();
		if (libzmq.poll(items, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return err_set(err, "%s", libzmq.strerror(errno));
		}
		heartbeat_beat();
		if ((items[1].revents & ZMQ_POLLIN) != 0)
			return 0;
		if ((items[0].revents & ZMQ_POLLIN) == 0)
			continue;
		receive(auth->zap.listener, &request);
		answer(auth, &request);
	}
}

static void
stop(void *arg)
{
	struct auth *auth = arg;

	put(auth->zap.stop_here, "", 0, false);
}

static void *
open_socket(struct auth *auth, int type)
{
	void *made = libzmq.socket(auth->zap.context, type);
	int no = 0;

	if (made != NULL)
		libzmq.setsockopt(made, ZMQ_LINGER, &no, sizeof(no));
	return made;
}

static int
open_sockets(struct auth *auth, struct err *err)
{
	struct auth_zap *zap = &auth->zap;

	zap->context = zsock_context_hold(err);
	if (zap->context == NULL)
		return -1;
	zap->listener = open_socket(auth, ZMQ_REP);
	zap->stop_here = open_socket(auth, ZMQ_PAIR);
	zap->stop_there = open_socket(auth, ZMQ_PAIR);
	if (zap->listener == NULL || zap->stop_here == NULL ||
	    zap->stop_there == NULL ||
	    libzmq.bind(zap->listener, zap_endpoint) != 0 ||
	    libzmq.bind(zap->stop_there, stop_endpoint) != 0 ||
	    libzmq.connect(zap->stop_here, stop_endpoint) != 0)
		return err_set(err,
		    "cannot bind the authentication handler, so no listener "
		    "opens: %s",
		    libzmq.strerror(errno));
	return 0;
}

int
auth_zap_start(struct auth *auth, struct err *err)
{
	const struct thread_options how = { .name = "the authenticator",
		.run = run,
		.stop = stop,
		.arg = auth,
		.has_heartbeat = true };
	sigset_t all, before;
	int rc;

	/* The loop handles signals; libzmq's threads and this one block
	 * them. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	rc = open_sockets(auth, err);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc != 0 ? rc
		       : thread_start(&auth->zap.thread, &how,
			     &auth->options.watcher, err);
}

static void
shut(void **zmq)
{
	if (*zmq != NULL)
		libzmq.close(*zmq);
	*zmq = NULL;
}

void
auth_zap_stop(struct auth *auth)
{
	struct auth_zap *zap = &auth->zap;

	thread_stop(&zap->thread);
	shut(&zap->listener);
	shut(&zap->stop_here);
	shut(&zap->stop_there);
	if (zap->context != NULL)
		zsock_context_drop();
	zap->context = NULL;
}
