/*
 * config_text - the text of a file for libconfuse, before that reads it.
 *
 * libconfuse 3.3 counts a line of comment as three, so that whoever wants to
 * say in which line something is wrong hands it the text without comments.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_CONFIG_TEXT_H
#define PROTO_CONFIG_CONFIG_TEXT_H

#include <stdint.h>

/* The end of the comment or quoted string that begins at `p`, somewhere in
 * `text`; `p` itself when none does.  As in libconfuse "#" begins a comment
 * anywhere, a slash only where a word could begin. */
char *config_skip(const char *text, char *p);

/* Put spaces in the place of all comments; lines stay. */
void config_blank_comments(char *text);

/* The same with the sections of all `programs` (NULL ends them) but `own`,
 * whose keys nobody else knows; in a text without comments. */
void config_blank_foreign(
    char *text, const char *const *programs, const char *own);

/* What has no end, and the line where it begins, or NULL.  libconfuse takes
 * the end of the file for the end of every section, and a file that was cut
 * short must not pass; the last backslash of a text without its quote it
 * writes to standard output. */
const char *config_unclosed(char *text, uint32_t *line);

#endif
