/*
 * db_marks - which pages of a file were checked.
 *
 * Private to this folder.  A bit a page, in blocks that are allocated when
 * they are needed: 32 KiB a GiB of file.  Any number of threads may use them.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_PAGES_MARKS_H
#define AGGREGATOR_DB_PAGES_MARKS_H

#include <stdbool.h>
#include <stdint.h>

struct db_marks;

struct db_marks *db_marks_new(void);
void db_marks_free(struct db_marks **marks);
bool db_marks_has(const struct db_marks *marks, uint64_t page);
void db_marks_set(struct db_marks *marks, uint64_t page);
void db_marks_clear(struct db_marks *marks);

#endif
