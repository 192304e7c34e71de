/*
 * restored - print what a store has that was made of an archive.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_UPKEEP_RESTORED_H
#define AGGREGATOR_ARCHIVE_UPKEEP_RESTORED_H

#include "proto/answer/answer.h"
#include "proto/base/err.h"

/* A row for each partition.  -1: the store cannot be read. */
int restored_print(const char *store, struct answer *answer, struct err *err);
extern const struct answer_column restored_columns[];

#endif
