/*
 * db_damage - which places were found damaged: each counted once.
 *
 * A place is a row whose checksum is wrong, a row whose value cannot be
 * decoded, or a page that cannot be read.  Its id is a hash of the table and
 * the key, or of the page; it is the same in all processes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_DAMAGE_H
#define AGGREGATOR_DB_DAMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

/* Those that one transaction has met. */
enum { DB_DAMAGE_IDS = 32 };
struct db_damage {
	uint32_t ids;
	uint64_t id[DB_DAMAGE_IDS]; /* the first ones, each once */
	uint64_t more;              /* met after these, some of them twice */
};
void db_damage_add(struct db_damage *damage, uint64_t id);

uint64_t db_damage_row_id(const char *table, struct text key);
uint64_t db_damage_page_id(const char *table, uint64_t page);

/* All of an environment; for any thread. */
enum { DB_DAMAGE_LIST_MAX = 1 << 16 }; /* further ones are not counted */
struct db_damage_list;
struct db_damage_list *db_damage_list_new(void);
void db_damage_list_free(struct db_damage_list **list);
void db_damage_list_add(struct db_damage_list *list, uint64_t id, bool is_row);
void db_damage_list_clear(struct db_damage_list *list);
/* `places`: rows and pages. */
void db_damage_list_count(
    struct db_damage_list *list, uint64_t *places, uint64_t *rows);

#endif
