/*
 * socket_file - who may use the Unix sockets that this process listens on.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/owner/socket_file.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OWNER_ONLY = 0177, WITH_GROUP = 0117 };

/* Of the process, as its user and its umask. */
static bool has_group;
static gid_t group_id;

int
socket_file_set_group(const char *group, struct err *err)
{
	const struct group *found = getgrnam(group);
	char *end;
	unsigned long number;

	if (found != NULL) {
		group_id = found->gr_gid;
	} else {
		number = strtoul(group, &end, 10);
		if (group[0] < '0' || group[0] > '9' || *end != '\0' ||
		    number >= (gid_t)-1)
			return err_set(err, "there is no group '%.64s'", group);
		group_id = (gid_t)number;
	}
	has_group = true;
	return 0;
}

/* A new file has the group of the process. */
static bool
is_born_right(bool for_group)
{
	return for_group && has_group && group_id == getegid();
}

mode_t
socket_file_begin(bool for_group)
{
	return umask(is_born_right(for_group) ? WITH_GROUP : OWNER_ONLY);
}

int
socket_file_end(mode_t mask, bool for_group, const char *path, struct err *err)
{
	umask(mask);
	if (!for_group || !has_group || is_born_right(for_group))
		return 0;
	if (lchown(path, (uid_t)-1, group_id) == 0 && chmod(path, 0660) == 0)
		return 0;
	return err_set(err,
	    "%s: cannot give it to group %u: %s (this user must be a member "
	    "of it, or root)",
	    path, (unsigned)group_id, strerror(errno));
}
