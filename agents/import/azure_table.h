/*
 * import_azure_table - the rows of an Azure table, fetched into a file.
 *
 * poolscope-fetch, from where this program lies, does it: services are for the
 * exporters.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_AZURE_TABLE_H
#define AGENTS_IMPORT_AZURE_TABLE_H

#include <stdbool.h>

#include "proto/base/err.h"

/* Returns the descriptor of a file without a name that has all rows of the
 * partition, as lines; -1.  What keeps them from being fetched is also on
 * standard error. */
int import_azure_table_fetch(
    const char *table, const char *partition, bool quiet, struct err *err);

#endif
