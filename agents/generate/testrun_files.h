/*
 * generate_testrun_files - generates test runs as the files that an import
 * reads.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_TESTRUN_FILES_H
#define AGENTS_GENERATE_TESTRUN_FILES_H

#include "agents/generate/testruns.h"

/* Write DIR/testruns.jsonl and DIR/events.jsonl, and create DIR if necessary;
 * `runs` has begun.  They have other names until both are complete: existing
 * files stay until then, and after a failure, INT or TERM. */
int generate_files(const struct generate_runs *runs, const char *dir,
    bool progress, struct err *err);

#endif
