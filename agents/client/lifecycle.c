/*
 * client_lifecycle - open, close, fork, the slots of threads.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/client/client_private.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

#define LINGER_NS (2 * NS_PER_SECOND)

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- threads ---- */

/* The thread has ended: its slot is free once the sender has emptied it. */
static void
on_thread_end(void *slot)
{
	struct client_thread *thread = slot;

	client_self.life = 0; /* another destructor may still record */
	atomic_store_explicit(
	    &thread->slot, CLIENT_ENDED, memory_order_release);
}

/* Allocate and touch all memory of a slot before the thread continues. */
static struct client_thread *
make_slot(uint32_t number)
{
	struct client_thread *thread;
	unsigned char *ring;

	if (client.used_bytes + client.ring_bytes > client.total_bytes)
		return NULL;
	thread = aligned_alloc(_Alignof(struct client_thread), sizeof(*thread));
	ring = malloc(client.ring_bytes);
	if (thread == NULL || ring == NULL) {
		free(thread);
		free(ring);
		return NULL;
	}
	memset(thread, 0, sizeof(*thread));
	memset(ring, 0, client.ring_bytes);
	client_ring_init(&thread->ring, ring, client.ring_bytes);
	thread->track.number = number;
	client.used_bytes += client.ring_bytes;
	return thread;
}

/* A free slot, a new one, or none. */
static struct client_thread *
take_slot(void)
{
	uint32_t threads = atomic_load(&client.threads);
	struct client_thread *thread;

	for (uint32_t i = 0; i < threads; i++) {
		thread = atomic_load(&client.thread[i]);
		if (atomic_load_explicit(&thread->slot, memory_order_acquire) ==
		    CLIENT_FREE) {
			atomic_store(&thread->slot, CLIENT_USED);
			return thread;
		}
	}
	if (threads == POOLSCOPE_THREADS ||
	    (thread = make_slot(threads)) == NULL)
		return &client.nowhere;
	atomic_store(&thread->slot, CLIENT_USED);
	atomic_store(&client.thread[threads], thread);
	atomic_store_explicit(
	    &client.threads, threads + 1, memory_order_release);
	return thread;
}

/* The child of a fork gets a sender when it has something to send. */
static void
start_again(void)
{
	if (!client.running && client.opens > 0)
		client_start_sender();
}

void
client_need_sender(void)
{
	int before = errno;

	if (atomic_load_explicit(&client.running, memory_order_relaxed) ||
	    atomic_load_explicit(&client.life, memory_order_relaxed) == 0)
		return;
	pthread_mutex_lock(&client.lock);
	start_again();
	pthread_mutex_unlock(&client.lock);
	errno = before;
}

void
client_enter(uint32_t life)
{
	struct client_self *self = &client_self;
	int before = errno;

	pthread_mutex_lock(&client.lock);
	start_again();
	if (self->opening != client.opening) {
		self->opening = client.opening;
		self->span = client.root.span;
		memcpy(self->trace, client.root.id, TRACE_CONTEXT_BYTES);
	}
	self->thread = pthread_getspecific(key);
	if (self->thread == NULL) {
		self->thread = take_slot();
		pthread_setspecific(
		    key, self->thread != &client.nowhere ? self->thread : NULL);
	}
	pthread_mutex_unlock(&client.lock);
	hash_random_bytes(&self->seed, sizeof(self->seed));
	self->life = life;
	errno = before;
}

static void
wake_sender(void)
{
	uint64_t one = 1;
	int before = errno;

	if (client.wake >= 0 && write(client.wake, &one, sizeof(one)) < 0) {
		/* The eventfd is full: the sender is awake. */
	}
	errno = before;
}

void
client_wake(void)
{
	if (atomic_exchange(&client.sleep, CLIENT_AWAKE) != CLIENT_AWAKE)
		wake_sender();
}

/* ---- fork ---- */

static void
init_lock(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&client.changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&client.lock, NULL);
}

static void
before_fork(void)
{
	pthread_mutex_lock(&client.lock);
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&client.lock);
}

static void
empty(struct client_thread *thread)
{
	atomic_store(&thread->ring.tail, atomic_load(&thread->ring.head));
	atomic_store(&thread->written, 0);
	atomic_store(&thread->cut, 0);
	for (int kind = 0; kind < CLIENT_KINDS; kind++)
		atomic_store(&thread->dropped[kind], 0);
	thread->track.name[0] = '\0';
	thread->track.announced = false;
	atomic_store(&thread->slot, CLIENT_FREE);
}

/* The only thread of a new process: all recorded data is the parent's. */
static void
in_child(void)
{
	uint32_t threads = atomic_load(&client.threads);
	uint32_t counters = atomic_load(&client.counters);

	init_lock();
	client.running = false;
	client_forget_sender();
	if (client.wake >= 0)
		close(client.wake);
	client.wake = -1;
	for (uint32_t i = 0; i < threads; i++)
		empty(client.thread[i]);
	empty(&client.nowhere);
	for (uint32_t i = 0; i < counters; i++) {
		atomic_store(&client.counter[i].bits, 0);
		atomic_store(&client.counter[i].changed, false);
		client.counter[i].group = (struct client_group){ 0 };
		client.counter[i].begun = false;
		client.counter[i].begin_ns = clock_wall_ns();
	}
	client_forget_process();
	atomic_store(&client.sent, 0);
	atomic_store(&client.refused, 0);
	atomic_store(&client.lost, 0);
	atomic_store(&client.asked, 0);
	atomic_store(&client.flushed, 0);
	atomic_store(&client.sleep, CLIENT_AWAKE);
	pthread_setspecific(key, NULL);
	client.pid = getpid();
	client.boot = (uint64_t)clock_wall_ns();
	if (atomic_load(&client.life) != 0)
		atomic_store(&client.life, ++client.lives);
}

static void
init(void)
{
	init_lock();
	client.boot = (uint64_t)clock_wall_ns();
	pthread_key_create(&key, on_thread_end);
	pthread_atfork(before_fork, in_parent, in_child);
	fast_clock_choose();
}

/* ---- open and close ---- */

int
poolscope_open(const struct poolscope_options *options)
{
	static const struct poolscope_options defaults = { 0 };
	int rc = 0;

	pthread_once(&once, init);
	pthread_mutex_lock(&client.lock);
	while (
	    client.opens == 0 && client.running) /* another thread closes it */
		pthread_cond_wait(&client.changed, &client.lock);
	if (client.opens == 0)
		rc = client_configure(options != NULL ? options : &defaults);
	if (rc == 0 && client.opens == 0) {
		client_take_trace();
		client.opening++;
		atomic_store(&client.stopping, false);
		rc = client_start_sender();
	}
	if (rc == 0 && client.opens++ == 0)
		atomic_store_explicit(
		    &client.life, ++client.lives, memory_order_release);
	pthread_mutex_unlock(&client.lock);
	return rc;
}

/* Call with the lock; releases it while the sender sends the rest. */
static void
close_library(void)
{
	bool running = client.running;
	pthread_t sender = client.sender;

	client.opens = 0;
	atomic_store(&client.life, 0);
	client.deadline_ns = clock_monotonic_ns() + LINGER_NS;
	atomic_store(&client.stopping, true);
	wake_sender();
	if (!running)
		return;
	pthread_mutex_unlock(&client.lock);
	pthread_join(sender, NULL);
	pthread_mutex_lock(&client.lock);
	client_forget_process();
	client.running = false;
	pthread_cond_broadcast(&client.changed);
}

void
poolscope_close(void)
{
	pthread_mutex_lock(&client.lock);
	if (client.opens == 1)
		close_library();
	else if (client.opens > 1)
		client.opens--;
	pthread_mutex_unlock(&client.lock);
}

__attribute__((destructor)) static void
at_exit(void)
{
	pthread_mutex_lock(&client.lock);
	if (client.opens > 0)
		close_library();
	pthread_mutex_unlock(&client.lock);
}

int
poolscope_flush(int64_t timeout_ns)
{
	int64_t until_ns = clock_monotonic_ns() + timeout_ns;
	struct timespec until = { until_ns / NS_PER_SECOND,
		until_ns % NS_PER_SECOND };
	uint64_t mine;
	int rc = 0;

	pthread_mutex_lock(&client.lock);
	mine = atomic_fetch_add(&client.asked, 1) + 1;
	wake_sender();
	/* Without a sender nothing was recorded. */
	while (rc == 0 && client.running && client.opens > 0 &&
	       atomic_load(&client.flushed) < mine)
		rc = pthread_cond_timedwait(
		    &client.changed, &client.lock, &until);
	pthread_mutex_unlock(&client.lock);
	if (rc != 0)
		errno = rc;
	return rc == 0 ? 0 : -1;
}

static void
add_stats(struct poolscope_stats *stats, struct client_thread *thread)
{
	uint64_t dropped = 0;

	for (int kind = 0; kind < CLIENT_KINDS; kind++)
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
	uint32_t threads = atomic_load(&client.threads);

	memset(stats, 0, sizeof(*stats));
	for (uint32_t i = 0; i < threads; i++)
		add_stats(stats, atomic_load(&client.thread[i]));
	add_stats(stats, &client.nowhere);
	stats->sent = atomic_load(&client.sent);
	stats->refused = atomic_load(&client.refused);
	stats->lost = atomic_load(&client.lost);
	stats->connected = atomic_load(&client.connected);
}
