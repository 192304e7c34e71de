/*
 * must - what holds for any input.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_MUST_H
#define TESTS_FUZZ_MUST_H

#include <stdlib.h>

/* Unlike assert, in every variant. */
#define MUST(what)                                                             \
	do {                                                                   \
		if (!(what))                                                   \
			abort();                                               \
	} while (0)

#endif
