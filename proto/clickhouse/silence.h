/*
 * silence - servers that did not answer within their time.
 *
 * All threads and handles of the process share it: what one of them has waited
 * for in vain the others ask last.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CLICKHOUSE_SILENCE_H
#define PROTO_CLICKHOUSE_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/clickhouse/url.h"
#include "proto/os/clock.h"

/* As many are remembered; then the one that is silent longest is forgotten. */
enum { SILENCE_HOSTS_MAX = 128 };
/* For how long. */
#define SILENCE_NS (60 * NS_PER_SECOND)

/* Times are those of clock_monotonic_ns. */
void silence_begin(const struct clickhouse_host *host, int64_t now_ns);
void silence_end(const struct clickhouse_host *host);
/* Was it silent at that time?  Also of the past: what is found silent while all
 * are asked was not when that began. */
bool silence_is(const struct clickhouse_host *host, int64_t at_ns);

#endif
