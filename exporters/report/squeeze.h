/*
 * report_squeeze - lines of scripts and styles without blanks and ends of lines
 * that mean nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_REPORT_SQUEEZE_H
#define EXPORTERS_REPORT_SQUEEZE_H

#include <stdbool.h>

#include "proto/base/buffer.h"

enum squeeze_language { SQUEEZE_SCRIPT, SQUEEZE_STYLE };

/* Texts end on the line on which they begin.  A comment behind two slashes
 * goes; what follows another slash or a single quote outside of a text is left
 * as it is. */
void squeeze_line(
    struct buffer *to, enum squeeze_language language, struct text line);

#endif
