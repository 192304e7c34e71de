/*
 * definition - how the definition of a metric group may change.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/definition.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/text.h"
#include "proto/metric/metric_groups.h"

enum { GROUP_BYTES = 48, WORD_BYTES = 48, UNIT_BYTES = 32 }; /* of a sentence */

/* A list that is no text is empty. */
static bool
take_list(const struct record *record, const char *key, struct text *list)
{
	struct value value;

	*list = (struct text){ "", 0 };
	if (!record_find_attribute(record, text_of(key), &value))
		return false;
	if (value.type == VALUE_TEXT)
		*list = value.is.text;
	return true;
}

bool
definition_of(const struct record *record, struct definition *definition)
{
	bool any;

	if (record->kind != RECORD_ENTITY ||
	    !text_equal(record->source, text_of("set")))
		return false;
	any = take_list(record, "names", &definition->names);
	any = take_list(record, "units", &definition->units) || any;
	return take_list(record, "types", &definition->types) || any;
}

enum definition_sender
definition_sender_of(const struct record *record)
{
	struct value value;

	return record_find_attribute(
		   record, text_of(RECORD_SUBMITTER_KEY), &value)
		   ? DEFINITION_BY_USER
		   : DEFINITION_BY_AGENT;
}

/* ---- columns ---- */

struct column {
	struct text name, unit;
	bool counter;
};

/* The columns that are left, of a definition or of a built-in group. */
struct columns {
	struct definition rest;
	const struct metric_group_column *built_in;
	uint32_t left; /* of them */
};

static struct columns
columns_of(const struct definition *definition)
{
	return (struct columns){ .rest = *definition };
}

static struct columns
columns_of_group(const struct metric_group *group)
{
	return (
	    struct columns){ .built_in = group->columns, .left = group->count };
}

static bool
next_column(struct columns *columns, struct column *column)
{
	if (columns->built_in != NULL) {
		if (columns->left == 0)
			return false;
		columns->left--;
		column->name = text_of(columns->built_in->name);
		column->unit = text_of(columns->built_in->unit);
		column->counter = columns->built_in++->counter;
		return true;
	}
	column->name = text_next_word(&columns->rest.names);
	column->unit = text_next_word(&columns->rest.units);
	column->counter = text_equal(
	    text_next_word(&columns->rest.types), text_of("counter"));
	return column->name.bytes > 0;
}

/* ---- one definition ---- */

static uint32_t
words_of(struct text list)
{
	uint32_t words = 0;

	while (text_next_word(&list).bytes > 0)
		words++;
	return words;
}

static int
by_bytes(const void *a, const void *b)
{
	return text_compare(*(const struct text *)a, *(const struct text *)b);
}

static int
check_names(
    const char *group, struct text names, uint32_t count, struct err *err)
{
	struct text *name = memory_alloc((count + 1) * sizeof(*name));
	char word[WORD_BYTES];
	int rc = 0;

	for (uint32_t i = 0; i < count; i++)
		name[i] = text_next_word(&names);
	qsort(name, count, sizeof(*name), by_bytes);
	for (uint32_t i = 1; i < count && rc == 0; i++)
		if (text_equal(name[i - 1], name[i]))
			rc = err_set(err,
			    "metric group %s: two columns are called %s", group,
			    text_quote(word, sizeof(word), name[i]));
	free(name);
	return rc;
}

static int
check(const char *group, const struct definition *fresh, struct err *err)
{
	uint32_t count = words_of(fresh->names);

	if (count > RECORD_VALUES_MAX)
		return err_set(err,
		    "metric group %s: %u columns are more than %d, the limit "
		    "of a sample",
		    group, count, RECORD_VALUES_MAX);
	if (words_of(fresh->units) > count || words_of(fresh->types) > count)
		return err_set(err,
		    "metric group %s: there are more units or types than its "
		    "%u columns",
		    group, count);
	return check_names(group, fresh->names, count, err);
}

/* ---- two definitions ---- */

static int
differ(const char *group, uint32_t number, const struct column *held,
    const struct column *fresh, struct err *err)
{
	char a[WORD_BYTES], b[WORD_BYTES], has[UNIT_BYTES], had[UNIT_BYTES];

	text_quote(a, sizeof(a), fresh->name);
	if (!text_equal(held->name, fresh->name))
		return err_set(err,
		    "metric group %s: column %u is %s, but is defined as %s: "
		    "columns can only be added at the end",
		    group, number, a, text_quote(b, sizeof(b), held->name));
	if (!text_equal(held->unit, fresh->unit))
		return err_set(err,
		    "metric group %s: column %u, %s, has the unit \"%s\", but "
		    "is defined with \"%s\"",
		    group, number, a, text_quote(has, sizeof(has), fresh->unit),
		    text_quote(had, sizeof(had), held->unit));
	if (held->counter != fresh->counter)
		return err_set(err,
		    "metric group %s: column %u, %s, is a %s, but is defined "
		    "as a %s",
		    group, number, a, fresh->counter ? "counter" : "gauge",
		    held->counter ? "counter" : "gauge");
	return 0;
}

/* 1: `fresh` has more columns, the first of which it shares with `held`; 0: it
 * is a beginning; -1: a column differs. */
static int
grows(const char *group, struct columns held, struct columns fresh,
    struct err *err)
{
	struct column old, new;

	for (uint32_t number = 1; next_column(&fresh, &new); number++) {
		if (!next_column(&held, &old))
			return 1;
		if (differ(group, number, &old, &new, err) != 0)
			return -1;
	}
	return 0;
}

static int
check_built_in(const char *group, const struct metric_group *built_in,
    const struct definition *fresh, enum definition_sender sender,
    struct err *err)
{
	int rc =
	    grows(group, columns_of_group(built_in), columns_of(fresh), err);

	if (rc > 0 && sender == DEFINITION_BY_USER)
		return err_set(err,
		    "metric group %s has %u columns of the agent's own: only "
		    "the agent's user can add another",
		    group, built_in->count);
	return rc < 0 ? -1 : 0;
}

enum definition_change
definition_compare(struct text group, const struct definition *held,
    const struct definition *fresh, enum definition_sender sender,
    struct err *err)
{
	const struct metric_group *built_in = metric_group_find(group);
	static const struct definition none = { .names = { NULL, 0 } };
	char name[GROUP_BYTES];
	int rc;

	text_quote(name, sizeof(name), group);
	/* What was stored before the group was a built-in one. */
	if (built_in != NULL && held->names.bytes > 0 &&
	    grows(name, columns_of_group(built_in), columns_of(held), NULL) < 0)
		held = &none;
	if (check(name, fresh, err) != 0 ||
	    (built_in != NULL &&
		check_built_in(name, built_in, fresh, sender, err) != 0))
		return DEFINITION_REFUSED;
	rc = grows(name, columns_of(held), columns_of(fresh), err);
	return rc < 0    ? DEFINITION_REFUSED
	       : rc == 0 ? DEFINITION_KEPT
			 : DEFINITION_GROWN;
}
