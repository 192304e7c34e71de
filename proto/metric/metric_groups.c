/*
 * metric_groups - the metric groups of the host sampler: the columns of each.
 *
 * The values of a sample follow in the order of these columns: sample_host.c,
 * sample_devices.c, sample_jobs.c and sample_clock.c fill them.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/metric_groups.h"

#include <assert.h>
#include <string.h>

/* Identifies the boot that the counters belong to: proto/wire.md, "Metric
 * groups". */
#define BOOT                                                                   \
	{                                                                      \
		"poolscope.boot", "1", false                                   \
	}
#define METRIC_GROUP(columns)                                                  \
	{                                                                      \
		columns, sizeof(columns) / sizeof(*(columns))                  \
	}

static const struct metric_group_column cpu[] = {
	BOOT,
	{ "system.cpu.time.user", "cs", true },
	{ "system.cpu.time.nice", "cs", true },
	{ "system.cpu.time.system", "cs", true },
	{ "system.cpu.time.idle", "cs", true },
	{ "system.cpu.time.iowait", "cs", true },
	{ "system.cpu.time.interrupt", "cs", true },
	{ "system.cpu.time.softirq", "cs", true },
	{ "system.cpu.time.steal", "cs", true },
	{ "system.cpu.logical.count", "{cpu}", false },
	{ "system.cpu.context_switches", "{switch}", true },
};
const struct metric_group metric_group_cpu = METRIC_GROUP(cpu);

static const struct metric_group_column memory[] = {
	{ "system.memory.limit", "By", false },
	{ "system.memory.usage.used", "By", false },
	{ "system.memory.usage.free", "By", false },
	{ "system.memory.usage.buffers", "By", false },
	{ "system.memory.usage.cached", "By", false },
	{ "system.linux.memory.available", "By", false },
	{ "system.linux.memory.slab.reclaimable", "By", false },
	{ "system.linux.memory.slab.unreclaimable", "By", false },
	{ "system.memory.shared", "By", false },
	{ "system.linux.memory.dirty", "By", false },
	{ "system.paging.usage.used", "By", false },
	{ "system.paging.usage.free", "By", false },
};
const struct metric_group metric_group_memory = METRIC_GROUP(memory);

static const struct metric_group_column load[] = {
	BOOT,
	{ "system.cpu.load_average.1m", "{thread}", false },
	{ "system.cpu.load_average.5m", "{thread}", false },
	{ "system.cpu.load_average.15m", "{thread}", false },
	{ "system.process.count.running", "{process}", false },
	{ "system.process.count.blocked", "{process}", false },
	{ "system.thread.count", "{thread}", false },
	{ "system.process.created", "{process}", true },
};
const struct metric_group metric_group_load = METRIC_GROUP(load);

static const struct metric_group_column disk[] = {
	BOOT,
	{ "system.disk.io.read", "By", true },
	{ "system.disk.io.write", "By", true },
	{ "system.disk.operations.read", "{operation}", true },
	{ "system.disk.operations.write", "{operation}", true },
	{ "system.disk.merged.read", "{operation}", true },
	{ "system.disk.merged.write", "{operation}", true },
	{ "system.disk.operation_time.read", "ms", true },
	{ "system.disk.operation_time.write", "ms", true },
	{ "system.disk.io_time", "ms", true },
	{ "system.disk.weighted_io_time", "ms", true },
	{ "system.disk.pending_operations", "{operation}", false },
};
const struct metric_group metric_group_disk = METRIC_GROUP(disk);

static const struct metric_group_column filesystem[] = {
	{ "system.filesystem.limit", "By", false },
	{ "system.filesystem.usage.used", "By", false },
	{ "system.filesystem.usage.free", "By", false },
	{ "system.filesystem.usage.reserved", "By", false },
	{ "system.filesystem.inodes.used", "{inode}", false },
	{ "system.filesystem.inodes.free", "{inode}", false },
};
const struct metric_group metric_group_filesystem = METRIC_GROUP(filesystem);

static const struct metric_group_column network[] = {
	BOOT,
	{ "system.network.io.receive", "By", true },
	{ "system.network.io.transmit", "By", true },
	{ "system.network.packet.count.receive", "{packet}", true },
	{ "system.network.packet.count.transmit", "{packet}", true },
	{ "system.network.errors.receive", "{error}", true },
	{ "system.network.errors.transmit", "{error}", true },
	{ "system.network.packet.dropped.receive", "{packet}", true },
	{ "system.network.packet.dropped.transmit", "{packet}", true },
	{ "system.network.physical", "1", false },
};
const struct metric_group metric_group_network = METRIC_GROUP(network);

static const struct metric_group_column cpus[] = {
	BOOT,
	{ "system.cpu.time.user", "cs", true },
	{ "system.cpu.time.nice", "cs", true },
	{ "system.cpu.time.system", "cs", true },
	{ "system.cpu.time.idle", "cs", true },
	{ "system.cpu.time.iowait", "cs", true },
	{ "system.cpu.time.interrupt", "cs", true },
	{ "system.cpu.time.softirq", "cs", true },
	{ "system.cpu.time.steal", "cs", true },
};
const struct metric_group metric_group_cpus = METRIC_GROUP(cpus);

static const struct metric_group_column vmstat[] = {
	BOOT,
	{ "system.paging.faults.minor", "{fault}", true },
	{ "system.paging.faults.major", "{fault}", true },
	{ "system.paging.operations.in", "{operation}", true },
	{ "system.paging.operations.out", "{operation}", true },
	{ "system.linux.memory.scanned", "{page}", true },
	{ "system.linux.memory.reclaimed", "{page}", true },
	{ "system.linux.memory.reclaimed.direct", "{page}", true },
	{ "system.linux.memory.compaction_stalls", "{stall}", true },
	{ "system.linux.memory.oom_kills", "{kill}", true },
	{ "system.linux.memory.numa_migrated", "{page}", true },
};
const struct metric_group metric_group_vmstat = METRIC_GROUP(vmstat);

static const struct metric_group_column pressure[] = {
	BOOT,
	{ "system.linux.pressure.cpu.some", "us", true },
	{ "system.linux.pressure.memory.some", "us", true },
	{ "system.linux.pressure.memory.full", "us", true },
	{ "system.linux.pressure.io.some", "us", true },
	{ "system.linux.pressure.io.full", "us", true },
};
const struct metric_group metric_group_pressure = METRIC_GROUP(pressure);

static const struct metric_group_column schedstat[] = {
	BOOT,
	{ "system.linux.scheduler.run_time", "ns", true },
	{ "system.linux.scheduler.run_delay", "ns", true },
	{ "system.linux.scheduler.timeslices", "{timeslice}", true },
	{ "system.linux.scheduler.remote_wakeups", "{wakeup}", true },
	{ "system.linux.scheduler.migrations", "{task}", true },
};
const struct metric_group metric_group_schedstat = METRIC_GROUP(schedstat);

static const struct metric_group_column cgroup[] = {
	BOOT,
	{ "container.cpu.time", "us", true },
	{ "container.cpu.time.user", "us", true },
	{ "container.cpu.time.system", "us", true },
	{ "container.cpu.time.throttled", "us", true },
	{ "container.memory.usage", "By", false },
	{ "container.memory.peak", "By", false },
	{ "container.memory.oom_kills", "{kill}", true },
	{ "container.disk.io.read", "By", true },
	{ "container.disk.io.write", "By", true },
	{ "container.disk.operations.read", "{operation}", true },
	{ "container.disk.operations.write", "{operation}", true },
	{ "container.process.count", "{process}", false },
	{ "container.pressure.cpu.some", "us", true },
	{ "container.pressure.memory.some", "us", true },
	{ "container.pressure.io.some", "us", true },
};
const struct metric_group metric_group_cgroup = METRIC_GROUP(cgroup);

static const struct metric_group_column process[] = {
	{ "process.cpu.utilization", "1", false },
	{ "process.memory.usage", "By", false },
	{ "process.thread.count", "{thread}", false },
	{ "process.count", "{process}", false },
};
const struct metric_group metric_group_process = METRIC_GROUP(process);

static const struct metric_group_column gpu[] = {
	BOOT,
	{ "hw.gpu.utilization", "1", false },
	{ "hw.gpu.memory.utilization", "1", false },
	{ "hw.gpu.memory.usage", "By", false },
	{ "hw.gpu.memory.limit", "By", false },
	{ "hw.temperature", "Cel", false },
	{ "hw.power", "W", false },
	{ "hw.energy", "mJ", true },
};
const struct metric_group metric_group_gpu = METRIC_GROUP(gpu);

static const struct metric_group_column perf[] = {
	{ "cpu_pct_per_cpu_avg", "%", false },
	{ "cpu_pct_per_cpu_min", "%", false },
	{ "cpu_pct_per_cpu_max", "%", false },
	{ "mem_percent", "%", false },
	{ "disk_usage_percent", "%", false },
	{ "disk_io_read_mb", "MiBy", false },
	{ "disk_io_write_mb", "MiBy", false },
	{ "net_io_lo_sent_mb", "MiBy", false },
	{ "net_io_lo_recv_mb", "MiBy", false },
	{ "net_io_ext_sent_mb", "MiBy", false },
	{ "net_io_ext_recv_mb", "MiBy", false },
	{ "system.cpu.logical.count", "{cpu}", false },
};
const struct metric_group metric_group_perf = METRIC_GROUP(perf);

static const struct metric_group_column self[] = {
	BOOT,
	{ "process.cpu.time.user", "us", true },
	{ "process.cpu.time.system", "us", true },
	{ "process.memory.usage", "By", false },
	{ "process.context_switches", "{switch}", true },
	{ "poolscope.agent.records", "{record}", true },
	{ "poolscope.agent.repeated", "{record}", true },
	{ "poolscope.agent.puts", "{put}", true },
	{ "poolscope.agent.puts.full", "{put}", true },
	{ "poolscope.agent.puts.failed", "{put}", true },
	{ "poolscope.agent.packets.refused", "{packet}", true },
	{ "poolscope.agent.clients", "{client}", false },
	{ "poolscope.agent.commits", "{commit}", true },
	{ "poolscope.agent.samples.lost", "{sample}", true },
	{ "poolscope.agent.spool.usage", "By", false },
	{ "poolscope.agent.spool.unacked", "By", false },
	{ "poolscope.agent.spool.batches", "{batch}", false },
	{ "poolscope.agent.spool.errors", "{error}", true },
	{ "poolscope.agent.sent", "{batch}", true },
	{ "poolscope.agent.sent.bytes", "By", true },
	{ "poolscope.agent.sent.again", "{batch}", true },
	{ "poolscope.agent.timeouts", "{timeout}", true },
	{ "poolscope.agent.round_trip", "ns", false },
	{ "poolscope.agent.failovers", "{failover}", true },
	{ "poolscope.agent.spool.moved", "{batch}", true },
	{ "poolscope.agent.forbidden", "{answer}", true },
	{ "poolscope.agent.left_out", "{entry}", false },
	{ "poolscope.agent.readings.impossible", "{reading}", true },
	{ "poolscope.agent.spool.given_up", "{batch}", true },
};
const struct metric_group metric_group_self = METRIC_GROUP(self);

static const struct metric_group_column clock_columns[] = {
	{ "poolscope.clock.offset", "ns", false },
	{ "poolscope.clock.error", "ns", false },
	{ "poolscope.clock.drift", "ns/s", false },
	{ "poolscope.clock.drift.error", "ns/s", false },
	{ "poolscope.clock.round_trip", "ns", false },
	{ "poolscope.clock.generation", "1", false },
	{ "poolscope.clock.generation.begin", "ns", false },
};
const struct metric_group metric_group_clock = METRIC_GROUP(clock_columns);

const struct metric_group *
metric_group_find(struct text name)
{
	static const struct {
		const char *name; /* before a slash: of all that begin so */
		const struct metric_group *group;
	} built_in[] = {
		{ "cpu", &metric_group_cpu },
		{ "cpu/", &metric_group_cpus },
		{ "memory", &metric_group_memory },
		{ "load", &metric_group_load },
		{ "vmstat", &metric_group_vmstat },
		{ "pressure", &metric_group_pressure },
		{ "schedstat", &metric_group_schedstat },
		{ "disk/", &metric_group_disk },
		{ "filesystem/", &metric_group_filesystem },
		{ "network/", &metric_group_network },
		{ "cgroup/", &metric_group_cgroup },
		{ "process/", &metric_group_process },
		{ "gpu/", &metric_group_gpu },
		{ "perf", &metric_group_perf },
		{ "self", &metric_group_self },
		{ "clock", &metric_group_clock },
	};
	const char *slash = memchr(name.at, '/', name.bytes);
	struct text front = { name.at,
		slash != NULL ? (uint32_t)(slash + 1 - name.at) : name.bytes };

	for (size_t i = 0; i < sizeof(built_in) / sizeof(*built_in); i++)
		if (text_equal(front, text_of(built_in[i].name)))
			return built_in[i].group;
	return NULL;
}

/* Each list of words is joined into one text. */
enum { LIST_BYTES = METRIC_GROUP_COLUMNS_MAX * 48 };

static void
add_word(char *list, uint32_t *used, const char *word)
{
	size_t bytes = strlen(word);

	assert(*used + bytes + 1 < LIST_BYTES);
	if (*used > 0)
		list[(*used)++] = ' ';
	memcpy(list + *used, word, bytes);
	*used += (uint32_t)bytes;
}

bool
metric_group_define(struct wire_writer *w,
    const struct metric_group *metric_group, struct text name)
{
	char names[LIST_BYTES], units[LIST_BYTES], types[LIST_BYTES];
	uint32_t name_bytes = 0, unit_bytes = 0, type_bytes = 0;
	unsigned char pairs[3 * LIST_BYTES + 64];
	struct wire_writer writer;
	struct record entity = {
		.kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = name,
		.attributes = 3,
	};

	for (uint32_t i = 0; i < metric_group->count; i++) {
		const struct metric_group_column *column =
		    &metric_group->columns[i];

		add_word(names, &name_bytes, column->name);
		add_word(units, &unit_bytes, column->unit);
		add_word(
		    types, &type_bytes, column->counter ? "counter" : "gauge");
	}
	wire_writer_init(&writer, pairs, sizeof(pairs));
	wire_put_text_attribute(
	    &writer, text_of("names"), (struct text){ names, name_bytes });
	wire_put_text_attribute(
	    &writer, text_of("units"), (struct text){ units, unit_bytes });
	wire_put_text_attribute(
	    &writer, text_of("types"), (struct text){ types, type_bytes });
	entity.pairs =
	    (struct text){ (const char *)pairs, (uint32_t)writer.bytes };
	return wire_put_record(w, &entity);
}

bool
metric_group_has_boot(const struct metric_group *metric_group)
{
	return strcmp(metric_group->columns[0].name, "poolscope.boot") == 0;
}
