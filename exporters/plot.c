/*
 * poolscope-plot - pictures of a pool.  poolscope-plot(1).
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exporters/cascade_files.h"
#include "exporters/cascade_read.h"
#include "exporters/cascade_report.h"
#include "exporters/gnuplot.h"
#include "exporters/output.h"
#include "exporters/phases_plot.h"
#include "exporters/pool.h"
#include "exporters/source.h"
#include "proto/clock.h"
#include "proto/log.h"
#include "proto/opt.h"

enum view { VIEW_CASCADE, VIEW_PHASES, VIEW_ALL };
enum { NAME_BYTES = 4 * INSTANCE_PATH_BYTES };
#define GNUPLOT_LIMIT_NS (60 * NS_PER_SECOND)

static struct {
	const char *output;
	int view, terminal;
	bool strict, png, numbers;
} values = { .output = ".", .png = true };

static const struct opt options[] = {
	{ "output", 'o', OPT_TEXT, &values.output, "DIR",
	    "directory for the files (.)", NULL, false },
	{ "view", 0, OPT_CHOICE, &values.view, "VIEW",
	    "cascade: the older tool's picture; phases: what adds up; all",
	    "cascade|phases|all", false },
	{ "term", 0, OPT_CHOICE, &values.terminal, "TERM",
	    "png, svg, or dumb: letters on standard output", "png|svg|dumb",
	    false },
	{ "png", 0, OPT_FLAG, &values.png, NULL,
	    "draw; --no-png leaves it at the table and the script", NULL,
	    false },
	{ "numbers", 0, OPT_FLAG, &values.numbers, NULL,
	    "also write what poolscope-stats cascade says, as JSON", NULL,
	    false },
	{ "strict", 0, OPT_FLAG, &values.strict, NULL,
	    "fail when a node is incomplete, before anything is written", NULL,
	    false },
	{ .name = NULL },
};

static const struct opt *const tables[] = { pool_options, options,
	source_options, opt_common, NULL };

static const struct opt_program program = {
	.name = "poolscope-plot",
	.synopsis = "[options] cascade",
	.summary = "draw how the nodes of a pool got ready",
	.tables = tables,
	.operands_min = 1,
	.operands_max = 1,
};

/* One picture: what it is called, and who writes its table and script. */
struct picture {
	struct text base; /* of the file names */
	struct text pool;
	const struct cascade *cascade;
	struct phases_plot *phases; /* NULL: the older tool's */
};

static int
commit(struct output *output, struct err *err)
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

	if (output_open_in(
		&output, values.output, picture->base, ".dat", err) != 0)
		return -1;
	if (picture->phases != NULL)
		phases_plot_dat(picture->phases, output.file);
	else
		cascade_write_dat(picture->cascade, output.file);
	return commit(&output, err);
}

static int
write_script(const struct picture *picture, const char *name, struct err *err)
{
	enum gnuplot_terminal terminal = (enum gnuplot_terminal)values.terminal;
	char dat[NAME_BYTES];
	struct output output;

	snprintf(dat, sizeof(dat), "%s.dat", name);
	if (output_open_in(
		&output, values.output, picture->base, ".plot", err) != 0)
		return -1;
	if (picture->phases != NULL)
		phases_plot_script(
		    picture->phases, output.file, picture->pool, dat, terminal);
	else
		cascade_write_plot(picture->cascade, output.file, picture->pool,
		    dat, terminal);
	return commit(&output, err);
}

static int
draw(const struct picture *picture, const char *name, struct err *err)
{
	bool dumb = values.terminal == GNUPLOT_DUMB;
	char script[NAME_BYTES];
	struct output output;

	snprintf(script, sizeof(script), "%s.plot", name);
	if (dumb) {
		if (output_open(&output, "-", err) != 0)
			return -1;
	} else if (output_open_in(&output, values.output, picture->base,
		       values.terminal == GNUPLOT_SVG ? ".svg" : ".png",
		       err) != 0) {
		return -1;
	}
	if (gnuplot_run(values.output, script, fileno(output.file),
		GNUPLOT_LIMIT_NS, err) != 0) {
		output_abort(&output);
		return -1;
	}
	return dumb ? output_commit(&output, err) : commit(&output, err);
}

static int
make_picture(const struct picture *picture, struct err *err)
{
	char name[NAME_BYTES - 8];

	if (output_encode(name, sizeof(name), picture->base, "") == 0)
		return err_set(err, "the partition gives no file name");
	if (write_table(picture, err) != 0 ||
	    write_script(picture, name, err) != 0)
		return -1;
	return values.png ? draw(picture, name, err) : 0;
}

/* What the pictures are of, in numbers: read once, written beside them. */
static int
write_numbers(const struct cascade *cascade, struct text base, struct err *err)
{
	struct output output;

	if (output_open_in(&output, values.output, base, ".json", err) != 0)
		return -1;
	cascade_report_json(cascade, output.file);
	return commit(&output, err);
}

static int
make_pictures(
    const struct cascade *cascade, struct text partition, struct err *err)
{
	char base[INSTANCE_PATH_BYTES], phases[INSTANCE_PATH_BYTES + 8];
	struct picture picture = {
		.base = pool_base(base, partition),
		.pool = pool_id(partition),
		.cascade = cascade,
	};
	int rc;

	if (mkdir(values.output, 0777) != 0 && errno != EEXIST)
		return err_set(err, "%s: %s", values.output, strerror(errno));
	if (values.numbers && write_numbers(cascade, picture.base, err) != 0)
		return -1;
	if (values.view != VIEW_PHASES && make_picture(&picture, err) != 0)
		return -1;
	if (values.view == VIEW_CASCADE)
		return 0;
	snprintf(phases, sizeof(phases), "%s-phases", base);
	picture.base = text_of(phases);
	picture.phases = phases_plot_new(cascade);
	rc = make_picture(&picture, err);
	phases_plot_free(&picture.phases);
	return rc;
}

static int
plot_cascade(struct source *source, struct text partition, struct err *err)
{
	struct cascade cascade;
	int rc;

	cascade_init(&cascade);
	rc = cascade_read(&cascade, source, partition, err);
	if (rc == 0) {
		uint32_t nodes = cascade.node_count;

		cascade_warn_missing(&cascade);
		if (cascade.complete == 0)
			rc = err_set(err,
			    "none of the %u nodes is complete: nothing to draw",
			    nodes);
		else if (values.strict && cascade_has_missing(&cascade))
			rc = cascade_refuse(&cascade, err);
		else
			rc = make_pictures(&cascade, partition, err);
	}
	cascade_clear(&cascade);
	return rc;
}

int
main(int argc, char **argv)
{
	char partition[INSTANCE_PATH_BYTES];
	struct opt_operands operands;
	struct source *source = NULL;
	struct err err = { "" };
	int rc;

	opt_parse(&program, argc, argv, &operands);
	if (strcmp(operands.at[0], "cascade") != 0)
		opt_usage("'%.64s' is not a picture; there is: cascade",
		    operands.at[0]);
	if (values.output[0] == '\0')
		opt_usage("--output needs DIR");
	rc = pool_partition(partition, &err);
	if (rc == 0)
		rc = source_open(&source, &err);
	if (rc == 0)
		rc = plot_cascade(source, text_of(partition), &err);
	source_close(&source);
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? 0 : 1;
}
