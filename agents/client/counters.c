/*
 * client_counters - counters and gauges: numbers that the sender reads
 * regularly.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agents/client/client_private.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

static struct poolscope_counter *
find(const char *name)
{
	uint32_t counters = atomic_load(&client.counters);

	for (uint32_t i = 0; i < counters; i++)
		if (strcmp(client.counter[i].name, name) == 0)
			return &client.counter[i];
	return NULL;
}

/* One word, since lists of metrics separate names by blanks. */
static bool
is_word(const char *word)
{
	struct text text = { word,
		(uint32_t)strnlen(word, CLIENT_PART_BYTES_MAX + 1) };

	return text.bytes <= CLIENT_PART_BYTES_MAX &&
	       text_check_name(text) == TEXT_OK && strchr(word, ' ') == NULL;
}

static struct poolscope_counter *
get(const char *name, const char *unit, bool gauge)
{
	struct poolscope_counter *counter;
	uint32_t counters;

	if (name == NULL || !is_word(name))
		return NULL;
	pthread_mutex_lock(&client.lock);
	counter = find(name);
	counters = atomic_load(&client.counters);
	if (counter == NULL && counters < POOLSCOPE_COUNTERS) {
		counter = &client.counter[counters];
		strcpy(counter->name, name);
		strcpy(
		    counter->unit, unit != NULL && is_word(unit) ? unit : "");
		counter->gauge = gauge;
		counter->begin_ns = clock_wall_ns();
		atomic_store_explicit(
		    &client.counters, counters + 1, memory_order_release);
	}
	pthread_mutex_unlock(&client.lock);
	return counter;
}

struct poolscope_counter *
poolscope_get_counter(const char *name, const char *unit)
{
	return get(name, unit, false);
}

struct poolscope_counter *
poolscope_get_gauge(const char *name, const char *unit)
{
	return get(name, unit, true);
}

static uint64_t
bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double
value_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* ---- processes ---- */

enum { PROCESSES = 1024 };

/* A name of unix(7) that ends with the process. */
static socklen_t
name_process(struct sockaddr_un *to, unsigned number)
{
	static const struct hash_key key = { 0 };
	char who[4 * NAME_BYTES_MAX];
	int n = snprintf(who, sizeof(who), "%s\n%s\n%s", client.partition,
	    client.node, client.program);

	*to = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(to->sun_path + 1, sizeof(to->sun_path) - 1,
	    "poolscope/%u/%016llx/%u", (unsigned)getuid(),
	    (unsigned long long)hash_bytes(key, who, (size_t)n), number);
	return (
	    socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* Call with the lock. */
static void
take_number(void)
{
	struct sockaddr_un name;
	unsigned number = 0;
	socklen_t bytes;

	client.process = 0;
	client.process_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (client.process_fd < 0)
		return;
	do
		bytes = name_process(&name, number);
	while (bind(client.process_fd, (struct sockaddr *)&name, bytes) != 0 &&
	       errno == EADDRINUSE && ++number < PROCESSES);
	client.process = number;
}

unsigned
client_process_number(int64_t *since_ns)
{
	unsigned number;

	pthread_mutex_lock(&client.lock);
	if (client.process_fd < 0)
		take_number();
	number = client.process;
	*since_ns = client.process_ns;
	pthread_mutex_unlock(&client.lock);
	return number;
}

void
client_forget_process(void)
{
	if (client.process_fd >= 0)
		close(client.process_fd);
	client.process_fd = -1;
	client.process_ns = 0;
	atomic_store(&client.counts, false);
}

/* Before its first number changes: until then another process may have the
 * same number, and what it counts is in the same series. */
static void
begin_to_count(void)
{
	int before = errno;

	if (atomic_load_explicit(&client.counts, memory_order_relaxed) ||
	    atomic_load_explicit(&client.life, memory_order_relaxed) == 0)
		return;
	pthread_mutex_lock(&client.lock);
	if (client.process_fd < 0 && client.opens > 0) {
		take_number();
		client.process_ns = clock_wall_ns();
	}
	atomic_store(&client.counts, client.opens > 0);
	pthread_mutex_unlock(&client.lock);
	errno = before;
}

/* ---- changes ---- */

/* Called after the value is stored: the thread that clears the mark reads
 * it. */
static void
mark_changed(struct poolscope_counter *counter)
{
	if (atomic_load_explicit(&counter->changed, memory_order_relaxed))
		return;
	begin_to_count();
	atomic_store_explicit(&counter->changed, true, memory_order_release);
	client_need_sender();
}

/* The number becomes `value`, or `by` that more; a counter only grows. */
static void
change(struct poolscope_counter *counter, double value, bool by)
{
	uint64_t before;
	double now;

	if (counter == NULL)
		return;
	before = atomic_load_explicit(&counter->bits, memory_order_relaxed);
	do {
		now = by ? value_of(before) + value : value;
		if (!counter->gauge && !(now >= value_of(before)))
			return;
	} while (!atomic_compare_exchange_weak_explicit(&counter->bits, &before,
	    bits_of(now), memory_order_relaxed, memory_order_relaxed));
	mark_changed(counter);
}

void
poolscope_add(struct poolscope_counter *counter, double value)
{
	change(counter, value, true);
}

void
poolscope_put(struct poolscope_counter *counter, double value)
{
	change(counter, value, false);
}

double
client_counter_value(const struct poolscope_counter *counter)
{
	return value_of(
	    atomic_load_explicit(&counter->bits, memory_order_relaxed));
}
