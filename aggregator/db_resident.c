/*
 * db_resident - a reader of a large store stays small.
 *
 * Every page of the map that a process has touched counts as its resident
 * memory until the kernel wants it back.  An exporter that walks a store gives
 * them back itself, every few MiB: they stay in the page cache, so that this
 * costs a soft fault each when they are read again.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db_env.h"

#include <sys/mman.h>
#include <unistd.h>

enum { RESIDENT_BYTES = 2 << 20 };

void
db_resident_note(struct db *db, const void *value, size_t bytes)
{
	uintptr_t from = (uintptr_t)value;
	uint32_t moves = atomic_load(&db->shared->moves);

	/* Where the map was before may be anything by now. */
	if (db->moves != moves) {
		db->moves = moves;
		db->touched_bytes = 0;
	}
	if (db->touched_bytes == 0 || from < db->touched_from)
		db->touched_from = from;
	if (db->touched_bytes == 0 || from + bytes > db->touched_to)
		db->touched_to = from + bytes;
	db->touched_bytes += bytes;
}

void
db_resident_drop(struct db *db)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = db->touched_from & ~(page - 1);

	if (db->touched_bytes < RESIDENT_BYTES ||
	    db->moves != atomic_load(&db->shared->moves))
		return;
	db->touched_bytes = 0;
	/* A shared file mapping loses nothing; if it fails nothing is lost
	 * either. */
	(void)madvise((void *)from, db->touched_to - from, MADV_DONTNEED);
}
