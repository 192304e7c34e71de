/*
 * poolscope-run - runs a command and publishes a span about it.
 *
 * When it returns, the span is on disk, in the agent's spool or in the
 * fallback queue.  If publishing fails, the exit status is still the
 * command's.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "agents/child/child.h"
#include "agents/client/clean_name.h"
#include "agents/client/trace_context.h"
#include "agents/submit/compose.h"
#include "agents/submit/submit.h"
#include "proto/hash/hash.h"
#include "proto/base/text.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127, OPERANDS_MAX = 1 << 20 };

struct options {
	const char *name;
	bool children;
	struct submit_options how;
};

static const struct options defaults = {
	.how = { .timeout_ns = 2 * NS_PER_SECOND,
	    .free_bytes = SUBMIT_FREE_BYTES }
};

static const struct opt table[] = {
	{ "name", 0, OPT_TEXT, OPT_TO(struct options, name), "NAME",
	    "set the name of the span (default: the last part of the command's "
	    "path)" },
	{ "children", 0, OPT_FLAG, OPT_TO(struct options, children), NULL,
	    "publish a span for each descendant process, too" },
	{ "partition", 'p', OPT_TEXT, OPT_TO(struct options, how.partition),
	    "NAME",
	    "publish in this partition, account$pool (default: the agent's)" },
	{ "node", 'n', OPT_TEXT, OPT_TO(struct options, how.node), "NAME",
	    "publish for this node (default: the agent's)" },
	{ "timeout", 0, OPT_DURATION, OPT_TO(struct options, how.timeout_ns),
	    "DURATION",
	    "wait this long for the agent at the end (default: 2s)" },
	{ "socket", 0, OPT_TEXT, OPT_TO(struct options, how.socket), "PATH",
	    "connect to this agent socket (default: DIR/run/agent.sock)" },
	{ "fallback", 0, OPT_TEXT, OPT_TO(struct options, how.fallback), "PATH",
	    "without an agent, write spans to this queue (default: "
	    "DIR/fallback)" },
	{ "free-bytes", 0, OPT_BYTES, OPT_TO(struct options, how.free_bytes),
	    "BYTES",
	    "leave this much of the queue's file system free (default: "
	    "64MiB)" },
	{ 0 },
};

/* The command that runs, and its spans. */
struct run {
	char name[CLIENT_PART_BYTES_MAX + 1];
	struct trace_context trace_context; /* span of the command */
	uint64_t parent;                    /* 0: none */
	struct submit *submit;
	struct compose compose;
	bool failed; /* and that was reported */
};

static void
put_hex(struct compose *compose, const char *key, uint64_t span)
{
	char hex[16];
	struct value value = {
		.type = VALUE_TEXT,
		.is.text = { hex, sizeof(hex) },
	};

	trace_context_hex_span(hex, span);
	compose_attribute(compose, text_of(key), &value, NULL);
}

static void
put_int(struct compose *compose, const char *key, int64_t i)
{
	struct value value = { .type = VALUE_INT, .is.i = i };

	compose_attribute(compose, text_of(key), &value, NULL);
}

static void
put_float(struct compose *compose, const char *key, double f)
{
	struct value value = { .type = VALUE_FLOAT, .is.f = f };

	compose_attribute(compose, text_of(key), &value, NULL);
}

/* How the command ended, what it used, and its place in the trace. */
static void
put_attributes(struct run *run, const struct child_process *process)
{
	struct compose *compose = &run->compose;
	char hex[2 * TRACE_CONTEXT_BYTES];
	struct value trace = {
		.type = VALUE_TEXT,
		.is.text = { hex, sizeof(hex) },
	};

	if (WIFSIGNALED(process->status))
		put_int(compose, "exit.signal", WTERMSIG(process->status));
	else
		put_int(compose, "exit.status", WEXITSTATUS(process->status));
	put_float(compose, "cpu.user", process->cpu_user);
	put_float(compose, "cpu.system", process->cpu_system);
	put_int(compose, "memory.peak", (int64_t)process->memory_peak);
	put_int(compose, "io.read", (int64_t)process->io_read);
	put_int(compose, "io.write", (int64_t)process->io_write);
	put_int(compose, "process.pid", process->pid);
	text_hex(hex, run->trace_context.id, TRACE_CONTEXT_BYTES);
	compose_attribute(compose, text_of("trace.id"), &trace, NULL);
	put_hex(compose, "span.id", process->span);
	if (process->parent != 0)
		put_hex(compose, "parent.id", process->parent);
}

/* Report the first failure; the command continues. */
static void
check(struct run *run, bool good, const struct err *err)
{
	if (!good && !run->failed)
		log_warn("the span was not published: %s", err->text);
	run->failed |= !good;
}

static void
add(struct run *run, struct err *err)
{
	bool good = compose_end(&run->compose, err) == 0 &&
		    submit_add(run->submit, &run->compose, err) == SUBMIT_DONE;

	check(run, good, err);
}

/* A descendant has ended. */
static void
on_child(void *arg, const struct child_process *process)
{
	struct run *run = arg;
	char track[NAME_BYTES_MAX + 1], repaired[NAME_BYTES_MAX];
	struct err err = { 0 };

	snprintf(track, sizeof(track), "run/%s/children", run->name);
	compose_span(&run->compose, text_of(track),
	    client_name(repaired, text_of(process->name)), text_of("process"),
	    process->begin_ns, process->end_ns);
	put_attributes(run, process);
	add(run, &err);
}

/* The command has ended. */
static void
publish(
    struct run *run, const struct child_process *process, uint64_t unreported)
{
	char track[NAME_BYTES_MAX + 1];
	enum submit_result finished;
	struct err err = { 0 };

	snprintf(track, sizeof(track), "run/%s", run->name);
	compose_span(&run->compose, text_of(track), text_of(run->name),
	    text_of("run"), process->begin_ns, process->end_ns);
	put_attributes(run, process);
	if (unreported > 0)
		put_int(&run->compose, "children.dropped", (int64_t)unreported);
	add(run, &err);
	finished = submit_finish(run->submit, &err);
	if (finished == SUBMIT_FORBIDDEN)
		log_warn("%s", err.text);
	else
		check(run, finished == SUBMIT_DONE, &err);
}

/* The command is a span of the current trace, or of a new one; its children
 * find the trace in their environment. */
static void
take_trace(struct run *run)
{
	const char *parent = getenv("TRACEPARENT");
	char text[TRACE_CONTEXT_PARENT_BYTES];

	if (parent == NULL || !trace_context_parse(&run->trace_context, parent))
		trace_context_random(&run->trace_context);
	run->parent = run->trace_context.span;
	hash_random_bytes(
	    &run->trace_context.span, sizeof(run->trace_context.span));
	run->trace_context.span |= 1; /* zero means none */
	trace_context_text(text, &run->trace_context);
	setenv("TRACEPARENT", text, 1);
}

static void
take_name(const struct options *options, struct run *run, const char *command)
{
	const char *slash = strrchr(command, '/');
	struct text name =
	    text_of(slash != NULL && slash[1] != '\0' ? slash + 1 : command);

	if (options->name != NULL &&
	    text_check_name(text_of(options->name)) != TEXT_OK)
		opt_usage("--name %s",
		    text_fault_words(text_check_name(text_of(options->name))));
	client_take_part(
	    run->name, options->name != NULL ? text_of(options->name) : name);
}

/* The exit status for a command that cannot be run, as a shell sets it. */
static int
status_of(enum child_result result)
{
	return result == CHILD_NOT_FOUND ? NOT_FOUND << 8 : NOT_EXECUTABLE << 8;
}

static void
parse(struct options *options, int argc, char **argv,
    struct opt_operands *operands)
{
	const struct opt_table tables[] = { { table, options },
		{ opt_common, NULL }, { NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-run",
		.synopsis = "[options] -- COMMAND [ARGUMENT...]",
		.summary = "run a command and publish its span",
		.examples =
		    "poolscope run -- make -j8\n"
		    "poolscope run --name backup -- rsync -a /home /backup\n",
		.tables = tables,
		.operands_min = 1,
		.operands_max = OPERANDS_MAX,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct options options = defaults;
	char socket[INSTANCE_PATH_BYTES], fallback[INSTANCE_PATH_BYTES];
	struct run run = { 0 };
	struct submit_options *how = &options.how;
	struct child_options what = { 0 };
	struct opt_operands operands;
	struct child_process process;
	enum child_result result;
	struct err err = { 0 };
	uint64_t unreported;

	parse(&options, argc, argv, &operands);
	if (submit_check(how, &err) != 0)
		opt_usage("%s", err.text);
	take_name(&options, &run, operands.at[0]);
	take_trace(&run);
	/* If the directory of the instance is unknown, run the command
	 * anyway. */
	if (instance_path(socket, "run/agent.sock", &err) != 0 ||
	    instance_path(fallback, "fallback", &err) != 0)
		log_warn("%s", err.text);
	how->socket = how->socket ? how->socket : socket;
	how->fallback = how->fallback ? how->fallback : fallback;
	how->quiet = opt_common_values.quiet;
	submit_new(&run.submit, how);
	operands.at[operands.count] = NULL;
	what.argv = operands.at;
	what.span = run.trace_context.span;
	what.on_child = options.children ? on_child : NULL;
	what.arg = &run;
	result = child_command(&what, &process, &unreported, &err);
	if (result != CHILD_ENDED)
		log_fail(&err);
	if (result == CHILD_FAILED)
		return EXIT_FAILURE;
	if (result != CHILD_ENDED)
		process.status = status_of(result);
	process.parent = run.parent;
	publish(&run, &process, unreported);
	submit_free(&run.submit);
	child_end_like(process.status);
}
