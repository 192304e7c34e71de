/*
 * tool - what the programs that read have in common.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/tool/tool.h"

#include <string.h>

#include "exporters/source/known.h"
#include "exporters/source/select_options.h"
#include "proto/answer/answer.h"
#include "proto/format/output.h"
#include "proto/os/log.h"

static void
check_window(const struct tool *tool)
{
	struct time_window_options *window = tool->window;

	if (window == NULL)
		return;
	node_option_check(&window->node);
	time_options_check(window->from_ns, window->to_ns);
	if (tool->starts != NULL)
		starts_options_check(
		    tool->starts, window->from_ns, window->to_ns);
}

static void
enter_sandbox(const struct tool *tool)
{
	struct sandbox own, *sandbox = tool->sandbox;

	if (sandbox == NULL)
		sandbox_begin(sandbox = &own);
	if (tool->source != NULL)
		source_sandbox(sandbox, tool->source);
	output_sandbox(sandbox, tool->output);
	if (tool->is_unconfined)
		sandbox_drop(sandbox);
	else
		sandbox_close(sandbox, false);
}

static int
find_window(const struct tool *tool, struct tool_open *open, struct err *err)
{
	struct time_window_options *window = tool->window;
	int rc = known_check_nodes(
	    open->source, open->partition, text_of(window->node.list), err);

	if (rc == 0 && tool->starts != NULL)
		rc = starts_choose(&open->start, open->source, open->partition,
		    tool->starts, tool->model,
		    tool->is_of_start && !job_options_given(&window->jobs),
		    &window->from_ns, &window->to_ns, err);
	return rc;
}

static int
work(const struct tool *tool, struct tool_open *open, struct err *err)
{
	int rc = 0;

	if (tool->source != NULL)
		rc = source_open(&open->source, tool->source, err);
	if (rc != 0 && tool->takes_silence) {
		open->silent = *err;
		rc = 0;
	}
	if (rc == 0 && tool->window != NULL)
		rc = find_window(tool, open, err);
	if (rc == 0)
		rc = tool->work(tool->arg, open, err);
	if (open->source != NULL && tool->window != NULL)
		rc = known_check_partition(
		    open->source, open->partition, rc, err);
	return rc;
}

static int
work_into(const struct tool *tool, struct tool_open *open, struct err *err)
{
	struct output output;

	if (output_open(&output, tool->output, err) != 0)
		return -1;
	open->file = output.file;
	if (strcmp(output.path, "-") == 0)
		open->width = answer_terminal_width();
	if (work(tool, open, err) == 0)
		return tool->is_for_timers
			   ? output_commit(&output, err)
			   : output_commit_logged(&output, "", err);
	output_abort(&output);
	return -1;
}

int
tool_main(const struct tool *tool)
{
	char partition[INSTANCE_PATH_BYTES] = "";
	struct tool_open open = { .source = NULL };
	struct err err = { 0 };
	int rc = 0;

	check_window(tool);
	/* The files of --configdir are not in the sandbox. */
	if (tool->pool != NULL)
		rc = pool_partition(partition, tool->pool, &err);
	open.partition = text_of(partition);
	enter_sandbox(tool);
	if (rc == 0)
		rc = tool->output != NULL ? work_into(tool, &open, &err)
					  : work(tool, &open, &err);
	rc = source_finish(&open.source, rc, &err);
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? open.status : 1;
}
