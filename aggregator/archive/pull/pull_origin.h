/*
 * pull_origin - how far the archive counted when a store was made of it.
 *
 * Whoever takes over partitions with the store must have all of that
 * (owners_check).
 * proto/store.md, row `origin` of table meta.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PULL_PULL_ORIGIN_H
#define AGGREGATOR_ARCHIVE_PULL_PULL_ORIGIN_H

#include "aggregator/archive/epochs.h"
#include "aggregator/db/db.h"

void pull_origin_put(struct db_txn *txn, const struct epochs *claims);

#endif
