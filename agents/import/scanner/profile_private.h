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
	AT_THREAD, /* one begins, or what says how many follow */
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

/* As profile_need, of bytes that are not in the view. */
int profile_see(struct import_profile *p, uint32_t bytes, struct err *err);

/* Are `bytes` there?  1, 0 the file ends before, -1 it cannot be read. */
static inline int
profile_need(struct import_profile *p, uint32_t bytes, struct err *err)
{
	if (p->view.bytes - p->at >= bytes)
		return 1;
	return profile_see(p, bytes, err);
}

/* A text that ends with a NUL, taken; a view, valid until the file is read
 * on.  1, 0 the file ends or it is too long, -1 it cannot be read. */
int profile_take_text(
    struct import_profile *p, struct text *text, struct err *err);
int profile_take_number(
    struct import_profile *p, int64_t *number, struct err *err);

/* Nothing is read behind this place. */
enum profile_item profile_damaged(struct import_profile *p, struct err *err,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What was found instead of the bytes of `what`: 0 or -1, as above. */
enum profile_item profile_missing(
    struct import_profile *p, int there, const char *what, struct err *err);

/* ---- threads ---- */

/* The one that comes next, up to its dictionary; PROFILE_ON: none does. */
enum profile_item profile_read_thread(
    struct import_profile *p, struct err *err);
/* It was read: the next one of its role. */
void profile_leave_thread(struct import_profile *p);

#endif
