/*
 * sampler_sample_devices - samples of disks and interfaces, and the end of
 * metric group perf, which is computed from all of them.
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <math.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/proc/proc_stat.h"
#include "agents/sampler/sampler_private.h"
#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

enum { SECTOR_BYTES = 512 };
#define FORGET_NS (60 * NS_PER_SECOND)

/* Any fixed key: kernel names are not chosen by an attacker. */
static const struct hash_key hash_key = { 0x64, 0x69736b };

/* Of more than `max` keep those that are first by `compare`, and count the
 * others.  Returns how many are left. */
static uint32_t
keep(struct sampler *sampler, enum sampler_left_out kind, void *at,
    uint32_t count, size_t bytes, uint32_t max,
    int (*compare)(const void *, const void *))
{
	sampler_leave_out(sampler, kind, count > max ? count - max : 0, NULL);
	if (count <= max)
		return count;
	qsort(at, count, bytes, compare);
	return max;
}

/* ---- what /sys says ---- */

/* Read a file of devices once more from its first line. */
static void
rewind_devices(const struct sampler *sampler, struct sampler_devices *devices)
{
	if (sampler->now_monotonic_ns - devices->read_ns > FORGET_NS &&
	    devices->at != NULL) {
		memset(devices->at, 0, devices->room * sizeof(*devices->at));
		devices->read_ns = sampler->now_monotonic_ns;
	}
	devices->line = 0;
}

/* The device of the next line; true: nothing is known of it yet. */
static bool
next_device(struct sampler_devices *devices, struct text name,
    struct sampler_device **device)
{
	uint64_t hash = hash_bytes(hash_key, name.at, name.bytes) | 1;

	MEMORY_GROW_ZERO(devices->at, devices->room, devices->line);
	*device = &devices->at[devices->line++];
	if ((*device)->name == hash)
		return false;
	(*device)->name = hash;
	return true;
}

/* The path /sys/FOLDER/NAME WHAT; `what` is empty or begins with a slash.
 * False: it is too long. */
static bool
path_in_sys(char path[static PATH_MAX], const struct sampler *sampler,
    const char *folder, struct text name, const char *what)
{
	char *at;
	int begin =
	    snprintf(path, PATH_MAX, "%s/%s/", sampler->options.sys, folder);

	if (snprintf(path, PATH_MAX, "%s/%s/%.*s%s", sampler->options.sys,
		folder, (int)name.bytes, name.at, what) >= PATH_MAX)
		return false;
	for (at = path + begin; at < path + begin + name.bytes; at++)
		if (*at == '/')
			*at = '!';
	return true;
}

static bool
is_in_sys(const struct sampler *sampler, const char *folder, struct text name,
    const char *what)
{
	char path[PATH_MAX];

	return path_in_sys(path, sampler, folder, name, what) &&
	       access(path, F_OK) == 0;
}

/* The number in /sys/class/net/NAME WHAT; 0: none. */
static uint64_t
number_of_interface(
    const struct sampler *sampler, struct text name, const char *what)
{
	char path[PATH_MAX], text[32];
	int fd = path_in_sys(path, sampler, "class/net", name, what)
		     ? open(path, O_RDONLY | O_CLOEXEC)
		     : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	uint64_t number = 0;

	if (fd >= 0)
		close(fd);
	proc_parse_number(
	    (struct text){ text, n > 0 ? (uint32_t)n : 0 }, &number);
	return number;
}

/* ---- disks ---- */

/* nvme0c1n2 is a path of nvme0n2: the parts of the name before and behind the
 * number of the path. */
static bool
is_nvme_path(struct text name, struct text *front, struct text *back)
{
	uint32_t at = 4, begin;

	if (name.bytes < 8 || memcmp(name.at, "nvme", 4) != 0)
		return false;
	while (at < name.bytes && name.at[at] >= '0' && name.at[at] <= '9')
		at++;
	*front = (struct text){ name.at, at };
	if (at == name.bytes || name.at[at] != 'c')
		return false;
	for (begin = ++at;
	     at < name.bytes && name.at[at] >= '0' && name.at[at] <= '9';)
		at++;
	*back = (struct text){ name.at + at, name.bytes - at };
	return at > begin && back->bytes > 1 && *back->at == 'n';
}

/* Is it a path of a disk that itself counts what goes through it?  Kernels
 * before 6.0 or so count in the paths only. */
static bool
is_counted_again(struct text name, struct text diskstats)
{
	struct text front, back;
	struct proc_disk disk;

	if (!is_nvme_path(name, &front, &back))
		return false;
	while (proc_next_disk(&diskstats, &disk)) {
		struct text rest = disk.name;

		if (rest.bytes != front.bytes + back.bytes ||
		    memcmp(rest.at, front.at, front.bytes) != 0 ||
		    memcmp(rest.at + front.bytes, back.at, back.bytes) != 0)
			continue;
		return disk.reads > 0 || disk.writes > 0;
	}
	return false;
}

/* A whole disk is no partition.  Loop devices, RAM disks and devices composed
 * of other disks are not physical. */
static const struct sampler_device *
find_disk(struct sampler *sampler, struct text name)
{
	struct sampler_device *disk;

	if (next_device(&sampler->disks, name, &disk)) {
		disk->block = is_in_sys(sampler, "block", name, "");
		disk->physical =
		    disk->block && is_in_sys(sampler, "block", name, "/device");
	}
	return disk;
}

struct disk_file {
	struct sampler *sampler;
	struct text diskstats;
};

static bool
is_disk(void *arg, struct text name)
{
	const struct disk_file *file = arg;

	return find_disk(file->sampler, name)->block &&
	       !is_counted_again(name, file->diskstats);
}

static uint64_t
bytes_of_disk(const struct proc_disk *disk)
{
	return scan_or_0(disk->read_sectors) / 2 +
	       scan_or_0(disk->write_sectors) / 2;
}

static int
by_disk_bytes(const void *a, const void *b)
{
	uint64_t x = bytes_of_disk(a), y = bytes_of_disk(b);

	return (x < y) - (x > y);
}

static uint64_t
bytes_of(uint64_t sectors)
{
	return sectors == SCAN_UNKNOWN ? sectors : sectors * SECTOR_BYTES;
}

static void
add_disks(const struct disk_file *file)
{
	struct sampler *sampler = file->sampler;
	char name[NAME_BYTES_MAX + 1];
	struct text rest = file->diskstats;
	struct proc_disk *disks = NULL, disk;
	uint32_t count = 0, room = 0;

	rewind_devices(sampler, &sampler->disks);
	while (proc_next_disk(&rest, &disk))
		if (find_disk(sampler, disk.name)->physical &&
		    !is_counted_again(disk.name, file->diskstats)) {
			*MEMORY_ADD(disks, room, count) = disk;
		}
	count = keep(sampler, LEFT_DISKS, disks, count, sizeof(*disks),
	    SAMPLER_DISKS_MAX, by_disk_bytes);
	for (const struct proc_disk *d = disks; d < disks + count; d++) {
		uint64_t numbers[] = { [METRIC_DISK_READ] =
					   bytes_of(d->read_sectors),
			[METRIC_DISK_WRITTEN] = bytes_of(d->write_sectors),
			[METRIC_DISK_READS] = d->reads,
			[METRIC_DISK_WRITES] = d->writes,
			[METRIC_DISK_READS_MERGED] = d->reads_merged,
			[METRIC_DISK_WRITES_MERGED] = d->writes_merged,
			[METRIC_DISK_READ_TIME] = d->read_ms,
			[METRIC_DISK_WRITE_TIME] = d->write_ms,
			[METRIC_DISK_IO_TIME] = d->io_ms,
			[METRIC_DISK_WEIGHTED] = d->weighted_ms,
			[METRIC_DISK_PENDING] = d->in_progress };

		sampler_add_whole(sampler, &metric_group_disk,
		    sampler_name(name, "disk/", d->name), numbers,
		    SAMPLER_COUNT(numbers));
	}
	free(disks);
}

static void
read_disks(struct sampler *sampler, uint32_t due)
{
	struct disk_file file = { sampler,
		proc_files_read(&sampler->files, PROC_DISKSTATS) };

	rewind_devices(sampler, &sampler->disks);
	if (sampler_is_due(due, SCHEDULE_PERF))
		perf_report_disks(sampler->perf_reporter, file.diskstats,
		    is_disk, &file, &sampler->report);
	if (sampler_is_due(due, SCHEDULE_DISK))
		add_disks(&file);
}

/* ---- interfaces ---- */

/* Excludes the loopback, the interfaces of containers (they come and go by the
 * thousand) and interfaces that were never used. */
static bool
is_sampled(const struct proc_interface *interface)
{
	struct text name = interface->name;

	if (text_equal(name, text_of("lo")) ||
	    (name.bytes > 4 && memcmp(name.at, "veth", 4) == 0))
		return false;
	return interface->receive_packets > 0 || interface->send_packets > 0;
}

/* A port of a switch leads to the interface that all of them share, which
 * counts their bytes, too.  A child of an InfiniBand interface also leads to
 * its parent, but counts alone. */
static bool
is_port(const struct sampler *sampler, struct text name)
{
	uint64_t leads_to = number_of_interface(sampler, name, "/iflink");

	return leads_to != 0 &&
	       leads_to != number_of_interface(sampler, name, "/ifindex") &&
	       number_of_interface(sampler, name, "/type") == ARPHRD_ETHER;
}

/* Backed by hardware or a hypervisor.  Bonds, VLANs, bridges, tunnels and
 * overlays are not: what they carry is counted once more below them.  Nor is a
 * part of such an interface (the fast path of a virtual machine, whose bytes
 * the other one counts too), nor a port of a switch on the board.
 * SCAN_UNKNOWN: /sys does not have it, or is that of other interfaces. */
static uint64_t
is_physical(struct sampler *sampler, struct text name)
{
	struct sampler_device *device;

	if (next_device(&sampler->interfaces, name, &device)) {
		device->known = !sampler->options.sys_is_own &&
				is_in_sys(sampler, "class/net", name, "");
		device->physical =
		    is_in_sys(sampler, "class/net", name, "/device") &&
		    !is_in_sys(sampler, "class/net", name, "/master/device") &&
		    !is_port(sampler, name);
	}
	return device->known ? device->physical : SCAN_UNKNOWN;
}

struct interface {
	struct proc_interface is;
	uint64_t physical;
};

static int
by_importance(const void *a, const void *b)
{
	const struct interface *x = a, *y = b;
	/* 2: physical, 1: unknown, 0: not */
	int kind_x = x->physical == 1 ? 2 : x->physical == SCAN_UNKNOWN;
	int kind_y = y->physical == 1 ? 2 : y->physical == SCAN_UNKNOWN;
	uint64_t bytes_x = x->is.receive_bytes / 2 + x->is.send_bytes / 2;
	uint64_t bytes_y = y->is.receive_bytes / 2 + y->is.send_bytes / 2;

	if (kind_x != kind_y)
		return kind_y - kind_x;
	return (bytes_x < bytes_y) - (bytes_x > bytes_y);
}

static void
add_interfaces(struct sampler *sampler, struct text rest)
{
	struct interface *interfaces = NULL, interface;
	char name[NAME_BYTES_MAX + 1];
	uint32_t count = 0, room = 0;

	rewind_devices(sampler, &sampler->interfaces);
	while (proc_next_interface(&rest, &interface.is)) {
		if (!is_sampled(&interface.is))
			continue;
		interface.physical = is_physical(sampler, interface.is.name);
		*MEMORY_ADD(interfaces, room, count) = interface;
	}
	count = keep(sampler, LEFT_INTERFACES, interfaces, count,
	    sizeof(*interfaces), SAMPLER_INTERFACES_MAX, by_importance);
	for (uint32_t n = 0; n < count; n++) {
		const struct proc_interface *i = &interfaces[n].is;
		uint64_t numbers[] = { [METRIC_NETWORK_RECEIVED] =
					   i->receive_bytes,
			[METRIC_NETWORK_SENT] = i->send_bytes,
			[METRIC_NETWORK_PACKETS_RECEIVED] = i->receive_packets,
			[METRIC_NETWORK_PACKETS_SENT] = i->send_packets,
			[METRIC_NETWORK_ERRORS_RECEIVED] = i->receive_errors,
			[METRIC_NETWORK_ERRORS_SENT] = i->send_errors,
			[METRIC_NETWORK_DROPS_RECEIVED] = i->receive_drops,
			[METRIC_NETWORK_DROPS_SENT] = i->send_drops,
			[METRIC_NETWORK_PHYSICAL] = interfaces[n].physical };

		sampler_add_whole(sampler, &metric_group_network,
		    sampler_name(name, "network/", i->name), numbers,
		    SAMPLER_COUNT(numbers));
	}
	free(interfaces);
}

static void
read_interfaces(struct sampler *sampler, uint32_t due)
{
	struct text file = proc_files_read(&sampler->files, PROC_NETWORK);

	if (sampler_is_due(due, SCHEDULE_PERF))
		perf_report_network(
		    sampler->perf_reporter, file, &sampler->report);
	if (sampler_is_due(due, SCHEDULE_NETWORK))
		add_interfaces(sampler, file);
}

/* ---- perf ---- */

static void
add_perf(struct sampler *sampler)
{
	struct perf_report *report = &sampler->report;
	struct value values[METRIC_PERF_CPUS + 1];
	struct statvfs fs;

	/* Unknown while it does not answer. */
	report->values[METRIC_PERF_DISK] = NAN;
	if (sampler_ask_root(sampler, &fs))
		perf_report_space(&(struct perf_report_space){ fs.f_blocks,
				      fs.f_bfree, fs.f_bavail, fs.f_frsize },
		    report);
	for (int i = 0; i < METRIC_PERF_CPUS; i++)
		values[i] = sampler_real(report->values[i]);
	values[METRIC_PERF_CPUS] = sampler_whole(
	    report->processors > 0 ? report->processors : SCAN_UNKNOWN);
	/* The first report has no interval. */
	if (sampler->perf_begun)
		sampler_add(
		    sampler, &metric_group_perf, text_of("perf"), values);
	sampler->perf_begun = true;
}

void
sampler_read_devices(struct sampler *sampler, uint32_t due)
{
	if (due & (1 << SCHEDULE_DISK | 1 << SCHEDULE_PERF))
		read_disks(sampler, due);
	if (due & (1 << SCHEDULE_NETWORK | 1 << SCHEDULE_PERF))
		read_interfaces(sampler, due);
	if (sampler_is_due(due, SCHEDULE_PERF))
		add_perf(sampler);
	if (sampler_is_due(due, SCHEDULE_FILESYSTEM))
		sampler_read_filesystems(sampler);
}
