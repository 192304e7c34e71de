/*
 * no_log - a log that nobody reads: rules.mk has who includes it.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_NO_LOG_H
#define TESTS_FUZZ_NO_LOG_H

#include "proto/os/log.h"

void __wrap_log_write(enum log_level level, const char *format, ...);

void
__wrap_log_write(enum log_level level, const char *format, ...)
{
	(void)level;
	(void)format;
}

#endif
