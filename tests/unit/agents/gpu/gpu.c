/*
 * gpu - graphics processors of a made-up library and a made-up sysfs.
 * SPDX-License-Identifier: MIT
 */
#include "agents/gpu/gpu.h"

#include "proto/os/clock.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

static char root[SCRATCH_BYTES], library[SCRATCH_BYTES + 32];
static char drm[SCRATCH_BYTES + 32];

/* Two devices; the second one knows little.  With a file `stuck` next to it the
 * driver does not come back for a while. */
static const char source[] =
    "#include <stdlib.h>\n#include <unistd.h>\n"
    "static int away(void) { return access(getenv(\"GPU_AWAY\"), F_OK) == 0; "
    "}\n"
    "static int wild(void) { return access(getenv(\"GPU_WILD\"), F_OK) == 0; "
    "}\n"
    "static int ready, old;\n"
    "struct u { unsigned int gpu, memory; };\n"
    "struct m { unsigned long long total, free, used; };\n"
    "int nvmlInit_v2(void) { if (away()) return 9; ready = 1; return 0; }\n"
    "int nvmlShutdown(void) { ready = old = 0; return 0; }\n"
    "int nvmlDeviceGetCount_v2(unsigned int *n)\n"
    "{ *n = 2; old |= away(); return ready && !old ? 0 : 999; }\n"
    "int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void **d)\n"
    "{ *d = (void *)(size_t)(i + 1);\n"
    "  while (access(getenv(\"GPU_STUCK\"), F_OK) == 0) usleep(1000);\n"
    "  return 0; }\n"
    "int nvmlDeviceGetUtilizationRates(void *d, struct u *u)\n"
    "{ u->gpu = wild() ? 808334905u : 87; u->memory = wild() ? 101 : 40;\n"
    "  return d == (void *)1 ? 0 : 3; }\n"
    "int nvmlDeviceGetMemoryInfo(void *d, struct m *m)\n"
    "{ m->total = 16ull << 30; m->used = wild() ? (16ull << 30) + 1 : 5;\n"
    "  (void)d; return 0; }\n"
    "int nvmlDeviceGetTemperature(void *d, int s, unsigned int *t)\n"
    "{ *t = wild() ? ~0u : 64; return d == (void *)1 && s == 0 ? 0 : 3; }\n"
    "int nvmlDeviceGetPowerUsage(void *d, unsigned int *p)\n"
    "{ *p = wild() ? ~0u : 250500; return d == (void *)1 ? 0 : 3; }\n";

static void
put_file(const char *name, const char *text)
{
	char path[SCRATCH_BYTES + 128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *p = path + strlen(root) + 1; *p != '\0'; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0700);
			*p = '/';
		}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int
set_up(void **state)
{
	char command[4 * SCRATCH_BYTES];

	scratch_make(root);
	snprintf(library, sizeof(library), "%s/libnvml.so", root);
	snprintf(drm, sizeof(drm), "%s/drm", root);
	snprintf(command, sizeof(command), "%s/stuck", root);
	setenv("GPU_STUCK", command, 1);
	snprintf(command, sizeof(command), "%s/away", root);
	setenv("GPU_AWAY", command, 1);
	snprintf(command, sizeof(command), "%s/wild", root);
	setenv("GPU_WILD", command, 1);
	put_file("nvml.c", source);
	snprintf(command, sizeof(command), "cc -shared -fPIC -o %s %s/nvml.c",
	    library, root);
	return system(command) == 0 ? 0 : -1;
}

static int
tear_down(void **state)
{
	scratch_remove(root);
	return 0;
}

/* Ask until there is an answer, for ten seconds. */
static uint32_t
wait_for(struct gpu *gpu, struct gpu_reading *readings)
{
	int64_t deadline_ns = clock_monotonic_ns() + 10 * NS_PER_SECOND;
	int64_t before_ns = clock_wall_ns(), time_ns = 0;
	uint32_t count = 0;

	while (count == 0 && clock_monotonic_ns() < deadline_ns)
		count = gpu_take(gpu, readings, &time_ns);
	assert_true(time_ns >= before_ns - NS_PER_SECOND);
	return count;
}

static void
without_devices_there_is_nothing_and_no_error(void **state)
{
	struct gpu_reading readings[GPU_DEVICES_MAX];
	struct gpu *gpu;
	int64_t time_ns;

	gpu_open(&gpu, "libthere-is-none.so.1", "/nonexistent");
	assert_null(gpu);
	assert_int_equal(gpu_take(gpu, readings, &time_ns), 0);
	gpu_close(&gpu);
}

static void
what_a_device_does_not_tell_is_nil(void **state)
{
	struct gpu_reading readings[GPU_DEVICES_MAX];
	struct gpu *gpu;

	gpu_open(&gpu, library, "/nonexistent");
	assert_int_equal(wait_for(gpu, readings), 2);
	assert_string_equal(readings[0].name, "nvidia0");
	assert_true(readings[0].values[METRIC_GPU_UTILIZATION].is.f == 0.87);
	assert_true(
	    readings[0].values[METRIC_GPU_MEMORY_UTILIZATION].is.f == 0.4);
	assert_int_equal(readings[0].values[METRIC_GPU_MEMORY_USED].is.i, 5);
	assert_int_equal(readings[0].values[METRIC_GPU_MEMORY_LIMIT].is.i,
	    INT64_C(16) << 30);
	assert_int_equal(readings[0].values[METRIC_GPU_TEMPERATURE].is.i, 64);
	assert_true(readings[0].values[METRIC_GPU_POWER].is.f == 250.5);
	assert_int_equal(readings[0].values[METRIC_GPU_ENERGY].type, VALUE_NIL);
	assert_string_equal(readings[1].name, "nvidia1");
	assert_int_equal(
	    readings[1].values[METRIC_GPU_UTILIZATION].type, VALUE_NIL);
	gpu_close(&gpu);
}

static void
sysfs_is_read_beside_it(void **state)
{
	struct gpu_reading readings[GPU_DEVICES_MAX];
	struct gpu *gpu;

	put_file("drm/card1/device/gpu_busy_percent", "35\n");
	put_file("drm/card1/device/mem_info_vram_used", "1048576\n");
	put_file("drm/card1/device/hwmon/hwmon3/temp1_input", "51000\n");
	put_file("drm/card1/device/hwmon/hwmon3/power1_average", "30500000\n");
	put_file("drm/card0/device/vendor", "no busy percent\n");
	gpu_open(&gpu, library, drm);
	assert_int_equal(wait_for(gpu, readings), 3);
	assert_string_equal(readings[2].name, "card1");
	assert_true(readings[2].values[METRIC_GPU_UTILIZATION].is.f == 0.35);
	assert_int_equal(
	    readings[2].values[METRIC_GPU_MEMORY_USED].is.i, 1048576);
	assert_int_equal(
	    readings[2].values[METRIC_GPU_MEMORY_LIMIT].type, VALUE_NIL);
	assert_true(readings[2].values[METRIC_GPU_TEMPERATURE].is.f == 51);
	assert_true(readings[2].values[METRIC_GPU_POWER].is.f == 30.5);
	gpu_close(&gpu);
	/* Without the library, too. */
	gpu_open(&gpu, "libthere-is-none.so.1", drm);
	assert_int_equal(wait_for(gpu, readings), 1);
	gpu_close(&gpu);
}

static void
a_driver_that_does_not_answer_delays_nobody(void **state)
{
	struct gpu_reading readings[GPU_DEVICES_MAX];
	char path[SCRATCH_BYTES + 32];
	struct gpu *gpu;
	int64_t time_ns;

	put_file("stuck", "");
	gpu_open(&gpu, library, "/nonexistent");
	for (int i = 0; i < 1000; i++)
		assert_int_equal(gpu_take(gpu, readings, &time_ns), 0);
	snprintf(path, sizeof(path), "%s/stuck", root);
	unlink(path);
	assert_int_equal(wait_for(gpu, readings), 2);
	gpu_close(&gpu);
}

static void
remove_file(const char *name)
{
	char path[SCRATCH_BYTES + 128];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	unlink(path);
}

/* Until it is initialized again nothing works, as with the real library. */
static void
a_driver_that_was_loaded_again_is_asked_again(void **state)
{
	struct gpu_reading readings[GPU_DEVICES_MAX];
	int64_t end_ns = clock_monotonic_ns() + 30 * NS_PER_SECOND, time_ns;
	struct gpu *gpu;
	uint32_t count = 1;

	gpu_open(&gpu, library, "/nonexistent");
	assert_int_equal(wait_for(gpu, readings), 2);
	put_file("away", "");
	/* Three empty rounds in a row: a reading may have been under way. */
	for (int none = 0; none < 1000 && clock_monotonic_ns() < end_ns;) {
		count = gpu_take(gpu, readings, &time_ns);
		none = count == 0 ? none + 1 : 0;
	}
	assert_int_equal(count, 0);
	remove_file("away");
	count = 0;
	while (count == 0 && clock_monotonic_ns() < end_ns)
		count = gpu_take(gpu, readings, &time_ns);
	assert_int_equal(count, 2);
	assert_int_equal(gpu_impossible(gpu), 0);
	gpu_close(&gpu);
}

/* 808,334,905 %, 101 % of the bandwidth, more memory than there is,
 * 4,294,967,295 degrees, 4,294,967 W; of the second device the memory. */
static void
what_no_device_can_have_is_nil_and_counted(void **state)
{
	struct gpu_reading readings[GPU_DEVICES_MAX];
	struct gpu *gpu;

	put_file("wild", "");
	gpu_open(&gpu, library, "/nonexistent");
	assert_int_equal(wait_for(gpu, readings), 2);
	for (int i = 0; i < METRIC_GPU_VALUES; i++)
		if (i == METRIC_GPU_MEMORY_LIMIT)
			assert_int_equal(
			    readings[0].values[i].is.i, INT64_C(16) << 30);
		else
			assert_int_equal(readings[0].values[i].type, VALUE_NIL);
	assert_int_equal(gpu_impossible(gpu) % 6, 0);
	assert_true(gpu_impossible(gpu) > 0);
	gpu_close(&gpu);
	remove_file("wild");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_devices_there_is_nothing_and_no_error),
		cmocka_unit_test(what_a_device_does_not_tell_is_nil),
		cmocka_unit_test(sysfs_is_read_beside_it),
		cmocka_unit_test(a_driver_that_does_not_answer_delays_nobody),
		cmocka_unit_test(a_driver_that_was_loaded_again_is_asked_again),
		cmocka_unit_test(what_no_device_can_have_is_nil_and_counted),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
