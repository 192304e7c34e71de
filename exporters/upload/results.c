/*
 * upload_results - the results command: upload result files of benchmarks.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/upload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/upload/directory/destinations.h"
#include "exporters/upload/directory/directory.h"
#include "exporters/upload/directory/watch.h"
#include "proto/config/instance.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

#define RESCAN_NS (10 * NS_PER_SECOND)
/* Default with --watch and --refuse: a file being written looks bad. */
#define SETTLE_NS (2 * NS_PER_SECOND)

static struct {
	const char *datadir, *archivedir;
	int64_t settle_ns, timeout_ns;
	bool strict, refuse, watch;
} values = { .timeout_ns = 60 * NS_PER_SECOND };

const struct opt upload_results_options[] = {
	{ "datadir", 'd', OPT_TEXT, &values.datadir, "DIR",
	    "results: upload the files of this directory", NULL, false },
	{ "archivedir", 'a', OPT_TEXT, &values.archivedir, "DIR",
	    "results: move files here once every target has them", NULL,
	    false },
	{ "settle", 0, OPT_DURATION, &values.settle_ns, "DURATION",
	    "results: upload only files unchanged for this long (default: 0s; "
	    "2s with --watch or --refuse)",
	    NULL, false },
	{ "strict", 0, OPT_FLAG, &values.strict, NULL,
	    "results: treat a file with a bad entry as bad", NULL, false },
	{ "refuse", 0, OPT_FLAG, &values.refuse, NULL,
	    "results: move bad files to DATADIR/refused", NULL, false },
	{ "watch", 0, OPT_FLAG, &values.watch, NULL,
	    "results: keep running and upload new files", NULL, false },
	{ "timeout", 0, OPT_DURATION, &values.timeout_ns, "DURATION",
	    "results: give up after this long without an acknowledgement "
	    "(default: 60s)",
	    NULL, false },
	{ .name = NULL },
};

static void
check(const struct opt_operands *operands)
{
	struct destinations destinations;
	struct err err = { 0 };

	(void)operands;
	if (values.datadir == NULL)
		opt_usage("--datadir is required");
	if (values.archivedir == NULL)
		opt_usage("--archivedir is required");
	if (values.timeout_ns <= 0)
		opt_usage("--timeout is not greater than 0");
	if (values.settle_ns < 0)
		opt_usage("--settle is negative");
	if (values.watch && upload_values.http.dry_run)
		opt_usage("--watch and --dry-run exclude each other");
	if (destinations_find(&destinations, upload_values.to.at,
		upload_values.to.count, &err) != 0)
		opt_usage("%s", err.text);
}

static void
allow_files(struct sandbox *sandbox, const struct opt_operands *operands)
{
	(void)operands;
	sandbox_write(sandbox, values.datadir);
	sandbox_write(sandbox, values.archivedir);
}

static int64_t
get_settle_ns(void)
{
	bool is_set = false;

	for (const struct opt *o = upload_results_options; o->name != NULL; o++)
		is_set = is_set || (o->to == &values.settle_ns &&
				       opt_origin(o) != OPT_DEFAULT);
	return is_set || !(values.watch || values.refuse) ? values.settle_ns
							  : SETTLE_NS;
}

/* ---- summary ------------------------------------------------------------ */

static int
say(const struct upload_directory *files,
    const struct upload_directory_options *how, bool failed, struct err *err)
{
	const struct upload_directory_counters *c =
	    upload_directory_counters(files);

	if (!opt_common_values.quiet && !upload_values.http.dry_run)
		printf("%" PRIu64 " files, %" PRIu64 " entries, %" PRIu64
		       " bad files, %" PRIu64 " bad entries, %" PRIu64
		       " files postponed; partition %s\n",
		    c->files, c->entries, c->bad, c->bad_entries, c->left,
		    how->partition);
	if (failed)
		return EXIT_FAILURE;
	if (c->failed > 0)
		err_set(err, "%" PRIu64 " files were rejected", c->failed);
	else if (c->bad > c->refused)
		err_set(
		    err, "%" PRIu64 " bad files remain", c->bad - c->refused);
	else if (c->refused > 0)
		err_set(err, "%" PRIu64 " bad files are in %s/refused",
		    c->refused, how->data->path);
	else if (c->bad_entries > 0)
		err_set(err, "skipped %" PRIu64 " bad entries", c->bad_entries);
	return c->failed + c->bad + c->bad_entries > 0 ? EXIT_FAILURE
						       : EXIT_SUCCESS;
}

/* ---- watching ----------------------------------------------------------- */

/* How long to wait before the next pass. */
static int64_t
get_pause_ns(const struct upload_directory *files)
{
	int64_t settled_ns = upload_directory_settled_ns(files);
	int64_t pause_ns = RESCAN_NS;

	if (settled_ns != 0)
		pause_ns = settled_ns - clock_wall_ns();
	if (pause_ns < NS_PER_SECOND / 100)
		pause_ns = NS_PER_SECOND / 100;
	return pause_ns < RESCAN_NS ? pause_ns : RESCAN_NS;
}

/* A failure may be temporary: report it and try again. */
static int
stay(struct upload_directory *files, const char *path, struct err *err)
{
	struct upload_watch watch;
	struct err last = { 0 }, why;
	int rc = upload_watch_open(&watch, path, err);

	while (rc == 0) {
		err_clear(&why);
		if (upload_directory_pass(files, &why) != 0 &&
		    why.code != ERR_INTERRUPTED &&
		    strcmp(why.text, last.text) != 0)
			log_warn("%s", why.text);
		last = why;
		if (why.code == ERR_INTERRUPTED ||
		    !upload_watch_wait(&watch, get_pause_ns(files)))
			break;
	}
	if (rc == 0 && watch.gone)
		rc = err_set(err, "%s was moved away or removed", path);
	upload_watch_close(&watch);
	return rc;
}

/* ---- the command -------------------------------------------------------- */

static int
upload(struct inbox *data, struct inbox *archive,
    struct upload_directory_options *how, struct err *err)
{
	struct upload_directory *files = NULL;
	int rc, status;

	if (inbox_is_same(data, archive)) {
		err_set(err, "%s is the data directory itself", archive->path);
		return EXIT_FAILURE;
	}
	how->data = data;
	how->archive = archive;
	rc = upload_directory_open(&files, how, err);
	if (rc == 0)
		rc = values.watch ? stay(files, data->path, err)
				  : upload_directory_pass(files, err);
	status = say(files, how, rc != 0, err);
	upload_directory_close(&files);
	return status;
}

static int
run(const struct opt_operands *operands, struct err *err)
{
	char partition[INSTANCE_PATH_BYTES], node[INSTANCE_PATH_BYTES];
	struct upload_directory_options how = {
		.to = upload_values.to.at,
		.targets = upload_values.to.count,
		.partition = partition,
		.node = node,
		.asked = &upload_values.source,
		.http = &upload_values.http,
		.brokers = &upload_values.broker,
		.timeout_ns = values.timeout_ns,
		.settle_ns = get_settle_ns(),
		.strict = values.strict,
		.refuse = values.refuse,
		.dry = upload_values.http.dry_run,
		.progress = !opt_common_values.quiet &&
			    !upload_values.http.dry_run && progress_is_wanted(),
	};
	struct inbox data = { .fd = -1 }, archive = { .fd = -1 };
	const char *why;
	int status = EXIT_FAILURE;

	(void)operands;
	if (instance_partition(partition, upload_values.partition, &why, err) ==
		0 &&
	    instance_node(node, NULL, &why, err) == 0 &&
	    inbox_open(&data, values.datadir, err) == 0 &&
	    inbox_open(&archive, values.archivedir, err) == 0)
		status = upload(&data, &archive, &how, err);
	inbox_close(&archive);
	inbox_close(&data);
	return status;
}

const struct upload_command upload_results = {
	.word = "results",
	.arguments = "-d DATADIR -a ARCHIVEDIR --to TARGET...",
	.options = upload_results_options,
	.allow_files = allow_files,
	.check = check,
	.run = run,
};
