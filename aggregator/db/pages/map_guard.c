/*
 * map_guard - a map whose file gets shorter, or cannot be read, while in use.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/pages/map_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static struct guard {
	_Atomic uintptr_t from, to;
	_Atomic(atomic_bool *) hit; /* NULL: unused */
} guards[MAP_GUARDS_MAX];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;
static uintptr_t page_bytes;

static const struct guard *
find(uintptr_t at)
{
	for (unsigned i = 0; i < MAP_GUARDS_MAX; i++)
		if (atomic_load(&guards[i].hit) != NULL &&
		    at >= atomic_load(&guards[i].from) &&
		    at < atomic_load(&guards[i].to))
			return &guards[i];
	return NULL;
}

bool
map_guard_absorb(const siginfo_t *info)
{
	uintptr_t at = (uintptr_t)info->si_addr & ~(page_bytes - 1);
	const struct guard *guard = info->si_code > 0 ? find(at) : NULL;
	int kept = errno;

	if (guard == NULL ||
	    mmap((void *)at, page_bytes, PROT_READ,
		MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) {
		errno = kept;
		return false;
	}
	atomic_store(atomic_load(&guard->hit), true);
	errno = kept;
	return true;
}

static void
on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (!map_guard_absorb(info))
		sigaction(SIGBUS, &before, NULL); /* and it comes again */
}

static void catch (void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };

	if (page_bytes != 0)
		return;
	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	action.sa_sigaction = on_signal;
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &before);
}

void
map_guard_add(const void *base, size_t bytes, atomic_bool *hit)
{
	unsigned i = 0;

	pthread_mutex_lock(&lock);
	catch ();
	while (i < MAP_GUARDS_MAX && atomic_load(&guards[i].hit) != NULL)
		i++;
	if (i < MAP_GUARDS_MAX) {
		atomic_store(&guards[i].from, (uintptr_t)base);
		atomic_store(&guards[i].to, (uintptr_t)base + bytes);
		atomic_store(&guards[i].hit, hit);
	}
	pthread_mutex_unlock(&lock);
}

void
map_guard_remove(const atomic_bool *hit)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < MAP_GUARDS_MAX; i++)
		if (atomic_load(&guards[i].hit) == hit)
			atomic_store(&guards[i].hit, NULL);
	pthread_mutex_unlock(&lock);
}
