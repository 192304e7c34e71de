/*
 * ownership - does this store accept a partition?
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_OWNERSHIP_H
#define AGGREGATOR_INGEST_OWNERSHIP_H

#include <stdbool.h>

#include "proto/base/text.h"
#include "proto/config/opt.h"

/* It does when the partition matches one of `accept` (text_match_partition);
 * NULL or none: all match. */
bool ownership_find(const struct opt_list *accept, struct text partition);

#endif
