/*
 * poolscope-spool - looks into the spool directory of an agent.
 * poolscope-spool(8).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "agents/spool/view/commands.h"
#include "proto/config/opt_verb.h"
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
	    "PATTERN", "cat: print only partitions that match (* and ?)", NULL,
	    0 },
	{ "node", 'n', OPT_TEXT, OPT_TO(struct values, node), "NAME",
	    "cat: set the node of records that name none (those of the agent's "
	    "own node)",
	    NULL, 0 },
	{ "unacknowledged", 'u', OPT_FLAG,
	    OPT_TO(struct values, unacknowledged), NULL,
	    "cat: print only what the aggregator has not acknowledged", NULL,
	    0 },
	{ .name = NULL },
};

enum { LS, CAT, VERIFY, VERBS };
static const char *const takes_ls[] = { "format", "sort", "top", "columns",
	"table", NULL };
static const char *const takes_cat[] = { "partition", "node", "unacknowledged",
	NULL };
static const char *const takes_none[] = { NULL };
static const struct opt_verb verbs[VERBS] = {
	[LS] = { "ls", NULL, "ls DIR [options]",
	    "list segments, streams and their numbers", 1, 1, takes_ls,
	    "poolscope spool ls /var/lib/poolscope/spool\npoolscope spool ls "
	    "/var/lib/poolscope/spool --format json\n" },
	[CAT] = { "cat", NULL, "cat DIR [options]",
	    "print the records as lines of JSON, as poolscope-dump does", 1, 1,
	    takes_cat,
	    "poolscope spool cat /var/lib/poolscope/spool -u\npoolscope spool "
	    "cat /var/lib/poolscope/spool -n n1\n" },
	[VERIFY] = { "verify", NULL, "verify DIR [options]",
	    "check every checksum, every record and every number", 1, 1,
	    takes_none,
	    "poolscope spool verify /var/lib/poolscope/spool\npoolscope spool "
	    "verify --log debug /var/lib/poolscope/spool\n" },
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
print(const struct values *values, uint32_t verb, struct view *view,
    const char *dir, struct err *err)
{
	const struct view_cat_options how = { values->partition, values->node,
		values->unacknowledged };
	struct giving giving = { view, dir };
	int rc;

	if (verb == VERIFY)
		return view_verify(view, err);
	if (verb == LS)
		rc = answer_run(
		    &values->answer, view_list_tables, give_list, &giving, err);
	else
		rc = view_cat(view, &how, stdout, err);
	/* Print what could be read even if the rest is damaged. */
	if (fflush(stdout) != 0 || ferror(stdout))
		return err_set(err, "standard output cannot be written");
	return rc;
}

static uint32_t
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { options, values },
		{ answer_options, &values->answer }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-spool",
		.synopsis = "ls | cat | verify DIR [options]",
		.summary = "look into the spool directory DIR of an agent, "
			   "which may be running",
		.examples = "poolscope spool ls /var/lib/poolscope/spool\n"
			    "poolscope spool cat /var/lib/poolscope/spool -u\n",
		.tables = tables,
	};

	return opt_verb_parse(&program, verbs, VERBS, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	uint32_t verb;
	struct opt_operands words;
	struct sandbox sandbox;
	struct err err = { 0 };
	struct view *view;
	int rc;

	verb = parse(&values, argc, argv, &words);
	if (verb == LS)
		answer_options_judge(&values.answer, view_list_tables);
	sandbox_begin(&sandbox);
	sandbox_read(&sandbox, words.at[0]);
	sandbox_close(&sandbox, false);
	rc = view_open(&view, words.at[0], &err);
	if (rc == 0) {
		rc = print(&values, verb, view, words.at[0], &err);
		if (rc != 0)
			err_prefix(&err, "%s", words.at[0]);
	}
	view_close(&view);
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? EXIT_SUCCESS : err_status(&err);
}
