# example-conf - print an example of a program's configuration section: every
# option with its help, taken from --help-all, each after a '#'.
#
#   sh deploy/example-conf.sh build/bin/poolscope-agent >agent.conf
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
name=$(basename "$1")
echo "# ${name#poolscope-}.conf - the options of $name(8), without"
echo "# the dashes.  After a change: systemctl reload $name"
echo
echo "${name#poolscope-} {"
"$1" --help-all | awk '
	function put() {
		if (option == "") return
		print "\t# " help
		print "\t#" option " = " (takes == "" ? "true" : "\"" takes "\"")
		option = ""
	}
	# Options that a file cannot set, and those that the service sets.
	function skip() {
		return option ~ /^(help|help-all|version|config|dir|ready-fd|pid-file|verify|backup|restore|set-aside|compact|rebuild|seal|list-models|check-model|replay|print)$/
	}
	/^  (-[A-Za-z],)? *--[a-z]/ {
		put()
		line = $0
		sub(/^.*--/, "", line)
		match(line, /^[a-z0-9-]+/)
		option = substr(line, 1, RLENGTH)
		line = substr(line, RLENGTH + 1)
		takes = ""
		if (match(line, /^ [A-Z][^ ]*/)) {
			takes = substr(line, 2, RLENGTH - 1)
			line = substr(line, RLENGTH + 1)
		}
		sub(/^ +/, "", line)
		help = line
		if (skip()) option = ""
		next
	}
	/^                           / && option != "" {
		sub(/^ +/, "")
		help = help (help == "" ? "" : " ") $0
	}
	END { put() }'
echo "}"
