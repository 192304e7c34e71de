/*
 * json_alloc - where jansson's memory comes from.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/json_alloc.h"

#include <jansson.h>
#include <stdlib.h>

#include "proto/os/log.h"

static void *
claim(size_t bytes)
{
	void *at = malloc(bytes);

	if (at == NULL && bytes > 0) {
		log_error("out of memory");
		abort();
	}
	return at;
}

void
json_alloc_open(void)
{
	json_set_alloc_funcs(claim, free);
}
