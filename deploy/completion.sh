# completion - generate bash completion from the --help-all of a program.
#
#   sh deploy/completion.sh build/bin/poolscope-emit >poolscope-emit
#   sh deploy/completion.sh build/bin/poolscope >poolscope
#
# The completion of the front command loads those of its verbs from its directory.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
program=$1
name=$(basename "$program")
here=$(dirname "$program")

if [ "$name" = poolscope ]; then
	verbs=$("$program" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p' | grep -v VERB)
	for each in "$here"/poolscope-*; do
		verbs="$verbs ${each##*/poolscope-}"
	done
	verbs=$(echo "$verbs" | tr ' ' '\n' | sort -u | tr '\n' ' ')
	cat <<-END
		_poolscope() {
			local word=\${COMP_WORDS[COMP_CWORD]} verb=\${COMP_WORDS[1]} of
			if [ "\$COMP_CWORD" -eq 1 ]; then
				mapfile -t COMPREPLY < <(compgen -W '$verbs--help --version' -- "\$word")
				return
			fi
			of=_poolscope_\$verb
			if ! declare -F "\$of" >/dev/null && [[ \$verb =~ ^[a-z]+\$ ]]; then
				local script
				script=\$(dirname "\${BASH_SOURCE[0]}")/poolscope-\$verb
				[ ! -r "\$script" ] || . "\$script"
			fi
			! declare -F "\$of" >/dev/null || "\$of"
		}
		complete -o default -F _poolscope poolscope
	END
	exit
fi

"$program" --help-all | awk -v name="$name" -v fun="_poolscope_${name#poolscope-}" '
	# "  -p, --partition NAME     ...": the option, and the type of its value.
	/^  (-[A-Za-z],)? *--[a-z]/ {
		line = $0
		while (match(line, /^ *(-[A-Za-z]|--[a-z0-9-]+)/)) {
			word = substr(line, RSTART, RLENGTH)
			sub(/^ */, "", word)
			words = words (words == "" ? "" : " ") word
			line = substr(line, RSTART + RLENGTH)
			sub(/^,/, "", line)
			takes = match(line, /^ [A-Z]/) ? substr(line, 2) : ""
			sub(/ .*/, "", takes)
			last[++n] = word
		}
		for (i = 1; i <= n; i++) {
			if (takes == "") continue
			if (takes ~ /^(FILE|PATH)/) files = files "|" last[i]
			else if (takes ~ /^DIR/) dirs = dirs "|" last[i]
			else others = others "|" last[i]
		}
		n = 0
	}
	END {
		print fun "() {"
		print "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}"
		print "\tCOMPREPLY=()"
		print "\tcase $before in"
		if (files != "") print "\t" substr(files, 2) ") mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;"
		if (dirs != "") print "\t" substr(dirs, 2) ") mapfile -t COMPREPLY < <(compgen -d -- \"$word\"); return ;;"
		if (others != "") print "\t" substr(others, 2) ") return ;;"
		print "\tesac"
		print "\t[[ $word != -* ]] || mapfile -t COMPREPLY < <(compgen -W \x27" words "\x27 -- \"$word\")"
		print "}"
		print "complete -o default -F " fun " " name
	}'
