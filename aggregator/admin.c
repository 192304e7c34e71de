/*
 * poolscope-admin - verify, copy, restore and reorganize a store;
 * poolscope-admin(8).
 *
 * It has the options of the aggregator, because section aggregator of the
 * configuration names the store; each verb accepts the options that it needs.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/admin.h"

#include <stdio.h>
#include <stdlib.h>

#include "aggregator/daemon/settings.h"
#include "aggregator/model/show.h"
#include "proto/config/opt_verb.h"
#include "proto/os/log.h"
#include "proto/service/service.h"

struct admin_values {
	bool set_aside;
};

/* What a verb works with. */
struct admin {
	struct aggregator_settings_given given;
	struct aggregator_settings settings;
	struct admin_values values;
	struct service_values service; /* of the aggregator's section */
};

static const struct opt options[] = {
	{ "set-aside", 0, OPT_FLAG, OPT_TO(struct admin_values, set_aside),
	    NULL, "restore: rename an existing store to STORE.aside-N", NULL,
	    OPT_COMMAND },
	{ .name = NULL },
};

/* ---- verbs ---- */

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
	const struct writer_options how =
	    aggregator_settings_indexer(&admin->given, &admin->settings);

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
	const struct writer_options how =
	    aggregator_settings_indexer(&admin->given, &admin->settings);

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
/* All verbs, for --help and completion. */
static const char *const takes_any[] = { "store", "set-aside", "models",
	"map-bytes", "force-network-fs", NULL };

enum store_need {
	NO_STORE,  /* works on files, not on a store */
	NEW_STORE, /* the store need not exist */
	STORE,
};

static const struct opt_verb verbs[] = {
	{ "verify", NULL, "verify [options]",
	    "check every row of journal and tables; the store may be in use", 0,
	    0, takes_store,
	    "poolscope admin verify\npoolscope admin verify --store "
	    "/backup/monday\n" },
	{ "backup", NULL, "backup TO [options]",
	    "copy the store to the new directory TO; it may be in use", 1, 1,
	    takes_store,
	    "poolscope backup /backup/monday\npoolscope backup /backup/monday "
	    "--store /srv/store\n" },
	{ "restore", NULL, "restore FROM [--set-aside] [options]",
	    "install a copy of the backup FROM as the store", 1, 1,
	    takes_restore,
	    "poolscope restore /backup/monday\npoolscope restore "
	    "/backup/monday --set-aside\n" },
	{ "compact", NULL, "compact [options]",
	    "index the journal and compact all records, those of the current "
	    "hour too",
	    0, 0, takes_writer,
	    "poolscope admin compact\npoolscope admin compact --store "
	    "/srv/store\n" },
	{ "vacuum", NULL, "vacuum [options]",
	    "return the space of deleted rows to the file system", 0, 0,
	    takes_store,
	    "poolscope admin vacuum\npoolscope admin vacuum --store "
	    "/srv/store\n" },
	{ "rebuild", NULL, "rebuild [options]",
	    "derive phases and statistics again from the stored events", 0, 0,
	    takes_writer,
	    "poolscope admin rebuild\npoolscope admin rebuild --models "
	    "/etc/poolscope/models\n" },
	{ "retain-now", NULL, "retain-now [options]",
	    "say that the clock is right, so that records are deleted by age "
	    "again; the store may be in use",
	    0, 0, takes_store,
	    "poolscope admin retain-now\npoolscope admin retain-now --store "
	    "/srv/store\n" },
	{ "end-archive", NULL, "end-archive [options]",
	    "forget that the store has an archive, so that nothing waits for "
	    "it",
	    0, 0, takes_store,
	    "poolscope admin end-archive\npoolscope admin end-archive --store "
	    "/srv/store\n" },
	{ "models", "list", "models list [options]",
	    "print the models that the store follows; it may be in use", 0, 0,
	    takes_store,
	    "poolscope models list\npoolscope models list --store "
	    "/srv/store\n" },
	{ "models", "check", "models check FILE...",
	    "print what model files define, or their errors", 1, OPT_LIST_MAX,
	    takes_nothing,
	    "poolscope models check my-model.conf\npoolscope models check "
	    "models/*.conf\n" },
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

/* The action of each verb, and what it does to the store. */
static const struct action {
	int (*run)(struct admin *admin, const struct opt_operands *words,
	    struct err *err);
	enum store_need needs;
} actions[VERBS] = {
	{ verify, STORE },
	{ backup, STORE },
	{ restore, NEW_STORE },
	{ compact, STORE },
	{ vacuum, STORE },
	{ rebuild, STORE },
	{ retain_now, STORE },
	{ end_archive, STORE },
	{ list_models, STORE },
	{ check_models, NO_STORE },
};

static int
run(struct admin *admin, const struct action *verb,
    const struct opt_operands *words, struct err *err)
{
	if (verb->needs != NO_STORE && aggregator_settings_store(&admin->given,
					   &admin->settings, err) != 0)
		return -1;
	if (verb->needs == STORE && admin_find(admin->settings.store, err) != 0)
		return -1;
	return verb->run(admin, words, err);
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
	const struct opt_program program = {
		.name = "poolscope-admin",
		.synopsis =
		    "verify | backup TO | restore FROM | compact | vacuum | "
		    "rebuild | retain-now | end-archive | models list | models "
		    "check FILE... [options]",
		.summary = "verify, copy, restore and reorganize a store; VERB "
			   "--help shows the options of one verb",
		.examples =
		    "poolscope admin verify\npoolscope admin models list\n",
		.tables = tables,
		.section = "aggregator",
		.takes = takes_any,
	};
	struct opt_operands words;
	struct err err = { 0 };
	uint32_t verb;

	service_begin_process();
	verb = opt_verb_parse(&program, verbs, VERBS, argc, argv, &words);
	if (run(&admin, &actions[verb], &words, &err) == 0)
		return EXIT_SUCCESS;
	log_fail(&err);
	return err_status(&err);
}
