/*
 * upload_file - the command file: one file to each target.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_FILE_H
#define EXPORTERS_UPLOAD_FILE_H

#include "exporters/upload.h"

extern const struct upload_command upload_file;

#endif
