/*
 * stats_format - the output formats of statistics: option --format.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_STATS_FORMAT_H
#define EXPORTERS_STATS_STATS_FORMAT_H

enum stats_format { STATS_TABLE, STATS_JSON, STATS_JSONL, STATS_CSV };

#endif
