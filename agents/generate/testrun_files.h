/*
 * generate_testrun_files - made-up test runs as the files that an import takes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_TESTRUN_FILES_H
#define AGENTS_GENERATE_TESTRUN_FILES_H

#include "agents/generate/testruns.h"

/* Write DIR/testruns.jsonl and DIR/events.jsonl, and DIR if it is not there;
 * `runs` has begun.  Under other names until both are whole: what was there
 * before stays until then, and when this fails or INT or TERM comes. */
int generate_files(const struct generate_runs *runs, const char *dir,
    bool progress, struct err *err);

#endif
