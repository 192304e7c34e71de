/*
 * client_lifecycle - open, close, fork, the slots of threads.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/client/client_private.h"
#include "proto/base/hash.h"
#include "proto/os/clock.h"

#define LINGER_NS (2 * NS_PER_SECOND)

struct lib lib = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1 };
_Thread_local struct lib_self lib_self;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- threads ---- */

/* The thread has ended: its slot is free once the sender has emptied it. */
static void
on_thread_end(void *slot)
{
	struct lib_thread *thread = slot;

	lib_self.life = 0; /* another destructor may still record */
	atomic_store_explicit(&thread->slot, LIB_ENDED, memory_order_release);
}

/* All memory of a slot is there, and touched, before the thread goes on. */
static struct lib_thread *
make_slot(uint32_t number)
{
	struct lib_thread *thread;
	unsigned char *ring;

	if (lib.used_bytes + lib.ring_bytes > lib.total_bytes)
		return NULL;
	thread = aligned_alloc(_Alignof(struct lib_thread), sizeof(*thread));
	ring = malloc(lib.ring_bytes);
	if (thread == NULL || ring == NULL) {
		free(thread);
		free(ring);
		return NULL;
	}
	memset(thread, 0, sizeof(*thread));
	memset(ring, 0, lib.ring_bytes);
	lib_ring_init(&thread->ring, ring, lib.ring_bytes);
	thread->number = number;
	lib.used_bytes += lib.ring_bytes;
	return thread;
}

/* A free slot, a new one, or nowhere. */
static struct lib_thread *
take_slot(void)
{
	uint32_t threads = atomic_load(&lib.threads);
	struct lib_thread *thread;

	for (uint32_t i = 0; i < threads; i++) {
		thread = atomic_load(&lib.thread[i]);
		if (atomic_load_explicit(&thread->slot, memory_order_acquire) ==
		    LIB_FREE) {
			atomic_store(&thread->slot, LIB_USED);
			return thread;
		}
	}
	if (threads == POOLSCOPE_THREADS ||
	    (thread = make_slot(threads)) == NULL)
		return &lib.nowhere;
	atomic_store(&thread->slot, LIB_USED);
	atomic_store(&lib.thread[threads], thread);
	atomic_store_explicit(&lib.threads, threads + 1, memory_order_release);
	return thread;
}

void
lib_enter(uint32_t life)
{
	struct lib_self *self = &lib_self;
	int before = errno;

	pthread_mutex_lock(&lib.lock);
	/* The child of a fork has its sender when it has something to send. */
	if (!lib.running && lib.opens > 0)
		lib_start_sender();
	if (self->opening != lib.opening) {
		self->opening = lib.opening;
		self->span = lib.root.span;
		memcpy(self->trace, lib.root.id, TRACE_BYTES);
	}
	self->thread = pthread_getspecific(key);
	if (self->thread == NULL) {
		self->thread = take_slot();
		pthread_setspecific(
		    key, self->thread != &lib.nowhere ? self->thread : NULL);
	}
	pthread_mutex_unlock(&lib.lock);
	random_bytes(&self->seed, sizeof(self->seed));
	self->life = life;
	errno = before;
}

static void
poke(void)
{
	uint64_t one = 1;
	int before = errno;

	if (lib.wake >= 0 && write(lib.wake, &one, sizeof(one)) < 0) {
		/* Full: it is awake as it is. */
	}
	errno = before;
}

void
lib_wake(void)
{
	if (atomic_exchange(&lib.sleep, LIB_AWAKE) != LIB_AWAKE)
		poke();
}

/* ---- fork ---- */

static void
init_lock(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&lib.changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&lib.lock, NULL);
}

static void
before_fork(void)
{
	pthread_mutex_lock(&lib.lock);
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&lib.lock);
}

static void
empty(struct lib_thread *thread)
{
	atomic_store(&thread->ring.tail, atomic_load(&thread->ring.head));
	atomic_store(&thread->written, 0);
	atomic_store(&thread->cut, 0);
	for (int kind = 0; kind < LIB_KINDS; kind++)
		atomic_store(&thread->dropped[kind], 0);
	thread->name[0] = '\0';
	thread->announced = false;
	atomic_store(&thread->slot, LIB_FREE);
}

/* The only thread of a new process: all that is recorded is the parent's. */
static void
in_child(void)
{
	uint32_t threads = atomic_load(&lib.threads);
	uint32_t counters = atomic_load(&lib.counters);

	init_lock();
	lib.running = false;
	lib_forget_sender();
	if (lib.wake >= 0)
		close(lib.wake);
	lib.wake = -1;
	for (uint32_t i = 0; i < threads; i++)
		empty(lib.thread[i]);
	empty(&lib.nowhere);
	for (uint32_t i = 0; i < counters; i++) {
		atomic_store(&lib.counter[i].bits, 0);
		atomic_store(&lib.counter[i].changed, false);
		lib.counter[i].announced = false;
	}
	atomic_store(&lib.sent, 0);
	atomic_store(&lib.refused, 0);
	atomic_store(&lib.lost, 0);
	atomic_store(&lib.asked, 0);
	atomic_store(&lib.flushed, 0);
	atomic_store(&lib.sleep, LIB_AWAKE);
	pthread_setspecific(key, NULL);
	lib.pid = getpid();
	if (atomic_load(&lib.life) != 0)
		atomic_store(&lib.life, ++lib.lives);
}

static void
init(void)
{
	init_lock();
	pthread_key_create(&key, on_thread_end);
	pthread_atfork(before_fork, in_parent, in_child);
	lib_tick_choose();
}

/* ---- open and close ---- */

int
poolscope_open(const struct poolscope_options *options)
{
	static const struct poolscope_options defaults = { 0 };
	int rc = 0;

	pthread_once(&once, init);
	pthread_mutex_lock(&lib.lock);
	while (lib.opens == 0 && lib.running) /* another thread closes it */
		pthread_cond_wait(&lib.changed, &lib.lock);
	if (lib.opens == 0)
		rc = lib_configure(options != NULL ? options : &defaults);
	if (rc == 0 && lib.opens == 0) {
		lib_take_trace();
		lib.opening++;
		atomic_store(&lib.stopping, false);
		rc = lib_start_sender();
	}
	if (rc == 0 && lib.opens++ == 0)
		atomic_store_explicit(
		    &lib.life, ++lib.lives, memory_order_release);
	pthread_mutex_unlock(&lib.lock);
	return rc;
}

/* Under the lock; gives it away while the sender says what is left. */
static void
shut(void)
{
	bool running = lib.running;
	pthread_t sender = lib.sender;

	lib.opens = 0;
	atomic_store(&lib.life, 0);
	lib.deadline_ns = clock_monotonic_ns() + LINGER_NS;
	atomic_store(&lib.stopping, true);
	poke();
	if (!running)
		return;
	pthread_mutex_unlock(&lib.lock);
	pthread_join(sender, NULL);
	pthread_mutex_lock(&lib.lock);
	lib.running = false;
	pthread_cond_broadcast(&lib.changed);
}

void
poolscope_close(void)
{
	pthread_mutex_lock(&lib.lock);
	if (lib.opens == 1)
		shut();
	else if (lib.opens > 1)
		lib.opens--;
	pthread_mutex_unlock(&lib.lock);
}

__attribute__((destructor)) static void
at_exit(void)
{
	pthread_mutex_lock(&lib.lock);
	if (lib.opens > 0)
		shut();
	pthread_mutex_unlock(&lib.lock);
}

int
poolscope_flush(int64_t timeout_ns)
{
	int64_t until_ns = clock_monotonic_ns() + timeout_ns;
	struct timespec until = { until_ns / NS_PER_SECOND,
		until_ns % NS_PER_SECOND };
	uint64_t mine;
	int rc = 0;

	pthread_mutex_lock(&lib.lock);
	mine = atomic_fetch_add(&lib.asked, 1) + 1;
	poke();
	/* Where no sender runs nothing was recorded. */
	while (rc == 0 && lib.running && lib.opens > 0 &&
	       atomic_load(&lib.flushed) < mine)
		rc = pthread_cond_timedwait(&lib.changed, &lib.lock, &until);
	pthread_mutex_unlock(&lib.lock);
	if (rc != 0)
		errno = rc;
	return rc == 0 ? 0 : -1;
}

static void
add_stats(struct poolscope_stats *stats, struct lib_thread *thread)
{
	uint64_t dropped = 0;

	for (int kind = 0; kind < LIB_KINDS; kind++)
		dropped += atomic_load(&thread->dropped[kind]);
	stats->recorded += atomic_load(&thread->written) + dropped;
	stats->dropped += dropped;
	stats->cut += atomic_load(&thread->cut);
	stats->rings += thread->ring.size > 0;
	stats->ring_bytes += thread->ring.size;
}

void
poolscope_get_stats(struct poolscope_stats *stats)
{
	uint32_t threads = atomic_load(&lib.threads);

	memset(stats, 0, sizeof(*stats));
	for (uint32_t i = 0; i < threads; i++)
		add_stats(stats, atomic_load(&lib.thread[i]));
	add_stats(stats, &lib.nowhere);
	stats->sent = atomic_load(&lib.sent);
	stats->refused = atomic_load(&lib.refused);
	stats->lost = atomic_load(&lib.lost);
	stats->connected = atomic_load(&lib.connected);
}
