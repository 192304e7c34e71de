/*
 * web_opener - opens the page in the browser of the user.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/opener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/keys/trusted_file.h"
#include "proto/os/log.h"

enum { FILE_BYTES_MAX = 1024 };

/* In a process of its own: wait for the path, then become the browser. */
static _Noreturn void
wait_and_open(int fd)
{
	char path[INSTANCE_PATH_BYTES];
	ssize_t n = read(fd, path, sizeof(path) - 1);

	if (n <= 0)
		_exit(0); /* the server did not start */
	path[n] = '\0';
	close(fd);
	setsid();
	execlp("xdg-open", "xdg-open", path, (char *)NULL);
	log_warn("xdg-open cannot be started: %s; open the address in a "
		 "browser",
	    strerror(errno));
	_exit(1);
}

void
web_opener_start(struct web_opener *opener)
{
	int fds[2];
	pid_t child;

	opener->fd = -1;
	if (pipe(fds) != 0)
		return;
	child = fork();
	if (child == 0) {
		close(fds[1]);
		/* Nobody waits for the browser. */
		if (fork() != 0)
			_exit(0);
		wait_and_open(fds[0]);
	}
	close(fds[0]);
	if (child > 0)
		(void)waitpid(child, NULL, 0);
	opener->fd = fds[1];
}

int
web_opener_open(struct web_opener *opener, const char *url, struct err *err)
{
	char text[FILE_BYTES_MAX], name[64];
	int n = snprintf(text, sizeof(text),
	    "<!doctype html>\n<title>poolscope</title>\n"
	    "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n",
	    url);

	snprintf(name, sizeof(name), "run/web-%ld.html", (long)getpid());
	if (instance_path(opener->path, name, err) != 0 ||
	    trusted_file_write(opener->path, text, (size_t)n, true, err) != 0) {
		opener->path[0] = '\0';
		return -1;
	}
	if (opener->fd < 0 ||
	    write(opener->fd, opener->path, strlen(opener->path)) < 0)
		return err_set(err, "cannot start a browser");
	close(opener->fd);
	opener->fd = -1;
	return 0;
}

void
web_opener_clear(struct web_opener *opener)
{
	if (opener->path[0] != '\0')
		unlink(opener->path);
	if (opener->fd >= 0)
		close(opener->fd);
	opener->fd = -1;
}
