/*
 * sampler_sample_devices - samples of disks, file systems and interfaces, and
 * the end of metric group perf, which is computed from all of them.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agents/proc/proc_stat.h"
#include "agents/sampler/sampler_private.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

enum {
	SECTOR_BYTES = 512,
	PATH_BYTES = 4096,
};
#define FORGET_NS (60 * NS_PER_SECOND)

/* Any fixed key: kernel names are not chosen by an attacker. */
static const struct hash_key hash_key = { 0x64, 0x69736b };

static uint64_t
less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* ---- what /sys says ---- */

/* Read a file of devices once more from its first line. */
static void
rewind_devices(const struct sampler *sampler, struct sampler_devices *devices)
{
	if (sampler->now_monotonic_ns - devices->read_ns > FORGET_NS) {
		memset(devices->at, 0, sizeof(devices->at));
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

	*device = &devices->at[devices->line++ % SAMPLER_LINES];
	if ((*device)->name == hash)
		return false;
	(*device)->name = hash;
	return true;
}

/* Is there a /sys/FOLDER/NAME WHAT?  `what` is empty or begins with a slash. */
static bool
is_in_sys(const char *folder, struct text name, const char *what)
{
	char path[NAME_BYTES_MAX + 64], *at;
	int begin = snprintf(path, sizeof(path), "/sys/%s/", folder);

	if (name.bytes > NAME_BYTES_MAX)
		return false;
	snprintf(path + begin, sizeof(path) - (size_t)begin, "%.*s%s",
	    (int)name.bytes, name.at, what);
	for (at = path + begin; at < path + begin + name.bytes; at++)
		if (*at == '/')
			*at = '!';
	return access(path, F_OK) == 0;
}

/* ---- disks ---- */

/* A whole disk is no partition.  Loop devices, RAM disks and devices composed
 * of other disks are not physical. */
static const struct sampler_device *
find_disk(struct sampler *sampler, struct text name)
{
	struct sampler_device *disk;

	if (next_device(&sampler->disks, name, &disk)) {
		disk->block = is_in_sys("block", name, "");
		disk->physical =
		    disk->block && is_in_sys("block", name, "/device");
	}
	return disk;
}

static bool
is_disk(void *arg, struct text name)
{
	return find_disk(arg, name)->block;
}

static void
read_disks(struct sampler *sampler, uint32_t due)
{
	struct text rest = proc_files_read(&sampler->files, PROC_DISKSTATS);
	char name[NAME_BYTES_MAX + 1];
	struct proc_disk d;

	rewind_devices(sampler, &sampler->disks);
	if (sampler_is_due(due, SCHEDULE_PERF))
		perf_report_disks(sampler->perf_reporter, rest, is_disk,
		    sampler, &sampler->report);
	rewind_devices(sampler, &sampler->disks);
	if (!sampler_is_due(due, SCHEDULE_DISK))
		return;
	for (int n = 0; n < SAMPLER_DEVICES_MAX && proc_next_disk(&rest, &d);) {
		uint64_t numbers[] = { d.read_sectors * SECTOR_BYTES,
			d.write_sectors * SECTOR_BYTES, d.reads, d.writes,
			d.reads_merged, d.writes_merged, d.read_ms, d.write_ms,
			d.io_ms, d.weighted_ms, d.in_progress };

		if (!find_disk(sampler, d.name)->physical)
			continue;
		sampler_add_whole(sampler, &metric_group_disk,
		    sampler_name(name, "disk/", d.name), numbers,
		    SAMPLER_COUNT(numbers));
		n++;
	}
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

/* Backed by hardware or a hypervisor.  Bonds, VLANs, bridges, tunnels and
 * overlays are not: what they carry is counted once more below them.  Nor is a
 * part of such an interface (the fast path of a virtual machine, whose bytes
 * the other one counts too). */
static bool
is_physical(struct sampler *sampler, struct text name)
{
	struct sampler_device *device;

	if (next_device(&sampler->interfaces, name, &device))
		device->physical =
		    is_in_sys("class/net", name, "/device") &&
		    !is_in_sys("class/net", name, "/master/device");
	return device->physical;
}

static void
read_interfaces(struct sampler *sampler, uint32_t due)
{
	struct text rest = proc_files_read(&sampler->files, PROC_NETWORK);
	char name[NAME_BYTES_MAX + 1];
	struct proc_interface i;

	if (sampler_is_due(due, SCHEDULE_PERF))
		perf_report_network(
		    sampler->perf_reporter, rest, &sampler->report);
	if (!sampler_is_due(due, SCHEDULE_NETWORK))
		return;
	rewind_devices(sampler, &sampler->interfaces);
	for (int n = 0;
	     n < SAMPLER_DEVICES_MAX && proc_next_interface(&rest, &i);) {
		uint64_t numbers[] = { i.receive_bytes, i.send_bytes,
			i.receive_packets, i.send_packets, i.receive_errors,
			i.send_errors, i.receive_drops, i.send_drops, 0 };

		if (!is_sampled(&i))
			continue;
		numbers[SAMPLER_COUNT(numbers) - 1] =
		    is_physical(sampler, i.name);
		sampler_add_whole(sampler, &metric_group_network,
		    sampler_name(name, "network/", i.name), numbers,
		    SAMPLER_COUNT(numbers));
		n++;
	}
}

/* ---- file systems ---- */

/* Once for each device, under its shortest path: the others are bind mounts. */
static int
list_mounts(
    struct text rest, struct proc_mount mounts[static SAMPLER_DEVICES_MAX])
{
	struct proc_mount mount;
	int count = 0;

	while (proc_next_mount(&rest, &mount)) {
		int i = 0;

		/* Excludes the layers of containers, except that of our own. */
		if (!proc_is_local(mount.type) ||
		    (text_equal(mount.type, text_of("overlay")) &&
			!text_equal(mount.point, text_of("/"))))
			continue;
		while (i < count && (mounts[i].major != mount.major ||
					mounts[i].minor != mount.minor))
			i++;
		if (i == SAMPLER_DEVICES_MAX)
			continue;
		if (i == count)
			count++;
		else if (mounts[i].point.bytes <= mount.point.bytes)
			continue;
		mounts[i] = mount;
	}
	return count;
}

static void
add_filesystem(struct sampler *sampler, const struct proc_mount *mount)
{
	char path[PATH_BYTES], name[NAME_BYTES_MAX + 1];
	char escaped[NAME_BYTES_MAX];
	struct statvfs fs;
	uint64_t unit;

	if (proc_unescape(path, sizeof(path), mount->point) == 0 ||
	    statvfs(path, &fs) != 0 || fs.f_blocks == 0)
		return;
	unit = fs.f_frsize;
	{
		struct text shown = { escaped,
			proc_escape(escaped, sizeof(escaped), mount->point) };
		uint64_t numbers[] = { fs.f_blocks * unit,
			less(fs.f_blocks, fs.f_bfree) * unit,
			fs.f_bavail * unit,
			less(fs.f_bfree, fs.f_bavail) * unit,
			less(fs.f_files, fs.f_ffree), fs.f_ffree };

		if (shown.bytes > 0)
			sampler_add_whole(sampler, &metric_group_filesystem,
			    sampler_name(name, "filesystem", shown), numbers,
			    SAMPLER_COUNT(numbers));
	}
}

static void
read_filesystems(struct sampler *sampler)
{
	struct proc_mount mounts[SAMPLER_DEVICES_MAX];
	int count =
	    list_mounts(proc_files_read(&sampler->files, PROC_MOUNTS), mounts);

	for (int i = 0; i < count; i++)
		add_filesystem(sampler, &mounts[i]);
}

static void
add_perf(struct sampler *sampler)
{
	struct perf_report *report = &sampler->report;
	struct value values[PERF_REPORT_VALUES + 1];
	struct statvfs fs;

	report->values[PERF_REPORT_DISK_USAGE] = 0;
	if (statvfs("/", &fs) == 0)
		perf_report_space(&(struct perf_report_space){ fs.f_blocks,
				      fs.f_bfree, fs.f_bavail, fs.f_frsize },
		    report);
	for (int i = 0; i < PERF_REPORT_VALUES; i++)
		values[i] = sampler_real(report->values[i]);
	values[PERF_REPORT_VALUES] = sampler_whole(report->processors);
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
	if (sampler_is_due(due, SCHEDULE_FILESYSTEM))
		read_filesystems(sampler);
	if (sampler_is_due(due, SCHEDULE_PERF))
		add_perf(sampler);
}
