/*
 * perf_set - the set "perf": its columns.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/perf_set.h"

const struct perf_column_name perf_columns[PERF_COLUMNS] = {
	[PERF_CPU_AVG] = { "cpu_pct_per_cpu_avg", "%" },
	[PERF_CPU_MIN] = { "cpu_pct_per_cpu_min", "%" },
	[PERF_CPU_MAX] = { "cpu_pct_per_cpu_max", "%" },
	[PERF_MEM] = { "mem_percent", "%" },
	[PERF_DISK] = { "disk_usage_percent", "%" },
	[PERF_READ] = { "disk_io_read_mb", "MiBy" },
	[PERF_WRITE] = { "disk_io_write_mb", "MiBy" },
	[PERF_LO_SENT] = { "net_io_lo_sent_mb", "MiBy" },
	[PERF_LO_RECV] = { "net_io_lo_recv_mb", "MiBy" },
	[PERF_EXT_SENT] = { "net_io_ext_sent_mb", "MiBy" },
	[PERF_EXT_RECV] = { "net_io_ext_recv_mb", "MiBy" },
	[PERF_CPUS] = { "system.cpu.logical.count", "{cpu}" },
};
