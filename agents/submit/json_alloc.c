/*
 * json_alloc - where jansson's memory comes from.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/json_alloc.h"

#include <jansson.h>
#include <stdlib.h>

#include "proto/base/memory.h"

void
json_alloc_open(void)
{
	json_set_alloc_funcs(memory_alloc, free);
}
