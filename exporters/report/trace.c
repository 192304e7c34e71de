/*
 * report_trace - the trace of the worst nodes, to be saved from a report.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporters/report/report.h"
#include "exporters/samples/time_window.h"
#include "exporters/trace/timeline.h"
#include "proto/base/memory.h"
#include "proto/os/file_io.h"
#include "proto/stream/compress_block.h"

enum { TRACE_BYTES_MAX = 32 << 20, PATH_ROOM = 4096 };

static int
read_file(struct report_trace *trace, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = -1;
	unsigned char *at = NULL;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0) {
		at = memory_alloc((size_t)st.st_size + 1);
		rc = file_io_read_all(fd, at, (uint32_t)st.st_size, 0);
	}
	if (rc != 0)
		err_set(err, "%s: %s", path, strerror(errno));
	else
		trace->at = compress_gzip(
		    at, (size_t)st.st_size, COMPRESS_FAST, &trace->bytes);
	free(at);
	if (fd >= 0)
		close(fd);
	return rc == 0 ? 0 : -1;
}

static int
write_file(const char *path, const struct report_request *request,
    const char *nodes, struct err *err)
{
	struct time_window_options window = TIME_WINDOW_ALL;
	struct timeline_options timeline = { .nodes = nodes,
		.max_bytes = TRACE_BYTES_MAX };
	struct source_options options = *request->options;
	const struct trace_request trace = { .source = request->source,
		.source_options = &options,
		.window = &window,
		.timeline = &timeline,
		.partition = request->partition,
		.path = path,
		.format = TRACE_PROTO };

	window.from_ns = request->from_ns;
	window.to_ns = request->to_ns;
	timeline_check(&trace);
	source_renew(request->source);
	return timeline_write(&trace, err);
}

int
report_trace_read(struct report_trace *trace,
    const struct report_request *request, const char *nodes, struct err *err)
{
	char dir[PATH_ROOM], path[PATH_ROOM + 16];
	int rc;

	snprintf(
	    dir, sizeof(dir), "%s/poolscope-XXXXXX", file_io_temporary_dir());
	if (mkdtemp(dir) == NULL)
		return err_set(err, "%s: %s", dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/pool.pftrace", dir);
	rc = write_file(path, request, nodes, err);
	if (rc == 0)
		rc = read_file(trace, path, err);
	unlink(path);
	rmdir(dir);
	return rc;
}

void
report_trace_clear(struct report_trace *trace)
{
	free(trace->at);
	*trace = (struct report_trace){ NULL, 0 };
}
