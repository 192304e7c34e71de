/*
 * traceparent - what stands in the environment: taken or not, and what is
 * taken is reported again as it was.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <string.h>

#include "agents/client/trace_context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[256], again[TRACE_CONTEXT_PARENT_BYTES];
	struct trace_context trace_context;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!trace_context_parse(&trace_context, text))
		return 0;
	assert(trace_context.span != 0);
	trace_context_text(again, &trace_context);
	/* But for the version, and what a later one has behind it. */
	assert(
	    memcmp(again + 2, text + 2, TRACE_CONTEXT_PARENT_BYTES - 3) == 0);
	return 0;
}
