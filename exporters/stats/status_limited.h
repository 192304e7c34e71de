/*
 * status_limited - the state of a store for who may see some partitions.
 *
 * It is what the aggregator gives a reader whose key is limited to them: the
 * sums of these partitions, and nothing that others add to.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_STATUS_LIMITED_H
#define EXPORTERS_STATS_STATUS_LIMITED_H

#include "exporters/source/source.h"
#include "proto/json/json.h"

/* Write the member "store" of the object; `source` is limited (source_limit).
 */
int status_limited_json(
    struct json *json, struct source *source, struct err *err);

#endif
