/*
 * poolscope-admin - verify, copy, restore and reorganize a store;
 * poolscope-admin(8).
 *
 * It has the options of the aggregator, because section aggregator of the
 * configuration names the store; each word accepts the options that it needs.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/admin/retire.h"
#include "aggregator/daemon/settings.h"
#include "aggregator/model/show.h"
#include "proto/config/instance.h"
#include "proto/config/opt_topic.h"
#include "proto/os/log.h"
#include "proto/record/node_list.h"
#include "proto/service/service.h"

struct admin_values {
	bool set_aside;
	const char *partition; /* of the nodes that are retired */
};

/* What the actions work with. */
struct admin {
	struct aggregator_settings_given given;
	struct aggregator_settings settings;
	struct admin_values values;
	struct service_values service; /* of the aggregator's section */
};

static const struct opt options[] = {
	{ "set-aside", 0, OPT_FLAG, OPT_TO(struct admin_values, set_aside),
	    NULL, "restore: rename an existing store to STORE.aside-N",
	    .flags = OPT_COMMAND },
	{ "partition", 'p', OPT_TEXT, OPT_TO(struct admin_values, partition),
	    "NAME",
	    "retire: nodes of this partition, account$pool (default: from the "
	    "batch system)",
	    .flags = OPT_COMMAND },
	{ .name = NULL },
};

/* ---- actions ---- */

static int
verify(struct admin *admin, const struct opt_operands *words, struct err *err)
{
	(void)words;
	return admin_verify(admin->settings.store, err);
}

static int
backup(struct admin *admin, const struct opt_operands *words, struct err *err)
{
	return admin_backup(admin->settings.store, words->at[0], err);
}

static int
restore(struct admin *admin, const struct opt_operands *words, struct err *err)
{
	if (admin_restore(admin->settings.store, words->at[0],
		admin->values.set_aside, admin->given.force_network_fs,
		err) != 0)
		return -1;
	return admin_find(admin->settings.store, err);
}

static int
compact(struct admin *admin, const struct opt_operands *words, struct err *err)
{
	struct writer_options how =
	    aggregator_settings_indexer(&admin->given, &admin->settings);

	how.retire_after = 0;
	(void)words;
	return admin_compact(admin->settings.store, &how, err);
}

static int
vacuum(struct admin *admin, const struct opt_operands *words, struct err *err)
{
	(void)words;
	return admin_vacuum(admin->settings.store, err);
}

static int
rebuild(struct admin *admin, const struct opt_operands *words, struct err *err)
{
	struct writer_options how =
	    aggregator_settings_indexer(&admin->given, &admin->settings);

	how.retire_after = 0;
	(void)words;
	return admin_rebuild(admin->settings.store, &how, err);
}

static int
retain_now(
    struct admin *admin, const struct opt_operands *words, struct err *err)
{
	(void)words;
	return admin_retain_now(admin->settings.store, err);
}

static int
end_archive(
    struct admin *admin, const struct opt_operands *words, struct err *err)
{
	(void)words;
	return admin_end_archive(admin->settings.store, err);
}

static int
retire(struct admin *admin, const struct opt_operands *words, struct err *err)
{
	struct retire how = { .store = admin->settings.store,
		.nodes = text_of(words->at[0]) };
	char partition[INSTANCE_PATH_BYTES];
	uint32_t count;
	const char *why;

	if (node_list_check(how.nodes, err) != 0 ||
	    instance_partition(partition, admin->values.partition, &why, err) !=
		0 ||
	    aggregator_settings_listeners(
		&admin->given, &admin->settings, err) != 0)
		return -1;
	how.partition = text_of(partition);
	how.endpoint = admin->given.listen.at[0];
	if (retire_nodes(&how, &count, err) != 0)
		return -1;
	if (!opt_common_values.quiet)
		printf("%u node%s of %s %s retired, until a record of %s "
		       "comes\n",
		    count, count == 1 ? "" : "s", partition,
		    count == 1 ? "is" : "are", count == 1 ? "it" : "them");
	return 0;
}

static int
list_models(
    struct admin *admin, const struct opt_operands *words, struct err *err)
{
	(void)words;
	return admin_list_models(admin->settings.store, err);
}

static int
check_models(
    struct admin *admin, const struct opt_operands *words, struct err *err)
{
	struct opt_list files = { .count = words->count };

	(void)admin;
	if (files.count > OPT_LIST_MAX)
		opt_usage("models check reads at most %d files", OPT_LIST_MAX);
	for (uint32_t i = 0; i < files.count; i++)
		files.at[i] = words->at[i];
	return model_check(&files, stdout, err);
}

enum store_need {
	NO_STORE,  /* works on files, not on a store */
	NEW_STORE, /* the store need not exist */
	STORE,
};

static const struct opt_topic topics[] = {
	{ "verify", "",
	    "check every row of journal and tables; the store may be in use",
	    "store",
	    "poolscope admin verify\npoolscope admin verify --store "
	    "/backup/monday\n" },
	{ "backup", " TO",
	    "copy the store to the new directory TO; it may be in use", "store",
	    "poolscope backup /backup/monday\npoolscope backup /backup/monday "
	    "--store /srv/store\n" },
	{ "restore", " FROM", "install a copy of the backup FROM as the store",
	    "store set-aside force-network-fs",
	    "poolscope restore /backup/monday\npoolscope restore "
	    "/backup/monday --set-aside\n" },
	{ "compact", "",
	    "index the journal and compact all records, those of the current "
	    "hour too",
	    "store models map-bytes force-network-fs",
	    "poolscope admin compact\npoolscope admin compact --store "
	    "/srv/store\n" },
	{ "vacuum", "", "return the space of deleted rows to the file system",
	    "store",
	    "poolscope admin vacuum\npoolscope admin vacuum --store "
	    "/srv/store\n" },
	{ "rebuild", "",
	    "derive phases and statistics again from the stored events",
	    "store models map-bytes force-network-fs",
	    "poolscope admin rebuild\npoolscope admin rebuild --models "
	    "/etc/poolscope/models\n" },
	{ "retain-now", "",
	    "say that the clock is right, so that records are deleted by age "
	    "again; the store may be in use",
	    "store",
	    "poolscope admin retain-now\npoolscope admin retain-now --store "
	    "/srv/store\n" },
	{ "end-archive", "",
	    "forget that the store has an archive, so that nothing waits for "
	    "it",
	    "store",
	    "poolscope admin end-archive\npoolscope admin end-archive --store "
	    "/srv/store\n" },
	{ "retire", " LIST",
	    "say that nodes are no longer part of their pool, so that nobody "
	    "misses them; the aggregator must run",
	    "partition store listen",
	    "poolscope nodes retire -p 'acct$pool' cn044\npoolscope nodes "
	    "retire -p 'acct$pool' 'cn[050-059]'\n" },
	{ "models", " list | check FILE...",
	    "print the models that the store follows; print what model files "
	    "define, or their errors",
	    "store",
	    "poolscope models list\npoolscope models check my-model.conf\n" },
	{ .word = NULL },
};

/* What may follow "models". */
static const struct opt_topic of_models[] = {
	{ .word = "list", .synopsis = "", .options = "store" },
	{ .word = "check", .synopsis = " FILE...", .options = "" },
	{ .word = NULL },
};

/* What each word does, and to what; `words` are those behind it. */
static const struct action {
	const char *word;
	int (*run)(struct admin *admin, const struct opt_operands *words,
	    struct err *err);
	enum store_need needs;
} actions[] = {
	{ "verify", verify, STORE },
	{ "backup", backup, STORE },
	{ "restore", restore, NEW_STORE },
	{ "compact", compact, STORE },
	{ "vacuum", vacuum, STORE },
	{ "rebuild", rebuild, STORE },
	{ "retain-now", retain_now, STORE },
	{ "end-archive", end_archive, STORE },
	{ "retire", retire, STORE },
	{ "list", list_models, STORE },
	{ "check", check_models, NO_STORE },
};

/* The words were checked. */
static const struct action *
take_action(struct opt_operands *words)
{
	const struct action *action = actions;

	while (strcmp(action->word, words->at[0]) != 0)
		action++;
	words->at++;
	words->count--;
	return action;
}

static int
run(struct admin *admin, const struct action *action,
    const struct opt_operands *words, struct err *err)
{
	if (action->needs != NO_STORE &&
	    aggregator_settings_store(&admin->given, &admin->settings, err) !=
		0)
		return -1;
	if (action->needs == STORE &&
	    admin_find(admin->settings.store, err) != 0)
		return -1;
	return action->run(admin, words, err);
}

int
main(int argc, char **argv)
{
	struct admin admin = { .given = aggregator_settings_default,
		.service = service_default };
	const struct opt_table tables[] = { { options, &admin.values },
		{ aggregator_settings_options, &admin.given },
		{ service_options, &admin.service }, { opt_common, NULL },
		{ NULL, NULL } };
	struct opt_program program = {
		.name = "poolscope-admin",
		.synopsis = "WHAT [options]",
		.summary = "verify, copy, restore and reorganize a store; WHAT "
			   "is one of",
		.examples =
		    "poolscope admin verify\npoolscope admin models list\n",
		.tables = tables,
		.section = "aggregator",
		.topics = topics,
	};
	struct opt_operands words;
	const struct action *action;
	struct err err = { 0 };

	service_begin_process();
	opt_parse(&program, argc, argv, &words);
	if (strcmp(words.at[0], "models") == 0) {
		program.name = "poolscope-admin models";
		program.topics = of_models;
		words.at++;
		words.count--;
		opt_topic_check(&program, words.count, words.at);
	}
	action = take_action(&words);
	if (run(&admin, action, &words, &err) == 0)
		return EXIT_SUCCESS;
	log_fail(&err);
	return err_status(&err);
}
