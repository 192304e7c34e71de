/*
 * poolscope-archive - make the tables of an archive in ClickHouse, check them,
 * and make a store of them.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregator/admin/confirm.h"
#include "aggregator/admin/admin.h"
#include "aggregator/archive/upkeep/compare.h"
#include "aggregator/archive/upkeep/owners_report.h"
#include "aggregator/archive/read/restore.h"
#include "aggregator/archive/upkeep/restored.h"
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
	    "or clickhouses:// by TLS" },
	{ "from", 0, OPT_TEXT, OPT_TO(struct values, to), "ADDRESS",
	    "restore: the archive, as in --to" },
	{ "archive-password", 0, OPT_TEXT, OPT_TO(struct values, password),
	    "FILE", "read the user's password from this file of mode 0600" },
	{ "archive-cacert", 0, OPT_TEXT, OPT_TO(struct values, cacert), "FILE",
	    "trust only the certificate authorities in this PEM file" },
	{ "archive-insecure", 0, OPT_FLAG, OPT_TO(struct values, insecure),
	    NULL,
	    "allow clickhouse:// beyond this machine: others on the network "
	    "can read records and password" },
	{ "store", 0, OPT_TEXT, OPT_TO(struct values, store), "DIR",
	    "verify, takeover: directory of the store (default: DIR/store)" },
	{ "repair", 0, OPT_FLAG, OPT_TO(struct values, repair), NULL,
	    "verify: have the aggregator send again what a replica lacks; stop "
	    "it first",
	    .flags = OPT_COMMAND },
	{ "partition", 'p', OPT_TEXT, OPT_TO(struct values, pattern), "PATTERN",
	    "restore, retain, move: only these partitions (* and ?; default: "
	    "all)" },
	{ "since", 0, OPT_TIME, OPT_TO(struct values, since_ns), "TIME",
	    "restore: leave records of hours before this time in the archive" },
	{ "incomplete", 0, OPT_FLAG, OPT_TO(struct values, incomplete), NULL,
	    "restore: make the store although the archive lacks records that "
	    "its aggregator had",
	    .flags = OPT_COMMAND },
	{ "ttl", 0, OPT_DURATION, OPT_TO(struct values, ttl_ns), "TIME",
	    "create: have the servers delete days of records that ended this "
	    "long ago, in whole days (400d)",
	    .flags = OPT_COMMAND },
	{ "ttl-move", 0, OPT_DURATION, OPT_TO(struct values, ttl_move_ns),
	    "TIME", "create: move rows to another volume after this time",
	    .flags = OPT_COMMAND },
	{ "volume", 0, OPT_TEXT, OPT_TO(struct values, storage.volume), "NAME",
	    "create: that volume of the storage policy (default: cold)",
	    .flags = OPT_COMMAND },
	{ "storage-policy", 0, OPT_TEXT, OPT_TO(struct values, storage.policy),
	    "NAME", "create: keep the tables on the disks of this policy",
	    .flags = OPT_COMMAND },
	{ "before", 0, OPT_TIME, OPT_TO(struct values, before_ns), "TIME",
	    "retain: delete records of days that end before this time",
	    .flags = OPT_COMMAND },
	{ "yes", 0, OPT_FLAG, OPT_TO(struct values, yes), NULL,
	    "drop: do not ask; required without a terminal",
	    .flags = OPT_COMMAND },
	{ .name = NULL },
};

#define ANSWER "format sort top columns"
#define PLACE  "to archive-password archive-cacert archive-insecure "

static const struct opt_topic topics[] = {
	{ "create", "", "make what is missing of the tables",
	    PLACE ANSWER " ttl ttl-move volume storage-policy",
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
	{ "retain", "", "delete old records", PLACE ANSWER " before partition",
	    "poolscope archive retain --before -90d --to "
	    "clickhouse://localhost/poolscope\n"
	    "poolscope archive retain --before 2026-01-01 -p 'test/*' --to "
	    "clickhouses://w@a1,a2/poolscope\n" },
	{ "drop", "", "delete the tables and all their records",
	    PLACE ANSWER " yes",
	    "poolscope archive drop --yes --to clickhouse://localhost/test\n"
	    "poolscope archive drop --yes --to clickhouses://w@a1,a2/test\n" },
	{ "restore", " STORE", "make a store of what the archive has",
	    "from archive-password archive-cacert archive-insecure " ANSWER
	    " partition since incomplete",
	    "poolscope archive restore --from "
	    "clickhouse://localhost/poolscope store\n"
	    "poolscope archive restore --from clickhouses://w@a1,a2/poolscope "
	    "-p 'pool/*' --since 2026-11-01 store\n" },
	{ "takeover", "", "let a restored store write its partitions",
	    PLACE ANSWER " store",
	    "poolscope archive takeover --to clickhouse://localhost/poolscope\n"
	    "poolscope archive takeover --store /var/lib/poolscope/store --to "
	    "clickhouses://w@a1,a2/poolscope\n" },
	{ "move", " STORE",
	    "make a store of some partitions, which writes them from now on",
	    PLACE ANSWER " table partition",
	    "poolscope archive move -p 'acct$pool' --to "
	    "clickhouse://localhost/poolscope store\n"
	    "poolscope archive move -p 'test/*' --to "
	    "clickhouses://w@a1,a2/poolscope store\n" },
	{ .word = NULL },
};

struct giving {
	struct clickhouse *clickhouse;
	const struct values *values;
	const char *dir; /* the operand */
};

/* ---- stores ---- */

static void
warn_of_lack(const char *sentence)
{
	log_warn("%s", sentence);
}

static int
put_report(const struct giving *giving, const struct restore_report *report,
    struct answer *answer, struct err *err)
{
	int64_t since_ns = giving->values->since_ns;
	char when[CLOCK_TEXT_BYTES] = "never";

	if (report->last_ns != INT64_MIN)
		clock_text(when, report->last_ns, 0);
	answer_title(answer,
	    "%s: %u partitions, %" PRIu64 " records, %" PRIu64
	    " other rows, received up to %s",
	    giving->dir, report->partitions, report->records, report->rows,
	    when);
	answer_head(answer, "store", answer_string(giving->dir));
	answer_head(answer, "records", answer_count(report->records));
	answer_head(answer, "other_rows", answer_count(report->rows));
	answer_head(answer, "received", answer_time(report->last_ns));
	answer_head(answer, "since", answer_time(since_ns));
	if (report->is_short)
		answer_note(answer, "lacking",
		    report->lacking > 0 ? report->lacking : ANSWER_NO_COUNT,
		    "%s: records or rows are lacking that the aggregator had",
		    giving->dir);
	if (report->is_behind)
		answer_note(answer, "behind", ANSWER_NO_COUNT,
		    "rows of a pass that was not committed are there: test "
		    "runs of the last seconds may lack events that are there");
	return restored_print(giving->dir, answer, err);
}

/* As a restored backup: verified, and with what it may lack. */
static int
give_restore(void *arg, struct answer *answer, struct err *err)
{
	const struct giving *giving = arg;
	const struct values *values = giving->values;
	const struct restore_options how = { .archive = *values->archive,
		.pattern = values->pattern,
		.since_ns = values->since_ns,
		.progress = isatty(STDERR_FILENO) == 1,
		.on_lack = values->incomplete ? warn_of_lack : NULL };
	struct restore_place place;
	struct restore_report report;

	if (schema_check(giving->clickhouse, err) != 0 ||
	    restore_place(&place, giving->dir, err) != 0)
		return -1;
	if (restore_store(giving->clickhouse, place.copy, &how, &report, err) !=
		0 ||
	    admin_note_restore(place.copy, err) != 0 ||
	    admin_verify(place.copy, err) != 0 ||
	    restore_install(&place, err) != 0) {
		restore_give_up(&place);
		return -1;
	}
	return put_report(giving, &report, answer, err);
}

/* Of a verb that takes a store; NULL: there is none. */
static const char *
store_of(const struct values *values, char path[static INSTANCE_PATH_BYTES],
    struct err *err)
{
	if (values->store != NULL)
		return values->store;
	return instance_path(path, "store", err) == 0 ? path : NULL;
}

static int
takeover(const struct giving *giving, const char *dir, struct answer *answer,
    struct err *err)
{
	struct lockfile lockfile = { 0 };
	int rc;

	if (admin_find(dir, err) != 0 ||
	    schema_check(giving->clickhouse, err) != 0 ||
	    admin_lock(&lockfile, dir, err) != 0)
		return -1;
	rc = takeover_store(giving->clickhouse, dir, answer, err);
	lockfile_release(&lockfile);
	return rc;
}

static int
give_takeover(void *arg, struct answer *answer, struct err *err)
{
	const struct giving *giving = arg;
	char path[INSTANCE_PATH_BYTES];
	const char *store = store_of(giving->values, path, err);

	return store == NULL ? -1 : takeover(giving, store, answer, err);
}

/* What is interrupted in between goes on with takeover. */
static int
give_move(void *arg, struct answer *answer, struct err *err)
{
	const struct giving *giving = arg;

	if (give_restore(arg, answer, err) != 0)
		return -1;
	answer_begin_table(answer, "claims");
	return takeover(giving, giving->dir, answer, err);
}

/* Nobody may write the store while it is marked. */
static int
give_verify(void *arg, struct answer *answer, struct err *err)
{
	const struct giving *giving = arg;
	bool repair = giving->values->repair;
	struct lockfile lockfile = { 0 };
	char path[INSTANCE_PATH_BYTES];
	const char *store = store_of(giving->values, path, err);
	int rc;

	if (store == NULL || admin_find(store, err) != 0 ||
	    schema_check(giving->clickhouse, err) != 0 ||
	    (repair && admin_lock(&lockfile, store, err) != 0))
		return -1;
	rc = compare_store(giving->clickhouse, store, repair, answer, err);
	lockfile_release(&lockfile);
	return rc;
}

/* ---- tables ---- */

static int
give_create(void *arg, struct answer *answer, struct err *err)
{
	const struct giving *giving = arg;

	return create_archive(
	    giving->clickhouse, &giving->values->storage, answer, err);
}

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

static int
give_retain(void *arg, struct answer *answer, struct err *err)
{
	const struct giving *giving = arg;

	return schema_check(giving->clickhouse, err) != 0
		   ? -1
		   : retain_records(giving->clickhouse, giving->values->pattern,
			 giving->values->before_ns, answer, err);
}

static int
give_drop(void *arg, struct answer *answer, struct err *err)
{
	const struct giving *giving = arg;
	char question[256];

	snprintf(question, sizeof(question),
	    "Delete the tables of archive %.128s and all their records?",
	    clickhouse_database(giving->clickhouse));
	if (!giving->values->yes && !confirm_ask(question))
		return err_set(err, "nothing was deleted");
	return create_drop(giving->clickhouse, answer, err);
}

/* ---- verbs ---- */

static const struct answer_table restore_tables[] = {
	{ "partitions", restored_columns }, { .name = NULL }
};
static const struct answer_table takeover_tables[] = {
	{ "claims", takeover_columns }, { .name = NULL }
};
static const struct answer_table move_tables[] = { { "partitions",
						       restored_columns },
	{ "claims", takeover_columns }, { .name = NULL } };

/* 0: done; 1: something must be done; -1: failed. */
static const struct verb {
	const char *name;
	const struct answer_table *tables;
	int (*give)(void *arg, struct answer *answer, struct err *err);
} verbs[] = {
	{ "create", create_archive_tables, give_create },
	{ "check", check_tables, give_check },
	{ "status", check_status_tables, give_status },
	{ "owners", owners_tables, give_owners },
	{ "verify", compare_tables, give_verify },
	{ "retain", retain_tables, give_retain },
	{ "drop", create_drop_tables, give_drop },
	{ "restore", restore_tables, give_restore },
	{ "takeover", takeover_tables, give_takeover },
	{ "move", move_tables, give_move },
};

/* Of a word that opt_parse has taken. */
static const struct verb *
find_verb(const char *name)
{
	const struct verb *at = verbs;

	while (strcmp(at->name, name) != 0)
		at++;
	return at;
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
	answer_options_judge(
	    &values->answer, find_verb(operands->at[0])->tables);
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
	struct giving giving = { .values = &values };
	struct opt_operands operands;
	const struct verb *verb;
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
	if (operands.count > 1) {
		giving.dir = operands.at[1];
		how.timeout_ns = READ_NS;
	}
	if (clickhouse_open(&giving.clickhouse, &how, option, &err) != 0) {
		if (err.code == ERR_OPTION)
			opt_usage("%s", err.text);
		log_fail(&err);
		return EXIT_FAILURE;
	}
	verb = find_verb(operands.at[0]);
	rc = clickhouse_find(giving.clickhouse, &err);
	if (rc == 0)
		rc = answer_run(
		    &values.answer, verb->tables, verb->give, &giving, &err);
	if (rc < 0)
		log_fail(&err);
	clickhouse_close(&giving.clickhouse);
	return rc == 0 ? EXIT_SUCCESS : rc > 0 ? STATUS_FOUND : EXIT_FAILURE;
}
