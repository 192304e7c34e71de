/*
 * web_query - the parameters of a request.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/query.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/nearest.h"

enum { NAME_ROOM = 64, LIMIT_DEFAULT = 1000 };

static const struct opt own_options[] = {
	{ .name = "name",
	    .type = OPT_TEXT,
	    .to = OPT_TO(struct web_query, name) },
	{ .name = "by",
	    .type = OPT_CHOICE,
	    .to = OPT_TO(struct web_query, by),
	    .choices = "default|node|name|track" },
	{ .name = "newest",
	    .type = OPT_COUNT,
	    .to = OPT_TO(struct web_query, runs.newest) },
	{ .name = "after",
	    .type = OPT_TEXT,
	    .to = OPT_TO(struct web_query, runs.after) },
	{ .name = "run",
	    .type = OPT_TEXT,
	    .to = OPT_TO(struct web_query, run) },
	{ .name = "test",
	    .type = OPT_TEXT,
	    .to = OPT_TO(struct web_query, test) },
	{ .name = "entry",
	    .type = OPT_TEXT,
	    .to = OPT_TO(struct web_query, entry) },
	{ .name = "limit",
	    .type = OPT_COUNT,
	    .to = OPT_TO(struct web_query, limit) },
	{ .name = "nodes",
	    .type = OPT_TEXT,
	    .to = OPT_TO(struct web_query, nodes) },
	{ .name = "max-size",
	    .type = OPT_BYTES,
	    .to = OPT_TO(struct web_query, max_bytes) },
	{ .name = "rows",
	    .type = OPT_COUNT,
	    .to = OPT_TO(struct web_query, rows) },
	{ .name = "metrics",
	    .type = OPT_CHOICE,
	    .to = OPT_TO(struct web_query, of_what),
	    .choices = "pools|nodes" },
	{ .name = "as",
	    .type = OPT_CHOICE,
	    .to = OPT_TO(struct web_query, as),
	    .choices = "auto|lines|bands" },
	{ .name = "entries",
	    .type = OPT_FLAG,
	    .to = OPT_TO(struct web_query, entries) },
	{ .name = "changes",
	    .type = OPT_FLAG,
	    .to = OPT_TO(struct web_query, changes) },
	{ .name = "oldest",
	    .type = OPT_FLAG,
	    .to = OPT_TO(struct web_query, oldest) },
	{ .name = NULL },
};

static bool
is_allowed(const char *allowed, const char *name)
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

static int
put(struct web_query *query, const struct web_parameter *parameter,
    struct err *err)
{
	const struct opt_table tables[] = { { own_options, query },
		{ time_window_options, &query->window },
		{ metric_options, &query->metrics },
		{ order_options, &query->order },
		{ runs_options, &query->runs },
		{ starts_options, &query->starts }, { NULL, NULL } };

	for (const struct opt_table *table = tables; table->options != NULL;
	     table++)
		for (const struct opt *opt = table->options; opt->name != NULL;
		     opt++) {
			if (strcmp(opt->name, parameter->name) != 0)
				continue;
			if (opt_put(
				opt, table->values, parameter->value, err) != 0)
				return err_prefix(err, "%s", opt->name);
			if (opt->type == OPT_TIME &&
			    is_relative(parameter->value))
				query->is_relative = true;
			return 0;
		}
	return refuse("", parameter->name, err);
}

static bool
is_list(const char *name)
{
	return strcmp(name, "node") == 0 || strcmp(name, "metric") == 0;
}

static bool
has(const struct web_url *url, const char *name)
{
	for (uint32_t i = 0; i < url->parameter_count; i++)
		if (strcmp(url->parameters[i].name, name) == 0)
			return true;
	return false;
}

int
web_query_parse(struct web_query *query, const struct web_url *url,
    const char *allowed, struct err *err)
{
	*query = (struct web_query){ .window = TIME_WINDOW_ALL,
		.order = { .column = -1 },
		.runs = RUNS_DEFAULT,
		.starts = STARTS_DEFAULT,
		.limit = LIMIT_DEFAULT,
		.max_bytes = UINT64_MAX };
	for (uint32_t i = 0; i < url->parameter_count; i++) {
		const struct web_parameter *parameter = &url->parameters[i];

		if (!is_allowed(allowed, parameter->name))
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
	query->has_model = has(url, "model");
	if (starts_options_judge(&query->starts, query->window.from_ns,
		query->window.to_ns, err) != 0)
		return -1;
	query->runs.from_ns = query->window.from_ns;
	query->runs.to_ns = query->window.to_ns;
	if (query->window.from_ns >= query->window.to_ns)
		return err_set(err, "from: the time is not before that of to");
	return node_option_make(&query->window.node, err);
}
