/*
 * poolscope-web - a page, and an interface for programs, by HTTP.
 * poolscope-web(1).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "exporters/source/source.h"
#include "exporters/web/access.h"
#include "exporters/web/assets.h"
#include "exporters/web/http/listen.h"
#include "exporters/web/opener.h"
#include "exporters/web/serve.h"
#include "proto/keys/token.h"
#include "proto/os/log.h"
#include "proto/service/service.h"

#define LISTEN_DEFAULT "127.0.0.1:5580"

struct values {
	struct source_options source;
	struct opt_list hosts;
	const char *listen, *assets, *viewer;
	uint64_t cache_bytes;
	bool behind_proxy, open;
};

static const struct values defaults = { .listen = LISTEN_DEFAULT,
	.viewer = WEB_ASSETS_VIEWER,
	.cache_bytes = UINT64_C(128) << 20,
	.source = { .stays = true } };

static const struct opt options[] = {
	{ "listen", 0, OPT_TEXT, OPT_TO(struct values, listen), "ADDRESS",
	    "listen on this address: 127.0.0.1:5580 (the default), [::1]:5580, "
	    "unix:PATH; port 0: any",
	    NULL, 0 },
	{ "open", 0, OPT_FLAG, OPT_TO(struct values, open), NULL,
	    "open the page in a browser", NULL, OPT_COMMAND },
	{ "host", 0, OPT_LIST, OPT_TO(struct values, hosts), "NAME",
	    "also answer requests for this host name; may be repeated", NULL,
	    0 },
	{ "behind-proxy", 0, OPT_FLAG, OPT_TO(struct values, behind_proxy),
	    NULL,
	    "allow an address that is not of this machine alone: a proxy "
	    "before it encrypts",
	    NULL, 0 },
	{ "cache-bytes", 0, OPT_BYTES, OPT_TO(struct values, cache_bytes),
	    "BYTES",
	    "keep answers in at most this much memory (default: 128MiB; 0: "
	    "none)",
	    NULL, 0 },
	{ "assets", 0, OPT_TEXT, OPT_TO(struct values, assets), "DIR",
	    "serve the files of the page from DIR, as they are at each request",
	    NULL, 0 },
	{ "perfetto-url", 0, OPT_TEXT, OPT_TO(struct values, viewer), "URL",
	    "open traces in the Perfetto of this address (default: "
	    "https://ui.perfetto.dev)",
	    NULL, 0 },
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
	const struct web_access_options access = {
		.own_token = !given->behind_proxy, .hosts = &given->hosts
	};
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
