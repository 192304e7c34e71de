/*
 * poolscope-spool - looks into the spool directory of an agent.
 * poolscope-spool(8).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/spool/view/commands.h"
#include "proto/config/opt.h"
#include "proto/os/log.h"
#include "proto/service/sandbox.h"

struct values {
	const char *partition, *node;
	struct answer_options answer;
	bool unacknowledged;
};

static const struct values defaults = { .node = "" };

static const struct opt options[] = {
	{ "partition", 'p', OPT_TEXT, OPT_TO(struct values, partition),
	    "PATTERN", "cat: print only partitions that match (* and ?)" },
	{ "node", 'n', OPT_TEXT, OPT_TO(struct values, node), "NAME",
	    "cat: set the node of records that name none (those of the agent's "
	    "own node)" },
	{ "unacknowledged", 'u', OPT_FLAG,
	    OPT_TO(struct values, unacknowledged), NULL,
	    "cat: print only what the aggregator has not acknowledged" },
	{ .name = NULL },
};

static const struct opt_topic topics[] = {
	{ "ls", " DIR", "list segments, streams and their numbers",
	    "format sort top columns table",
	    "poolscope spool ls /var/lib/poolscope/spool\npoolscope spool ls "
	    "/var/lib/poolscope/spool --format json\n" },
	{ "cat", " DIR",
	    "print the records as lines of JSON, as poolscope-dump does",
	    "partition node unacknowledged",
	    "poolscope spool cat /var/lib/poolscope/spool -u\npoolscope spool "
	    "cat /var/lib/poolscope/spool -n n1\n" },
	{ "verify", " DIR",
	    "check every checksum, every record and every number", "",
	    "poolscope spool verify /var/lib/poolscope/spool\npoolscope spool "
	    "verify --log debug /var/lib/poolscope/spool\n" },
	{ .word = NULL },
};

struct giving {
	struct view *view;
	const char *dir;
};

static int
give_list(void *arg, struct answer *answer, struct err *err)
{
	struct giving *giving = arg;

	return view_list(giving->view, giving->dir, answer, err);
}

static int
print(const struct values *values, const char *what, struct view *view,
    const char *dir, struct err *err)
{
	const struct view_cat_options how = { values->partition, values->node,
		values->unacknowledged };
	struct giving giving = { view, dir };
	int rc;

	if (strcmp(what, "verify") == 0)
		return view_verify(view, err);
	if (strcmp(what, "ls") == 0)
		rc = answer_run(
		    &values->answer, view_list_tables, give_list, &giving, err);
	else
		rc = view_cat(view, &how, stdout, err);
	/* Print what could be read even if the rest is damaged. */
	if (fflush(stdout) != 0 || ferror(stdout))
		return err_set(err, "standard output cannot be written");
	return rc;
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { options, values },
		{ answer_options, &values->answer }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-spool",
		.synopsis = "WHAT [options]",
		.summary = "look into the spool directory DIR of an agent, "
			   "which may be running; WHAT is one of",
		.examples = "poolscope spool ls /var/lib/poolscope/spool\n"
			    "poolscope spool cat /var/lib/poolscope/spool -u\n",
		.tables = tables,
		.topics = topics,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	struct opt_operands words;
	struct sandbox sandbox;
	struct err err = { 0 };
	const char *dir;
	struct view *view;
	int rc;

	parse(&values, argc, argv, &words);
	dir = words.at[1];
	if (strcmp(words.at[0], "ls") == 0)
		answer_options_judge(&values.answer, view_list_tables);
	sandbox_begin(&sandbox);
	sandbox_read(&sandbox, dir);
	sandbox_close(&sandbox, false);
	rc = view_open(&view, dir, &err);
	if (rc == 0) {
		rc = print(&values, words.at[0], view, dir, &err);
		if (rc != 0)
			err_prefix(&err, "%s", dir);
	}
	view_close(&view);
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? EXIT_SUCCESS : err_status(&err);
}
