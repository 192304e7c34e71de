/*
 * table_page - rows of an event table, as Azure Table answers them a page at a
 * time, as the lines of JSON that older exports have.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_AZURE_TABLE_PAGE_H
#define EXPORTERS_CLOUD_AZURE_TABLE_PAGE_H

#include <stdint.h>
#include <stdio.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

/* Write the rows of a page ({"value": [...]}) to `file`, each
 * {"PartitionKey":...,"RowKey":...,"Event":...,"NodeId":...,"Message":...}
 * without what it does not have, and count them.  -1: it is no page. */
int table_page_write(
    struct text page, FILE *file, uint64_t *rows, struct err *err);

/* A text between quotes of a filter: its own quotes doubled.  Returns the
 * length; 0: no room. */
size_t table_quote(char *to, size_t room, struct text text);

#endif
