/*
 * proc_kernel - parses the kernel's statistics about itself.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/proc_kernel.h"

#include <math.h>

#include "agents/proc/scan.h"
#include "proto/base/number.h"
#include "proto/base/text.h"

/* Kernels before 4.8 have a line for each zone. */
#define BY_ZONE(name, to)                                                      \
	SCAN_FIELD(name, to), SCAN_FIELD(name "_dma", to),                     \
	    SCAN_FIELD(name "_dma32", to), SCAN_FIELD(name "_normal", to),     \
	    SCAN_FIELD(name "_high", to), SCAN_FIELD(name "_movable", to)

int
proc_parse_vmstat(struct text file, struct proc_vmstat *v)
{
	uint64_t others = SCAN_UNKNOWN, direct = SCAN_UNKNOWN;
	uint64_t scanned = SCAN_UNKNOWN, scanned_direct = SCAN_UNKNOWN;
	const struct scan_field fields[] = {
		SCAN_FIELD("pgfault", &v->faults),
		SCAN_FIELD("pgmajfault", &v->major_faults),
		SCAN_FIELD("pswpin", &v->swapped_in),
		SCAN_FIELD("pswpout", &v->swapped_out),
		BY_ZONE("pgscan_kswapd", &scanned),
		BY_ZONE("pgscan_direct", &scanned_direct),
		BY_ZONE("pgsteal_kswapd", &others),
		BY_ZONE("pgsteal_direct", &direct),
		/* Recent kernels count those apart. */
		SCAN_FIELD("pgscan_khugepaged", &scanned),
		SCAN_FIELD("pgsteal_khugepaged", &others),
		SCAN_FIELD("pgscan_proactive", &scanned),
		SCAN_FIELD("pgsteal_proactive", &others),
		SCAN_FIELD("compact_stall", &v->compact_stalls),
		SCAN_FIELD("oom_kill", &v->oom_kills),
		SCAN_FIELD("numa_pages_migrated", &v->migrated),
	};
	bool found;

	scan_begin(v);
	found = scan_fields(file, fields, sizeof(fields) / sizeof(*fields));
	v->scanned = scan_sum(scanned, scanned_direct);
	v->reclaimed = scan_sum(others, direct);
	v->reclaimed_direct = direct;
	return found ? 0 : -1;
}

/* "avg10=1.23" */
static bool
take_value(struct text word, const char *key, struct text *value)
{
	uint32_t bytes = (uint32_t)strlen(key);

	if (word.bytes <= bytes || memcmp(word.at, key, bytes) != 0)
		return false;
	*value = (struct text){ word.at + bytes, word.bytes - bytes };
	return true;
}

static void
parse_pressure_line(struct text line, double *avg10, uint64_t *total_us)
{
	struct text word, value;

	while ((word = text_next_word(&line)).bytes > 0) {
		double average;
		uint64_t total;

		if (take_value(word, "avg10=", &value) &&
		    number_parse_double(value, &average, NULL) == 0)
			*avg10 = average;
		else if (take_value(word, "total=", &value) &&
			 scan_number(&value, &total))
			*total_us = total;
	}
}

int
proc_parse_pressure(struct text file, struct proc_pressure *pressure)
{
	struct text line;
	bool found = false;

	*pressure =
	    (struct proc_pressure){ NAN, NAN, SCAN_UNKNOWN, SCAN_UNKNOWN };
	while (text_next_line(&file, &line)) {
		struct text word = text_next_word(&line);

		if (scan_is(word, "some")) {
			parse_pressure_line(
			    line, &pressure->some_avg10, &pressure->some_us);
			found = true;
		} else if (scan_is(word, "full")) {
			parse_pressure_line(
			    line, &pressure->full_avg10, &pressure->full_us);
		}
	}
	return found ? 0 : -1;
}

/* Tasks that load balancing has moved here: one column for each of the three
 * kinds of idleness.  The numbers of a domain follow its mask. */
static uint64_t
migrations_of(struct text line, uint64_t version)
{
	uint32_t each = version >= 17 ? 11 : 8, column = version >= 17 ? 7 : 4;
	uint64_t sum = 0, number;

	text_next_word(&line);
	/* From version 17 on the mask is preceded by the name of the domain. */
	if (version >= 17)
		text_next_word(&line);
	for (uint32_t i = 0; i < 3 * each && scan_number(&line, &number); i++)
		if (i % each == column)
			sum += number;
	return sum;
}

int
proc_parse_schedstat(struct text file, struct proc_schedstat *s)
{
	uint64_t version = 0, number;
	struct text line;
	bool found = false;

	*s = (struct proc_schedstat){ .processors = 0 };
	while (text_next_line(&file, &line)) {
		struct text word = text_next_word(&line);
		uint64_t n[9] = { 0 };
		uint64_t *const to[] = { &n[0], &n[1], &n[2], &n[3], &n[4],
			&n[5], &n[6], &n[7], &n[8] };

		if (scan_is(word, "version")) {
			scan_number(&line, &version);
		} else if (scan_processor(word, &number)) {
			if (!scan_numbers(&line, to, 9))
				continue;
			s->remote_wakeups += n[4] > n[5] ? n[4] - n[5] : 0;
			s->run_ns += n[6];
			s->run_delay_ns += n[7];
			s->timeslices += n[8];
			s->processors++;
			s->set += (number + 1) * (number + 7);
			found = true;
		} else if (word.bytes > 6 &&
			   memcmp(word.at, "domain", 6) == 0) {
			s->migrations += migrations_of(line, version);
		}
	}
	/* The meaning of the columns in other versions is unknown. */
	return found && version >= 14 && version <= 17 ? 0 : -1;
}

uint64_t
proc_parse_boot(struct text file)
{
	uint64_t boot = 0;
	int digits = 0;

	for (uint32_t i = 0; i < file.bytes && digits < 12; i++) {
		char c = file.at[i];

		if (c == '-')
			continue;
		if (c >= '0' && c <= '9')
			boot = boot << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			boot = boot << 4 | (uint64_t)(c - 'a' + 10);
		else
			return 0;
		digits++;
	}
	return digits == 12 ? boot : 0;
}
