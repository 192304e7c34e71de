/*
 * clickhouse_exception - what a ClickHouse server says went wrong.
 *
 *     Code: 60, e.displayText() = DB::Exception: Table ... , e.what() = ...
 *     Code: 60. DB::Exception: Table ... (UNKNOWN_TABLE) (version 24.8.4)
 *
 * The first form is that of servers before 20.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CLICKHOUSE_EXCEPTION_H
#define PROTO_CLICKHOUSE_EXCEPTION_H

#include "proto/base/text.h"

enum {
	CLICKHOUSE_CODE_MAX = 99999,
};

/* The number of the exception that the text begins with, 0 if there is none. */
unsigned clickhouse_exception_code(struct text body);
/* The exception at the end of a TabSeparated answer: a line that begins like
 * one within its last 4 KiB; empty if there is none. */
struct text clickhouse_exception_at_end(struct text body);
/* The sentence of an exception, a view; of any other body its first line.  It
 * is not safe to print. */
struct text clickhouse_exception_words(struct text body);

#endif
