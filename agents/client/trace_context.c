/*
 * trace_context - where a span belongs: the W3C Trace Context.
 * SPDX-License-Identifier: MIT
 */
#include "agents/client/trace_context.h"

#include <stddef.h>
#include <string.h>

#include "proto/hash/hash.h"
#include "proto/base/text.h"

enum {
	AT_TRACE = 3,
	AT_SPAN = 36,
	AT_FLAGS = 53,
	LENGTH = 55,
	SAMPLED = 1,
};

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: not all are digits, or all are zero and that means nothing. */
static bool
get_bytes(unsigned char *to, unsigned bytes, const char *text, bool zero)
{
	for (unsigned i = 0; i < bytes; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		to[i] = (unsigned char)(high << 4 | low);
		zero |= to[i] != 0;
	}
	return zero;
}

bool
trace_context_parse(struct trace_context *trace_context, const char *text)
{
	unsigned char version, id[TRACE_CONTEXT_BYTES], span[8], flags;
	size_t length = strnlen(text, LENGTH + 1);

	if (length < LENGTH || text[AT_TRACE - 1] != '-' ||
	    text[AT_SPAN - 1] != '-' || text[AT_FLAGS - 1] != '-' ||
	    !get_bytes(&version, 1, text, true) || version == 0xff ||
	    !get_bytes(id, sizeof(id), text + AT_TRACE, false) ||
	    !get_bytes(span, sizeof(span), text + AT_SPAN, false) ||
	    !get_bytes(&flags, 1, text + AT_FLAGS, true))
		return false;
	/* Later versions may append fields after another dash. */
	if (length > LENGTH && (version == 0 || text[LENGTH] != '-'))
		return false;
	memcpy(trace_context->id, id, sizeof(id));
	trace_context->span = 0;
	for (unsigned i = 0; i < sizeof(span); i++)
		trace_context->span = trace_context->span << 8 | span[i];
	trace_context->flags = flags;
	return true;
}

void
trace_context_hex_span(char to[static 16], uint64_t span)
{
	unsigned char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(span >> 8 * (7 - i));
	text_hex(to, bytes, sizeof(bytes));
}

void
trace_context_text(char to[static TRACE_CONTEXT_PARENT_BYTES],
    const struct trace_context *trace_context)
{
	memcpy(to, "00-", AT_TRACE);
	text_hex(to + AT_TRACE, trace_context->id, TRACE_CONTEXT_BYTES);
	to[AT_SPAN - 1] = '-';
	trace_context_hex_span(to + AT_SPAN, trace_context->span);
	to[AT_FLAGS - 1] = '-';
	text_hex(to + AT_FLAGS, &trace_context->flags, 1);
	to[LENGTH] = '\0';
}

void
trace_context_random(struct trace_context *trace_context)
{
	hash_random_bytes(trace_context->id, sizeof(trace_context->id));
	trace_context->id[0] |= 1; /* an id of zeros is invalid */
	trace_context->span = 0;
	trace_context->flags = SAMPLED;
}
