/*
 * wan - a slow link between two network namespaces.
 *
 *     wan NS1 NS2 DELAY_US[:BACK_US] JITTER_US LOSS% [SEED]
 *     DELAY_US[:BACK_US] JITTER_US LOSS% TWICE% CHANGED%
 *
 * Makes a TUN interface in each of two namespaces (names as of ip-netns) and
 * carries packets between them: each arrives after DELAY_US, from NS2 to NS1
 * after BACK_US, and up to JITTER_US more, so that one may overtake another;
 * LOSS percent never arrive.  The interface in NS1 is called NS2 and the other
 * way round; addresses are for the caller to give.  A line on standard output
 * says that both are there.  A line on standard input, as the second one above,
 * says what it is like from then on: TWICE percent arrive two times, and
 * CHANGED percent with one byte that is another.  The link lives until standard
 * input ends, so it cannot outlive who made it.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <unistd.h>

#include "proto/base/err.h"
#include "proto/base/number.h"
#include "proto/base/text.h"
#include "proto/os/clock.h"

/* What does not fit is lost, as in any router: 7 MB at most. */
enum { PACKET_BYTES = 1600, PACKETS = 4096 };
#define DELAY_MAX_US 10000000

struct packet {
	struct packet *next;
	int64_t due_ns;
	int fd; /* where it goes */
	size_t bytes;
	unsigned char data[PACKET_BYTES];
};

struct weather {
	int64_t delay_ns[2]; /* of what comes in at fd[i] */
	int64_t jitter_ns;
	double loss, twice, changed; /* 0 to 1 */
};

struct wan {
	int fd[2];
	struct weather now;
	struct packet *first; /* by due_ns, and those of one time in order */
	struct packet *unused;
	uint64_t passed, lost, full, twice, changed;
};

/* ---- the interfaces ---- */

static int
enter(const char *namespace, struct err *err)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", namespace);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	if (setns(fd, CLONE_NEWNET) != 0) {
		err_set(err, "%s: setns: %s", path, strerror(errno));
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

/* A TUN belongs to the namespace in which it was opened, and may be read and
 * written from any. */
static int
tun(const char *namespace, const char *name, int *fd, struct err *err)
{
	struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };

	if (strlen(name) >= sizeof(request.ifr_name))
		return err_set(err, "%s: longer than %zu bytes", name,
		    sizeof(request.ifr_name) - 1);
	if (enter(namespace, err) != 0)
		return -1;
	*fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0)
		return err_set(err, "/dev/net/tun: %s", strerror(errno));
	memcpy(request.ifr_name, name, strlen(name) + 1);
	if (ioctl(*fd, TUNSETIFF, &request) != 0)
		return err_set(err, "%s: TUNSETIFF: %s", name, strerror(errno));
	return 0;
}

/* ---- packets on their way ---- */

static int64_t
arrival(const struct wan *wan, int side)
{
	return clock_monotonic_ns() + wan->now.delay_ns[side] +
	       (int64_t)(drand48() * (double)wan->now.jitter_ns);
}

static void
queue(struct wan *wan, struct packet *packet)
{
	struct packet **at = &wan->first;

	while (*at != NULL && (*at)->due_ns <= packet->due_ns)
		at = &(*at)->next;
	packet->next = *at;
	*at = packet;
}

/* Takes one that is free; NULL: the link is full. */
static struct packet *
take_unused(struct wan *wan)
{
	struct packet *packet = wan->unused;

	if (packet != NULL)
		wan->unused = packet->next;
	return packet;
}

static void
send_off(struct wan *wan, int side, struct packet *packet)
{
	packet->fd = wan->fd[!side];
	packet->due_ns = arrival(wan, side);
	queue(wan, packet);
}

static void
repeat(struct wan *wan, int side, const struct packet *packet)
{
	struct packet *copy = take_unused(wan);

	if (copy == NULL) {
		wan->full++;
		return;
	}
	memcpy(copy->data, packet->data, packet->bytes);
	copy->bytes = packet->bytes;
	wan->twice++;
	send_off(wan, side, copy);
}

/* One packet; false when there is none. */
static bool
take(struct wan *wan, int side)
{
	unsigned char drain[PACKET_BYTES];
	struct packet *packet = wan->unused;
	ssize_t got;

	got = read(
	    wan->fd[side], packet != NULL ? packet->data : drain, PACKET_BYTES);
	if (got <= 0)
		return false;
	if (packet == NULL) {
		wan->full++;
		return true;
	}
	if (drand48() < wan->now.loss) {
		wan->lost++;
		return true;
	}
	wan->unused = packet->next;
	packet->bytes = (size_t)got;
	if (drand48() < wan->now.changed) {
		packet->data[(size_t)(drand48() * (double)got)] ^=
		    (unsigned char)(1 + drand48() * 255);
		wan->changed++;
	}
	if (drand48() < wan->now.twice)
		repeat(wan, side, packet);
	send_off(wan, side, packet);
	return true;
}

static void
deliver(struct wan *wan)
{
	int64_t now = clock_monotonic_ns();

	while (wan->first != NULL && wan->first->due_ns <= now) {
		struct packet *packet = wan->first;

		wan->first = packet->next;
		/* An interface that is down, or full, loses it. */
		if (write(packet->fd, packet->data, packet->bytes) ==
		    (ssize_t)packet->bytes)
			wan->passed++;
		else
			wan->lost++;
		packet->next = wan->unused;
		wan->unused = packet;
	}
}

/* How long nothing is due; NULL: for ever. */
static const struct timespec *
until_next(const struct wan *wan, struct timespec *t)
{
	int64_t ns;

	if (wan->first == NULL)
		return NULL;
	ns = wan->first->due_ns - clock_monotonic_ns();
	if (ns < 0)
		ns = 0;
	t->tv_sec = ns / NS_PER_SECOND;
	t->tv_nsec = ns % NS_PER_SECOND;
	return t;
}

/* ---- what it is like ---- */

static int
parse_us(struct text t, int64_t *ns, struct err *err)
{
	uint64_t us;

	if (number_parse_u64(t, &us, err) != 0)
		return -1;
	if (us > DELAY_MAX_US)
		return err_set(err, "more than %d us of delay", DELAY_MAX_US);
	*ns = (int64_t)us * 1000;
	return 0;
}

static int
parse_delays(struct weather *to, const char *words, struct err *err)
{
	const char *colon = strchr(words, ':');
	struct text there = text_of(words);

	if (colon != NULL)
		there.bytes = (uint32_t)(colon - words);
	if (parse_us(there, &to->delay_ns[0], err) != 0)
		return -1;
	to->delay_ns[1] = to->delay_ns[0];
	if (colon == NULL)
		return 0;
	return parse_us(text_of(colon + 1), &to->delay_ns[1], err);
}

static int
parse_percent(const char *word, double *to, struct err *err)
{
	double percent;

	if (number_parse_double(text_of(word), &percent, err) != 0)
		return -1;
	if (!(percent >= 0 && percent <= 100))
		return err_set(err, "a percentage is from 0 to 100");
	*to = percent / 100;
	return 0;
}

/* DELAY_US[:BACK_US] JITTER_US LOSS% */
static int
parse_weather(struct weather *to, char *const words[3], struct err *err)
{
	if (parse_delays(to, words[0], err) != 0 ||
	    parse_us(text_of(words[1]), &to->jitter_ns, err) != 0)
		return -1;
	return parse_percent(words[2], &to->loss, err);
}

static int
parse_line(struct weather *to, char *line, struct err *err)
{
	struct weather read = { .jitter_ns = 0 };
	char *words[5], *rest = NULL;

	for (int i = 0; i < 5; i++) {
		words[i] = strtok_r(i == 0 ? line : NULL, " \n", &rest);
		if (words[i] == NULL)
			return err_set(err, "a line has 5 words");
	}
	if (parse_weather(&read, words, err) != 0 ||
	    parse_percent(words[3], &read.twice, err) != 0 ||
	    parse_percent(words[4], &read.changed, err) != 0)
		return -1;
	*to = read;
	return 0;
}

/* False: standard input has ended.  A line is written at once. */
static bool
take_line(struct wan *wan)
{
	char line[256];
	struct err err = { 0 };
	ssize_t got = read(STDIN_FILENO, line, sizeof(line) - 1);

	if (got <= 0)
		return false;
	line[got] = '\0';
	if (parse_line(&wan->now, line, &err) != 0)
		fprintf(stderr, "wan: %s\n", err.text);
	return true;
}

static void
carry(struct wan *wan)
{
	struct pollfd fds[] = {
		{ .fd = wan->fd[0], .events = POLLIN },
		{ .fd = wan->fd[1], .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	struct timespec t;

	for (;;) {
		if (ppoll(fds, 3, until_next(wan, &t), NULL) < 0 &&
		    errno != EINTR)
			return;
		/* Nobody is there any more, or a namespace is not. */
		if (((fds[0].revents | fds[1].revents) & ~POLLIN) != 0 ||
		    (fds[2].revents != 0 && !take_line(wan)))
			return;
		for (int side = 0; side < 2; side++)
			for (int i = 0; i < 64 && take(wan, side); i++)
				continue;
		deliver(wan);
	}
}

static int
parse(struct wan *wan, int argc, char **argv, struct err *err)
{
	uint64_t seed = 1;

	if (argc < 6 || argc > 7)
		return err_set(err,
		    "usage: wan NS1 NS2 DELAY_US[:BACK_US] JITTER_US LOSS%% "
		    "[SEED]");
	if (parse_weather(&wan->now, argv + 3, err) != 0)
		return -1;
	if (argc == 7 && number_parse_u64(text_of(argv[6]), &seed, err) != 0)
		return -1;
	srand48((long)seed);
	return 0;
}

int
main(int argc, char **argv)
{
	static struct packet packets[PACKETS];
	struct wan wan = { .fd = { -1, -1 } };
	struct err err = { 0 };

	if (parse(&wan, argc, argv, &err) != 0) {
		fprintf(stderr, "wan: %s\n", err.text);
		return 2;
	}
	for (int i = 0; i < PACKETS; i++) {
		packets[i].next = wan.unused;
		wan.unused = &packets[i];
	}
	if (tun(argv[1], argv[2], &wan.fd[0], &err) != 0 ||
	    tun(argv[2], argv[1], &wan.fd[1], &err) != 0) {
		fprintf(stderr, "wan: %s\n", err.text);
		return EXIT_FAILURE;
	}
	puts("ready");
	fflush(stdout);
	carry(&wan);
	fprintf(stderr,
	    "wan: passed=%llu lost=%llu full=%llu twice=%llu changed=%llu\n",
	    (unsigned long long)wan.passed, (unsigned long long)wan.lost,
	    (unsigned long long)wan.full, (unsigned long long)wan.twice,
	    (unsigned long long)wan.changed);
	return EXIT_SUCCESS;
}
