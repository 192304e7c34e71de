/*
 * zsock_context - the one libzmq context of the process.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proto/hash/hash.h"
#include "proto/net/libzmq.h"
#include "proto/net/zsock_socket.h"

enum {
	FILES_MAX = 65536, /* every connection uses a file descriptor */
	/* libzmq aborts without one: five for its threads, three for a socket,
	 * and those for a listener, authentication and the loop. */
	FILES_FREE = 20,
	FILES_ADVISED = 64,
};

/* Two contexts at a time can crash libzmq 4.3.4 (fixed in 4.3.5), so all
 * threads share one. */
static struct {
	pthread_mutex_t lock;
	void *zmq;
	uint32_t users;
} context = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur >= FILES_MAX)
		return;
	limit.rlim_cur =
	    limit.rlim_max < FILES_MAX ? limit.rlim_max : (rlim_t)FILES_MAX;
	/* If it is refused, the process works with the old limit. */
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Of this process as of now. */
static int
check_files(struct err *err)
{
	int file[FILES_FREE], opened = 0;
	struct rlimit limit = { 0 };

	while (opened < FILES_FREE &&
	       (file[opened] = eventfd(0, EFD_CLOEXEC)) >= 0)
		opened++;
	for (int i = 0; i < opened; i++)
		close(file[i]);
	if (opened == FILES_FREE)
		return 0;
	getrlimit(RLIMIT_NOFILE, &limit);
	return err_set(err,
	    "sockets need %d more files, and this process, which may open "
	    "%llu, can open %d: allow it %d or more (ulimit -n)",
	    FILES_FREE, (unsigned long long)limit.rlim_cur, opened,
	    FILES_ADVISED);
}

static void *
context_new(struct err *err)
{
	unsigned int seed;
	void *zmq;

	if (libzmq_load(err) != 0)
		return NULL;
	/* libzmq takes routing ids and reconnect jitter from rand(). */
	hash_random_bytes(&seed, sizeof(seed));
	srand(seed);
	zmq = libzmq.ctx_new();
	if (zmq == NULL) {
		err_set(err, "libzmq: %s", libzmq.strerror(errno));
		return NULL;
	}
	libzmq.ctx_set(zmq, ZMQ_BLOCKY, 0);
	return zmq;
}

static void
context_drop(void)
{
	assert(context.users > 0);
	if (--context.users > 0)
		return;
	while (libzmq.ctx_term(context.zmq) != 0 && errno == EINTR)
		;
	context.zmq = NULL;
}

static bool
hold(struct err *err)
{
	if (context.zmq == NULL)
		raise_file_limit();
	if (check_files(err) != 0)
		return false;
	if (context.zmq == NULL && (context.zmq = context_new(err)) == NULL)
		return false;
	context.users++;
	return true;
}

void *
zsock_context_hold(struct err *err)
{
	void *zmq;

	pthread_mutex_lock(&context.lock);
	zmq = hold(err) ? context.zmq : NULL;
	pthread_mutex_unlock(&context.lock);
	return zmq;
}

void
zsock_context_drop(void)
{
	pthread_mutex_lock(&context.lock);
	context_drop();
	pthread_mutex_unlock(&context.lock);
}
