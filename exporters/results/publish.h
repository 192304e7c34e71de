/*
 * result_publish - store a result file as entities.  proto/wire.md, "Result
 * files".
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_PUBLISH_H
#define EXPORTERS_RESULTS_PUBLISH_H

#include "agents/delivery/publisher.h"
#include "exporters/results/result_file.h"

/* Publishing the same file again changes nothing.  `*fits` false: the file is
 * too large to be stored, and nothing was submitted.  `*stored_ns` is when the
 * file before it was stored, 0 for the first; this one is stored later. */
int result_put(struct publisher *publisher, const struct result_file *result,
    const char *file_name, int64_t *stored_ns, bool *fits, struct err *err);

/* Build in `to` (RESULT_UPLOAD_ID_BYTES) the id of the entity which records
 * that a target has a file. */
enum { RESULT_UPLOAD_ID_BYTES = NAME_BYTES_MAX + 1 };
void result_upload_id(char *to,
    const unsigned char digest[static RESULT_DIGEST_BYTES], const char *target);
int result_put_upload(
    struct publisher *publisher, const char *upload_id, struct err *err);

#endif
