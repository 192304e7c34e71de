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
