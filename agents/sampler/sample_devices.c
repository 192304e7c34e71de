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

/* A whole disk, not a partition; with `what` "/device" also not a loop device,
 * a RAM disk or a device composed of other disks. */
static bool
is_in_sys(struct text name, const char *what)
{
	char path[NAME_BYTES_MAX + 32];

	if (name.bytes > NAME_BYTES_MAX)
		return false;
	snprintf(path, sizeof(path), "/sys/block/%.*s%s", (int)name.bytes,
	    name.at, what);
	for (char *p = path + strlen("/sys/block/");
	     p < path + strlen("/sys/block/") + name.bytes; p++)
		if (*p == '/')
			*p = '!';
	return access(path, F_OK) == 0;
}

/* /sys is read once for each disk, and again from time to time: a disk that is
 * plugged in later may reuse a name. */
static const struct sampler_disk *
find_disk(struct sampler *sampler, struct text name)
{
	uint64_t hash = hash_bytes(hash_key, name.at, name.bytes) | 1;
	uint32_t line = sampler->disk_line++ % SAMPLER_DISKS_MAX;
	struct sampler_disk *disk = &sampler->disks[line];

	if (disk->name == hash)
		return disk;
	disk->name = hash;
	disk->block = is_in_sys(name, "");
	disk->whole = disk->block && is_in_sys(name, "/device");
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

	if (sampler->now_monotonic_ns - sampler->disks_ns > FORGET_NS) {
		memset(sampler->disks, 0, sizeof(sampler->disks));
		sampler->disks_ns = sampler->now_monotonic_ns;
	}
	sampler->disk_line = 0;
	if (sampler_is_due(due, SCHEDULE_PERF))
		perf_report_disks(sampler->perf_reporter, rest, is_disk,
		    sampler, &sampler->report);
	sampler->disk_line = 0;
	if (!sampler_is_due(due, SCHEDULE_DISK))
		return;
	for (int n = 0; n < SAMPLER_DEVICES_MAX && proc_next_disk(&rest, &d);) {
		uint64_t numbers[] = { d.read_sectors * SECTOR_BYTES,
			d.write_sectors * SECTOR_BYTES, d.reads, d.writes,
			d.reads_merged, d.writes_merged, d.read_ms, d.write_ms,
			d.io_ms, d.weighted_ms, d.in_progress };

		if (!find_disk(sampler, d.name)->whole)
			continue;
		sampler_add_whole(sampler, &metric_group_disk,
		    sampler_name(name, "disk/", d.name), numbers,
		    SAMPLER_COUNT(numbers));
		n++;
	}
}

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
is_physical(struct text name)
{
	char path[128];
	int n = snprintf(path, sizeof(path), "/sys/class/net/%.*s/device",
	    (int)name.bytes, name.at);

	if (n < 0 || n >= (int)sizeof(path) ||
	    memchr(name.at, '/', name.bytes) != NULL || access(path, F_OK) != 0)
		return false;
	n = snprintf(path, sizeof(path), "/sys/class/net/%.*s/master/device",
	    (int)name.bytes, name.at);
	return n >= (int)sizeof(path) || access(path, F_OK) != 0;
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
	for (int n = 0;
	     n < SAMPLER_DEVICES_MAX && proc_next_interface(&rest, &i);) {
		uint64_t numbers[] = { i.receive_bytes, i.send_bytes,
			i.receive_packets, i.send_packets, i.receive_errors,
			i.send_errors, i.receive_drops, i.send_drops,
			is_physical(i.name) };

		if (!is_sampled(&i))
			continue;
		sampler_add_whole(sampler, &metric_group_network,
		    sampler_name(name, "network/", i.name), numbers,
		    SAMPLER_COUNT(numbers));
		n++;
	}
}

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
