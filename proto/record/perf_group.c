/*
 * perf_group - the columns of the metric group "perf".
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/perf_group.h"

const struct perf_group_column_name perf_group_columns[PERF_GROUP_COLUMNS] = {
	[PERF_GROUP_CPU_AVG] = { "cpu_pct_per_cpu_avg", "%" },
	[PERF_GROUP_CPU_MIN] = { "cpu_pct_per_cpu_min", "%" },
	[PERF_GROUP_CPU_MAX] = { "cpu_pct_per_cpu_max", "%" },
	[PERF_GROUP_MEM] = { "mem_percent", "%" },
	[PERF_GROUP_DISK] = { "disk_usage_percent", "%" },
	[PERF_GROUP_READ] = { "disk_io_read_mb", "MiBy" },
	[PERF_GROUP_WRITE] = { "disk_io_write_mb", "MiBy" },
	[PERF_GROUP_LO_SENT] = { "net_io_lo_sent_mb", "MiBy" },
	[PERF_GROUP_LO_RECV] = { "net_io_lo_recv_mb", "MiBy" },
	[PERF_GROUP_EXT_SENT] = { "net_io_ext_sent_mb", "MiBy" },
	[PERF_GROUP_EXT_RECV] = { "net_io_ext_recv_mb", "MiBy" },
	[PERF_GROUP_CPUS] = { "system.cpu.logical.count", "{cpu}" },
};
