/*
 * archive_source - pages of an archive in ClickHouse.
 *
 * Each source has connections and a memory of its own (archive/read/read.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_ARCHIVE_SOURCE_H
#define EXPORTERS_SOURCE_ARCHIVE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/err.h"
#include "proto/service/sandbox.h"

struct pages;

/* How an archive is reached; the options are those of source_options. */
struct archive_source_values {
	const char *password; /* a file of mode 0600, or NULL */
	const char *cacert;   /* PEM file, or NULL */
	bool insecure;        /* allow plain HTTP beyond this machine */
};

/* Is this the address of an archive: clickhouse:// or clickhouses://? */
bool archive_source_is_named(const char *endpoint);
/* The address without its user, for messages. */
void archive_source_name(char *to, size_t room, const char *address);

/* Checks address and values, and reads the password; connects to nothing.  -1:
 * the error names the option (ERR_OPTION). */
int archive_source_check(const struct archive_source_values *values,
    const char *address, struct err *err);
/* Declares the files that archive_source_open needs. */
void archive_source_sandbox(
    const struct archive_source_values *values, struct sandbox *sandbox);

int archive_source_open(struct pages *pages,
    const struct archive_source_values *values, const char *address,
    struct err *err);

#endif
