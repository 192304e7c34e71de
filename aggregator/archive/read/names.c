/*
 * names - the names of a partition of the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/names.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/tables/dictionary.h"
#include "proto/base/memory.h"
#include "proto/base/search.h"

struct name {
	uint32_t number; /* 0: none yet */
	uint64_t pos;    /* of the row that gave it */
	bool is_node, is_host, is_run;
};

/* Numbers in their order, of the names that have one. */
struct place {
	uint32_t number, name;
};

struct names {
	struct string_table texts;
	struct name *of; /* by number of the text in `texts` */
	uint32_t room;
	struct place *place;
	uint32_t places;
	uint32_t *behind; /* the names of last + 1, last + 2 ... */
	uint32_t last, behinds, behind_room;
	bool were_made_again;
};

void
names_free(struct names **names)
{
	if (*names == NULL)
		return;
	string_table_clear(&(*names)->texts);
	free((*names)->of);
	free((*names)->place);
	free((*names)->behind);
	free(*names);
	*names = NULL;
}

static uint32_t
add(struct names *names, struct text text)
{
	uint32_t before = names->texts.count;
	uint32_t name = string_table_add(&names->texts, text);

	if (names->texts.count > before) {
		MEMORY_GROW(names->of, names->room, name);
		names->of[name] = (struct name){ .number = 0 };
	}
	return name;
}

/* ---- reading ---- */

static int
take(void *arg, struct fetch *row, struct err *err)
{
	struct names *names = arg;
	unsigned kind = (unsigned)fetch_uint(row);
	uint32_t name = add(names, fetch_text(row));
	uint64_t pos = fetch_uint(row);
	uint32_t number = (uint32_t)fetch_uint(row);
	struct name *of = &names->of[name];

	(void)err;
	of->is_node |= kind == ARCHIVE_NAME_NODE;
	of->is_host |= kind == ARCHIVE_NAME_HOST;
	of->is_run |= kind == ARCHIVE_NAME_RUN;
	if (pos >= of->pos && number != 0 && number <= DICTIONARY_MAX) {
		of->pos = pos;
		of->number = number;
	}
	return 0;
}

/* Of one number the newest first: whoever reads them again, perhaps from
 * another replica, gives the others the same numbers. */
static int
compare(const void *a, const void *b, void *arg)
{
	const struct names *names = arg;
	const struct place *x = a, *y = b;
	const struct name *of = names->of;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (of[x->name].pos != of[y->name].pos)
		return of[x->name].pos > of[y->name].pos ? -1 : 1;
	return text_compare(
	    names->texts.names[x->name], names->texts.names[y->name]);
}

static void
number_behind(struct names *names, uint32_t name)
{
	MEMORY_GROW(names->behind, names->behind_room, names->behinds);
	names->of[name].number = names->last + 1 + names->behinds;
	names->behind[names->behinds++] = name;
}

/* Of names with one number the newest keeps it. */
static void
settle(struct names *names)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < names->texts.count; i++)
		if (names->of[i].number > names->last)
			names->last = names->of[i].number;
	names->place = memory_resize_array(
	    NULL, names->texts.count + 1, sizeof(*names->place));
	for (uint32_t i = 0; i < names->texts.count; i++)
		names->place[i] = (struct place){ names->of[i].number, i };
	if (names->texts.count > 1)
		qsort_r(names->place, names->texts.count, sizeof(*names->place),
		    compare, names);
	for (uint32_t i = 0; i < names->texts.count; i++) {
		struct place at = names->place[i];

		bool is_taken = at.number != 0 && kept > 0 &&
				names->place[kept - 1].number == at.number;

		names->were_made_again |= is_taken;
		if (at.number == 0 || is_taken)
			number_behind(names, at.name);
		else
			names->place[kept++] = at;
	}
	names->places = kept;
}

int
names_read(
    struct names **out, struct fetch *fetch, uint64_t part, struct err *err)
{
	static const struct native_column columns[] = {
		{ "kind", NATIVE_UINT8 },
		{ "name", NATIVE_STRING },
		{ "pos", NATIVE_UINT64 },
		{ "no", NATIVE_UINT32 },
	};
	struct names *names = memory_zero(1, sizeof(*names));
	char *sql = memory_format(
	    "SELECT kind, name, pos, no FROM %s.names WHERE part = %llu",
	    clickhouse_database(fetch->client), (unsigned long long)part);
	int rc;

	string_table_init(&names->texts);
	rc = fetch_home(fetch, SCHEMA_NAMES, part, columns,
	    sizeof(columns) / sizeof(columns[0]), sql, take, names, err);
	free(sql);
	if (rc == 0)
		settle(names);
	else
		names_free(&names);
	*out = names;
	return rc;
}

/* ---- asking ---- */

bool
names_were_made_again(const struct names *names)
{
	return names->were_made_again;
}

uint32_t
names_number(struct names *names, struct text text)
{
	uint32_t name;

	if (text.bytes == 0)
		return 0;
	name = add(names, text);
	if (names->of[name].number == 0)
		number_behind(names, name);
	return names->of[name].number;
}

uint32_t
names_session(struct names *names, struct text session)
{
	char text[DICTIONARY_STREAM_BYTES] = { 1 };

	if (session.bytes != sizeof(text) - 1)
		return 0;
	memcpy(text + 1, session.at, session.bytes);
	return names_number(names, (struct text){ text, sizeof(text) });
}

uint32_t
names_find(const struct names *names, struct text text)
{
	uint32_t name;

	return string_table_find(&names->texts, text, &name)
		   ? names->of[name].number
		   : 0;
}

/* The first place of this number or behind it. */
static uint32_t
find_place(const struct names *names, uint32_t number)
{
	return LOWER_BOUND(
	    i, 0, names->places, names->place[i].number < number);
}

bool
names_text(const struct names *names, uint32_t number, struct text *text)
{
	uint32_t at;

	if (number > names->last) {
		at = number - names->last - 1;
		if (at >= names->behinds)
			return false;
		*text = names->texts.names[names->behind[at]];
		return true;
	}
	at = find_place(names, number);
	if (number == 0 || at == names->places ||
	    names->place[at].number != number)
		return false;
	*text = names->texts.names[names->place[at].name];
	return true;
}

bool
names_next_node(const struct names *names, uint32_t *number, bool *is_host)
{
	uint32_t at = find_place(names, *number);

	for (; at < names->places; at++) {
		const struct name *of = &names->of[names->place[at].name];

		if (!of->is_node && !of->is_host)
			continue;
		*number = names->place[at].number;
		*is_host = !of->is_node;
		return true;
	}
	for (at = *number <= names->last ? 0 : *number - names->last - 1;
	     at < names->behinds; at++) {
		const struct name *of = &names->of[names->behind[at]];

		if (!of->is_node && !of->is_host)
			continue;
		*number = names->last + 1 + at;
		*is_host = !of->is_node;
		return true;
	}
	return false;
}

bool
names_get(const struct names *names, uint32_t i, struct names_name *to)
{
	const struct name *of = &names->of[i];

	if (i >= names->texts.count)
		return false;
	*to = (struct names_name){ .text = names->texts.names[i],
		.number = of->number,
		.is_run = of->is_run,
		.is_node = of->is_node,
		.is_host = of->is_host && !of->is_node };
	return true;
}
