/*
 * poolscope-web - a page, and an interface for programs, by HTTP.
 * poolscope-web(1).
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporters/source/source.h"
#include "exporters/web/access.h"
#include "exporters/web/assets.h"
#include "exporters/web/serve.h"
#include "proto/base/err.h"
#include "proto/base/number.h"
#include "proto/config/instance.h"
#include "proto/keys/token.h"
#include "proto/keys/trusted_file.h"
#include "proto/os/log.h"
#include "proto/os/owner/socket_file.h"
#include "proto/os/owner/trusted_dir.h"
#include "proto/service/service.h"

/*
 * Where a web server listens: 127.0.0.1:5580, [::1]:5580,
 * unix:PATH.
 */

enum { WEB_ADDRESS_BYTES = 128 };

struct web_address {
	struct sockaddr_storage at;
	socklen_t bytes;
	bool is_unix, is_loopback; /* a Unix socket is loopback, too */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/*
 * Opens the page in the browser of the user.
 *
 * The address has the token, which must not be an argument of a process: others
 * could see it.  So the browser is given a file that only the user can read,
 * and that leads to the address.  The process that starts the browser is made
 * before the sandbox, which forbids that.
 */

struct web_opener {
	int fd; /* to the process that waits; -1: none */
	char path[INSTANCE_PATH_BYTES]; /* of the file; "": none */
};

/* Connections that wait to be accepted. */
enum { BACKLOG = 1024 };

static int
refuse(const char *text, struct err *err)
{
	return err_set_option(err, "listen",
	    "'%.64s' is not an address such as 127.0.0.1:5580, [::1]:5580 or "
	    "unix:PATH",
	    text);
}

static int
parse_unix(struct web_address *address, const char *path, struct err *err)
{
	struct sockaddr_un *to = (struct sockaddr_un *)(void *)&address->at;

	if (path[0] == '\0' || strlen(path) >= sizeof(to->sun_path))
		return err_set_option(err, "listen",
		    "the path of a socket has 1 to %d bytes",
		    (int)sizeof(to->sun_path) - 1);
	to->sun_family = AF_UNIX;
	strcpy(to->sun_path, path);
	strcpy(address->path, path);
	address->bytes = sizeof(*to);
	address->is_unix = address->is_loopback = true;
	return 0;
}

/* -1: it is none of the forms above. */
static int
web_address_parse(
    struct web_address *address, const char *text, struct err *err)
{
	struct sockaddr_in *four = (struct sockaddr_in *)(void *)&address->at;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)&address->at;
	const char *colon = strrchr(text, ':');
	char host[64];
	uint64_t port;
	size_t bytes;

	*address = (struct web_address){ .bytes = 0 };
	if (strncmp(text, "unix:", 5) == 0)
		return parse_unix(address, text + 5, err);
	if (colon == NULL ||
	    number_parse_u64(text_of(colon + 1), &port, NULL) != 0 ||
	    port > UINT16_MAX)
		return refuse(text, err);
	bytes = (size_t)(colon - text);
	if (bytes >= 2 && text[0] == '[' && colon[-1] == ']') {
		snprintf(host, sizeof(host), "%.*s", (int)bytes - 2, text + 1);
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		address->bytes = sizeof(*six);
		if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
			return refuse(text, err);
		address->is_loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
		return 0;
	}
	snprintf(host, sizeof(host), "%.*s", (int)bytes, text);
	four->sin_family = AF_INET;
	four->sin_port = htons((uint16_t)port);
	address->bytes = sizeof(*four);
	if (strcmp(host, "localhost") == 0)
		strcpy(host, "127.0.0.1");
	if (inet_pton(AF_INET, host, &four->sin_addr) != 1)
		return refuse(text, err);
	address->is_loopback = ntohl(four->sin_addr.s_addr) >> 24 == 127;
	return 0;
}

static void
show(const struct web_address *address, int fd,
    char shown[static WEB_ADDRESS_BYTES])
{
	struct sockaddr_storage bound = { 0 };
	const struct sockaddr_in *four = (const void *)&bound;
	const struct sockaddr_in6 *six = (const void *)&bound;
	socklen_t bytes = sizeof(bound);
	char host[INET6_ADDRSTRLEN] = "?";

	if (address->is_unix) {
		snprintf(shown, WEB_ADDRESS_BYTES, "unix:%s", address->path);
		return;
	}
	(void)getsockname(fd, (struct sockaddr *)&bound, &bytes);
	if (bound.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host));
		snprintf(shown, WEB_ADDRESS_BYTES, "[%s]:%d", host,
		    ntohs(six->sin6_port));
	} else {
		inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host));
		snprintf(shown, WEB_ADDRESS_BYTES, "%s:%d", host,
		    ntohs(four->sin_port));
	}
}

/* The socket that a process before us left. */
static void
remove_left(const struct web_address *address)
{
	struct stat st;
	int fd;

	if (lstat(address->path, &st) != 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&address->at,
		address->bytes) != 0 &&
	    errno == ECONNREFUSED)
		unlink(address->path);
	close(fd);
}

static int
bind_unix(int fd, const struct web_address *address, struct err *err)
{
	mode_t mask;
	int rc, why;

	if (trusted_dir_own_parent(address->path, err) != 0)
		return -1;
	remove_left(address);
	mask = socket_file_begin(true);
	rc = bind(fd, (const struct sockaddr *)&address->at, address->bytes);
	why = errno;
	if (socket_file_end(mask, true, address->path, err) != 0 && rc == 0)
		return -1;
	return rc == 0 ? 0 : err_set(err, "cannot listen: %s", strerror(why));
}

static int
bind_tcp(int fd, const struct web_address *address, struct err *err)
{
	int on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&address->at, address->bytes) ==
	    0)
		return 0;
	if (errno == EADDRINUSE)
		return err_set(err,
		    "the address is taken by another process; choose another "
		    "port with --listen");
	return err_set(err, "cannot listen: %s", strerror(errno));
}

/* Returns a listening descriptor, and sets `shown`: "127.0.0.1:5580". */
static int
web_listen(const struct web_address *address,
    char shown[static WEB_ADDRESS_BYTES], struct err *err)
{
	int fd = socket(address->at.ss_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc;

	if (fd < 0)
		return err_set(err, "socket: %s", strerror(errno));
	rc = address->is_unix ? bind_unix(fd, address, err)
			      : bind_tcp(fd, address, err);
	if (rc == 0 && listen(fd, BACKLOG) != 0)
		rc = err_set(err, "cannot listen: %s", strerror(errno));
	show(address, fd, shown);
	if (rc == 0)
		return fd;
	close(fd);
	return -1;
}

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

/* Before the sandbox, and before any thread. */
static void
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

/* Write the file, and have it opened. */
static int
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

/* Removes the file. */
static void
web_opener_clear(struct web_opener *opener)
{
	if (opener->path[0] != '\0')
		unlink(opener->path);
	if (opener->fd >= 0)
		close(opener->fd);
	opener->fd = -1;
}

#define LISTEN_DEFAULT "127.0.0.1:5580"

struct values {
	struct source_options source;
	struct opt_list hosts;
	const char *listen, *assets, *viewer;
	uint64_t cache_bytes, request_rate;
	bool behind_proxy, open;
};

static const struct values defaults = { .listen = LISTEN_DEFAULT,
	.viewer = WEB_ASSETS_VIEWER,
	.cache_bytes = UINT64_C(128) << 20,
	.request_rate = 200,
	.source = { .stays = true } };

static const struct opt options[] = {
	{ "listen", 0, OPT_TEXT, OPT_TO(struct values, listen), "ADDRESS",
	    "listen on this address: 127.0.0.1:5580 (the default), [::1]:5580, "
	    "unix:PATH; port 0: any" },
	{ "open", 0, OPT_FLAG, OPT_TO(struct values, open), NULL,
	    "open the page in a browser", .flags = OPT_COMMAND },
	{ "host", 0, OPT_LIST, OPT_TO(struct values, hosts), "NAME",
	    "also answer requests for this host name; may be repeated" },
	{ "behind-proxy", 0, OPT_FLAG, OPT_TO(struct values, behind_proxy),
	    NULL,
	    "allow an address that is not of this machine alone: a proxy "
	    "before it encrypts" },
	{ "cache-bytes", 0, OPT_BYTES, OPT_TO(struct values, cache_bytes),
	    "BYTES",
	    "keep answers in at most this much memory (default: 128MiB; 0: "
	    "none)" },
	{ "request-rate", 0, OPT_COUNT, OPT_TO(struct values, request_rate),
	    "N",
	    "answer at most N questions a second of each token (default: 200; "
	    "0: no limit)" },
	{ "assets", 0, OPT_TEXT, OPT_TO(struct values, assets), "DIR",
	    "serve the files of the page from DIR, as they are at each "
	    "request" },
	{ "perfetto-url", 0, OPT_TEXT, OPT_TO(struct values, viewer), "URL",
	    "open traces in the Perfetto of this address (default: "
	    "https://ui.perfetto.dev)" },
	{ .name = NULL },
};

/* Of the process; made before the sandbox. */
static struct web_opener opener = { .fd = -1 };

struct web {
	struct values values;
	struct web_access *access;
	struct web_serve *serve;
};

/* It becomes part of the page. */
static bool
is_viewer(const char *url)
{
	const char *rest = strncmp(url, "https://", 8) == 0  ? url + 8
			   : strncmp(url, "http://", 7) == 0 ? url + 7
							     : "";
	size_t bytes = strlen(rest);

	return bytes > 0 && bytes < WEB_ADDRESS_BYTES &&
	       strspn(rest, "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "-._~:/[]%?=") == bytes;
}

static int
check(const void *values, struct err *err)
{
	const struct values *given = values;
	struct web_address address;

	if (web_address_parse(&address, given->listen, err) != 0)
		return -1;
	if (given->open && (given->behind_proxy || address.is_unix))
		return err_set_option(err, "open",
		    "is for an address of this machine, with a port");
	if (!is_viewer(given->viewer))
		return err_set_option(err, "perfetto-url",
		    "takes an address such as https://perfetto.example.org");
	if (!address.is_loopback && !given->behind_proxy)
		return err_set_option(err, "listen",
		    "%.64s can be reached from other machines, unencrypted: "
		    "listen on 127.0.0.1, or give --behind-proxy if a proxy "
		    "encrypts",
		    given->listen);
	return 0;
}

static bool
declare_files(const void *values, struct sandbox *sandbox)
{
	const struct values *given = values;
	struct web_address address;
	struct err err;

	source_sandbox(sandbox, &given->source);
	sandbox_sockets();
	sandbox_read(sandbox, given->assets);
	if (web_address_parse(&address, given->listen, &err) == 0 &&
	    address.is_unix)
		sandbox_write_parent(sandbox, address.path);
	if (given->open) {
		sandbox_socket_or(sandbox, NULL, "run/web.html");
		web_opener_start(&opener);
	}
	return true;
}

/* The page takes the token from the fragment, which a browser does not
 * send. */
static void
show_url(const struct web *web, const char *shown)
{
	const char *token = web_access_token(web->access);
	char url[WEB_ADDRESS_BYTES + TOKEN_CHARACTERS + 16];
	struct err err;

	log_info("listening on %s", shown);
	if (token == NULL)
		return;
	snprintf(url, sizeof(url), "http://%s/#k=%s", shown, token);
	printf("%s\n", url);
	fflush(stdout);
	if (web->values.open && web_opener_open(&opener, url, &err) != 0)
		log_warn("%s; open the address in a browser", err.text);
}

static int
start(void *arg, struct loop *loop, struct err *err)
{
	struct web *web = arg;
	const struct values *given = &web->values;
	const struct web_access_options access = { .own_token =
						       !given->behind_proxy,
		.request_rate = given->request_rate,
		.hosts = &given->hosts };
	struct web_serve_options how = { .assets = given->assets,
		.viewer = given->viewer,
		.source = &given->source,
		.cache_bytes = given->cache_bytes };
	char shown[WEB_ADDRESS_BYTES];
	struct web_address address;

	if (web_access_open(&web->access, &access, err) != 0 ||
	    web_address_parse(&address, given->listen, err) != 0)
		return -1;
	how.access = web->access;
	how.fd = web_listen(&address, shown, err);
	if (how.fd < 0)
		return err_prefix(err, "%s", given->listen);
	if (web_serve_open(&web->serve, loop, &how, err) != 0)
		return -1;
	show_url(web, shown);
	return 0;
}

static void
stop(void *arg, struct loop *loop)
{
	struct web *web = arg;

	(void)loop;
	web_serve_drain(web->serve);
}

static void
clear(void *arg)
{
	struct web *web = arg;

	web_opener_clear(&opener);
	web_serve_close(&web->serve);
	web_access_close(&web->access);
}

int
main(int argc, char **argv)
{
	struct web web = { .values = defaults };
	const struct service service = { .name = "poolscope-web",
		.summary = "serve a page about pools, for browsers and "
			   "programs",
		.examples = "poolscope web --open\n"
			    "poolscope web --listen 127.0.0.1:8080\n",
		.options = options,
		.values = &web.values,
		.more_options = source_options,
		.more_values = &web.values.source,
		.arg = &web,
		.check = check,
		.declare_files = declare_files,
		.start = start,
		.stop = stop,
		.clear = clear };

	return service_main(&service, argc, argv);
}
