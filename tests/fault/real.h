/*
 * real - what would have been called, for whoever stands in front of it.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_REAL_H
#define TESTS_FAULT_REAL_H

#include <dlfcn.h>

/* The library's own function, as `real`. */
#define REAL(type, name, ...)                                                  \
	static type (*real)(__VA_ARGS__);                                      \
	if (real == NULL)                                                      \
	real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#endif
