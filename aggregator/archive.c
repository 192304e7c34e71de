/*
 * poolscope-archive - make the tables of an archive in ClickHouse, and check
 * them.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/schema/check.h"
#include "aggregator/archive/compare.h"
#include "aggregator/archive/schema/create.h"
#include "proto/clickhouse/client.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/config/opt_verb.h"
#include "proto/format/output.h"
#include "proto/os/log.h"

struct values {
	const char *to, *password, *cacert, *store;
	bool insecure, yes;
	int format;
};

static const struct opt options[] = {
	{ "to", 0, OPT_TEXT, OPT_TO(struct values, to), "ADDRESS",
	    "the archive: clickhouse://[USER@]HOST[:PORT][,HOST...]/DATABASE, "
	    "or clickhouses:// by TLS",
	    NULL, OPT_REQUIRED },
	{ "archive-password", 0, OPT_TEXT, OPT_TO(struct values, password),
	    "FILE", "read the user's password from this file of mode 0600",
	    NULL, false },
	{ "archive-cacert", 0, OPT_TEXT, OPT_TO(struct values, cacert), "FILE",
	    "trust only the certificate authorities in this PEM file", NULL,
	    false },
	{ "archive-insecure", 0, OPT_FLAG, OPT_TO(struct values, insecure),
	    NULL,
	    "allow clickhouse:// beyond this machine: others on the network "
	    "can read records and password",
	    NULL, false },
	{ "format", 0, OPT_CHOICE, OPT_TO(struct values, format), "FORMAT",
	    "check, verify: print a table (default), json, jsonl or csv",
	    "table|json|jsonl|csv", false },
	{ "store", 0, OPT_TEXT, OPT_TO(struct values, store), "DIR",
	    "verify: directory of the store (default: DIR/store)", NULL,
	    false },
	{ "yes", 0, OPT_FLAG, OPT_TO(struct values, yes), NULL,
	    "drop: delete all records of the archive", NULL, OPT_COMMAND },
	{ .name = NULL },
};

#define PLACE "to archive-password archive-cacert archive-insecure "

static const struct opt_topic topics[] = {
	{ "create", "", "make what is missing of the tables", PLACE,
	    "poolscope archive create --to clickhouse://localhost/poolscope\n"
	    "poolscope archive create --to clickhouses://w@a1,a2/poolscope\n" },
	{ "check", "", "print what the replicas have, and what must be done",
	    PLACE "format",
	    "poolscope archive check --to clickhouse://localhost/poolscope\n"
	    "poolscope archive check --to clickhouses://w@a1,a2/poolscope "
	    "--format json\n" },
	{ "verify", "", "compare the replicas with a store, hour by hour",
	    PLACE "store format",
	    "poolscope archive verify --to clickhouse://localhost/poolscope\n"
	    "poolscope archive verify --store /var/lib/poolscope/store --to "
	    "clickhouses://w@a1,a2/poolscope\n" },
	{ "migrate", "", "add the columns that this version has", PLACE,
	    "poolscope archive migrate --to clickhouse://localhost/poolscope\n"
	    "poolscope archive migrate --to "
	    "clickhouses://w@a1,a2/poolscope\n" },
	{ "drop", "", "delete the tables and all their records", PLACE "yes",
	    "poolscope archive drop --yes --to clickhouse://localhost/test\n"
	    "poolscope archive drop --yes --to clickhouses://w@a1,a2/test\n" },
	{ .word = NULL },
};

static int
print(struct clickhouse *clickhouse, const char *verb,
    const struct values *values, struct err *err)
{
	enum report_format format = (enum report_format)values->format;
	char store[INSTANCE_PATH_BYTES];
	struct output output;
	int rc;

	if (values->store == NULL && instance_path(store, "store", err) != 0)
		return -1;
	if (output_open(&output, "-", err) != 0)
		return -1;
	if (strcmp(verb, "check") == 0)
		rc = check_archive(clickhouse, format, output.file, err);
	else
		rc = compare_store(clickhouse,
		    values->store != NULL ? values->store : store, format,
		    output.file, err);
	if (rc >= 0 && output_commit(&output, err) != 0)
		return -1;
	if (rc < 0)
		output_abort(&output);
	return rc;
}

/* 0: done; 1: something must be done; -1: failed. */
static int
do_verb(struct clickhouse *clickhouse, const char *verb,
    const struct values *values, struct err *err)
{
	if (clickhouse_find(clickhouse, err) != 0)
		return -1;
	if (strcmp(verb, "create") == 0)
		return create_archive(clickhouse, stdout, err);
	if (strcmp(verb, "check") == 0 || strcmp(verb, "verify") == 0)
		return print(clickhouse, verb, values, err);
	if (strcmp(verb, "migrate") == 0)
		return create_migrate(clickhouse, stdout, err);
	return create_drop(clickhouse, stdout, err);
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { options, values },
		{ opt_common, NULL }, { NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-archive",
		.synopsis = "VERB --to ADDRESS [options]",
		.summary = "make and check an archive; VERB is one of",
		.examples = "poolscope archive create --to "
			    "clickhouse://localhost/poolscope\n"
			    "poolscope archive check --to "
			    "clickhouse://localhost/poolscope\n",
		.tables = tables,
		.topics = topics,
		.operands_min = 1,
		.operands_max = 1,
	};

	opt_parse(&program, argc, argv, operands);
	opt_topic_check(&program, operands->at[0]);
	if (strcmp(operands->at[0], "drop") == 0 && !values->yes)
		opt_usage("drop deletes all records of the archive; confirm it "
			  "with --yes");
}

int
main(int argc, char **argv)
{
	struct values values = { 0 };
	struct clickhouse_options how = CLICKHOUSE_DEFAULT;
	struct clickhouse *clickhouse = NULL;
	struct opt_operands operands;
	struct err err = { 0 };
	int rc;

	parse(&values, argc, argv, &operands);
	how.url = values.to;
	how.password = values.password;
	how.cacert = values.cacert;
	how.insecure = values.insecure;
	if (clickhouse_open(&clickhouse, &how, "to", &err) != 0) {
		if (err.code == ERR_OPTION)
			opt_usage("%s", err.text);
		log_fail(&err);
		return EXIT_FAILURE;
	}
	rc = do_verb(clickhouse, operands.at[0], &values, &err);
	if (rc < 0)
		log_fail(&err);
	clickhouse_close(&clickhouse);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
