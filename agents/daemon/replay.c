/*
 * replay - the sampler's reports for a series of images of /proc.
 * SPDX-License-Identifier: MIT
 */
#include "agents/daemon/replay.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/daemon/settings.h"
#include "agents/sampler/perf_report.h"
#include "proto/base/err.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/config/opt.h"
#include "proto/os/log.h"

enum { FILE_BYTES_MAX = 16 << 20 };

struct replay {
	FILE *out;
	struct perf_reporter *perf_reporter;
	json_t *host;
	char *buffer;
	uint32_t images, reports;
};

/* A file of the image; a view, valid until the next.  One that is not there
 * is empty, unless it is `needed`. */
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
		return err_set(err, "%s is over 16 MiB", path);
	text->bytes = (uint32_t)bytes;
	return 0;
}

static bool
is_disk(void *arg, struct text name)
{
	const json_t *names = json_object_get(arg, "sys_block"), *each;
	size_t i;

	json_array_foreach(names, i, each)
	{
		if (json_is_string(each) &&
		    text_equal(name, (struct text){ json_string_value(each),
					 (uint32_t)json_string_length(each) }))
			return true;
	}
	return false;
}

static uint64_t
space_member(const json_t *host, const char *name)
{
	json_int_t n = json_integer_value(
	    json_object_get(json_object_get(host, "statvfs"), name));

	return n > 0 ? (uint64_t)n : 0;
}

static int
read_host(struct replay *replay, const char *dir, struct err *err)
{
	struct text text;
	json_error_t why;

	if (read_file(replay, dir, "host.json", false, &text, err) != 0)
		return -1;
	json_decref(replay->host);
	replay->host = text.bytes > 0 ? json_loadb(text.at, text.bytes, 0, &why)
				      : json_object();
	if (!json_is_object(replay->host))
		return err_set(err, "%s/host.json: %s", dir,
		    replay->host == NULL ? why.text : "is not an object");
	return 0;
}

/* All but the processors, whose interval ends here. */
static int
read_rest(struct replay *replay, const char *dir, struct perf_report *report,
    struct err *err)
{
	struct perf_report_space space;
	struct text text;

	if (read_host(replay, dir, err) != 0 ||
	    read_file(replay, dir, "meminfo", true, &text, err) != 0)
		return -1;
	perf_report_memory(text, report);
	if (read_file(replay, dir, "diskstats", false, &text, err) != 0)
		return -1;
	perf_report_disks(
	    replay->perf_reporter, text, is_disk, replay->host, report);
	if (read_file(replay, dir, "net/dev", false, &text, err) != 0)
		return -1;
	perf_report_network(replay->perf_reporter, text, report);
	space.blocks = space_member(replay->host, "f_blocks");
	space.free = space_member(replay->host, "f_bfree");
	space.available = space_member(replay->host, "f_bavail");
	space.unit_bytes = space_member(replay->host, "f_frsize");
	perf_report_space(&space, report);
	return 0;
}

static void
print_report(struct replay *replay, const struct perf_report *report)
{
	static const char *const names[PERF_REPORT_VALUES] = {
		[PERF_REPORT_CPU_AVG] = "cpu_pct_per_cpu_avg",
		[PERF_REPORT_CPU_MIN] = "cpu_pct_per_cpu_min",
		[PERF_REPORT_CPU_MAX] = "cpu_pct_per_cpu_max",
		[PERF_REPORT_MEMORY] = "mem_percent",
		[PERF_REPORT_DISK_USAGE] = "disk_usage_percent",
		[PERF_REPORT_DISK_READ] = "disk_io_read_mb",
		[PERF_REPORT_DISK_WRITE] = "disk_io_write_mb",
		[PERF_REPORT_LO_SENT] = "net_io_lo_sent_mb",
		[PERF_REPORT_LO_RECEIVED] = "net_io_lo_recv_mb",
		[PERF_REPORT_EXT_SENT] = "net_io_ext_sent_mb",
		[PERF_REPORT_EXT_RECEIVED] = "net_io_ext_recv_mb",
	};
	char number[NUMBER_BYTES];

	fprintf(replay->out, "%s\n    {", replay->reports++ > 0 ? "," : "");
	for (int i = 0; i < PERF_REPORT_VALUES; i++) {
		number_repr(number, report->values[i]);
		fprintf(replay->out, "\n        \"%s\": %s,", names[i], number);
	}
	number_repr(
	    number, json_number_value(json_object_get(replay->host, "time")));
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
	/* The older monitor looks at the rest at the end of an interval. */
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
		return err_set(err, "%s: no image of /proc", dir);
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
	json_decref(replay.host);
	free(replay.buffer);
	perf_report_free(&replay.perf_reporter);
	return rc;
}

int
replay_main(int argc, char **argv)
{
	static const struct opt *const tables[] = { settings_table, opt_common,
		NULL };
	static const struct opt_program program = {
		.name = "poolscope-agent",
		.synopsis = "--replay DIR... [--print perf]",
		.summary = "print the samples of images of /proc",
		.tables = tables,
		.operands_min = 1,
		.operands_max = UINT32_MAX,
	};
	struct opt_operands operands;
	struct err err = { "" };

	opt_parse(&program, argc, argv, &operands);
	log_init(program.name, (enum log_level)opt_common_values.log);
	if (print_all(&operands, &err) == 0)
		return EXIT_SUCCESS;
	log_fail(&err);
	return EXIT_FAILURE;
}
