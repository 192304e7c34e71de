/*
 * log - one line on standard error: `LEVEL program: message`.
 *
 * The supervisor dates and keeps it.  error = someone must act, warn = it
 * will heal or something was dropped, info = started, ready, stopped,
 * reconfigured, debug = for the developer.  Never a line per record.  Every
 * byte that came from outside must be quoted (text_quote) by the caller;
 * newlines and escape bytes are replaced here once more.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_LOG_H
#define PROTO_OS_LOG_H

#include "proto/base/err.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* `program` must live as long as the process. */
void log_init(const char *program, enum log_level level);

void log_write(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)

/* Print "program: sentence" on standard error, whatever the level: what a
 * command-line tool says before it exits with 1. */
void log_fail(const struct err *err);

#endif
