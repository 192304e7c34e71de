/*
 * script_file - the program of a script: its words, and whether only its owner
 * can change it.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/script_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"

enum { SHOWN_BYTES = 128 };

int
script_file_words(char *word[static SCRIPT_WORDS_MAX + 1], char **room,
    const char *command, struct err *err)
{
	char *rest = NULL, shown[SHOWN_BYTES];
	uint32_t words = 0;

	*room = memory_string(command);
	for (char *at = strtok_r(*room, " \t\n", &rest); at != NULL;
	     at = strtok_r(NULL, " \t\n", &rest)) {
		if (words == SCRIPT_WORDS_MAX)
			return err_set(err, "a command has at most %d words",
			    SCRIPT_WORDS_MAX);
		word[words++] = at;
	}
	word[words] = NULL;
	if (words == 0)
		return err_set(err, "the command is empty");
	if (word[0][0] == '/')
		return 0;
	return err_set(err,
	    "'%s' is no absolute path: no shell looks for the program",
	    text_quote(shown, sizeof(shown), text_of(word[0])));
}

static int
check_owner(const char *path, const struct stat *st, uid_t user,
    const char *what, struct err *err)
{
	char shown[SHOWN_BYTES];

	text_quote(shown, sizeof(shown), text_of(path));
	if (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != user)
		return err_set(err,
		    "%s belongs to another user (uid %u), who could change "
		    "%s: give it to root, or to the user of the script",
		    shown, (unsigned)st->st_uid, what);
	if ((st->st_mode & 022) != 0)
		return err_set(err,
		    "%s can be written by others (mode %04o), who could change "
		    "%s: run chmod go-w, or use another folder",
		    shown, (unsigned)st->st_mode & 07777, what);
	return 0;
}

/* Check the folders of `path` up to the root.  In those above the first, others
 * may make files if they cannot move what is not theirs, as in /tmp. */
static int
check_folders(const char *path, uid_t user, struct err *err)
{
	char folder[PATH_MAX];
	bool first = true;
	struct stat st;

	if (strlen(path) >= sizeof(folder))
		return err_set(err, "the path is too long");
	for (strcpy(folder, path); folder[1] != '\0'; first = false) {
		char *slash = strrchr(folder, '/');

		slash[slash == folder] = '\0';
		if (stat(folder, &st) != 0)
			return err_set(
			    err, "%.300s: %s", folder, strerror(errno));
		if (!first && (st.st_mode & S_ISVTX) != 0)
			st.st_mode &= ~022U;
		if (check_owner(folder, &st, user, "the script", err) != 0)
			return -1;
	}
	return 0;
}

int
script_file_check(const char *path, uid_t user, struct err *err)
{
	char shown[SHOWN_BYTES], real[PATH_MAX];
	struct stat st;

	text_quote(shown, sizeof(shown), text_of(path));
	if (realpath(path, real) == NULL || stat(real, &st) != 0)
		return err_set(err, "%s: %s", shown, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, "%s is no file", shown);
	if ((st.st_mode & 0111) == 0)
		return err_set(
		    err, "%s is not executable: run chmod +x", shown);
	if (check_owner(real, &st, user, "it", err) != 0 ||
	    check_folders(real, user, err) != 0)
		return -1;
	return strcmp(real, path) == 0 ? 0 : check_folders(path, user, err);
}
