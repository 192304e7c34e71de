/*
 * import_profile_private - shared by profile.c (intervals, counters, texts and
 * numbers) and profile_thread.c (the order of threads).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SCANNER_PROFILE_PRIVATE_H
#define AGENTS_IMPORT_SCANNER_PROFILE_PRIVATE_H

#include <endian.h>
#include <string.h>

#include "agents/import/scanner/profile.h"

enum profile_state {
	AT_HEAD,
	AT_THREAD, /* a thread begins, or the number of threads that follow */
	AT_INTERVALS,
	IN_INTERVALS,
	IN_COUNTERS,
	AT_THREAD_END,
	AT_END,
};

enum { PROFILE_NUMBER_BYTES = 8 };

/* ---- bytes ---- */

static inline int64_t
profile_load(const char *from)
{
	uint64_t bits;

	memcpy(&bits, from, sizeof(bits));
	return (int64_t)le64toh(bits);
}

/* Like profile_need, for bytes that are not in the view. */
int profile_see(struct import_profile *p, uint32_t bytes, struct err *err);

/* Are there `bytes` more?  1, 0: the file ends before, -1: it cannot be
 * read. */
static inline int
profile_need(struct import_profile *p, uint32_t bytes, struct err *err)
{
	if (p->view.bytes - p->at >= bytes)
		return 1;
	return profile_see(p, bytes, err);
}

/* Consume a text that ends with a NUL; a view, valid until the next read.  1,
 * 0: the file ends or the text is too long, -1: it cannot be read. */
int profile_take_text(
    struct import_profile *p, struct text *text, struct err *err);
int profile_take_number(
    struct import_profile *p, int64_t *number, struct err *err);

/* Read nothing after this place. */
enum profile_item profile_damaged(struct import_profile *p, struct err *err,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The result for missing bytes of `what`: 0 or -1, as above. */
enum profile_item profile_missing(
    struct import_profile *p, int there, const char *what, struct err *err);

/* ---- threads ---- */

/* Read the next thread up to its dictionary; PROFILE_ON: there is none. */
enum profile_item profile_read_thread(
    struct import_profile *p, struct err *err);
/* The thread was read: continue with the next one of its role. */
void profile_leave_thread(struct import_profile *p);

#endif
