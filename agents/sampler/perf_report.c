/*
 * perf_report - the report of the older resource monitor, value for value.
 * SPDX-License-Identifier: MIT
 */
#include "agents/sampler/perf_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "agents/proc/proc_stat.h"
#include "agents/proc/scan.h"
#include "proto/hash/hash.h"
#include "proto/base/memory.h"

enum {
	PROCESSORS_MAX = 8192,
	DEVICES_MAX = 4096,
	SECTOR_BYTES = 512,
	TICKS_A_SECOND = 100,
};

/* Two counters of a device that may wrap. */
struct device {
	uint64_t name; /* a hash */
	uint64_t last[2], wrapped[2];
	bool seen;
};

struct devices {
	struct device *at;
	uint32_t count, room;
	uint32_t next; /* after the one that was found last */
};

struct perf_reporter {
	struct proc_processor *processors;
	uint32_t count, room;
	struct devices disks, interfaces;
};

/* Any fixed key: kernel names are not chosen by an attacker. */
static const struct hash_key hash_key = { 0x706572, 0x66646576 };

void
perf_report_new(struct perf_reporter **made)
{
	*made = memory_zero(1, sizeof(**made));
}

void
perf_report_free(struct perf_reporter **gone)
{
	struct perf_reporter *perf_reporter = *gone;

	*gone = NULL;
	if (perf_reporter == NULL)
		return;
	free(perf_reporter->processors);
	free(perf_reporter->disks.at);
	free(perf_reporter->interfaces.at);
	free(perf_reporter);
}

double
perf_report_round(double value)
{
	double tenths = value * 10, whole = nearbyint(tenths);
	char text[64];

	/* Dividing an integer by ten gives the double nearest to that decimal;
	 * the exact digits matter only near the middle. */
	if (fabs(fabs(tenths - whole) - 0.5) > 1e-6)
		return whole / 10;
	snprintf(text, sizeof(text), "%.1f", value);
	return strtod(text, NULL);
}

static double
percent(double used, double total)
{
	return total > 0 ? perf_report_round(used / total * 100) : 0;
}

/* ---- processors ---- */

/* In seconds, as doubles and in this order: the last bit must be the same. */
static double
busy_percent(const struct proc_processor *a, const struct proc_processor *b)
{
	double delta[PROC_CPU_TIMES], total = 0, busy;

	for (int i = 0; i < PROC_CPU_TIMES; i++) {
		delta[i] = (double)scan_or_0(b->times[i]) / TICKS_A_SECOND -
			   (double)scan_or_0(a->times[i]) / TICKS_A_SECOND;
		if (delta[i] < 0)
			delta[i] = 0;
		total += delta[i];
	}
	total -= delta[PROC_CPU_GUEST];
	total -= delta[PROC_CPU_GUEST_NICE];
	busy = total - delta[PROC_CPU_IDLE] - delta[PROC_CPU_IOWAIT];
	/* A negative total is possible, and so is its quotient. */
	if (total == 0)
		return 0;
	busy = busy / total * 100;
	return busy < 0 ? -perf_report_round(-busy) : perf_report_round(busy);
}

static struct proc_processor *
room_for(struct perf_reporter *perf_reporter, uint32_t index)
{
	MEMORY_GROW(perf_reporter->processors, perf_reporter->room, index);
	return &perf_reporter->processors[index];
}

void
perf_report_cpu(struct perf_reporter *perf_reporter, struct text stat,
    struct perf_report *report)
{
	struct proc_processor now;
	double sum = 0, min = 0, max = 0;
	uint32_t index = 0, compared = 0;

	while (index < PROCESSORS_MAX && proc_next_processor(&stat, &now)) {
		struct proc_processor *last = room_for(perf_reporter, index);

		/* Processors that come and go change the order of the lines. */
		if (index < perf_reporter->count &&
		    last->number == now.number) {
			double busy = busy_percent(last, &now);

			sum += busy;
			min = compared == 0 || busy < min ? busy : min;
			max = compared == 0 || busy > max ? busy : max;
			compared++;
		}
		*last = now;
		index++;
	}
	perf_reporter->count = index;
	report->processors = index;
	report->values[METRIC_PERF_CPU_AVG] = compared > 0 ? sum / compared : 0;
	report->values[METRIC_PERF_CPU_MIN] = min;
	report->values[METRIC_PERF_CPU_MAX] = max;
}

/* ---- memory and space ---- */

void
perf_report_memory(struct text meminfo, struct perf_report *report)
{
	struct proc_memory memory;
	uint64_t available;

	report->values[METRIC_PERF_MEM] = 0;
	if (proc_parse_memory(meminfo, &memory) != 0)
		return;
	available = memory.has_available
			? memory.available
			: scan_or_0(memory.free) + scan_or_0(memory.cached);
	if (available > memory.total)
		available = scan_or_0(memory.free);
	report->values[METRIC_PERF_MEM] =
	    available > memory.total
		? 0
		: percent(
		      (double)(memory.total - available), (double)memory.total);
}

void
perf_report_space(
    const struct perf_report_space *space, struct perf_report *report)
{
	uint64_t used = space->blocks > space->free
			    ? (space->blocks - space->free) * space->unit_bytes
			    : 0;

	report->values[METRIC_PERF_DISK] = percent((double)used,
	    (double)(used + space->available * space->unit_bytes));
}

/* ---- counters that wrap ---- */

static struct device *
find_device(struct devices *devices, struct text text)
{
	uint64_t name = hash_bytes(hash_key, text.at, text.bytes);

	/* Devices come in the same order each time, except new ones. */
	for (uint32_t n = 0; n < devices->count; n++) {
		uint32_t i = (devices->next + n) % devices->count;

		if (devices->at[i].name == name) {
			devices->next = i + 1;
			return &devices->at[i];
		}
	}
	if (devices->count == DEVICES_MAX)
		return NULL;
	MEMORY_GROW(devices->at, devices->room, devices->count);
	devices->at[devices->count] = (struct device){ .name = name };
	return &devices->at[devices->count++];
}

/* Add the device's traffic since the start to `sums`. */
static void
add_device(struct devices *devices, struct text name, const uint64_t now[2],
    uint64_t sums[2])
{
	struct device *device = find_device(devices, name);

	for (int i = 0; i < 2; i++) {
		sums[i] += now[i];
		if (device == NULL)
			continue;
		if (now[i] < device->last[i])
			device->wrapped[i] += device->last[i];
		device->last[i] = now[i];
		sums[i] += device->wrapped[i];
	}
	if (device != NULL)
		device->seen = true;
}

/* If no device is left psutil stops here and forgets nothing. */
static void
forget_removed(struct devices *devices)
{
	uint32_t kept = 0, seen = 0;

	for (uint32_t i = 0; i < devices->count; i++)
		seen += devices->at[i].seen;
	if (seen == 0)
		return;
	devices->next = 0;
	for (uint32_t i = 0; i < devices->count; i++)
		if (devices->at[i].seen) {
			devices->at[kept] = devices->at[i];
			devices->at[kept++].seen = false;
		}
	devices->count = kept;
}

static double
mebibytes(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

void
perf_report_disks(struct perf_reporter *perf_reporter, struct text diskstats,
    bool (*is_disk)(void *arg, struct text name), void *arg,
    struct perf_report *report)
{
	uint64_t sums[2] = { 0, 0 };
	struct proc_disk disk;

	while (proc_next_disk(&diskstats, &disk)) {
		uint64_t now[2] = { disk.read_sectors * SECTOR_BYTES,
			disk.write_sectors * SECTOR_BYTES };

		if (is_disk(arg, disk.name))
			add_device(&perf_reporter->disks, disk.name, now, sums);
	}
	forget_removed(&perf_reporter->disks);
	report->values[METRIC_PERF_READ] = mebibytes(sums[0]);
	report->values[METRIC_PERF_WRITE] = mebibytes(sums[1]);
}

static bool
is_loopback(struct text name)
{
	static const char loopback[] = "loopback";

	if (name.bytes == 2 && strncasecmp(name.at, "lo", 2) == 0)
		return true;
	for (uint32_t i = 0; i + strlen(loopback) <= name.bytes; i++)
		if (strncasecmp(name.at + i, loopback, strlen(loopback)) == 0)
			return true;
	return false;
}

void
perf_report_network(struct perf_reporter *perf_reporter, struct text net_dev,
    struct perf_report *report)
{
	uint64_t lo[2] = { 0, 0 }, ext[2] = { 0, 0 };
	struct proc_interface interface;

	while (proc_next_interface(&net_dev, &interface)) {
		uint64_t now[2] = { interface.send_bytes,
			interface.receive_bytes };

		add_device(&perf_reporter->interfaces, interface.name, now,
		    is_loopback(interface.name) ? lo : ext);
	}
	forget_removed(&perf_reporter->interfaces);
	report->values[METRIC_PERF_LO_SENT] = mebibytes(lo[0]);
	report->values[METRIC_PERF_LO_RECV] = mebibytes(lo[1]);
	report->values[METRIC_PERF_EXT_SENT] = mebibytes(ext[0]);
	report->values[METRIC_PERF_EXT_RECV] = mebibytes(ext[1]);
}
