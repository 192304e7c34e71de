/*
 * import_azure_table - downloads the rows of an Azure table to a file.
 *
 * It runs poolscope-fetch, from the directory of this program: cloud services
 * belong to the exporters.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_AZURE_TABLE_H
#define AGENTS_IMPORT_AZURE_TABLE_H

#include <stdbool.h>

#include "proto/base/err.h"

/* Returns the descriptor of an unnamed file that has all rows of the
 * partition, as lines; -1.  poolscope-fetch reports its errors on standard
 * error. */
int import_azure_table_fetch(
    const char *table, const char *partition, bool quiet, struct err *err);

#endif
