/*
 * upload_record_commands - the samples and events commands.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_RECORD_COMMANDS_H
#define EXPORTERS_UPLOAD_RECORD_COMMANDS_H

#include "exporters/upload/upload.h"

extern const struct upload_command upload_samples, upload_events;

#endif
