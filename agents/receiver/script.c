/*
 * script - numbers that a script prints, each period.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/script.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/receiver/outlet.h"
#include "agents/receiver/script_file.h"
#include "agents/receiver/script_runner.h"
#include "agents/receiver/section.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { PERIOD, TIMEOUT, USER, COMMAND }; /* RECEIVER_SCRIPT_KEYS */

enum { STATUS_REFUSED = 126 }; /* as shells have it */

static const char option[] = "script";

struct script {
	struct receiver_source source;
	struct script_command command;
	char *name, *origin, *text, *user, *home; /* of these */
	int64_t period_ns;
	struct script_runner runner;
	bool runs;
	struct outlet *outlet;
	struct script_result result;
};

/* ---- the section ---- */

static int
parse(struct script *script, const char *word, struct err *err)
{
	const struct opt *opt = section_option(option);
	char *words[SCRIPT_WORDS_MAX + 1], *room = NULL;
	struct opt_section section;
	int rc = -1;

	if (opt_section_parse(&section, opt, word, err) != 0)
		return -1;
	script->name = memory_format(
	    "script %.*s", (int)section.name.bytes, section.name.at);
	script->origin = memory_format(
	    "prom/%.*s", (int)section.name.bytes, section.name.at);
	script->text = memory_text(section.value[COMMAND]);
	if (section.value[USER].at != NULL)
		script->user = memory_text(section.value[USER]);
	script->period_ns = 60 * NS_PER_SECOND;
	script->command = (struct script_command){
		.name = strchr(script->name, ' ') + 1,
		.command = script->text,
		.user = script->user,
		.timeout_ns = 5 * NS_PER_SECOND,
	};
	if (section_duration(&section, opt, PERIOD, &script->period_ns, err) ==
		0 &&
	    section_duration(
		&section, opt, TIMEOUT, &script->command.timeout_ns, err) == 0)
		rc = script_file_words(words, &room, script->text, err);
	free(room);
	return rc == 0 ? 0 : err_prefix(err, "%s", script->command.name);
}

static void
free_script(struct script **script)
{
	free((*script)->name);
	free((*script)->origin);
	free((*script)->text);
	free((*script)->user);
	free((*script)->home);
	free(*script);
	*script = NULL;
}

int
script_check(const struct receiver_settings *settings, struct err *err)
{
	const struct opt_list *list = &settings->script;

	if (section_check_names(list, option, err) != 0)
		return -1;
	for (uint32_t i = 0; i < list->count; i++) {
		struct script *script = memory_zero(1, sizeof(*script));
		int rc = parse(script, list->at[i], err);

		free_script(&script);
		if (rc != 0)
			return err_prefix_option(err, option);
	}
	return 0;
}

/* Who runs it? */
static int
find_user(struct script *script, struct err *err)
{
	struct script_command *command = &script->command;
	const struct passwd *entry;

	if (geteuid() == 0 && script->user == NULL)
		return err_set(err,
		    "root runs scripts only as a user that the configuration "
		    "names: user = \"nobody\"");
	errno = 0;
	entry =
	    script->user != NULL ? getpwnam(script->user) : getpwuid(geteuid());
	if (entry == NULL && script->user != NULL)
		return err_set(err, "there is no user %.64s", script->user);
	command->uid = entry != NULL ? entry->pw_uid : geteuid();
	command->gid = entry != NULL ? entry->pw_gid : getegid();
	script->home = memory_string(entry != NULL ? entry->pw_dir : "/");
	command->home = script->home;
	if (command->user == NULL && entry != NULL)
		command->user = script->user = memory_string(entry->pw_name);
	if (geteuid() == 0 || command->uid == geteuid())
		return 0;
	return err_set(
	    err, "only root can run a script as user %.64s", script->user);
}

/* ---- a turn ---- */

static void
put_own(struct script *script, int64_t now_ns)
{
	struct dynamic_label label = { text_of("script"),
		text_of(script->command.name) };
	bool refused = script->result.end == SCRIPT_REFUSED;
	struct dynamic_number number[] = {
		{ .name = text_of("script.exit"),
		    .value = { .type = VALUE_INT,
			.is.i = refused ? STATUS_REFUSED
					: script->result.status } },
		{ .name = text_of("script.seconds"),
		    .unit = text_of("s"),
		    .value = { .type = VALUE_FLOAT,
			.is.f = (double)script->result.ns /
				(double)NS_PER_SECOND } },
	};

	outlet_numbers(script->outlet, text_of(script->origin), &label, 1,
	    number, 2, now_ns);
}

/* Count what was wrong, with what the script says of it. */
static void
report(struct script *script)
{
	struct script_result *result = &script->result;
	struct receiver_report *to = &script->source.report;
	struct text errors = { result->errors, result->errors_bytes };
	char why[64];

	switch (result->end) {
	case SCRIPT_EXITED:
		snprintf(why, sizeof(why), "exit status %d", result->status);
		if (result->status != 0)
			report_bad(to, "exit", errors, why, 1);
		break;
	case SCRIPT_SIGNALLED:
		snprintf(why, sizeof(why),
		    "ended by signal %d: its output is "
		    "not taken",
		    result->status - 128);
		report_bad(to, "signal", errors, why, 1);
		break;
	case SCRIPT_TIMED_OUT:
		report_bad(to, "timeout", errors,
		    "ended at its timeout: its output is not taken", 1);
		break;
	case SCRIPT_TOO_LONG:
		report_bad(to, "output", errors,
		    "ended after 64 KiB of output, which is not taken", 1);
		break;
	case SCRIPT_STOPPED: break;
	case SCRIPT_REFUSED:
		report_bad(
		    to, "refused", text_of(script->text), result->why.text, 1);
		break;
	}
	if (result->left > 0 && result->end == SCRIPT_EXITED)
		report_bad(to, "left", text_of(script->text),
		    "it left processes behind, which were killed",
		    result->left);
	if (result->unkillable > 0)
		report_bad(to, "unkillable", text_of(script->text),
		    "processes of it cannot be killed", result->unkillable);
}

static void
take(struct script *script)
{
	struct script_result *result = &script->result;
	struct prometheus_page page = {
		.text = { result->output, result->output_bytes },
		.origin = text_of(script->origin),
		.time_ns = clock_wall_ns(),
	};

	report(script);
	if (result->end == SCRIPT_STOPPED)
		return;
	put_own(script, page.time_ns);
	if (result->end != SCRIPT_EXITED)
		page.text.bytes = 0;
	outlet_page(script->outlet, &page, true);
}

/* ---- the source ---- */

/* Start the script, unless it still runs; -1: there is no runner any more. */
static int
begin(struct script *script, struct err *err)
{
	if (script->runs) {
		report_bad(&script->source.report, "skipped",
		    text_of(script->text),
		    "it still runs, so this turn is skipped", 1);
		return 0;
	}
	script->runs = true;
	return script_runner_begin(&script->runner, err);
}

/* Until the next turn, a result, or the end; false: the process stops. */
static bool
wait_until(struct script *script, int64_t next_ns, bool *has_result)
{
	int64_t left_ns = next_ns - clock_monotonic_ns();
	struct pollfd fd[] = {
		{ script->source.receiver->stop_fd, POLLIN, 0 },
		{ script->runs ? script->runner.fd : -1, POLLIN, 0 },
	};
	struct timespec time = { 0, 0 };

	if (left_ns > 0)
		time = (struct timespec){ left_ns / NS_PER_SECOND,
			left_ns % NS_PER_SECOND };
	if (ppoll(fd, 2, &time, NULL) < 0)
		fd[0].revents = fd[1].revents = 0;
	*has_result = fd[1].revents != 0;
	return fd[0].revents == 0;
}

static void
run(struct receiver_source *source)
{
	struct script *script = source->arg;
	int64_t next_ns = clock_monotonic_ns();
	struct err err = { 0 };
	bool has_result;
	int rc = 0;

	while (rc == 0 && wait_until(script, next_ns, &has_result)) {
		if (has_result) {
			script->runs = false;
			rc = script_runner_take(
			    &script->runner, &script->result, &err);
			if (rc == 0)
				take(script);
		}
		if (rc != 0 || clock_monotonic_ns() < next_ns)
			continue;
		rc = begin(script, &err);
		/* After a stall one turn, not a burst. */
		do
			next_ns += script->period_ns;
		while (next_ns < clock_monotonic_ns());
	}
	script_runner_hang_up(&script->runner);
	if (rc != 0)
		log_error("%s: %s", source->name, err.text);
}

static int
open_it(struct receiver_source *source, struct err *err)
{
	struct script *script = source->arg;

	(void)err;
	outlet_new(&script->outlet, source);
	return 0;
}

static void
close_it(struct receiver_source *source)
{
	struct script *script = source->arg;

	script_runner_close(&script->runner);
	outlet_free(&script->outlet);
	free_script(&script);
}

static int
add(struct receiver *receiver, const char *word, struct err *err)
{
	struct script *script = memory_zero(1, sizeof(*script));

	script->runner = (struct script_runner){ -1, -1 };
	if (parse(script, word, err) != 0 || find_user(script, err) != 0 ||
	    script_runner_open(&script->runner, &script->command, err) != 0) {
		err_prefix(err, "%s", script->name);
		free_script(&script);
		return -1;
	}
	script->source = (struct receiver_source){
		.name = script->name,
		.open = open_it,
		.run = run,
		.close = close_it,
		.arg = script,
	};
	return receiver_add(receiver, &script->source, err);
}

int
script_add(struct receiver *receiver, struct err *err)
{
	const struct opt_list *list = &receiver->settings.script;

	for (uint32_t i = 0; i < list->count; i++)
		if (add(receiver, list->at[i], err) != 0)
			return -1;
	return 0;
}
