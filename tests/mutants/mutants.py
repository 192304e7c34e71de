"""mutants - breaks one rule of the code after the other: a test must notice each.

Usage: mutants.py check LIST...           is each place there, once?
       mutants.py run DIRECTORY LIST...   breaks copies of this tree in DIRECTORY

A list names its tests in a line "tests", scripts with .sh; a block has a file, the rule, perhaps
a line "tests" of its own, the lines of the file ("- " and the line) and those that replace them
("+ ").  A test with random input is tried with three seeds.
SPDX-License-Identifier: MIT
"""

import os
import shutil
import subprocess
import sys

SECONDS = 600


def read(path):
    blocks = [block.splitlines() for block in open(path).read().split("\n\n")]
    tests = next(line for line in blocks[0] if line.startswith("tests ")).split()[1:]
    mutants = []
    for file, rule, *change in blocks[1:]:
        before = "".join(line[2:] + "\n" for line in change if line.startswith("- "))
        after = "".join(line[2:] + "\n" for line in change if line.startswith("+ "))
        own = [line.split()[1:] for line in change if line.startswith("tests ")]
        mutants.append((file, rule, own[0] if own else tests, before, after))
    return tests, mutants


def check(lists):
    bad = 0
    for path in lists:
        for file, rule, _, before, _ in read(path)[1]:
            if open(file).read().count(before) != 1:
                print("%s: %s: not once in %s" % (path, rule, file))
                bad += 1
    return bad != 0


def targets(tests):
    scripts = [test for test in tests if test.endswith(".sh")]
    return ["build/" + test for test in tests if test not in scripts] + ["all", "parts"] * bool(scripts)


def command(directory, test):
    if test.endswith(".sh"):
        return ["sh", os.path.join(directory, "tests", test)]
    return [os.path.join(directory, "build", test)]


def build(directory, tests):
    done = subprocess.run(["make", "-s", *targets(tests)], cwd=directory, capture_output=True,
                          text=True)
    if done.returncode != 0:
        print(done.stderr[-2000:])
    return done.returncode == 0


def is_noticed(directory, tests, seeds=("1", "2", "3")):
    for seed in seeds:
        for test in tests:
            try:
                done = subprocess.run(command(directory, test), cwd=directory, capture_output=True,
                                      env={**os.environ, "SEED": seed}, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                return True
            if done.returncode != 0:
                return True
    return False


def run(directory, lists):
    good = bad = 0
    shutil.copytree(".", directory, symlinks=True, ignore=shutil.ignore_patterns(".git", "asan", "tsan", "valgrind", "cover"), dirs_exist_ok=True)
    for path in lists:
        tests, mutants = read(path)
        every = list(dict.fromkeys(test for mutant in mutants for test in mutant[2]))
        if not build(directory, every) or is_noticed(directory, every, ("1",)):
            print("FAILED - %s fail without a change" % " ".join(every))
            return 1
        for file, rule, tests, before, after in mutants:
            place = os.path.join(directory, file)
            whole = open(place).read()
            open(place, "w").write(whole.replace(before, after))
            noticed = build(directory, tests) and is_noticed(directory, tests)
            print("%s - %s: %s" % ("ok" if noticed else "FAILED", file, rule), flush=True)
            open(place, "w").write(whole)
            good, bad = good + noticed, bad + (not noticed)
    print("%d passed, %d failed" % (good, bad))
    return bad != 0


if sys.argv[1] == "check":
    sys.exit(check(sys.argv[2:]))
sys.exit(run(sys.argv[2], sys.argv[3:]))
