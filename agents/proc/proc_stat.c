/*
 * proc_stat - parses the text files of Linux' /proc.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/proc_stat.h"

#include "agents/proc/scan.h"
#include "proto/base/number.h"
#include "proto/base/text.h"

int
proc_parse_cpu(struct text file, struct proc_cpu *cpu)
{
	uint64_t *const times[] = { &cpu->user, &cpu->nice, &cpu->system,
		&cpu->idle, &cpu->iowait, &cpu->interrupt, &cpu->softirq,
		&cpu->steal };
	struct text line;
	bool found = false;
	uint64_t number;

	scan_begin(cpu);
	cpu->processors = cpu->set = 0;
	while (text_next_line(&file, &line)) {
		struct text word = text_next_word(&line);

		if (scan_is(word, "cpu"))
			/* Old kernels have four times. */
			for (uint32_t i = 0;
			     i < sizeof(times) / sizeof(*times) &&
			     scan_number(&line, times[i]);
			     i++)
				found |= i == 3;
		else if (scan_processor(word, &number)) {
			cpu->processors++;
			cpu->set += (number + 1) * (number + 7);
		} else if (scan_is(word, "ctxt"))
			scan_number(&line, &cpu->context_switches);
		else if (scan_is(word, "processes"))
			scan_number(&line, &cpu->forks);
		else if (scan_is(word, "procs_running"))
			scan_number(&line, &cpu->running);
		else if (scan_is(word, "procs_blocked"))
			scan_number(&line, &cpu->blocked);
	}
	return found ? 0 : -1;
}

bool
proc_next_processor(struct text *rest, struct proc_processor *processor)
{
	struct text line;

	while (text_next_line(rest, &line)) {
		scan_begin(processor);
		if (!scan_processor(text_next_word(&line), &processor->number))
			continue;
		for (int i = 0; i < PROC_CPU_TIMES; i++)
			if (!scan_number(&line, &processor->times[i]))
				break;
		return true;
	}
	return false;
}

int
proc_parse_memory(struct text file, struct proc_memory *memory)
{
	const struct scan_field fields[] = {
		SCAN_FIELD("MemTotal:", &memory->total),
		SCAN_FIELD("MemFree:", &memory->free),
		SCAN_FIELD("MemAvailable:", &memory->available),
		SCAN_FIELD("Buffers:", &memory->buffers),
		SCAN_FIELD("Cached:", &memory->cached),
		SCAN_FIELD("SReclaimable:", &memory->slab_reclaimable),
		SCAN_FIELD("SUnreclaim:", &memory->slab_unreclaimable),
		SCAN_FIELD("Shmem:", &memory->shared),
		SCAN_FIELD("Dirty:", &memory->dirty),
		SCAN_FIELD("SwapTotal:", &memory->swap_total),
		SCAN_FIELD("SwapFree:", &memory->swap_free),
	};
	const uint32_t count = sizeof(fields) / sizeof(*fields);

	scan_begin(memory);
	scan_fields(file, fields, count);
	for (uint32_t i = 0; i < count; i++)
		*fields[i].to = *fields[i].to <= UINT64_MAX >> 10
				    ? *fields[i].to << 10
				    : SCAN_UNKNOWN;
	memory->has_available = memory->available != SCAN_UNKNOWN;
	return scan_or_0(memory->total) > 0 ? 0 : -1;
}

int
proc_parse_load(struct text file, struct proc_load *load)
{
	struct text line, tasks, running;

	*load = (struct proc_load){ 0 };
	if (!text_next_line(&file, &line) ||
	    number_parse_double(text_next_word(&line), &load->one, NULL) != 0 ||
	    number_parse_double(text_next_word(&line), &load->five, NULL) !=
		0 ||
	    number_parse_double(text_next_word(&line), &load->fifteen, NULL) !=
		0)
		return -1;
	tasks = text_next_word(&line);
	running = scan_until(&tasks, '/');
	return scan_number(&running, &load->running) &&
		       scan_number(&tasks, &load->threads)
		   ? 0
		   : -1;
}

bool
proc_next_disk(struct text *rest, struct proc_disk *disk)
{
	uint64_t *const numbers[] = { &disk->reads, &disk->reads_merged,
		&disk->read_sectors, &disk->read_ms, &disk->writes,
		&disk->writes_merged, &disk->write_sectors, &disk->write_ms,
		&disk->in_progress, &disk->io_ms, &disk->weighted_ms };
	enum { COLUMNS = sizeof(numbers) / sizeof(*numbers), SHORT = 4 };
	struct text line;

	while (text_next_line(rest, &line)) {
		uint64_t major, minor;
		uint32_t count = 0;

		if (!scan_number(&line, &major) || !scan_number(&line, &minor))
			continue;
		scan_begin(disk);
		disk->name = text_next_word(&line);
		if (disk->name.bytes == 0)
			continue;
		while (count < COLUMNS && scan_number(&line, numbers[count]))
			count++;
		if (count == COLUMNS)
			return true;
		if (count == SHORT) {
			disk->write_sectors = disk->read_ms;
			disk->writes = disk->read_sectors;
			disk->read_sectors = disk->reads_merged;
			disk->reads_merged = disk->read_ms = SCAN_UNKNOWN;
			return true;
		}
	}
	return false;
}

bool
proc_next_interface(struct text *rest, struct proc_interface *interface)
{
	uint64_t skipped;
	uint64_t *const numbers[] = { &interface->receive_bytes,
		&interface->receive_packets, &interface->receive_errors,
		&interface->receive_drops, &skipped, &skipped, &skipped,
		&skipped, &interface->send_bytes, &interface->send_packets,
		&interface->send_errors, &interface->send_drops };
	struct text line;

	while (text_next_line(rest, &line)) {
		/* A name may contain a colon (an alias); no number does. */
		const char *colon =
		    line.bytes > 0 ? memrchr(line.at, ':', line.bytes) : NULL;
		struct text name;

		if (colon == NULL)
			continue;
		name = (struct text){ line.at, (uint32_t)(colon - line.at) };
		line.bytes -= name.bytes + 1;
		line.at = colon + 1;
		interface->name = text_next_word(&name);
		if (interface->name.bytes > 0 &&
		    scan_numbers(
			&line, numbers, sizeof(numbers) / sizeof(*numbers)))
			return true;
	}
	return false;
}

bool
proc_next_mount(struct text *rest, struct proc_mount *mount)
{
	struct text line, word, part;

	while (text_next_line(rest, &line)) {
		/* id, parent, device, root, point, options, any number of
		 * tags, "-", type */
		if (!scan_number(&line, &mount->id) ||
		    !scan_number(&line, &mount->parent))
			continue;
		word = text_next_word(&line);
		part = scan_until(&word, ':');
		if (!scan_number(&part, &mount->major) ||
		    !scan_number(&word, &mount->minor))
			continue;
		mount->root = text_next_word(&line);
		mount->point = text_next_word(&line);
		do
			word = text_next_word(&line);
		while (word.bytes > 0 && !scan_is(word, "-"));
		mount->type = text_next_word(&line);
		if (mount->point.bytes > 0 && mount->type.bytes > 0)
			return true;
	}
	return false;
}

bool
proc_is_local(struct text type)
{
	static const char *const local[] = { "ext2", "ext3", "ext4", "xfs",
		"btrfs", "zfs", "f2fs", "bcachefs", "reiserfs", "jfs", "vfat",
		"exfat", "ntfs3", "overlay" };

	for (uint32_t i = 0; i < sizeof(local) / sizeof(*local); i++)
		if (scan_is(type, local[i]))
			return true;
	return false;
}

static bool
is_octal(char c)
{
	return c >= '0' && c <= '7';
}

uint32_t
proc_unescape(char *to, uint32_t room, struct text escaped)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < escaped.bytes;) {
		const char *p = escaped.at + i;

		if (used + 1 >= room)
			return 0;
		if (*p == '\\' && escaped.bytes - i >= 4 && is_octal(p[1]) &&
		    is_octal(p[2]) && is_octal(p[3])) {
			to[used++] = (char)((p[1] - '0') << 6 |
					    (p[2] - '0') << 3 | (p[3] - '0'));
			i += 4;
		} else {
			to[used++] = *p;
			i++;
		}
	}
	if (used < room)
		to[used] = '\0';
	return used;
}

uint32_t
proc_escape(char *to, uint32_t room, struct text raw)
{
	bool utf8 = text_is_utf8(raw);
	uint32_t used = 0;

	for (uint32_t i = 0; i < raw.bytes; i++) {
		unsigned char c = (unsigned char)raw.at[i];
		bool plain = c > 0x20 && c != 0x7f && (c < 0x80 || utf8);

		if (used + (plain ? 1 : 4) > room)
			return 0;
		if (plain) {
			to[used++] = (char)c;
			continue;
		}
		to[used++] = '\\';
		to[used++] = (char)('0' + (c >> 6));
		to[used++] = (char)('0' + (c >> 3 & 7));
		to[used++] = (char)('0' + (c & 7));
	}
	return used;
}
