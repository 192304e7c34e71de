/*
 * replay - the sampler's reports for a series of images of /proc, so that
 * tests need no kernel.
 *
 * An image is a directory with stat, meminfo, diskstats, net/dev and
 * host.json: {"time": seconds, "sys_block": [names], "statvfs": {"f_blocks",
 * "f_bfree", "f_bavail", "f_frsize"}}.  Instead of an image a directory of
 * images may be given, which are read in the order of their names.  The first
 * image begins the first interval; each other one produces a report.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DAEMON_REPLAY_H
#define AGENTS_DAEMON_REPLAY_H

#include "proto/config/opt.h"

/* poolscope-agent --replay DIR... --print perf: write a JSON array of reports.
 * Returns the status of the process. */
int replay_run(const struct opt_operands *dirs);

#endif
