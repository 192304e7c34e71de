/*
 * poolscope-archive - make the tables of an archive in ClickHouse, check them,
 * and make a store of them.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregator/admin/confirm.h"
#include "aggregator/admin/admin.h"
#include "aggregator/archive/upkeep/compare.h"
#include "aggregator/archive/upkeep/owners_report.h"
#include "aggregator/archive/read/restore.h"
#include "aggregator/archive/upkeep/retain.h"
#include "aggregator/archive/schema/check.h"
#include "aggregator/archive/schema/create.h"
#include "aggregator/archive/schema/schema.h"
#include "aggregator/archive/takeover/takeover.h"
#include "proto/clickhouse/client.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

/* Without a byte of an answer: servers sort before they send. */
#define READ_NS (30 * NS_PER_SECOND)

enum { DAYS_MAX = 36500 };

struct values {
	const char *to, *password, *cacert, *store, *pattern;
	bool insecure, yes, repair, incomplete;
	struct answer_options answer;
	int64_t since_ns, before_ns, ttl_ns, ttl_move_ns;
	struct schema_storage storage;
	const struct clickhouse_options *archive;
};

static const struct opt options[] = {
	{ "to", 0, OPT_TEXT, OPT_TO(struct values, to), "ADDRESS",
	    "the archive: clickhouse://[USER@]HOST[:PORT][,HOST...]/DATABASE, "
	    "or clickhouses:// by TLS",
	    NULL, false },
	{ "from", 0, OPT_TEXT, OPT_TO(struct values, to), "ADDRESS",
	    "restore: the archive, as in --to", NULL, false },
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
	{ "store", 0, OPT_TEXT, OPT_TO(struct values, store), "DIR",
	    "verify, takeover: directory of the store (default: DIR/store)",
	    NULL, false },
	{ "repair", 0, OPT_FLAG, OPT_TO(struct values, repair), NULL,
	    "verify: have the aggregator send again what a replica lacks; "
	    "stop it first",
	    NULL, OPT_COMMAND },
	{ "partition", 'p', OPT_TEXT, OPT_TO(struct values, pattern), "PATTERN",
	    "restore, retain, move: only these partitions (* and ?; default: "
	    "all)",
	    NULL, false },
	{ "since", 0, OPT_TIME, OPT_TO(struct values, since_ns), "TIME",
	    "restore: leave records of hours before this time in the archive",
	    NULL, false },
	{ "incomplete", 0, OPT_FLAG, OPT_TO(struct values, incomplete), NULL,
	    "restore: make the store although the archive lacks records that "
	    "its aggregator had",
	    NULL, OPT_COMMAND },
	{ "ttl", 0, OPT_DURATION, OPT_TO(struct values, ttl_ns), "TIME",
	    "create: have the servers delete days of records that ended this "
	    "long ago, in whole days (400d)",
	    NULL, OPT_COMMAND },
	{ "ttl-move", 0, OPT_DURATION, OPT_TO(struct values, ttl_move_ns),
	    "TIME", "create: move rows to another volume after this time", NULL,
	    OPT_COMMAND },
	{ "volume", 0, OPT_TEXT, OPT_TO(struct values, storage.volume), "NAME",
	    "create: that volume of the storage policy (default: cold)", NULL,
	    OPT_COMMAND },
	{ "storage-policy", 0, OPT_TEXT, OPT_TO(struct values, storage.policy),
	    "NAME", "create: keep the tables on the disks of this policy", NULL,
	    OPT_COMMAND },
	{ "before", 0, OPT_TIME, OPT_TO(struct values, before_ns), "TIME",
	    "retain: delete records of days that end before this time", NULL,
	    OPT_COMMAND },
	{ "yes", 0, OPT_FLAG, OPT_TO(struct values, yes), NULL,
	    "drop: do not ask; required without a terminal", NULL,
	    OPT_COMMAND },
	{ .name = NULL },
};

#define ANSWER "format sort top columns"
#define PLACE  "to archive-password archive-cacert archive-insecure "

static const struct opt_topic topics[] = {
	{ "create", "", "make what is missing of the tables",
	    PLACE "ttl ttl-move volume storage-policy",
	    "poolscope archive create --to clickhouse://localhost/poolscope\n"
	    "poolscope archive create --to clickhouses://w@a1,a2/poolscope\n" },
	{ "check", "", "print how the replicas are, and what must be done",
	    PLACE ANSWER,
	    "poolscope archive check --to clickhouse://localhost/poolscope\n"
	    "poolscope archive check --to clickhouses://w@a1,a2/poolscope "
	    "--format json\n" },
	{ "status", "", "print what each replica has of each table",
	    PLACE ANSWER,
	    "poolscope archive status --to clickhouse://localhost/poolscope\n"
	    "poolscope archive status --sort bytes --top 5 --to "
	    "clickhouses://w@a1,a2/poolscope\n" },
	{ "owners", "", "print who writes to it, and how far each one is",
	    PLACE ANSWER,
	    "poolscope archive owners --to clickhouse://localhost/poolscope\n"
	    "poolscope archive owners --to "
	    "clickhouses://w@a1,a2/poolscope --format json\n" },
	{ "verify", "", "see whether each replica has what was committed",
	    PLACE ANSWER " store repair",
	    "poolscope archive verify --to clickhouse://localhost/poolscope\n"
	    "poolscope archive verify --repair --store "
	    "/var/lib/poolscope/store --to "
	    "clickhouses://w@a1,a2/poolscope\n" },
	{ "retain", "", "delete old records", PLACE "before partition",
	    "poolscope archive retain --before -90d --to "
	    "clickhouse://localhost/poolscope\n"
	    "poolscope archive retain --before 2026-01-01 -p 'test/*' --to "
	    "clickhouses://w@a1,a2/poolscope\n" },
	{ "drop", "", "delete the tables and all their records", PLACE "yes",
	    "poolscope archive drop --yes --to clickhouse://localhost/test\n"
	    "poolscope archive drop --yes --to clickhouses://w@a1,a2/test\n" },
	{ "restore", " STORE", "make a store of what the archive has",
	    "from archive-password archive-cacert archive-insecure partition "
	    "since incomplete",
	    "poolscope archive restore --from "
	    "clickhouse://localhost/poolscope store\n"
	    "poolscope archive restore --from clickhouses://w@a1,a2/poolscope "
	    "-p 'pool/*' --since 2026-11-01 store\n" },
	{ "takeover", "", "let a restored store write its partitions",
	    PLACE "store",
	    "poolscope archive takeover --to clickhouse://localhost/poolscope\n"
	    "poolscope archive takeover --store /var/lib/poolscope/store --to "
	    "clickhouses://w@a1,a2/poolscope\n" },
	{ "move", " STORE",
	    "make a store of some partitions, which writes them from now on",
	    PLACE "partition",
	    "poolscope archive move -p 'acct$pool' --to "
	    "clickhouse://localhost/poolscope store\n"
	    "poolscope archive move -p 'test/*' --to "
	    "clickhouses://w@a1,a2/poolscope store\n" },
	{ .word = NULL },
};

/* ---- restore ---- */

static void
print_report(const struct restore_report *report, const char *dir)
{
	char when[CLOCK_TEXT_BYTES] = "never";

	if (report->last_ns != INT64_MIN)
		clock_text(when, report->last_ns, 0);
	printf("%s: %u partitions, %llu records, %llu other rows, received up "
	       "to %s\n",
	    dir, report->partitions, (unsigned long long)report->records,
	    (unsigned long long)report->rows, when);
}

static void
warn_of_lack(const char *sentence)
{
	log_warn("%s", sentence);
}

/* As a restored backup: verified, and with what it may lack. */
static int
restore(struct clickhouse *clickhouse, const struct values *values,
    const char *dir, struct err *err)
{
	const struct restore_options how = { .archive = *values->archive,
		.pattern = values->pattern,
		.since_ns = values->since_ns,
		.progress = isatty(STDERR_FILENO) == 1,
		.on_lack = values->incomplete ? warn_of_lack : NULL };
	struct restore_place place;
	struct restore_report report;

	if (schema_check(clickhouse, err) != 0 ||
	    restore_place(&place, dir, err) != 0)
		return -1;
	if (restore_store(clickhouse, place.copy, &how, &report, err) != 0 ||
	    admin_note_restore(place.copy, err) != 0 ||
	    admin_verify(place.copy, err) != 0 ||
	    restore_install(&place, err) != 0) {
		restore_give_up(&place);
		return -1;
	}
	print_report(&report, dir);
	return 0;
}

static int
retain(
    struct clickhouse *clickhouse, const struct values *values, struct err *err)
{
	char when[CLOCK_TEXT_BYTES];
	struct retain_report report;

	if (schema_check(clickhouse, err) != 0 ||
	    retain_records(clickhouse, values->pattern, values->before_ns,
		&report, err) != 0)
		return -1;
	clock_text(when, report.before_ns, 0);
	if (values->pattern != NULL)
		printf("archive %s: records of %u partitions before %s are "
		       "being deleted\n",
		    clickhouse_database(clickhouse), report.partitions, when);
	else
		printf("archive %s: dropped %u days of tables before %s\n",
		    clickhouse_database(clickhouse), report.days, when);
	return 0;
}

static int
takeover(struct clickhouse *clickhouse, const char *dir, struct err *err)
{
	char store[INSTANCE_PATH_BYTES];
	struct takeover_report report;
	struct lockfile lockfile = { 0 };
	int rc;

	if (dir == NULL && instance_path(store, "store", err) != 0)
		return -1;
	if (dir == NULL)
		dir = store;
	if (admin_find(dir, err) != 0 || schema_check(clickhouse, err) != 0 ||
	    admin_lock(&lockfile, dir, err) != 0)
		return -1;
	rc = takeover_store(clickhouse, dir, &report, err);
	lockfile_release(&lockfile);
	if (rc != 0)
		return -1;
	printf("%s: epoch %u, %u partitions, %u claims of others ended\n", dir,
	    report.epoch, report.partitions, report.ended);
	return 0;
}

/* What is interrupted in between goes on with takeover. */
static int
move(struct clickhouse *clickhouse, const struct values *values,
    const char *dir, struct err *err)
{
	return restore(clickhouse, values, dir, err) != 0
		   ? -1
		   : takeover(clickhouse, dir, err);
}

/* ---- what prints an answer ---- */

struct giving {
	struct clickhouse *clickhouse;
	const struct values *values;
};

static int
give_check(void *arg, struct answer *answer, struct err *err)
{
	return check_archive(((struct giving *)arg)->clickhouse, answer, err);
}

static int
give_status(void *arg, struct answer *answer, struct err *err)
{
	return check_status(((struct giving *)arg)->clickhouse, answer, err);
}

static int
give_owners(void *arg, struct answer *answer, struct err *err)
{
	struct giving *giving = arg;

	return schema_check(giving->clickhouse, err) != 0
		   ? -1
		   : owners_report_print(giving->clickhouse, answer, err);
}

/* Nobody may write the store while it is marked. */
static int
give_verify(void *arg, struct answer *answer, struct err *err)
{
	struct giving *giving = arg;
	const struct values *values = giving->values;
	const char *store = values->store;
	struct lockfile lockfile = { 0 };
	char path[INSTANCE_PATH_BYTES];
	int rc;

	if (store == NULL && instance_path(path, "store", err) != 0)
		return -1;
	if (store == NULL)
		store = path;
	if (values->repair && admin_lock(&lockfile, store, err) != 0)
		return -1;
	rc = compare_store(
	    giving->clickhouse, store, values->repair, answer, err);
	lockfile_release(&lockfile);
	return rc;
}

static const struct printed {
	const char *verb;
	const struct answer_table *tables;
	int (*give)(void *arg, struct answer *answer, struct err *err);
} printed[] = {
	{ "check", check_tables, give_check },
	{ "status", check_status_tables, give_status },
	{ "owners", owners_tables, give_owners },
	{ "verify", compare_tables, give_verify },
	{ .verb = NULL },
};

/* NULL: the verb prints no answer. */
static const struct printed *
find_printed(const char *verb)
{
	const struct printed *at = printed;

	while (at->verb != NULL && strcmp(at->verb, verb) != 0)
		at++;
	return at->verb == NULL ? NULL : at;
}

/* ---- verbs ---- */

static int
drop(struct clickhouse *clickhouse, bool yes, struct err *err)
{
	char question[256];

	snprintf(question, sizeof(question),
	    "Delete the tables of archive %.128s and all their records?",
	    clickhouse_database(clickhouse));
	if (!yes && !confirm_ask(question))
		return err_set(err, "nothing was deleted");
	return create_drop(clickhouse, stdout, err);
}

/* 0: done; 1: something must be done; -1: failed. */
static int
do_verb(struct clickhouse *clickhouse, const struct opt_operands *operands,
    const struct values *values, struct err *err)
{
	const char *verb = operands->at[0];
	const struct printed *what = find_printed(verb);
	struct giving giving = { clickhouse, values };

	if (clickhouse_find(clickhouse, err) != 0)
		return -1;
	if (strcmp(verb, "create") == 0)
		return create_archive(
		    clickhouse, &values->storage, stdout, err);
	if (what != NULL)
		return answer_run(
		    &values->answer, what->tables, what->give, &giving, err);
	if (strcmp(verb, "restore") == 0)
		return restore(clickhouse, values, operands->at[1], err);
	if (strcmp(verb, "retain") == 0)
		return retain(clickhouse, values, err);
	if (strcmp(verb, "takeover") == 0)
		return takeover(clickhouse, values->store, err);
	if (strcmp(verb, "move") == 0)
		return move(clickhouse, values, operands->at[1], err);
	return drop(clickhouse, values->yes, err);
}

/* A whole number of days; 0: not given. */
static uint32_t
days_of(const char *option, int64_t ns)
{
	const int64_t day_ns = INT64_C(86400) * NS_PER_SECOND;

	if (ns % day_ns != 0 || ns < 0 || ns / day_ns > DAYS_MAX)
		opt_usage("--%s takes whole days, up to %d, such as 400d",
		    option, DAYS_MAX);
	return (uint32_t)(ns / day_ns);
}

static void
check_name(const char *option, const char *name)
{
	if (name != NULL &&
	    (name[0] == '\0' ||
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
			     "WXYZ0123456789_-") != strlen(name)))
		opt_usage("--%s takes letters, digits, _ and -", option);
}

static void
judge_storage(struct values *values)
{
	values->storage.ttl_days = days_of("ttl", values->ttl_ns);
	values->storage.move_days = days_of("ttl-move", values->ttl_move_ns);
	check_name("volume", values->storage.volume);
	check_name("storage-policy", values->storage.policy);
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { options, values },
		{ answer_options, &values->answer }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-archive",
		.synopsis = "WHAT --to ADDRESS [options]",
		.summary = "make and check an archive; WHAT is one of",
		.examples = "poolscope archive create --to "
			    "clickhouse://localhost/poolscope\n"
			    "poolscope archive check --to "
			    "clickhouse://localhost/poolscope\n",
		.tables = tables,
		.topics = topics,
	};
	bool is_restore;

	opt_parse(&program, argc, argv, operands);
	if (find_printed(operands->at[0]) != NULL)
		answer_options_judge(
		    &values->answer, find_printed(operands->at[0])->tables);
	judge_storage(values);
	is_restore = strcmp(operands->at[0], "restore") == 0;
	if (values->to == NULL)
		opt_usage("--%s is required", is_restore ? "from" : "to");
	if (strcmp(operands->at[0], "move") == 0 && values->pattern == NULL)
		opt_usage("move needs -p: the partitions that the new store "
			  "writes");
	if (strcmp(operands->at[0], "retain") == 0 &&
	    values->before_ns == INT64_MIN)
		opt_usage("retain needs --before: records of days before it "
			  "are deleted");
	if (values->before_ns > clock_wall_ns())
		opt_usage("--before is in the future");
	if (strcmp(operands->at[0], "drop") == 0 && !values->yes &&
	    !confirm_can_ask())
		opt_usage("drop deletes all records of the archive; without a "
			  "terminal confirm it with --yes");
}

int
main(int argc, char **argv)
{
	struct values values = { .since_ns = INT64_MIN,
		.before_ns = INT64_MIN,
		.storage = { .volume = "cold" } };
	struct clickhouse_options how = CLICKHOUSE_DEFAULT;
	struct clickhouse *clickhouse = NULL;
	struct opt_operands operands;
	const char *option = "to";
	struct err err = { 0 };
	int rc;

	parse(&values, argc, argv, &operands);
	values.archive = &how;
	how.url = values.to;
	how.password = values.password;
	how.cacert = values.cacert;
	how.insecure = values.insecure;
	if (strcmp(operands.at[0], "restore") == 0)
		option = "from";
	if (operands.count > 1)
		how.timeout_ns = READ_NS;
	if (clickhouse_open(&clickhouse, &how, option, &err) != 0) {
		if (err.code == ERR_OPTION)
			opt_usage("%s", err.text);
		log_fail(&err);
		return EXIT_FAILURE;
	}
	rc = do_verb(clickhouse, &operands, &values, &err);
	if (rc < 0)
		log_fail(&err);
	clickhouse_close(&clickhouse);
	return rc == 0 ? EXIT_SUCCESS : rc > 0 ? STATUS_FOUND : EXIT_FAILURE;
}
