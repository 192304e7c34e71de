/*
 * scopes - a C++ program that uses libpoolscope, for the flow tests.
 * SPDX-License-Identifier: MIT
 */
#include <poolscope.h>
#include <stdexcept>

static void
step(bool bad)
{
	poolscope::span span("step", "c++");

	span.set(poolscope_bool("bad", bad));
	if (bad)
		throw std::runtime_error("bad");
}

int
main()
{
	if (poolscope_open(nullptr) != 0)
		return 1;
	{
		poolscope::span whole("whole", "c++");

		step(false);
		try {
			step(true);
		} catch (const std::runtime_error &) {
			poolscope_event("scopes", "caught", nullptr, 0);
		}
		whole.end();
	}
	int rc = poolscope_flush(INT64_C(20000000000));
	poolscope_close();
	return rc == 0 ? 0 : 1;
}
