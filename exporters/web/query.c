/*
 * web_query - the parameters of a request.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/query.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/nearest.h"

enum { NAME_ROOM = 64 };

/* Those that no command has under this name. */
static const struct opt own_options[] = {
	{ .name = "test",
	    .type = OPT_TEXT,
	    .to = OPT_TO(struct question_values, test) },
	{ .name = "entry",
	    .type = OPT_TEXT,
	    .to = OPT_TO(struct question_values, entry) },
	{ .name = "limit",
	    .type = OPT_COUNT,
	    .to = OPT_TO(struct question_values, limit) },
	{ .name = "nodes",
	    .type = OPT_TEXT,
	    .to = OPT_TO(struct question_values, nodes) },
	{ .name = "max-size",
	    .type = OPT_BYTES,
	    .to = OPT_TO(struct question_values, max_bytes) },
	{ .name = "entries",
	    .type = OPT_FLAG,
	    .to = OPT_TO(struct question_values, entries) },
	{ .name = "changes",
	    .type = OPT_FLAG,
	    .to = OPT_TO(struct question_values, changes) },
	{ .name = "oldest",
	    .type = OPT_FLAG,
	    .to = OPT_TO(struct question_values, oldest) },
	{ .name = NULL },
};

bool
web_query_allows(const char *allowed, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = allowed; bytes > 0 && *at != '\0';) {
		size_t word = strcspn(at, " ");

		if (word == bytes && memcmp(at, name, bytes) == 0)
			return true;
		at += word + (at[word] == ' ');
	}
	return false;
}

static int
refuse(const char *allowed, const char *name, struct err *err)
{
	char question[3 * NEAREST_WORD_BYTES + 32], word[NAME_ROOM], shown[80];
	struct nearest nearest;

	nearest_begin(&nearest, name);
	for (const char *at = allowed; *at != '\0';) {
		size_t bytes = strcspn(at, " ");

		snprintf(word, sizeof(word), "%.*s", (int)bytes, at);
		nearest_offer(&nearest, word);
		at += bytes + (at[bytes] == ' ');
	}
	nearest_question(&nearest, "", question, sizeof(question));
	text_quote(shown, sizeof(shown), text_of(name));
	if (nearest.count > 0)
		return err_set(err, "the parameter '%s' does not exist here%s",
		    shown, question);
	return err_set(err, "the parameter '%s' does not exist here; %s%s",
	    shown, *allowed == '\0' ? "there are none" : "there are ", allowed);
}

/* Neither seconds since the epoch nor a time with a date. */
static bool
is_relative(const char *word)
{
	return word[strspn(word, "0123456789.")] != '\0' &&
	       (strlen(word) < 10 || word[4] != '-');
}

static const struct opt *
find_option(struct question_values *query, const char *name, void **values)
{
	struct opt_table tables[QUESTION_TABLES + 1] = { { own_options,
	    query } };

	question_tables(tables + 1, query);
	for (const struct opt_table *table = tables; table->options != NULL;
	     table++)
		for (const struct opt *opt = table->options; opt->name != NULL;
		     opt++)
			if (strcmp(opt->name, name) == 0) {
				*values = table->values;
				return opt;
			}
	return NULL;
}

static int
put(struct question_values *query, const struct web_parameter *parameter,
    struct err *err)
{
	void *values;
	const struct opt *opt = find_option(query, parameter->name, &values);

	if (opt == NULL)
		return refuse("", parameter->name, err);
	if (opt_put(opt, values, parameter->value, err) != 0)
		return err_prefix(err, "%s", opt->name);
	if (opt->type == OPT_TIME && is_relative(parameter->value))
		query->is_relative = true;
	question_give(query, opt->name);
	return 0;
}

static bool
is_list(const char *name)
{
	return strcmp(name, "node") == 0 || strcmp(name, "metric") == 0 ||
	       strcmp(name, "run") == 0;
}

int
web_query_parse(struct question_values *query, const struct web_url *url,
    const char *allowed, struct err *err)
{
	*query = question_values_default();
	for (uint32_t i = 0; i < url->parameter_count; i++) {
		const struct web_parameter *parameter = &url->parameters[i];

		if (!web_query_allows(allowed, parameter->name))
			return refuse(allowed, parameter->name, err);
		for (uint32_t k = 0; k < i; k++)
			if (!is_list(parameter->name) &&
			    strcmp(url->parameters[k].name, parameter->name) ==
				0)
				return err_set(
				    err, "%s is given twice", parameter->name);
		if (put(query, parameter, err) != 0)
			return -1;
	}
	return question_complete(query, err);
}
