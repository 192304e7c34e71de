/*
 * poolscope-admin - verifies, copies, restores and reorganizes a store.
 * poolscope-admin(8).
 *
 * It has the options of the aggregator, whose section of the configuration
 * names the store; the command line of a verb takes those that it needs.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/daemon/settings.h"
#include "aggregator/model/show.h"
#include "proto/config/opt.h"
#include "proto/os/log.h"
#include "proto/service/service.h"

static struct {
	bool set_aside;
} values;

static const struct opt options[] = {
	{ "set-aside", 0, OPT_FLAG, &values.set_aside, NULL,
	    "restore: rename an existing store to STORE.aside-N", NULL,
	    OPT_COMMAND },
	{ .name = NULL },
};

static const struct opt *const tables[] = { options,
	aggregator_settings_options, service_options, opt_common, NULL };

static struct aggregator_settings settings;

/* ---- verbs ---- */

static int
verify(const struct opt_operands *words, struct err *err)
{
	(void)words;
	return admin_verify(settings.store, err);
}

static int
backup(const struct opt_operands *words, struct err *err)
{
	return admin_backup(settings.store, words->at[0], err);
}

static int
restore(const struct opt_operands *words, struct err *err)
{
	if (admin_restore(settings.store, words->at[0], values.set_aside,
		aggregator_settings_given.force_network_fs, err) != 0)
		return -1;
	return admin_find(settings.store, err);
}

static int
compact(const struct opt_operands *words, struct err *err)
{
	const struct writer_options how =
	    aggregator_settings_indexer(&settings);

	(void)words;
	return admin_compact(settings.store, &how, err);
}

static int
vacuum(const struct opt_operands *words, struct err *err)
{
	(void)words;
	return admin_vacuum(settings.store, err);
}

static int
rebuild(const struct opt_operands *words, struct err *err)
{
	const struct writer_options how =
	    aggregator_settings_indexer(&settings);

	(void)words;
	return admin_rebuild(settings.store, &how, err);
}

static int
list_models(const struct opt_operands *words, struct err *err)
{
	(void)words;
	return admin_list_models(settings.store, err);
}

static int
check_models(const struct opt_operands *words, struct err *err)
{
	struct opt_list files = { .count = words->count };

	for (uint32_t i = 0; i < files.count; i++)
		files.at[i] = words->at[i];
	return model_check(&files, stdout, err);
}

static const char *const takes_store[] = { "store", NULL };
static const char *const takes_restore[] = { "store", "set-aside",
	"force-network-fs", NULL };
static const char *const takes_writer[] = { "store", "models", "map-bytes",
	"force-network-fs", NULL };
static const char *const takes_nothing[] = { NULL };
/* Of all verbs, for --help and completion. */
static const char *const takes_any[] = { "store", "set-aside", "models",
	"map-bytes", "force-network-fs", NULL };

enum store_need {
	NO_STORE,  /* it works on files */
	NEW_STORE, /* the store need not exist */
	STORE,
};

static const struct verb {
	const char *word, *second; /* "models", "list" */
	const char *synopsis, *summary;
	uint32_t min, max; /* words behind it */
	const char *const *takes;
	enum store_need needs;
	int (*run)(const struct opt_operands *words, struct err *err);
} verbs[] = {
	{ "verify", NULL, "verify [options]",
	    "check every row of journal and tables; the store may be in use", 0,
	    0, takes_store, STORE, verify },
	{ "backup", NULL, "backup TO [options]",
	    "copy the store to the new directory TO; it may be in use", 1, 1,
	    takes_store, STORE, backup },
	{ "restore", NULL, "restore FROM [--set-aside] [options]",
	    "install a copy of the backup FROM as the store", 1, 1,
	    takes_restore, NEW_STORE, restore },
	{ "compact", NULL, "compact [options]",
	    "index the journal and compact all records, those of the current "
	    "hour too",
	    0, 0, takes_writer, STORE, compact },
	{ "vacuum", NULL, "vacuum [options]",
	    "return the space of deleted rows to the file system", 0, 0,
	    takes_store, STORE, vacuum },
	{ "rebuild", NULL, "rebuild [options]",
	    "derive phases and statistics again from the stored events", 0, 0,
	    takes_writer, STORE, rebuild },
	{ "models", "list", "models list [options]",
	    "print the models that the store follows; it may be in use", 0, 0,
	    takes_store, STORE, list_models },
	{ "models", "check", "models check FILE...",
	    "print what model files define, or their errors", 1, OPT_LIST_MAX,
	    takes_nothing, NO_STORE, check_models },
};

static const struct opt_program all_verbs = {
	.name = "poolscope-admin",
	.synopsis = "verify | backup TO | restore FROM | compact | vacuum | "
		    "rebuild | models list | models check FILE... [options]",
	.summary = "verify, copy, restore and reorganize a store; "
		   "VERB --help shows the options of one verb",
	.tables = tables,
	.operands_min = 1,
	.operands_max = 1 + OPT_LIST_MAX,
	.section = "aggregator",
	.takes = takes_any,
};

/* The verb of the command line, which stands first; `*words`: how many words
 * it is.  NULL: there is none. */
static const struct verb *
find_verb(int argc, char **argv, int *words)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		const struct verb *verb = &verbs[i];

		*words = verb->second != NULL ? 2 : 1;
		if (argc > *words && strcmp(argv[1], verb->word) == 0 &&
		    (verb->second == NULL ||
			strcmp(argv[2], verb->second) == 0))
			return verb;
	}
	return NULL;
}

static const struct verb *
parse(int argc, char **argv, struct opt_operands *operands)
{
	int words;
	const struct verb *verb = find_verb(argc, argv, &words);
	struct opt_program program = all_verbs;

	if (verb == NULL) {
		opt_parse(&program, argc, argv, operands);
		opt_usage("the first word is a verb: verify, backup, restore, "
			  "compact, vacuum, rebuild, models list or models "
			  "check");
	}
	program.synopsis = verb->synopsis;
	program.summary = verb->summary;
	program.operands_min = verb->min;
	program.operands_max = verb->max;
	program.takes = verb->takes;
	opt_parse(&program, argc - words, argv + words, operands);
	if (opt_common_values.quiet && opt_common_values.log > LOG_WARN)
		log_init(program.name, LOG_WARN);
	return verb;
}

static int
run(const struct verb *verb, const struct opt_operands *words, struct err *err)
{
	if (verb->needs != NO_STORE &&
	    aggregator_settings_store(&settings, err) != 0)
		return -1;
	if (verb->needs == STORE && admin_find(settings.store, err) != 0)
		return -1;
	return verb->run(words, err);
}

int
main(int argc, char **argv)
{
	struct opt_operands words;
	const struct verb *verb;
	struct err err = { "" };

	service_begin_process();
	verb = parse(argc, argv, &words);
	if (run(verb, &words, &err) == 0)
		return EXIT_SUCCESS;
	log_fail(&err);
	return EXIT_FAILURE;
}
