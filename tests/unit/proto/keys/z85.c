/*
 * z85 - keys as text, against the pairs of ZeroMQ's manual (zmq_curve(7)).
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "proto/keys/z85.h"

static const struct {
	const char *text, *hex;
} pairs[] = {
	{ "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID",
	    "BB88471D65E2659B30C55A5321CEBB5A"
	    "AB2B70A398645C26DCA2B2FCB43FC518" },
	{ "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs",
	    "7BB864B489AFA3671FBE69101F94B389"
	    "72F24816DFB01B51656B3FEC8DFD0888" },
	{ "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7",
	    "54FCBA24E93249969316FB617C872BB0"
	    "C1D1FF14800427C594CBFACF1BC2D652" },
	{ "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6",
	    "8E0BDD697628B91D8F245587EE95C5B0"
	    "4D48963F79259877B49CD9063AEAD3B7" },
};

static void
test_the_pairs_of_the_manual(void **state)
{
	unsigned char bytes[Z85_KEY_BYTES], want[Z85_KEY_BYTES];
	char text[Z85_CHARACTERS];

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		for (int b = 0; b < Z85_KEY_BYTES; b++)
			sscanf(pairs[i].hex + 2 * b, "%2hhx", &want[b]);
		assert_true(z85_decode(bytes, text_of(pairs[i].text)));
		assert_memory_equal(bytes, want, sizeof(want));
		z85_encode(text, want);
		assert_memory_equal(text, pairs[i].text, sizeof(text));
	}
}

static void
test_bytes_come_back(void **state)
{
	unsigned char from[Z85_KEY_BYTES], to[Z85_KEY_BYTES];
	char text[Z85_CHARACTERS];
	uint64_t seed = check_seed();

	for (unsigned round = check_share(100000, 1000); round > 0; round--) {
		/* Ends of the range are as likely as all else. */
		for (int b = 0; b < Z85_KEY_BYTES; b++)
			from[b] = (unsigned char)(check_random(&seed) % 3 == 0
						      ? 0xFF
						      : check_random(&seed));
		z85_encode(text, from);
		assert_true(
		    z85_decode(to, (struct text){ text, sizeof(text) }));
		assert_memory_equal(from, to, sizeof(to));
	}
}

static void
test_a_text_that_is_taken_is_the_one_that_is_written(void **state)
{
	static const char some[] = "0aZ#$%&{}- ,;\"'\\~_\x80|`%%##";
	unsigned char bytes[Z85_KEY_BYTES];
	char text[Z85_CHARACTERS], again[Z85_CHARACTERS];
	uint64_t seed = check_seed();
	unsigned taken = 0;

	for (unsigned round = 0; round < 100000; round++) {
		memcpy(text, pairs[round % 4].text, sizeof(text));
		for (unsigned n = check_random(&seed) % 4; n > 0; n--)
			text[check_random(&seed) % sizeof(text)] =
			    some[check_random(&seed) % sizeof(some)];
		if (!z85_decode(bytes, (struct text){ text, sizeof(text) }))
			continue;
		z85_encode(again, bytes);
		assert_memory_equal(text, again, sizeof(text));
		taken++;
	}
	assert_in_range(taken, 10000, 99999);
}

static void
test_lengths_and_too_large_groups_are_refused(void **state)
{
	static const char good[] = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID0";
	unsigned char bytes[Z85_KEY_BYTES];

	assert_true(z85_decode(bytes, (struct text){ good, 40 }));
	assert_false(z85_decode(bytes, (struct text){ good, 39 }));
	assert_false(z85_decode(bytes, (struct text){ good, 41 }));
	assert_false(z85_decode(bytes, (struct text){ NULL, 0 }));
	/* 2^32 - 1 is %nSc0; one more does not fit. */
	assert_true(z85_decode(
	    bytes, text_of("%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0")));
	assert_int_equal(bytes[31], 0xFF);
	assert_false(z85_decode(
	    bytes, text_of("%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0%nSc1")));
	assert_false(z85_decode(
	    bytes, text_of("########################################")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_pairs_of_the_manual),
		cmocka_unit_test(test_bytes_come_back),
		cmocka_unit_test(
		    test_a_text_that_is_taken_is_the_one_that_is_written),
		cmocka_unit_test(test_lengths_and_too_large_groups_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
