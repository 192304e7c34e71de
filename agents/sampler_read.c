/*
 * sampler_read - reads the host and makes samples of it.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agents/host.h"
#include "agents/sampler_private.h"

enum {
	DEVICES_MAX = 64, /* of each kind in a round */
	SECTOR_BYTES = 512,
	PATH_BYTES = 4096,
};

static struct value
whole(uint64_t number)
{
	if (number > INT64_MAX)
		return (struct value){ .type = VALUE_UINT, .is.u = number };
	return (struct value){ .type = VALUE_INT, .is.i = (int64_t)number };
}

static struct value
real(double number)
{
	return (struct value){ .type = VALUE_FLOAT, .is.f = number };
}

/* Numbers in the order of the set's columns. */
static void
add_whole(struct sampler *sampler, const struct set *set, struct text name,
    const uint64_t *numbers)
{
	struct value values[SET_COLUMNS_MAX];

	for (uint32_t i = 0; i < set->count; i++)
		values[i] = whole(numbers[i]);
	sampler_add(sampler, set, name, values);
}

static uint64_t
centiseconds(uint64_t ticks)
{
	uint64_t hertz = (uint64_t)sysconf(_SC_CLK_TCK);

	return hertz == 100 ? ticks : ticks * 100 / hertz;
}

static uint64_t
less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void
add_cpu(struct sampler *sampler, const struct host_cpu *cpu)
{
	uint64_t numbers[] = { centiseconds(cpu->user), centiseconds(cpu->nice),
		centiseconds(cpu->system), centiseconds(cpu->idle),
		centiseconds(cpu->iowait), centiseconds(cpu->interrupt),
		centiseconds(cpu->softirq), centiseconds(cpu->steal),
		cpu->processors, cpu->context_switches };

	add_whole(sampler, &set_cpu, text_of("cpu"), numbers);
}

static void
read_load(struct sampler *sampler, const struct host_cpu *cpu)
{
	struct host_load load;
	struct value values[7];

	if (host_parse_load(
		host_files_read(&sampler->files, HOST_LOADAVG), &load) != 0)
		return;
	values[0] = real(load.one);
	values[1] = real(load.five);
	values[2] = real(load.fifteen);
	values[3] = whole(cpu->running);
	values[4] = whole(cpu->blocked);
	values[5] = whole(load.threads);
	values[6] = whole(cpu->forks);
	sampler_add(sampler, &set_load, text_of("load"), values);
}

static void
read_memory(struct sampler *sampler)
{
	struct host_memory m;

	if (host_parse_memory(
		host_files_read(&sampler->files, HOST_MEMINFO), &m) != 0)
		return;
	{
		uint64_t cached = m.cached + m.slab_reclaimable;
		uint64_t numbers[] = { m.total,
			less(m.total, m.free + m.buffers + cached), m.free,
			m.buffers, cached, m.available, m.slab_reclaimable,
			m.slab_unreclaimable, m.shared, m.dirty,
			less(m.swap_total, m.swap_free), m.swap_free };

		add_whole(sampler, &set_memory, text_of("memory"), numbers);
	}
}

/* "disk/vda": a set's name from a kind and what the kernel calls it. */
static struct text
set_name(
    char to[static NAME_BYTES_MAX + 1], const char *kind, struct text device)
{
	int n = snprintf(to, NAME_BYTES_MAX + 1, "%s%.*s", kind,
	    (int)device.bytes, device.at);

	/* Cut names could be those of two devices. */
	return (struct text){ to, n > NAME_BYTES_MAX ? 0 : (uint32_t)n };
}

/* A whole disk with hardware, or a hypervisor, behind it: no partition, no
 * loop, no RAM disk, nothing made of other disks. */
static bool
is_whole_disk(struct text name)
{
	char path[NAME_BYTES_MAX + 32];

	if (name.bytes > NAME_BYTES_MAX)
		return false;
	snprintf(path, sizeof(path), "/sys/block/%.*s/device", (int)name.bytes,
	    name.at);
	for (char *p = path + strlen("/sys/block/");
	     p < path + strlen("/sys/block/") + name.bytes; p++)
		if (*p == '/')
			*p = '!';
	return access(path, F_OK) == 0;
}

static void
read_disks(struct sampler *sampler)
{
	struct text rest = host_files_read(&sampler->files, HOST_DISKSTATS);
	char name[NAME_BYTES_MAX + 1];
	struct host_disk d;

	for (int n = 0; n < DEVICES_MAX && host_next_disk(&rest, &d);) {
		uint64_t numbers[] = { d.read_sectors * SECTOR_BYTES,
			d.write_sectors * SECTOR_BYTES, d.reads, d.writes,
			d.reads_merged, d.writes_merged, d.read_ms, d.write_ms,
			d.io_ms, d.weighted_ms, d.in_progress };

		if (!is_whole_disk(d.name))
			continue;
		add_whole(sampler, &set_disk, set_name(name, "disk/", d.name),
		    numbers);
		n++;
	}
}

/* Not the loopback, not one end of a container's cable (they come and go by
 * the thousand), nothing that was never used. */
static bool
is_worth_it(const struct host_interface *interface)
{
	struct text name = interface->name;

	if (text_equal(name, text_of("lo")) ||
	    (name.bytes > 4 && memcmp(name.at, "veth", 4) == 0))
		return false;
	return interface->receive_packets > 0 || interface->send_packets > 0;
}

static void
read_interfaces(struct sampler *sampler)
{
	struct text rest = host_files_read(&sampler->files, HOST_NETWORK);
	char name[NAME_BYTES_MAX + 1];
	struct host_interface i;

	for (int n = 0; n < DEVICES_MAX && host_next_interface(&rest, &i);) {
		uint64_t numbers[] = { i.receive_bytes, i.send_bytes,
			i.receive_packets, i.send_packets, i.receive_errors,
			i.send_errors, i.receive_drops, i.send_drops };

		if (!is_worth_it(&i))
			continue;
		add_whole(sampler, &set_network,
		    set_name(name, "network/", i.name), numbers);
		n++;
	}
}

/* Once per device, under its shortest name: the others are binds. */
static int
list_mounts(struct text rest, struct host_mount mounts[static DEVICES_MAX])
{
	struct host_mount mount;
	int count = 0;

	while (host_next_mount(&rest, &mount)) {
		int i = 0;

		/* The layers of a container, but for the one we live in. */
		if (!host_is_local(mount.type) ||
		    (text_equal(mount.type, text_of("overlay")) &&
			!text_equal(mount.point, text_of("/"))))
			continue;
		while (i < count && (mounts[i].major != mount.major ||
					mounts[i].minor != mount.minor))
			i++;
		if (i == DEVICES_MAX)
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
add_filesystem(struct sampler *sampler, const struct host_mount *mount)
{
	char path[PATH_BYTES], name[NAME_BYTES_MAX + 1];
	char escaped[NAME_BYTES_MAX];
	struct statvfs fs;
	uint64_t unit;

	if (host_unescape(path, sizeof(path), mount->point) == 0 ||
	    statvfs(path, &fs) != 0 || fs.f_blocks == 0)
		return;
	unit = fs.f_frsize;
	{
		struct text shown = { escaped,
			host_escape(escaped, sizeof(escaped), mount->point) };
		uint64_t numbers[] = { fs.f_blocks * unit,
			less(fs.f_blocks, fs.f_bfree) * unit,
			fs.f_bavail * unit,
			less(fs.f_bfree, fs.f_bavail) * unit,
			less(fs.f_files, fs.f_ffree), fs.f_ffree };

		if (shown.bytes > 0)
			add_whole(sampler, &set_filesystem,
			    set_name(name, "filesystem", shown), numbers);
	}
}

static void
read_filesystems(struct sampler *sampler)
{
	struct host_mount mounts[DEVICES_MAX];
	int count =
	    list_mounts(host_files_read(&sampler->files, HOST_MOUNTS), mounts);

	for (int i = 0; i < count; i++)
		add_filesystem(sampler, &mounts[i]);
}

static void
read_agent(struct sampler *sampler)
{
	struct sampler_counters c;

	sampler->options.counters(sampler->options.arg, &c);
	{
		uint64_t numbers[] = { c.gather->records, c.gather->repeated,
			c.gather->puts, c.gather->full, c.gather->failed,
			c.door->refused, c.clients, c.gather->commits,
			sampler->lost_ever, c.spool->bytes,
			c.spool->unacked_bytes, c.spool->unacked_batches,
			c.spool->io_errors, c.ship->batches, c.ship->bytes,
			c.ship->resent, c.ship->timeouts, c.ship->rtt_ns };

		add_whole(sampler, &set_agent, text_of("agent"), numbers);
	}
}

void
sampler_read(struct sampler *sampler)
{
	struct host_cpu cpu;

	if (host_parse_cpu(host_files_read(&sampler->files, HOST_STAT), &cpu) ==
	    0)
		add_cpu(sampler, &cpu);
	read_load(sampler, &cpu);
	read_memory(sampler);
	read_disks(sampler);
	read_interfaces(sampler);
	read_filesystems(sampler);
	read_agent(sampler);
}
