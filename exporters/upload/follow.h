/*
 * upload_follow - upload records as they arrive.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_FOLLOW_H
#define EXPORTERS_UPLOAD_FOLLOW_H

#include "exporters/upload/records.h"

/* Runs until INT or TERM (returns 0), or a failure. */
int upload_follow(struct upload_records *rows, struct err *err);

#endif
