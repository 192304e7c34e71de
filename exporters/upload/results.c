/*
 * upload_results - the results command: upload result files of benchmarks.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "exporters/upload/directory.h"
#include "exporters/upload/upload.h"
#include "proto/config/instance.h"
#include "proto/net/loop/loop.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

/*
 * Wait for new files in a directory.
 *
 * INT and TERM end the wait.
 */

struct upload_watch {
	struct loop *loop;
	struct loop_timer timer;
	int fd;
	bool gone; /* the directory was moved or removed */
};

static void
on_signal(void *arg, int signo)
{
	(void)signo;
	loop_quit(arg, 1);
}

static void
on_timer(void *arg, struct loop_timer *timer)
{
	(void)timer;
	loop_quit(arg, 0);
}

static void
on_change(void *arg, int fd, uint32_t events)
{
	struct upload_watch *watch = arg;
	alignas(struct inotify_event) char bytes[4096];
	ssize_t n;

	(void)events;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		ssize_t at = 0;

		while (at < n) {
			const struct inotify_event *event =
			    (const void *)(bytes + at);

			if (event->mask &
			    (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED))
				watch->gone = true;
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
	loop_quit(watch->loop, watch->gone);
}

/* Call upload_watch_close whatever this returns. */
static int
upload_watch_open(struct upload_watch *watch, const char *path, struct err *err)
{
	*watch = (struct upload_watch){ .fd = -1 };
	if (loop_new(&watch->loop, err) != 0 ||
	    loop_add_signal(watch->loop, SIGINT, on_signal, watch->loop, err) !=
		0 ||
	    loop_add_signal(
		watch->loop, SIGTERM, on_signal, watch->loop, err) != 0)
		return -1;
	watch->timer.on_timer = on_timer;
	watch->timer.arg = watch->loop;
	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->fd < 0 || inotify_add_watch(watch->fd, path,
				 IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF |
				     IN_MOVE_SELF | IN_ONLYDIR) < 0)
		return err_set(err, "%s: cannot watch the directory: %s", path,
		    strerror(errno));
	return loop_add_fd(
	    watch->loop, watch->fd, EPOLLIN, on_change, watch, err);
}

static void
upload_watch_close(struct upload_watch *watch)
{
	loop_free(&watch->loop);
	if (watch->fd >= 0)
		close(watch->fd);
	watch->fd = -1;
}

/* Wait for a new file, at most this long.  False: stop watching. */
static bool
upload_watch_wait(struct upload_watch *watch, int64_t limit_ns)
{
	int status;

	loop_set_timer(
	    watch->loop, &watch->timer, clock_monotonic_ns() + limit_ns, 0);
	status = loop_run(watch->loop);
	loop_stop_timer(watch->loop, &watch->timer);
	return status == 0;
}

#define RESCAN_NS (10 * NS_PER_SECOND)
/* Default with --watch and --refuse: a file being written looks bad. */
#define SETTLE_NS (2 * NS_PER_SECOND)

const struct opt upload_results_options[] = {
	{ "datadir", 'd', OPT_TEXT,
	    OPT_TO(struct upload_results_values, datadir), "DIR",
	    "results: upload the files of this directory" },
	{ "archivedir", 'a', OPT_TEXT,
	    OPT_TO(struct upload_results_values, archivedir), "DIR",
	    "results: move files here once every target has them" },
	{ "settle", 0, OPT_DURATION,
	    OPT_TO(struct upload_results_values, settle_ns), "DURATION",
	    "results: upload only files unchanged for this long (default: 0s; "
	    "2s with --watch or --refuse)" },
	{ "strict", 0, OPT_FLAG, OPT_TO(struct upload_results_values, strict),
	    NULL, "results: treat a file with a bad entry as bad" },
	{ "refuse", 0, OPT_FLAG, OPT_TO(struct upload_results_values, refuse),
	    NULL, "results: move bad files to DATADIR/refused" },
	{ "watch", 0, OPT_FLAG, OPT_TO(struct upload_results_values, watch),
	    NULL, "results: keep running and upload new files" },
	{ "timeout", 0, OPT_DURATION,
	    OPT_TO(struct upload_results_values, timeout_ns), "DURATION",
	    "results: give up after this long without an acknowledgement "
	    "(default: 60s)" },
	{ .name = NULL },
};

static void
check(const struct upload_values *upload, const struct opt_operands *operands)
{
	struct destinations destinations;
	struct err err = { 0 };

	(void)operands;
	if (upload->results.datadir == NULL)
		opt_usage("--datadir is required");
	if (upload->results.archivedir == NULL)
		opt_usage("--archivedir is required");
	if (upload->results.timeout_ns <= 0)
		opt_usage("--timeout must be greater than 0");
	if (upload->results.settle_ns < 0)
		opt_usage("--settle must not be negative");
	if (upload->results.watch && upload->http.dry_run)
		opt_usage("--watch and --dry-run exclude each other");
	if (destinations_find(&destinations, upload->targets.at,
		upload->targets.count, &err) != 0)
		opt_usage("%s", err.text);
}

static void
allow_files(const struct upload_values *upload, struct sandbox *sandbox,
    const struct opt_operands *operands)
{
	(void)operands;
	sandbox_write(sandbox, upload->results.datadir);
	sandbox_write(sandbox, upload->results.archivedir);
}

static int64_t
get_settle_ns(const struct upload_values *upload)
{
	const struct upload_results_values *values = &upload->results;

	if (opt_origin_of(&values->settle_ns) != OPT_DEFAULT)
		return values->settle_ns;
	return values->watch || values->refuse ? SETTLE_NS : values->settle_ns;
}

/* ---- summary ---- */

static int
print_summary(const struct upload_values *upload,
    const struct upload_directory *files,
    const struct upload_directory_options *how, bool failed, struct err *err)
{
	const struct upload_directory_counters *c =
	    upload_directory_counters(files);

	if (!opt_common_values.quiet && !upload->http.dry_run)
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

/* ---- watching ---- */

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

/* ---- the command ---- */

static int
upload_all(const struct upload_values *upload, struct inbox *data,
    struct inbox *archive, struct upload_directory_options *how,
    struct err *err)
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
		rc = upload->results.watch ? stay(files, data->path, err)
					   : upload_directory_pass(files, err);
	status = print_summary(upload, files, how, rc != 0, err);
	upload_directory_close(&files);
	return status;
}

static int
run(struct upload_values *upload, const struct opt_operands *operands,
    struct err *err)
{
	char node[INSTANCE_PATH_BYTES];
	struct upload_directory_options how = {
		.to = upload->targets.at,
		.targets = upload->targets.count,
		.partition = upload->partition,
		.node = node,
		.asked = &upload->source,
		.http = &upload->http,
		.brokers = &upload->broker,
		.timeout_ns = upload->results.timeout_ns,
		.settle_ns = get_settle_ns(upload),
		.strict = upload->results.strict,
		.refuse = upload->results.refuse,
		.dry = upload->http.dry_run,
		.progress = !opt_common_values.quiet && !upload->http.dry_run &&
			    progress_is_wanted(),
	};
	struct inbox data = { .fd = -1 }, archive = { .fd = -1 };
	const char *why;
	int status = EXIT_FAILURE;

	(void)operands;
	if (instance_node(node, NULL, &why, err) == 0 &&
	    inbox_open(&data, upload->results.datadir, err) == 0 &&
	    inbox_open(&archive, upload->results.archivedir, err) == 0)
		status = upload_all(upload, &data, &archive, &how, err);
	inbox_close(&archive);
	inbox_close(&data);
	return status;
}

const struct upload_command upload_results = {
	.word = "results",
	.allow_files = allow_files,
	.check = check,
	.run = run,
};
