# tree - the top level contains only what README.md lists: leftovers of experiments
# are not part of the project.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
cd "$(dirname "$0")/../.."
git rev-parse --git-dir >/dev/null 2>&1 || exit 0 # an archive of the sources
git ls-files | sed 's|/.*||' | sort -u | awk '
	!/^\./ && !/^(Makefile|agents|broker|aggregator|exporters|proto|tests|deploy|README.md|CONTRIBUTING.md|LICENSE|CHANGELOG.md|SECURITY.md)$/ {
		print "tree: " $0 " does not belong to the top level"
		wrong = 1
	}
	END { exit wrong }'
# Each folder of the programs is in the table of CONTRIBUTING.md, and the table has no other:
# a row begins with a whole name; others of the area may leave out what is before.
{
	sed -n '/^## Where things are/,/^\*\*Layers/ s/^| \(`[^|]*\)|.*/\1/p' CONTRIBUTING.md
	git ls-files agents broker aggregator exporters proto | sed -n 's|/[^/]*$||p' | grep / | sort -u
} | awk -F '`' '
	NF > 1 {
		for (i = 2; i <= NF; i += 2)
			if ($i !~ "/$")
				area[$i] = substr($2, 1, index($2, "/"))
		next
	}
	{
		lacks = 1
		for (word in area)
			if ($1 == word || (index($1, area[word]) == 1 && substr($1, length($1) - length(word)) == "/" word))
				lacks = 0 * ++used[word]
		if (lacks) {
			print "tree: CONTRIBUTING.md lacks " $1 " in \"Where things are\""
			wrong = 1
		}
	}
	END {
		for (word in area)
			if (!used[word]) {
				print "tree: CONTRIBUTING.md names " word ", which is no folder"
				wrong = 1
			}
		exit wrong
	}'
