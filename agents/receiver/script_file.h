/*
 * script_file - the program of a script: its words, and whether only its owner
 * can change it.
 *
 * No shell reads the words: they are separated by blanks, and quotes mean
 * nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_SCRIPT_FILE_H
#define AGENTS_RECEIVER_SCRIPT_FILE_H

#include <sys/types.h>

#include "proto/base/err.h"

enum { SCRIPT_WORDS_MAX = 32 };

/* The words of `command`, as execve(2) takes them; -1: there are too many, or
 * the program is no absolute path.  They are views of `*room`, which the caller
 * frees in any case. */
int script_file_words(char *word[static SCRIPT_WORDS_MAX + 1], char **room,
    const char *command, struct err *err);

/* Can nobody but root, this process's user and `user` change what a program of
 * this path is?  Looks at the file, at its folder and at those above, also of
 * what a symbolic link leads to.  -1: a sentence with the remedy. */
int script_file_check(const char *path, uid_t user, struct err *err);

#endif
