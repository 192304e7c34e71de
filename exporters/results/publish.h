/*
 * result_publish - a result file as entities of a store.  proto/wire.md,
 * "Result files".
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_PUBLISH_H
#define EXPORTERS_RESULTS_PUBLISH_H

#include "agents/delivery/publisher.h"
#include "exporters/results/result_file.h"

/* The same file once more changes nothing.  `*fits` false: it cannot be
 * stored, and nothing of it was put. */
int result_put(struct publisher *publisher, const struct result_file *result,
    const char *file_name, bool *fits, struct err *err);

/* `to` (RESULT_UPLOAD_ID_BYTES) says that a target has a file. */
enum { RESULT_UPLOAD_ID_BYTES = NAME_BYTES_MAX + 1 };
void result_upload_id(char *to,
    const unsigned char digest[static RESULT_DIGEST_BYTES], const char *target);
int result_put_upload(
    struct publisher *publisher, const char *upload_id, struct err *err);

#endif
