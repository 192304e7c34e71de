/*
 * replay - the sampler's reports for a series of images of /proc.
 * SPDX-License-Identifier: MIT
 */
#include "agents/daemon/replay.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/daemon/settings.h"
#include "agents/sampler/perf_report.h"
#include "proto/base/err.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/config/opt.h"
#include "proto/json/json_fields.h"
#include "proto/os/log.h"

enum { FILE_BYTES_MAX = 16 << 20 };

/* The contents of host.json of an image. */
struct host {
	struct json_fields object;
	char *disks; /* the list of device names, as JSON */
	uint32_t disks_bytes;
	struct perf_report_space space;
	double time;
};

struct replay {
	FILE *out;
	struct perf_reporter *perf_reporter;
	struct host host;
	char *buffer;
	uint32_t images, reports;
};

/* A file of the image; a view, valid until the next call.  A missing file
 * counts as empty, unless it is `needed`. */
static int
read_file(struct replay *replay, const char *dir, const char *name, bool needed,
    struct text *text, struct err *err)
{
	char path[PATH_MAX];
	size_t bytes;
	FILE *file;

	*text = (struct text){ replay->buffer, 0 };
	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >=
	    (int)sizeof(path))
		return err_set(err, "%s: name too long", dir);
	file = fopen(path, "re");
	if (file == NULL && errno == ENOENT && !needed)
		return 0;
	if (file == NULL)
		return err_set(err, "%s: %s", path, strerror(errno));
	bytes = fread(replay->buffer, 1, FILE_BYTES_MAX, file);
	fclose(file);
	if (bytes == FILE_BYTES_MAX)
		return err_set(err, "%s is larger than 16 MiB", path);
	text->bytes = (uint32_t)bytes;
	return 0;
}

static bool
is_disk(void *arg, struct text name)
{
	struct host *host = arg;
	struct json_reader reader;
	struct text disk;

	if (host->disks_bytes == 0)
		return false;
	json_reader_init(
	    &reader, (struct text){ host->disks, host->disks_bytes });
	json_reader_enter(&reader, '[');
	while (json_reader_item(&reader))
		if (json_fields_text(
			&host->object, json_reader_take(&reader), &disk) &&
		    text_equal(name, disk))
			return true;
	return false;
}

/* A number member of an object; 0 if it is not a number. */
static uint64_t
read_count(struct json_fields *statvfs, const char *name)
{
	struct value value;

	if (json_fields_number(json_fields_find(statvfs, name), &value, NULL) !=
		0 ||
	    value.type != VALUE_INT || value.is.i < 0)
		return 0;
	return (uint64_t)value.is.i;
}

static void
read_space(struct host *host, struct text from)
{
	struct json_fields statvfs = { .values = NULL };

	host->space = (struct perf_report_space){ .blocks = 0 };
	if (json_fields_read(&statvfs, from, NULL) == 0) {
		host->space.blocks = read_count(&statvfs, "f_blocks");
		host->space.free = read_count(&statvfs, "f_bfree");
		host->space.available = read_count(&statvfs, "f_bavail");
		host->space.unit_bytes = read_count(&statvfs, "f_frsize");
	}
	json_fields_clear(&statvfs);
}

/* An image without host.json has zeros here. */
static int
read_host(struct replay *replay, const char *dir, struct err *err)
{
	struct host *host = &replay->host;
	struct value time;
	struct text text;

	if (read_file(replay, dir, "host.json", false, &text, err) != 0)
		return -1;
	if (text.bytes == 0)
		text = text_of("{}");
	if (json_fields_read(&host->object, text, err) != 0)
		return err_prefix(err, "%s/host.json", dir);
	read_space(host, json_fields_find(&host->object, "statvfs"));
	host->time = 0;
	if (json_fields_number(
		json_fields_find(&host->object, "time"), &time, NULL) == 0)
		host->time =
		    time.type == VALUE_INT ? (double)time.is.i : time.is.f;
	text = json_fields_find(&host->object, "sys_block");
	host->disks_bytes = json_fields_is_list(text) ? text.bytes : 0;
	free(host->disks);
	host->disks = memory_text((struct text){ text.at, host->disks_bytes });
	return 0;
}

/* Everything except the processors, whose interval ends here. */
static int
read_rest(struct replay *replay, const char *dir, struct perf_report *report,
    struct err *err)
{
	struct text text;

	if (read_host(replay, dir, err) != 0 ||
	    read_file(replay, dir, "meminfo", true, &text, err) != 0)
		return -1;
	perf_report_memory(text, report);
	if (read_file(replay, dir, "diskstats", false, &text, err) != 0)
		return -1;
	perf_report_disks(
	    replay->perf_reporter, text, is_disk, &replay->host, report);
	if (read_file(replay, dir, "net/dev", false, &text, err) != 0)
		return -1;
	perf_report_network(replay->perf_reporter, text, report);
	perf_report_space(&replay->host.space, report);
	return 0;
}

static void
print_report(struct replay *replay, const struct perf_report *report)
{
	char number[NUMBER_BYTES];

	fprintf(replay->out, "%s\n    {", replay->reports++ > 0 ? "," : "");
	for (int i = 0; i < METRIC_PERF_CPUS; i++) {
		number_repr(number, report->values[i]);
		fprintf(replay->out, "\n        \"%s\": %s,",
		    metric_group_perf.columns[i].name, number);
	}
	number_repr(number, replay->host.time);
	fprintf(replay->out, "\n        \"timestamp\": %s\n    }", number);
}

static int
take_image(struct replay *replay, const char *dir, struct err *err)
{
	struct perf_report report;
	struct text text;

	if (read_file(replay, dir, "stat", true, &text, err) != 0)
		return -1;
	perf_report_cpu(replay->perf_reporter, text, &report);
	/* The older monitor reads the rest at the end of an interval. */
	if (replay->images++ == 0)
		return 0;
	if (read_rest(replay, dir, &report, err) != 0)
		return -1;
	print_report(replay, &report);
	return 0;
}

static int
take_images(struct replay *replay, const char *dir, struct err *err)
{
	struct dirent **entries;
	char path[PATH_MAX];
	int count = scandir(dir, &entries, NULL, alphasort), rc = 0;
	uint32_t before = replay->images;

	if (count < 0)
		return err_set(err, "%s: %s", dir, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (rc == 0 && entries[i]->d_name[0] != '.' &&
		    snprintf(path, sizeof(path), "%s/%s/stat", dir,
			entries[i]->d_name) < (int)sizeof(path) &&
		    access(path, F_OK) == 0) {
			path[strlen(path) - strlen("/stat")] = '\0';
			rc = take_image(replay, path, err);
		}
		free(entries[i]);
	}
	free(entries);
	if (rc == 0 && replay->images == before)
		return err_set(err, "%s: not an image of /proc", dir);
	return rc;
}

static int
take(struct replay *replay, const char *dir, struct err *err)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/stat", dir) < (int)sizeof(path) &&
	    access(path, F_OK) == 0)
		return take_image(replay, dir, err);
	return take_images(replay, dir, err);
}

static int
print_all(const struct opt_operands *dirs, struct err *err)
{
	struct replay replay = { .out = stdout };
	int rc = 0;

	perf_report_new(&replay.perf_reporter);
	replay.buffer = memory_alloc(FILE_BYTES_MAX);
	fprintf(replay.out, "[");
	for (uint32_t i = 0; rc == 0 && i < dirs->count; i++)
		rc = take(&replay, dirs->at[i], err);
	fprintf(replay.out, "\n]\n");
	if (rc == 0 && fflush(replay.out) != 0)
		rc = err_set(err, "standard output: %s", strerror(errno));
	json_fields_clear(&replay.host.object);
	free(replay.host.disks);
	free(replay.buffer);
	perf_report_free(&replay.perf_reporter);
	return rc;
}

int
replay_run(const struct opt_operands *dirs)
{
	struct err err = { 0 };

	if (dirs->count == 0)
		opt_usage("missing argument: poolscope-agent --replay DIR...");
	if (print_all(dirs, &err) == 0)
		return EXIT_SUCCESS;
	log_fail(&err);
	return EXIT_FAILURE;
}
