/*
 * sampler_self - samples of the agent: what it costs, what it did.
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agents/sampler_private.h"
#include "agents/scan.h"

static uint64_t
microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static uint64_t
resident_bytes(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	uint64_t size = 0, pages = 0;
	char buffer[128];
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, sizeof(buffer));
	struct text line = { buffer, n > 0 ? (uint32_t)n : 0 };

	if (fd >= 0)
		close(fd);
	if (scan_number(&line, &size))
		scan_number(&line, &pages);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void
sampler_read_self(struct sampler *sampler)
{
	struct sampler_counters c;
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	sampler->options.counters(sampler->options.arg, &c);
	{
		uint64_t numbers[] = { microseconds(&used.ru_utime),
			microseconds(&used.ru_stime), resident_bytes(),
			(uint64_t)(used.ru_nvcsw + used.ru_nivcsw),
			c.gather->records, c.gather->repeated, c.gather->puts,
			c.gather->full, c.gather->failed, c.door->refused,
			c.clients, c.gather->commits, sampler->lost_ever,
			c.spool->bytes, c.spool->unacked_bytes,
			c.spool->unacked_batches, c.spool->io_errors,
			c.ship->batches, c.ship->bytes, c.ship->resent,
			c.ship->timeouts, c.ship->rtt_ns, c.moves,
			c.spool->formers_dropped };

		sampler_add_whole(sampler, &set_self, text_of("self"), numbers,
		    SAMPLER_COUNT(numbers));
	}
}
