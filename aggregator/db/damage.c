/*
 * db_damage - which places were found damaged.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/damage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/hash/string_table.h"

struct db_damage_list {
	pthread_mutex_t lock;
	struct string_table ids;
	uint64_t rows; /* of the ids */
};

void
db_damage_add(struct db_damage *damage, uint64_t id)
{
	for (uint32_t i = 0; i < damage->ids; i++)
		if (damage->id[i] == id)
			return;
	if (damage->ids < DB_DAMAGE_IDS)
		damage->id[damage->ids++] = id;
	else
		damage->more++;
}

/* The same in all processes, so that a reader can count answers of several. */
static uint64_t
id_of(uint64_t kind, const char *table, const void *at, size_t bytes)
{
	const struct hash_key of_table = { kind, 0 };
	const struct hash_key key = { kind,
		hash_bytes(of_table, table, strlen(table)) };

	return hash_bytes(key, at, bytes);
}

uint64_t
db_damage_row_id(const char *table, struct text key)
{
	return id_of(1, table, key.at, key.bytes);
}

uint64_t
db_damage_page_id(const char *table, uint64_t page)
{
	return id_of(2, table, &page, sizeof(page));
}

struct db_damage_list *
db_damage_list_new(void)
{
	struct db_damage_list *list = memory_zero(1, sizeof(*list));

	pthread_mutex_init(&list->lock, NULL);
	string_table_init(&list->ids);
	return list;
}

void
db_damage_list_free(struct db_damage_list **list)
{
	if (*list == NULL)
		return;
	string_table_clear(&(*list)->ids);
	pthread_mutex_destroy(&(*list)->lock);
	free(*list);
	*list = NULL;
}

void
db_damage_list_add(struct db_damage_list *list, uint64_t id, bool is_row)
{
	struct text key = { (const char *)&id, sizeof(id) };
	uint32_t before;

	pthread_mutex_lock(&list->lock);
	before = list->ids.count;
	if (before < DB_DAMAGE_LIST_MAX)
		string_table_add(&list->ids, key);
	if (is_row && list->ids.count > before)
		list->rows++;
	pthread_mutex_unlock(&list->lock);
}

void
db_damage_list_clear(struct db_damage_list *list)
{
	pthread_mutex_lock(&list->lock);
	string_table_clear(&list->ids);
	string_table_init(&list->ids);
	list->rows = 0;
	pthread_mutex_unlock(&list->lock);
}

void
db_damage_list_count(
    struct db_damage_list *list, uint64_t *places, uint64_t *rows)
{
	pthread_mutex_lock(&list->lock);
	*places = list->ids.count;
	*rows = list->rows;
	pthread_mutex_unlock(&list->lock);
}
