/*
 * map_guard - a map whose file gets shorter, or cannot be read, while it is
 * in use.
 *
 * The kernel then sends SIGBUS.  The page is replaced by zeros, and a flag is
 * set: the reader finds a page that is not valid instead of dying.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_PAGES_MAP_GUARD_H
#define AGGREGATOR_DB_PAGES_MAP_GUARD_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { MAP_GUARDS_MAX = 32 }; /* further maps are not guarded */

/* Guard a map that is only read.  `hit` is set from a signal handler. */
void map_guard_add(const void *base, size_t bytes, atomic_bool *hit);
/* Call it before the map goes. */
void map_guard_remove(const atomic_bool *hit);

/* For a handler of SIGBUS that replaces this one: true when the signal came
 * from a guarded map and the thread can go on. */
bool map_guard_absorb(const siginfo_t *info);

#endif
