/*
 * table_page - print rows of an event table, which Azure Table returns a page
 * at a time, as lines of JSON in the format of older exports.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_AZURE_TABLE_PAGE_H
#define EXPORTERS_CLOUD_AZURE_TABLE_PAGE_H

#include <stdint.h>
#include <stdio.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

/* Write the rows of a page ({"value": [...]}) to `file` and count them, each
 * as {"PartitionKey":...,"RowKey":...,"Event":...,"NodeId":...,"Message":...}
 * without missing members.  Returns -1 if it is not a page. */
int table_page_write(
    struct text page, FILE *file, uint64_t *rows, struct err *err);

/* Escape a text for a quoted string of a filter by doubling its quotes.
 * Returns the length; 0: no room. */
size_t table_quote(char *to, size_t room, struct text text);

#endif
