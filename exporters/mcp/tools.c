/*
 * mcp_tools - the questions as tools: names, descriptions, schemas.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "exporters/mcp/mcp.h"
#include "proto/base/memory.h"
#include "proto/json/json.h"

/* Those of all questions. */
#define OPTIONS_OF_ALL "table"

static bool
is_in(const char *list, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = list; *at != '\0';) {
		size_t word = strcspn(at, " ");

		if (word == bytes && memcmp(at, name, bytes) == 0)
			return true;
		at += word + strspn(at + word, " ");
	}
	return false;
}

const struct opt *
mcp_tool_option(const struct question *question, struct question_values *values,
    const char *name, void **to)
{
	const struct opt *opt = question_find_option(values, name, to);

	if (opt == NULL || (opt->flags & OPT_OUTPUT) != 0 ||
	    (!is_in(question->options, name) && !is_in(OPTIONS_OF_ALL, name)))
		return NULL;
	return opt;
}

/* ---- schemas ---- */

static void
put_type(struct json *json, const struct opt *opt)
{
	switch (opt->type) {
	case OPT_FLAG: json_add_string(json, "type", "boolean"); break;
	case OPT_COUNT:
		json_add_string(json, "type", "integer");
		json_add_uint(json, "minimum", 0);
		break;
	case OPT_LIST:
		json_add_string(json, "type", "array");
		json_add_object(json, "items");
		json_add_string(json, "type", "string");
		json_end_object(json);
		break;
	default: json_add_string(json, "type", "string"); break;
	}
}

static void
put_words(struct json *json, const char *words)
{
	json_add_array(json, "enum");
	while (*words != '\0') {
		size_t bytes = strcspn(words, "|");

		json_text(json, (struct text){ words, (uint32_t)bytes });
		words += bytes + (words[bytes] == '|');
	}
	json_end_array(json);
}

static void
put_option(
    struct json *json, const struct question *question, const struct opt *opt)
{
	bool is_by = strcmp(opt->name, "by") == 0 && question->by != NULL;

	json_add_object(json, opt->name);
	put_type(json, opt);
	if (is_by)
		put_words(json, question->by);
	else if (opt->type == OPT_CHOICE)
		put_words(json, opt->choices);
	json_add_string(json, "description",
	    is_by ? "a row for each of these; the first is the default"
		  : opt->help);
	json_end_object(json);
}

static void
put_partition(struct json *json, bool has_partition)
{
	json_add_object(json, "partition");
	json_add_string(json, "type", "string");
	json_add_string(json, "description",
	    has_partition ? "the pool, as ACCOUNT$POOL; without it the one "
			    "that this server was started for"
			  : "the pool, as ACCOUNT$POOL; the tool pools has "
			    "them all");
	json_end_object(json);
}

/* " [NODE|RUN|JOB]" */
static void
put_operand(struct json *json, const char *operand)
{
	char words[80];
	size_t bytes = strcspn(operand += strspn(operand, " ["), "]");

	snprintf(
	    words, sizeof(words), "the name of one: %.*s", (int)bytes, operand);
	json_add_object(json, MCP_OPERAND);
	json_add_string(json, "type", "string");
	json_add_string(json, "description", words);
	json_end_object(json);
}

static void
put_schema(
    struct json *json, const struct question *question, bool has_partition)
{
	struct question_values values = question_values_default();
	struct opt_table tables[QUESTION_TABLES];
	void *to;

	json_add_object(json, "inputSchema");
	json_add_string(json, "type", "object");
	json_add_object(json, "properties");
	if (!question->is_of_all)
		put_partition(json, has_partition);
	if (question->operand != NULL)
		put_operand(json, question->operand);
	question_tables(tables, &values);
	for (const struct opt_table *table = tables; table->options != NULL;
	     table++)
		for (const struct opt *opt = table->options; opt->name != NULL;
		     opt++)
			if (mcp_tool_option(
				question, &values, opt->name, &to) != NULL)
				put_option(json, question, opt);
	json_end_object(json);
	if (!question->is_of_all && !has_partition) {
		json_add_array(json, "required");
		json_string(json, "partition");
		json_end_array(json);
	}
	json_add_bool(json, "additionalProperties", false);
	json_end_object(json);
}

/* ---- descriptions ---- */

static void
put_columns(FILE *file, const struct answer_column *columns, bool titled)
{
	const char *between = "";

	for (; columns->key != NULL; columns++) {
		if ((columns->title != NULL) != titled)
			continue;
		fprintf(file, "%s%s%s%s%s", between, columns->key,
		    columns->unit != NULL ? " (" : "",
		    columns->unit != NULL ? columns->unit : "",
		    columns->unit != NULL ? ")" : "");
		between = ", ";
	}
}

static bool
has_hidden(const struct answer_column *columns)
{
	while (columns->key != NULL && columns->title != NULL)
		columns++;
	return columns->key != NULL;
}

/* What it answers, and the columns of its tables; those of the first that are
 * only given if they are named. */
static void
put_description(struct json *json, const struct question *question)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = memory_must(open_memstream(&text, &bytes));

	fprintf(file, "%s.", question->summary);
	for (const struct answer_table *table = question->tables;
	     table->name != NULL; table++) {
		if (strcmp(table->name, "head") == 0)
			continue;
		fprintf(file, " Table %s: ", table->name);
		put_columns(file, table->columns, true);
		if (table == question->tables && has_hidden(table->columns)) {
			fputs("; only with the option columns: ", file);
			put_columns(file, table->columns, false);
		}
		fputs(".", file);
	}
	fclose(file);
	json_add_string(json, "description", text);
	free(text);
}

static void
put_tool(struct json *json, const struct question *question, bool has_partition)
{
	json_begin_object(json);
	json_add_string(json, "name", question->word);
	put_description(json, question);
	put_schema(json, question, has_partition);
	json_add_object(json, "annotations");
	json_add_bool(json, "readOnlyHint", true);
	json_add_bool(json, "openWorldHint", false);
	json_end_object(json);
	json_end_object(json);
}

void
mcp_tools_put(struct json *json, bool has_partition)
{
	for (int i = 0; questions[i] != NULL; i++)
		put_tool(json, questions[i], has_partition);
}
