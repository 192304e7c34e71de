/*
 * group_definition - the stored definition of a metric group.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_GROUP_DEFINITION_H
#define AGGREGATOR_TABLES_GROUP_DEFINITION_H

#include "aggregator/db/db.h"
#include "proto/metric/definition.h"

/* Find the definition of metric group `name`: views, valid until the
 * transaction ends or writes again.  False: it is not defined, and the lists
 * are empty. */
bool group_definition_find(struct db_txn *txn, uint32_t partition,
    struct text name, struct definition *definition);

#endif
