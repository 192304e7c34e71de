/*
 * perf_set - the set "perf": its columns.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/perf_set.h"

const struct perf_set_column_name perf_set_columns[PERF_SET_COLUMNS] = {
	[PERF_SET_CPU_AVG] = { "cpu_pct_per_cpu_avg", "%" },
	[PERF_SET_CPU_MIN] = { "cpu_pct_per_cpu_min", "%" },
	[PERF_SET_CPU_MAX] = { "cpu_pct_per_cpu_max", "%" },
	[PERF_SET_MEM] = { "mem_percent", "%" },
	[PERF_SET_DISK] = { "disk_usage_percent", "%" },
	[PERF_SET_READ] = { "disk_io_read_mb", "MiBy" },
	[PERF_SET_WRITE] = { "disk_io_write_mb", "MiBy" },
	[PERF_SET_LO_SENT] = { "net_io_lo_sent_mb", "MiBy" },
	[PERF_SET_LO_RECV] = { "net_io_lo_recv_mb", "MiBy" },
	[PERF_SET_EXT_SENT] = { "net_io_ext_sent_mb", "MiBy" },
	[PERF_SET_EXT_RECV] = { "net_io_ext_recv_mb", "MiBy" },
	[PERF_SET_CPUS] = { "system.cpu.logical.count", "{cpu}" },
};
