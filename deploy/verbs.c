/*
 * verbs - the verbs of the front command, and their help.
 * SPDX-License-Identifier: MIT
 */
#include "deploy/verbs.h"

#include <string.h>

static const char of_up[] =
    "usage: poolscope up [--dir DIR] [--agent] [--receiver]\n"
    "                    [--listen ENDPOINT] [--reader ENDPOINT] "
    "[--share GROUP]\n"
    "\n"
    "start the aggregator and the broker in the background, and print their\n"
    "endpoints\n"
    "\n"
    "options:\n"
    "      --agent              start this host's agent, too\n"
    "      --receiver           start the agent, and what takes numbers of "
    "other\n"
    "                           programs, too\n"
    "      --listen ENDPOINT    also listen for agents, as "
    "tcp://0.0.0.0:5570;\n"
    "                           creates the keys; may be repeated\n"
    "      --reader ENDPOINT    also listen for readers; may be repeated\n"
    "      --share GROUP        let the members of this group use the "
    "instance\n"
    "      --dir DIR            instance directory: endpoints, store and "
    "spool\n"
    "  -q, --quiet              print errors only\n"
    "\n"
    "examples:\n"
    "  poolscope up --agent\n"
    "  poolscope up --listen tcp://0.0.0.0:5570 --reader tcp://0.0.0.0:5571\n";

static const char of_down[] =
    "usage: poolscope down [--dir DIR]\n"
    "\n"
    "drain and stop the receiver, the agent, the broker and the aggregator of "
    "an\n"
    "instance\n"
    "\n"
    "options:\n"
    "      --dir DIR            instance directory\n"
    "  -q, --quiet              print errors only\n"
    "\n"
    "examples:\n"
    "  poolscope down\n"
    "  poolscope down --dir /tmp/ps\n";

static const char of_demo[] =
    "usage: poolscope demo [-o DIR] [--quick]\n"
    "\n"
    "run everything once on this machine, for a minute\n"
    "\n"
    "options:\n"
    "  -o, --output DIR         write the results here (default: demo-out)\n"
    "      --quick              take the samples of a minute in six seconds\n"
    "  -q, --quiet              print errors only\n"
    "\n"
    "examples:\n"
    "  poolscope demo\n"
    "  poolscope demo --quick -o /tmp/demo\n";

static const char of_job[] =
    "usage: poolscope job start|stop ID [options of emit]\n"
    "\n"
    "record the begin or end of a job on this node\n"
    "\n"
    "options:\n"
    "      --attr KEY=VALUE     add an attribute; may be repeated\n"
    "                           poolscope emit --help lists the others\n"
    "\n"
    "examples:\n"
    "  poolscope job start 4711 --attr user=ada\n"
    "  poolscope job stop 4711\n";

static const char of_models[] =
    "usage: poolscope models check FILE...\n"
    "       poolscope models list [--dir DIR]\n"
    "\n"
    "print what model files define, or their errors; print the models of the\n"
    "store\n"
    "\n"
    "options:\n"
    "      --dir DIR            instance directory\n"
    "\n"
    "examples:\n"
    "  poolscope models check my-model.conf\n"
    "  poolscope models list\n";

const struct verb verbs[] = {
	{ "up", VERB_SCRIPT, NULL,
	    "start aggregator, broker (and this host's agent)", of_up },
	{ "down", VERB_SCRIPT, NULL, "drain and stop them", of_down },
	{ "demo", VERB_SCRIPT, NULL,
	    "run everything once on this machine, for a minute", of_demo },
	{ "status", VERB_WORD, "poolscope-stats",
	    "print the state of the store and the broker", NULL },
	{ "nodes", VERB_WORD, "poolscope-stats",
	    "list the nodes, and what is wrong with them; retire some", NULL },
	{ "why", VERB_WORD, "poolscope-stats",
	    "say what the numbers of a pool mean, in a few sentences", NULL },
	{ "backup", VERB_WORD, "poolscope-admin",
	    "copy the store, also while it is in use", NULL },
	{ "restore", VERB_WORD, "poolscope-admin",
	    "replace the store by a copy of a backup", NULL },
	{ "models", VERB_WORD, "poolscope-admin",
	    "print what model files define, or their errors", of_models },
	{ "partition", VERB_PROGRAM, "poolscope-partitions",
	    "list the partitions of the store, or drop one", NULL },
	{ "archive", VERB_PROGRAM, "poolscope-archive",
	    "make an archive in ClickHouse, compare it, restore from it",
	    NULL },
	{ "keys", VERB_PROGRAM, "poolscope-keys",
	    "manage the keys of an instance", NULL },
	{ "config", VERB_PROGRAM, "poolscope-config",
	    "check the configuration, show all values with their origin",
	    NULL },
	{ "emit", VERB_PROGRAM, "poolscope-emit",
	    "publish an event, or numbers", NULL },
	{ "job", VERB_JOB, "poolscope-emit",
	    "record the begin or end of a job on this node", of_job },
	{ "run", VERB_PROGRAM, "poolscope-run",
	    "run a command and publish its span", NULL },
	{ "import", VERB_PROGRAM, "poolscope-import",
	    "import data from older tools, or a dump", NULL },
	{ "generate", VERB_PROGRAM, "poolscope-generate",
	    "make up data for demos and benchmarks", NULL },
	{ "stats", VERB_PROGRAM, "poolscope-stats",
	    "print startups, phases, usage, test runs as numbers", NULL },
	{ "compare", VERB_WORD, "poolscope-stats",
	    "say whether new starts, test runs, results or jobs are slower",
	    NULL },
	{ "top", VERB_PROGRAM, "poolscope-top",
	    "show in the terminal what the nodes of a pool do now", NULL },
	{ "plot", VERB_PROGRAM, "poolscope-plot", "draw them", NULL },
	{ "trace", VERB_PROGRAM, "poolscope-trace",
	    "write a timeline for Perfetto or Chrome", NULL },
	{ "dump", VERB_PROGRAM, "poolscope-dump", "print the records of a pool",
	    NULL },
	{ "results", VERB_PROGRAM, "poolscope-results",
	    "print results of benchmarks", NULL },
	{ "upload", VERB_PROGRAM, "poolscope-upload",
	    "upload results, files, records and metrics", NULL },
	{ "fetch", VERB_PROGRAM, "poolscope-fetch",
	    "print the rows of an uploaded event table", NULL },
	{ "web", VERB_PROGRAM, "poolscope-web",
	    "serve a page about pools, for browsers and programs", NULL },
	{ "mcp", VERB_PROGRAM, "poolscope-mcp",
	    "answer questions by the Model Context Protocol", NULL },
	{ "report", VERB_PROGRAM, "poolscope-report",
	    "write what is known of a pool into one file", NULL },
	{ "agent", VERB_PROGRAM, "poolscope-agent",
	    "accept records on this host and send them", NULL },
	{ "receiver", VERB_PROGRAM, "poolscope-receiver",
	    "accept the numbers of other programs on this host", NULL },
	{ "broker", VERB_PROGRAM, "poolscope-broker",
	    "pass batches up and acknowledgements down", NULL },
	{ "aggregator", VERB_PROGRAM, "poolscope-aggregator",
	    "store the records of agents and answer queries", NULL },
	{ "admin", VERB_PROGRAM, "poolscope-admin",
	    "check a store, compact it, derive phases again", NULL },
	{ "spool", VERB_PROGRAM, "poolscope-spool",
	    "look into the spool of an agent", NULL },
	{ "wire", VERB_PROGRAM, "poolscope-wire",
	    "print the frames in a file or a pipe", NULL },
	{ NULL, VERB_PROGRAM, NULL, NULL, NULL },
};

static const struct {
	const char *first, *title; /* the group that begins at this verb */
} groups[] = {
	{ "up", "An instance" },
	{ "emit", "Records" },
	{ "stats", "Answers" },
	{ "agent", "Services and inspection" },
};

void
verbs_help(FILE *to)
{
	size_t group = 0;

	fprintf(to, "usage: poolscope VERB [options]\n");
	for (const struct verb *v = verbs; v->word != NULL; v++) {
		if (group < sizeof(groups) / sizeof(*groups) &&
		    strcmp(v->word, groups[group].first) == 0)
			fprintf(to, "\n%s:\n", groups[group++].title);
		fprintf(to, "  %-11s %s\n", v->word, v->summary);
	}
	fprintf(to, "\npoolscope help VERB, or VERB --help, says more; so do "
		    "their manual pages.\n");
}

void
verbs_help_of(const struct verb *verb)
{
	fputs(verb->help, stdout);
}
