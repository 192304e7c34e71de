/*
 * log - one line on standard error: `LEVEL program: message`.
 *
 * The supervisor adds the time and stores it, or log_put_times.  error = an
 * operator must act, warn = it will recover or something was dropped, info =
 * started, ready, stopped, reconfigured, debug = for developers.  Never a line
 * per record. The caller must quote every byte from outside (text_quote);
 * newlines and escape bytes are replaced here once more.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_LOG_H
#define PROTO_OS_LOG_H

#include <stdbool.h>
#include <stdint.h>

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

/* A line about what others may do as often as they like: true the first time,
 * then at most once a minute.  `*last_ns` begins with 0. */
bool log_is_due(int64_t *last_ns);

/* From now on put the local time in front of each line, as
 * 2026-11-25T23:02:53.042+00:00, if standard error is a terminal or a file:
 * journals and containers add a time of their own.  For services, whose log is
 * read later; before a sandbox, since it reads the zone. */
void log_put_times(void);

/* Print "program: sentence" on standard error, whatever the level: the message
 * of a command-line tool before it ends.  Returns its exit status: 130 of what
 * was interrupted, else 1. */
int log_fail(const struct err *err);

#endif
