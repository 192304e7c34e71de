/*
 * picture - write a table and its script, and draw the picture.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/gnuplot/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporters/gnuplot/gnuplot.h"
#include "exporters/gnuplot/look.h"
#include "exporters/source/source.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { FILE_BYTES = 4 * INSTANCE_PATH_BYTES, FD_BYTES = 12 };
#define GNUPLOT_LIMIT_NS (60 * NS_PER_SECOND)

bool
picture_sandbox(struct sandbox *sandbox, const char *dir, const char *more)
{
	output_sandbox(sandbox, more);
	/* Creates a missing directory. */
	if (dir != NULL && access(dir, F_OK) != 0)
		sandbox_write_parent(sandbox, dir);
	sandbox_write(sandbox, dir);
	return gnuplot_sandbox_allow(sandbox);
}

int
picture_make_dir(const char *dir, struct err *err)
{
	if (dir != NULL && mkdir(dir, 0777) != 0 && errno != EEXIST)
		return err_set(err, "%s: %s", dir, strerror(errno));
	return 0;
}

int
picture_commit(struct output *output, struct err *err)
{
	char path[OUTPUT_PATH_BYTES];

	snprintf(path, sizeof(path), "%s", output->path);
	if (output_commit(output, err) != 0)
		return -1;
	if (!opt_common_values.quiet)
		log_info("wrote %s", path);
	return 0;
}

static int
write_table(const struct picture *picture, struct err *err)
{
	struct output output;

	if (output_open_in(&output, picture->dir, picture->base, ".dat", err) !=
	    0)
		return -1;
	picture->put_table(picture->what, output.file);
	return picture_commit(&output, err);
}

/* The script in the style of --style. */
static void
put_script(const struct picture *picture, FILE *file, const char *dat)
{
	char *script = NULL;
	size_t bytes;
	FILE *memory = memory_stream(&script, &bytes);

	picture->put_script(picture->what, memory, dat, picture->terminal);
	memory_stream_end(&memory);
	gnuplot_look_put(file, (struct text){ script, (uint32_t)bytes });
	free(script);
}

static int
write_script(const struct picture *picture, const char *name, struct err *err)
{
	char dat[FILE_BYTES];
	struct output output;

	snprintf(dat, sizeof(dat), "%s.dat", name);
	if (output_open_in(
		&output, picture->dir, picture->base, ".plot", err) != 0)
		return -1;
	put_script(picture, output.file, dat);
	return picture_commit(&output, err);
}

static int
draw(const struct picture *picture, const char *name, struct err *err)
{
	static const char *const endings[] = { [GNUPLOT_PNG] = ".png",
		[GNUPLOT_SVG] = ".svg",
		[GNUPLOT_PDF] = ".pdf" };
	bool to_stdout = gnuplot_is_stdout(picture->terminal);
	char script[FILE_BYTES];
	struct output output;
	int rc;

	snprintf(script, sizeof(script), "%s.plot", name);
	if (to_stdout)
		rc = output_open(&output, "-", err);
	else
		rc = output_open_in(&output, picture->dir, picture->base,
		    endings[picture->terminal], err);
	if (rc != 0)
		return -1;
	if (gnuplot_run(picture->dir, script, fileno(output.file),
		GNUPLOT_LIMIT_NS, err) != 0) {
		output_abort(&output);
		return -1;
	}
	return to_stdout ? output_commit(&output, err)
			 : picture_commit(&output, err);
}

/* An anonymous file that gnuplot inherits; its directory is /dev/fd. */
static FILE *
open_nameless(char name[static FD_BYTES])
{
	int fd = memfd_create("poolscope-plot", 0);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (file == NULL && fd >= 0)
		close(fd);
	snprintf(name, FD_BYTES, "%d", fd);
	return file;
}

static int
draw_without_files(const struct picture *picture, struct err *err)
{
	char dat[FD_BYTES], script[FD_BYTES];
	FILE *table = open_nameless(dat), *commands = open_nameless(script);
	int rc = -1;

	if (table != NULL && commands != NULL) {
		picture->put_table(picture->what, table);
		put_script(picture, commands, dat);
	}
	if (table == NULL || commands == NULL || fflush(table) != 0 ||
	    fflush(commands) != 0)
		err_set(err, "cannot create a picture in memory: %s",
		    strerror(errno));
	else
		rc = gnuplot_run(
		    "/dev/fd", script, STDOUT_FILENO, GNUPLOT_LIMIT_NS, err);
	if (table != NULL)
		fclose(table);
	if (commands != NULL)
		fclose(commands);
	return rc;
}

int
picture_make(const struct picture *picture, struct err *err)
{
	char name[FILE_BYTES - 8];

	if (picture->dir == NULL)
		return draw_without_files(picture, err);
	if (output_encode(name, sizeof(name), picture->base, "") == 0)
		return err_set(err,
		    "the name of the partition cannot be used as a file name");
	if (write_table(picture, err) != 0 ||
	    write_script(picture, name, err) != 0)
		return -1;
	return picture->drawn ? draw(picture, name, err) : 0;
}
