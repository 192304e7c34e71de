/*
 * generate_testrun_files - generates test runs as the files that an import
 * reads.
 *
 * They can be generated again, and are not synced.
 * SPDX-License-Identifier: MIT
 */
#include "agents/generate/testrun_files.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/import/formats/testrun.h"
#include "proto/os/clock.h"
#include "proto/os/progress.h"

enum { PROGRESS_RUNS = 1024 }; /* between updates of the progress bar */

struct output {
	FILE *file;
	char path[IMPORT_PATH_BYTES], temporary[IMPORT_PATH_BYTES + 32];
};

static volatile sig_atomic_t is_stopped;

static void
on_signal(int signo)
{
	(void)signo;
	is_stopped = 1;
}

static int
open_output(
    struct output *output, const char *dir, const char *name, struct err *err)
{
	if ((size_t)snprintf(output->path, sizeof(output->path), "%s/%s", dir,
		name) >= sizeof(output->path))
		return err_set(err, "%s: the path is longer than %d bytes",
		    name, IMPORT_PATH_BYTES - 1);
	snprintf(output->temporary, sizeof(output->temporary), "%s/%s.%ld", dir,
	    name, (long)getpid());
	output->file = fopen(output->temporary, "wxe");
	if (output->file == NULL) {
		err_set(err, "%s: %s", output->temporary, strerror(errno));
		output->temporary[0] = '\0'; /* not created here */
		return -1;
	}
	return 0;
}

/* The file is complete; it still has its temporary name. */
static int
finish(struct output *output, struct err *err)
{
	FILE *file = output->file;
	bool failed = ferror(file) != 0 || fflush(file) != 0;
	int why = errno;

	output->file = NULL;
	if (fclose(file) != 0 && !failed) {
		failed = true;
		why = errno;
	}
	return failed ? err_set(err, "%s: %s", output->path, strerror(why)) : 0;
}

static int
commit(struct output *output, struct err *err)
{
	if (rename(output->temporary, output->path) != 0)
		return err_set(err, "%s: %s", output->path, strerror(errno));
	output->temporary[0] = '\0';
	return 0;
}

static void
clear(struct output *output)
{
	if (output->file != NULL)
		fclose(output->file);
	if (output->temporary[0] != '\0')
		unlink(output->temporary);
}

static void
write_run(FILE *testruns, FILE *events, const struct generate_run *run)
{
	fprintf(testruns,
	    "{\"testrun_id\":\"%s\",\"device_group\":\"" GENERATE_GROUP
	    "\",\"queue\":\"" GENERATE_QUEUE
	    "\",\"configuration\":\"" GENERATE_CONFIGURATION
	    "\",\"host_worker_instances\":%s,\"requestor\":\"%s\","
	    "\"request_id\":\"%s\",\"error\":",
	    run->id, run->hosts, run->requestor, run->request_id);
	if (run->error != NULL)
		fprintf(testruns, "\"%s\"}\n", run->error);
	else
		fputs("null}\n", testruns);
	for (int i = 0; i < GENERATE_EVENTS; i++)
		fprintf(events,
		    "{\"testrun_id\":\"%s\",\"event_name\":\"%s\","
		    "\"event_emit\":%" PRId64 ",\"event_receive\":%" PRId64
		    "}\n",
		    run->id, run->event[i].name, run->event[i].emit_s,
		    run->event[i].receive_s);
}

static int
write_all(struct generate_runs runs, FILE *testruns, FILE *events,
    const char *dir, bool progress, struct err *err)
{
	struct progress bar = { .total = runs.runs,
		.began_ns = clock_monotonic_ns() };
	struct generate_run run;
	int64_t shown_ns = bar.began_ns;

	while (!is_stopped && generate_runs_next(&runs, &run)) {
		write_run(testruns, events, &run);
		if (runs.at % PROGRESS_RUNS != 0)
			continue;
		if (ferror(testruns) || ferror(events))
			break; /* reported when the file is finished */
		bar.now_ns = clock_monotonic_ns();
		if (!progress || bar.now_ns < shown_ns + NS_PER_SECOND / 10)
			continue;
		bar.done = bar.rows = runs.at;
		progress_show(dir, &bar);
		shown_ns = bar.now_ns;
	}
	if (progress)
		progress_clear();
	return is_stopped
		   ? err_set_code(err, ERR_INTERRUPTED, "%s: interrupted", dir)
		   : 0;
}

int
generate_files(const struct generate_runs *runs, const char *dir, bool progress,
    struct err *err)
{
	struct output output[IMPORT_TESTRUN_FILES] = { 0 };
	struct sigaction action = { .sa_handler = on_signal };
	int rc = 0;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return err_set(err, "%s: %s", dir, strerror(errno));
	for (int i = 0; rc == 0 && i < IMPORT_TESTRUN_FILES; i++)
		rc = open_output(&output[i], dir, import_testrun_names[i], err);
	if (rc == 0)
		rc = write_all(*runs, output[IMPORT_TESTRUN_RUNS].file,
		    output[IMPORT_TESTRUN_EVENTS].file, dir, progress, err);
	for (int i = 0; rc == 0 && i < IMPORT_TESTRUN_FILES; i++)
		rc = finish(&output[i], err);
	for (int i = 0; rc == 0 && i < IMPORT_TESTRUN_FILES; i++)
		rc = commit(&output[i], err);
	for (int i = 0; i < IMPORT_TESTRUN_FILES; i++)
		clear(&output[i]);
	return rc;
}
