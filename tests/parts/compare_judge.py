"""compare_judge - the limits of comparisons once more, by scipy and by R.

    compare_judge.py PROGRAM SEED ROUNDS [RSCRIPT]

Random groups, with equal values in a third of them, go through compare_numbers.  The judges:

    scipy  the exact test (mannwhitneyu) of groups that are shifted by a little less than a
           limit sees a difference, and by a little more it sees none; likeness is that of
           permutation_test, which tries all choices, or of mannwhitneyu
    R      wilcox.test(conf.int = TRUE, exact = TRUE): the same estimate and limits

SPDX-License-Identifier: MIT
"""
import math
import random
import subprocess
import sys

import scipy.stats

PROGRAM, SEED, ROUNDS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
RSCRIPT = sys.argv[4] if len(sys.argv) > 4 else None


def draw(rng):
    while True:
        old, new = rng.randint(1, 40), rng.randint(1, 40)
        if old * new <= 1000:
            break
    has_ties = rng.random() < 1 / 3
    if has_ties and rng.random() < 2 / 3:  # few enough for all choices
        old, new = rng.randint(2, 6), rng.randint(2, 6)
    value = (lambda: float(rng.randint(0, 12))) if has_ties else (lambda: rng.gauss(0, 1) + (5 if rng.random() < 0.05 else 0))
    return rng.choice((0.001, 0.0005, 0.01, 0.05)), [value() for _ in range(old)], [value() for _ in range(new)], has_ties


def line_of(share, old, new):
    return " ".join(map(repr, [share, len(old), len(old) + len(new), *old, *new]))


def near(a, b, what):
    if not (a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)):
        sys.exit("%s: %r, not %r" % (what, a, b))


def share_of(old, new, shift, alternative):
    moved = [value - shift for value in new]
    return scipy.stats.mannwhitneyu(moved, old, alternative=alternative, method="exact").pvalue


def by_scipy(case, answer):
    share, old, new, has_ties = case
    estimate, low, high, likeness = answer
    differences = sorted(n - o for n in new for o in old)
    middle = len(differences)
    near(estimate, (differences[(middle - 1) // 2] + differences[middle // 2]) / 2, "estimate of %r" % (case,))
    if not has_ties:
        for limit, side, alternative in (low, 1, "greater"), (high, -1, "less"):
            if math.isinf(limit):
                far = side * (min(differences) if side > 0 else -max(differences)) - 1
                assert share_of(old, new, side * far, alternative) > share, (case, answer)
                continue
            assert share_of(old, new, limit - side * 1e-9, alternative) <= share * (1 + 1e-9), (case, answer)
            assert share_of(old, new, limit + side * 1e-9, alternative) > share, (case, answer)
        near(likeness, scipy.stats.mannwhitneyu(new, old, method="exact").pvalue, "likeness of %r" % (case,))
    elif min(len(old), len(new)) > 1 and math.comb(len(old) + len(new), len(old)) <= 4000:
        def ranks(x, y):
            return scipy.stats.rankdata([*x, *y])[:len(x)].sum()

        tried = scipy.stats.permutation_test((old, new), ranks, permutation_type="independent", n_resamples=10000)
        near(likeness, min(1, tried.pvalue), "likeness of %r" % (case,))
        return 1
    return 0


def by_r(cases, answers):
    """Where R is exact: without equal values."""
    chosen = [(case, answer) for case, answer in zip(cases, answers) if not case[3]]
    script = "".join("w <- suppressWarnings(wilcox.test(c(%s), c(%s), conf.int = TRUE, exact = TRUE, conf.level = %r)); "
                     "cat(format(c(w$estimate, w$conf.int), digits = 17), '\\n')\n"
                     % (", ".join(map(repr, case[2])), ", ".join(map(repr, case[1])), 1 - 2 * case[0]) for case, _ in chosen)
    done = subprocess.run([RSCRIPT, "-"], input=script, capture_output=True, text=True, check=True)
    compared = 0
    for (case, answer), line in zip(chosen, done.stdout.splitlines(), strict=True):
        estimate, low, high = map(float, line.split())
        near(answer[0], estimate, "estimate of R of %r" % (case,))
        if math.isinf(answer[1]):
            continue  # R takes the extremes, and warns
        near(answer[1], low, "lower limit of R of %r" % (case,))
        near(answer[2], high, "upper limit of R of %r" % (case,))
        compared += 1
    return compared


def main():
    rng = random.Random(SEED)
    cases = [draw(rng) for _ in range(ROUNDS)]
    done = subprocess.run([PROGRAM], input="\n".join(line_of(*case[:3]) for case in cases) + "\n",
                          capture_output=True, text=True, check=True)
    answers = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    assert len(answers) == ROUNDS, len(answers)
    tried = sum(by_scipy(case, answer) for case, answer in zip(cases, answers))
    limited = sum(math.isfinite(answer[1]) for answer in answers)
    assert tried > 0 and limited > ROUNDS / 4, (tried, limited)
    print("scipy: %d comparisons, %d of them with limits, %d with equal values by all choices" % (ROUNDS, limited, tried))
    if RSCRIPT:
        print("R: %d with limits" % by_r(cases, answers))


main()
