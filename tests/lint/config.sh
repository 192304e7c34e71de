# config - the configuration lists all programs, keys outside of sections belong to
# several programs, and the example is valid.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
status=0
say() {
	echo "config: $*"
	status=1
}
sections=$(sed -n '/programs\[\]/,/;/p' proto/config/config.c | grep -o '"[a-z]*"' | tr -d '"' | sort)
shared=$(sed -n '/config_shared\[\] =/,/;/p' proto/config/config.c | grep -o '"[a-z-]*"' | tr -d '"')
programs=$(for each in build/bin/poolscope-*; do
	# poolscope-admin reads the section of the aggregator.
	case ${each##*-} in config | admin) ;; *) echo "${each##*-}" ;; esac
done | sort)
[ "$sections" = "$programs" ] ||
	say "proto/config/config.c has the sections $(echo "$sections" | xargs), but the programs are $(echo "$programs" | xargs)"
options=$(POOLSCOPE_DIR=/nonexistent build/bin/poolscope-config show | awk '{ print $2 }')
for key in $shared; do
	[ "$(echo "$options" | grep -cx -e "$key")" -ge 2 ] ||
		say "--$key is shared in proto/config/config.c, but fewer than two programs have it"
	grep -q "Li $(echo "$key" | tr - _)\b" deploy/poolscope.conf.5 ||
		say "deploy/poolscope.conf.5 does not document $key outside of sections"
done
example=$(mktemp)
trap 'rm -f "$example"' EXIT
build/bin/poolscope-config example >"$example"
build/bin/poolscope-config check "$example" >/dev/null || say "the example is not valid"
exit $status
