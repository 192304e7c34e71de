/*
 * import_profile_bytes - texts and numbers of a profile, and where they end.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "agents/import_profile_private.h"

enum { VIEW_BYTES = 64 << 10 }; /* asked for at a time */

int
profile_see(struct import_profile *p, uint32_t bytes, struct err *err)
{
	import_file_take(p->file, p->at);
	p->at = 0;
	if (import_file_see(p->file, bytes > VIEW_BYTES ? bytes : VIEW_BYTES,
		&p->view, err) != 0) {
		p->view.bytes = 0;
		return -1;
	}
	return p->view.bytes >= bytes;
}

enum profile_item
profile_damaged(
    struct import_profile *p, struct err *err, const char *format, ...)
{
	char why[ERR_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	err_set(err, "offset %" PRIu64 ": %s", import_profile_offset(p), why);
	p->state = p->has_thread ? AT_THREAD_END : AT_END;
	return PROFILE_DAMAGED;
}

enum profile_item
profile_missing(
    struct import_profile *p, int there, const char *what, struct err *err)
{
	if (there < 0)
		return PROFILE_FAILED;
	return profile_damaged(p, err, "the file ends, and %s follows", what);
}

int
profile_take_text(struct import_profile *p, struct text *text, struct err *err)
{
	uint32_t seen = 0;

	for (;;) {
		const char *from, *nul;
		int there = profile_need(p, seen + 1, err);

		if (there <= 0)
			return there;
		from = p->view.at + p->at;
		nul = memchr(from + seen, '\0', p->view.bytes - p->at - seen);
		if (nul != NULL) {
			*text = (struct text){ from, (uint32_t)(nul - from) };
			if (text->bytes > PROFILE_NAME_BYTES_MAX)
				return 0;
			p->at += text->bytes + 1;
			return 1;
		}
		seen = p->view.bytes - p->at;
		if (seen > PROFILE_NAME_BYTES_MAX)
			return 0;
	}
}

int
profile_take_number(struct import_profile *p, int64_t *number, struct err *err)
{
	int there = profile_need(p, PROFILE_NUMBER_BYTES, err);

	if (there > 0) {
		*number = profile_load(p->view.at + p->at);
		p->at += PROFILE_NUMBER_BYTES;
	}
	return there;
}
