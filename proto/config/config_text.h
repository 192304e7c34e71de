/*
 * config_text - prepares the text of a file for libconfuse.
 *
 * libconfuse 3.3 counts a comment line as three lines.  Removing comments first
 * keeps the line numbers in its messages correct.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_CONFIG_TEXT_H
#define PROTO_CONFIG_CONFIG_TEXT_H

#include <stdint.h>

/* Overwrite all comments with spaces; lines stay. */
void config_blank_comments(char *text);

/* Overwrite the sections of all `programs` (ends with NULL) except `own`,
 * whose keys this program does not know; the text must have no comments. */
void config_blank_foreign(
    char *text, const char *const *programs, const char *own);

/* A sentence about a quoted text or section that is not closed, and the line
 * where it begins; or NULL.  libconfuse takes the end of the file as the end of
 * every section, so a truncated file would pass, and it prints the last
 * backslash of an unclosed quote to standard output. */
const char *config_unclosed(char *text, uint32_t *line);

#endif
