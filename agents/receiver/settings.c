/*
 * settings - the receiver's options.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/settings.h"

#include "proto/os/clock.h"

const struct receiver_settings receiver_settings_default = {
	.timeout_ns = 5 * NS_PER_SECOND,
	.period_ns = 10 * NS_PER_SECOND,
	.textfile_period_ns = 15 * NS_PER_SECOND,
};

#define TO(member) OPT_TO(struct receiver_settings, member)

const struct opt receiver_settings_table[] = {
	{ "socket", 0, OPT_TEXT, TO(socket), "PATH",
	    "hand records to the agent at this socket (default: "
	    "DIR/run/agent.sock)" },
	{ "timeout", 0, OPT_DURATION, TO(timeout_ns), "DURATION",
	    "wait this long for an answer of the agent (default: 5s)" },

	{ "period", 0, OPT_DURATION, TO(period_ns), "DURATION",
	    "publish the numbers of statsd and of the receiver itself every "
	    "DURATION (default: 10s)" },

	/* The textfile folder. */
	{ "textfile", 0, OPT_TEXT, TO(textfile), "FOLDER",
	    "read the files *.prom of this folder (default: DIR/metrics.d)" },
	{ "textfile-period", 0, OPT_DURATION, TO(textfile_period_ns),
	    "DURATION", "publish their numbers every DURATION (default: 15s)" },

	{ "script", 0, OPT_LIST, TO(script), "SECTION",
	    "run a script and publish the numbers it prints: NAME [period=60s] "
	    "[timeout=5s] [user=USER] command=PATH [ARGUMENT...]",
	    RECEIVER_SCRIPT_KEYS },
	{ "scrape", 0, OPT_LIST, TO(scrape), "SECTION",
	    "ask an exporter on this host for its numbers and publish them: "
	    "NAME [period=15s] [keep=PATTERNS] [drop=PATTERNS] [buckets=yes] "
	    "url=URL",
	    RECEIVER_SCRAPE_KEYS },
	{ "scrape-remote", 0, OPT_FLAG, TO(scrape_remote), NULL,
	    "allow exporters on other hosts" },

	/* statsd. */
	{ "statsd-socket", 0, OPT_TEXT, TO(statsd_socket), "PATH",
	    "take lines of statsd at this Unix datagram socket (default: "
	    "DIR/run/statsd.sock)" },
	{ "statsd-udp", 0, OPT_TEXT, TO(statsd_udp), "ADDRESS:PORT",
	    "take them by UDP, too, at an address of this host only, such as "
	    "127.0.0.1:8125" },

	/* OTLP. */
	{ "otlp", 0, OPT_COUNT, TO(otlp_port), "PORT",
	    "take OTLP over HTTP at port PORT of 127.0.0.1, usually 4318 "
	    "(default: 0, not)" },
	{ "otlp-logs", 0, OPT_FLAG, TO(otlp_logs), NULL,
	    "take log records, too, as events" },
	{ "otlp-resource", 0, OPT_LIST, TO(otlp_resource), "NAME",
	    "keep this attribute of resources, with service.*, host.name and "
	    "k8s.pod.name" },
	{ .name = NULL },
};
