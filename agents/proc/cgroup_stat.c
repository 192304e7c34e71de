/*
 * cgroup_stat - parses the files of a cgroup and of a process.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/cgroup_stat.h"

#include "agents/proc/scan.h"
#include "proto/base/text.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(*(array))))

int
cgroup_parse_cpu(struct text file, struct cgroup_cpu *cpu)
{
	const struct scan_field fields[] = {
		SCAN_FIELD("usage_usec", &cpu->usage_us),
		SCAN_FIELD("user_usec", &cpu->user_us),
		SCAN_FIELD("system_usec", &cpu->system_us),
		SCAN_FIELD("throttled_usec", &cpu->throttled_us),
		SCAN_FIELD("nr_throttled", &cpu->throttled),
	};

	scan_begin(cpu);
	return scan_fields(file, fields, COUNT(fields)) ? 0 : -1;
}

int
cgroup_parse_events(struct text file, struct cgroup_events *events)
{
	const struct scan_field fields[] = {
		SCAN_FIELD("high", &events->high),
		SCAN_FIELD("max", &events->max),
		SCAN_FIELD("oom_kill", &events->oom_kills),
	};

	scan_begin(events);
	return scan_fields(file, fields, COUNT(fields)) ? 0 : -1;
}

int
cgroup_parse_io(struct text file, struct cgroup_io *io)
{
	const struct scan_field fields[] = {
		SCAN_FIELD("rbytes=", &io->read_bytes),
		SCAN_FIELD("wbytes=", &io->write_bytes),
		SCAN_FIELD("rios=", &io->reads),
		SCAN_FIELD("wios=", &io->writes),
	};
	struct text line, word;

	/* A group that did none has an empty file. */
	*io = (struct cgroup_io){ 0 };
	while (text_next_line(&file, &line)) {
		/* the device */
		text_next_word(&line);
		while ((word = text_next_word(&line)).bytes > 0) {
			for (uint32_t i = 0; i < COUNT(fields); i++) {
				struct text key = fields[i].name;
				uint64_t number;

				if (word.bytes <= key.bytes ||
				    memcmp(word.at, key.at, key.bytes) != 0)
					continue;
				word.at += key.bytes;
				word.bytes -= key.bytes;
				if (scan_number(&word, &number))
					*fields[i].to += number;
				break;
			}
		}
	}
	return 0;
}

bool
proc_parse_number(struct text file, uint64_t *number)
{
	struct text line;

	return text_next_line(&file, &line) && scan_number(&line, number);
}

int
proc_parse_process(struct text file, struct proc_process *process)
{
	uint64_t ignored;
	/* The columns after state: ppid pgrp session tty tpgid flags minflt
	 * cminflt majflt cmajflt utime stime cutime cstime priority nice
	 * threads itrealvalue starttime vsize rss */
	uint64_t *const to[] = { &ignored, &ignored, &ignored, &ignored,
		&ignored, &ignored, &ignored, &ignored, &process->major_faults,
		&ignored, &process->user_ticks, &process->system_ticks,
		&ignored, &ignored, &ignored, &ignored, &process->threads,
		&ignored, &process->start_ticks, &ignored,
		&process->resident_pages };
	const char *open, *close;
	struct text head;

	*process = (struct proc_process){ 0 };
	if (file.bytes == 0)
		return -1;
	/* The program chooses the name, which may contain anything. */
	open = memchr(file.at, '(', file.bytes);
	close = memrchr(file.at, ')', file.bytes);
	if (open == NULL || close == NULL || close < open)
		return -1;
	head = (struct text){ file.at, (uint32_t)(open - file.at) };
	if (!scan_number(&head, &process->pid))
		return -1;
	process->name = (struct text){ open + 1, (uint32_t)(close - open - 1) };
	file.bytes -= (uint32_t)(close + 1 - file.at);
	file.at = close + 1;
	text_next_word(&file);
	/* A negative number is skipped, not read; no wanted one is negative. */
	for (uint32_t i = 0; i < COUNT(to); i++)
		if (!scan_number(&file, to[i]) && to[i] != &ignored)
			return -1;
	return 0;
}
