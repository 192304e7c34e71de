/*
 * poolscope-fetch - fetch rows of an uploaded table.  poolscope-fetch(1).
 *
 * One page is in memory at a time, whatever the size of the table.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/azure_account.h"
#include "exporters/cloud/azure_table.h"
#include "exporters/tool/tool.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

enum { FILTER_BYTES_MAX = 1024, MARKER_BYTES_MAX = 1200 };

struct values {
	struct pool_options pool;
	struct http_options http;
	const char *filter, *output, *table;
};

static const struct values defaults = {
	.http = HTTP_DEFAULT, .filter = "", .output = "-"
};

static const struct opt options[] = {
	{ "filter", 0, OPT_TEXT, OPT_TO(struct values, filter), "TEXT",
	    "fetch only rows that match this OData filter: \"NodeId eq "
	    "'n1'\"" },
	TOOL_OUTPUT(struct values, output),
	{ .name = NULL },
};

struct fetching {
	struct azure azure;
	const char *table;
	char query[3 * (FILTER_BYTES_MAX + 2 * INSTANCE_PATH_BYTES)];
	/* Start of the next page, encoded; "": the first row. */
	char next_partition[3 * MARKER_BYTES_MAX],
	    next_row[3 * MARKER_BYTES_MAX];
	struct progress progress;
	bool show;
};

/* PartitionKey eq 'P' and (FILTER), encoded. */
static int
make_query(const struct values *values, struct fetching *f,
    struct text partition, struct err *err)
{
	char plain[FILTER_BYTES_MAX + 2 * INSTANCE_PATH_BYTES + 64];
	char quoted[2 * INSTANCE_PATH_BYTES];
	bool filtered = *values->filter != '\0';

	if (strlen(values->filter) > FILTER_BYTES_MAX)
		return err_set_option(
		    err, "filter", "is longer than %d bytes", FILTER_BYTES_MAX);
	if (table_check_partition(partition, err) != 0)
		return -1;
	table_quote(quoted, sizeof(quoted), partition);
	snprintf(plain, sizeof(plain), "PartitionKey eq '%s'%s%s%s", quoted,
	    filtered ? " and (" : "", values->filter, filtered ? ")" : "");
	if (http_encode(f->query, sizeof(f->query), text_of(plain), "") == 0)
		return err_set_option(err, "filter", "is too long");
	return 0;
}

/* Where the next page begins, as the service reports it. */
static int
take_marker(struct fetching *f, const char *name, char *to, size_t room,
    struct err *err)
{
	struct text mark = http_header(f->azure.http, name);

	to[0] = '\0';
	if (mark.bytes == 0)
		return 0;
	if (mark.bytes > MARKER_BYTES_MAX ||
	    http_encode(to, room, mark, "") == 0)
		return err_set(
		    err, "%s of more than %d bytes", name, MARKER_BYTES_MAX);
	return 0;
}

static int
get_page(struct fetching *f, struct http_answer *answer, struct err *err)
{
	static const char *const headers[] = {
		"Accept: application/json;odata=nometadata",
		"DataServiceVersion: 3.0;NetFx",
		"MaxDataServiceVersion: 3.0;NetFx", NULL
	};
	char path[AZURE_URL_BYTES];
	int n = snprintf(path, sizeof(path),
	    "/%s()?$filter=%s&$top=1000%s%s%s%s", f->table, f->query,
	    f->next_partition[0] != '\0' ? "&NextPartitionKey=" : "",
	    f->next_partition, f->next_row[0] != '\0' ? "&NextRowKey=" : "",
	    f->next_row);

	if (n < 0 || (size_t)n >= sizeof(path))
		return err_set(err, "partition and filter are too long");
	if (azure_send(&f->azure, "GET", path, headers,
		(struct text){ NULL, 0 }, answer, err) != 0)
		return -1;
	if (answer->status != 200)
		return azure_refused(&f->azure, answer, err);
	return 0;
}

/* Returns 1 if there are more pages. */
static int
fetch_page(const struct values *values, struct fetching *f, FILE *file,
    struct err *err)
{
	char before[sizeof(f->next_partition)], row[sizeof(f->next_row)];
	struct http_answer answer;

	strcpy(before, f->next_partition);
	strcpy(row, f->next_row);
	if (get_page(f, &answer, err) != 0)
		return -1;
	if (values->http.dry_run)
		return 0;
	if (table_page_write(answer.body, file, &f->progress.rows, err) != 0)
		return -1;
	if (take_marker(f, "x-ms-continuation-NextPartitionKey",
		f->next_partition, sizeof(f->next_partition), err) != 0 ||
	    take_marker(f, "x-ms-continuation-NextRowKey", f->next_row,
		sizeof(f->next_row), err) != 0)
		return -1;
	if (f->next_partition[0] == '\0')
		return 0;
	if (strcmp(before, f->next_partition) == 0 &&
	    strcmp(row, f->next_row) == 0)
		return err_set(err, "protocol error: the service returned the "
				    "same page marker twice");
	return 1;
}

static int
fetch_pages(const struct values *values, struct fetching *f, FILE *file,
    struct err *err)
{
	int rc;

	do {
		rc = fetch_page(values, f, file, err);
		f->progress.now_ns = clock_monotonic_ns();
		if (f->show)
			progress_show(f->table, &f->progress);
	} while (rc > 0 && !ferror(file));
	if (f->show)
		progress_clear();
	return rc;
}

static int
fetch(void *arg, struct tool_open *open, struct err *err)
{
	const struct values *values = arg;
	struct fetching f = { .table = values->table,
		.show = !opt_common_values.quiet && progress_is_wanted(),
		.progress = {
		    .began_ns = clock_monotonic_ns(), .unit = "rows" } };
	int rc = make_query(values, &f, open->partition, err);

	if (rc == 0)
		rc = azure_open(&f.azure, SIGN_AZURE_TABLE, &values->http, err);
	if (rc == 0)
		rc = fetch_pages(values, &f, open->file, err);
	if (rc == 0)
		log_debug("%" PRIu64 " rows", f.progress.rows);
	azure_close(&f.azure);
	return rc;
}

static const char *
get_table(const char *operand)
{
	struct err err = { 0 };

	if (strncmp(operand, "azure-table:", 12) != 0)
		opt_usage("expected azure-table:NAME");
	if (table_check_name(operand + 12, &err) != 0)
		opt_usage("%s", err.text);
	return operand + 12;
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ options, values }, { http_options, &values->http },
		{ opt_common, NULL }, { NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-fetch",
		.synopsis = "[options] azure-table:NAME",
		.summary = "print the rows of an uploaded event table",
		.examples = "poolscope fetch azure-table:events\n"
			    "poolscope fetch azure-table:events --filter "
			    "\"NodeId eq 'n1'\"\n",
		.tables = tables,
		.operands_min = 1,
		.operands_max = 1,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	struct opt_operands operands;
	struct sandbox sandbox;

	parse(&values, argc, argv, &operands);
	values.table = get_table(operands.at[0]);
	sandbox_begin(&sandbox);
	http_sandbox(&sandbox, &values.http);
	return tool_main(&(struct tool){ .pool = &values.pool,
	    .output = values.output,
	    .sandbox = &sandbox,
	    .work = fetch,
	    .arg = &values });
}
