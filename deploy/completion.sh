# completion - generate the completion of a program from its --help-all.
#
#   sh deploy/completion.sh bash|zsh|fish build/bin/poolscope-emit >FILE
#   sh deploy/completion.sh bash|zsh|fish build/bin/poolscope >FILE
#
# Words and options come from --help-all, values from --print-options; partitions
# and nodes are asked for when somebody completes them, for a second at most.  The
# completion of the front command uses those of its verbs' programs.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
shell=$1
program=$2
name=$(basename "$program")
POOLSCOPE_DIR=/nonexistent
export POOLSCOPE_DIR

# describe PROGRAM [VERB]: lines of fields that tabs separate:
#   word WORD HELP
#   option NAME LETTER KIND VALUES HELP; KIND: flag file dir choice partition node other
describe() {
	{
		"$1" --print-options=json 2>/dev/null |
			sed -n 's/.*"name": "\([^"]*\)".*"choices": "\([^"]*\)".*/choices \1 \2/p'
		"$@" --help-all
	} | awk -v verb="${2:-${1##*poolscope-}}" '
		/^choices / { choices[$2] = $3; next }
		/^options:/ { options = 1; next }
		/^examples:/ { options = 0; done = 1; next }
		/^usage:/ { usage = 1 }
		/^$/ { usage = 0 }
		# "usage: poolscope-keys [options] new NAME | list | allow FILE",
		# "       poolscope models list", "usage: poolscope job start|stop ID"
		usage {
			line = $0
			sub("^(usage:)? *poolscope(-[a-z]+)?( " verb ")?( \\[options\\])?", " |", line)
			while (match(line, / \| [a-z|]+/)) {
				n = split(substr(line, RSTART + 3, RLENGTH - 3), some, "|")
				for (i = 1; i <= n; i++)
					if (!seen[some[i]]++) print "word\t" some[i] "\t"
				line = substr(line, RSTART + RLENGTH)
			}
			next
		}
		# "  phases                   statistics of the phases"
		!options && !done && /^  [a-z][a-z-]*( |$)/ {
			word = $1
			if (seen[word]++) next
			sub(/^  [a-z-]+ */, "")
			print "word\t" word "\t" $0
		}
		# "  -p, --partition NAME     publish in this partition"
		options && /^  (-[A-Za-z],)? *--[a-z]/ {
			letter = ""
			if ($1 ~ /^-[A-Za-z],$/) {
				letter = substr($1, 2, 1)
				sub(/^  -[A-Za-z],/, "")
			}
			option = substr($1, 3)
			sub(/^ *--[a-z0-9-]+/, "")
			argument = ""
			if (match($0, /^ [A-Z][^ ]*/)) {
				argument = substr($0, 2, RLENGTH - 1)
				$0 = substr($0, RLENGTH + 1)
			}
			sub(/^ */, "")
			kind = "other"
			if (argument == "") kind = "flag"
			else if (choices[option] != "") kind = "choice"
			else if (argument ~ /^(FILE|PATH)/) kind = "file"
			else if (argument ~ /^DIR/) kind = "dir"
			else if (option ~ /^partitions?$/) kind = "partition"
			else if (option == "node" || option == "nodes" && argument == "PATTERN") kind = "node"
			values = choices[option]
			gsub(/\|/, " ", values)
			print "option\t" option "\t" letter "\t" kind "\t" values "\t" $0
		}'
}

# list_verbs: the verbs of the front command, each with the program that has its help,
# and the number of the word after which the words of the program may follow: 2, or 1
# if the verb is one of them.
list_verbs() {
	for verb in $("$program" --help | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p'); do
		of=$("$program" "$verb" --help | sed -n '1s/^usage: \([a-z-]*\).*/\1/p')
		at=2
		[ "$of" = poolscope ] || ! describe "$(dirname "$program")/$of" | grep -q "^word	$verb	" || at=1
		echo "$verb $of $at"
	done
}

# The names that completions ask for.  account/pool needs no quotes.
partitions="timeout 1 poolscope partition list 2>/dev/null | sed '1d; s/ .*//; s,[\$],/,'"
nodes="timeout 1 poolscope nodes -q --format csv 2>/dev/null | sed '1d; s/,.*//'"

bash_options() {
	awk -F '\t' -v fun="$1" -v partitions="$partitions" -v nodes="$nodes" '
		$1 == "word" { words = words " " $2; next }
		{
			names = "--" $2 ($3 != "" ? "|-" $3 : "")
			all = all " --" $2 ($3 != "" ? " -" $3 : "")
			if ($4 != "flag") of[$4 == "choice" ? "choice " $5 : $4] = of[$4 == "choice" ? "choice " $5 : $4] "|" names
		}
		function given(kind, how) {
			if (of[kind] != "")
				print "\t" substr(of[kind], 2) ") mapfile -t COMPREPLY < <(" how "); return ;;"
		}
		END {
			word = " -- \"$word\""
			print fun "() {"
			print "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}"
			print "\tCOMPREPLY=()"
			print "\tcase $before in"
			given("file", "compgen -f" word)
			given("dir", "compgen -d" word)
			given("partition", "compgen -W \"$(" partitions ")\"" word)
			given("node", "compgen -W \"$(" nodes ")\"" word)
			for (kind in of)
				if (kind ~ /^choice /)
					given(kind, "compgen -W \x27" substr(kind, 8) "\x27" word)
			if (of["other"] != "") print "\t" substr(of["other"], 2) ") return ;;"
			print "\tesac"
			print "\tif [[ $word == -* ]]; then mapfile -t COMPREPLY < <(compgen -W \x27" all "\x27" word ")"
			if (words != "")
				print "\telif [[ $COMP_CWORD -eq ${poolscope_at:-1} ]]; then mapfile -t COMPREPLY < <(compgen -W \x27" words "\x27" word ")"
			print "\tfi"
			print "}"
		}'
}

for_bash() {
	if [ "$name" != poolscope ]; then
		describe "$program" | bash_options "_${name}"
		echo "complete -o default -F _$name $name"
		return
	fi
	echo "$verbs" | while read -r verb of at; do
		[ "$of" != poolscope ] || describe "$program" "$verb" | bash_options "_poolscope_$verb"
	done
	# shellcheck disable=SC2016 # for bash
	echo '_poolscope() {
	local verb=${COMP_WORDS[1]} of= poolscope_at'
	echo "	if [ \"\$COMP_CWORD\" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W '$(echo "$verbs" | sed 's/ .*//' | tr '\n' ' ')help --help --version' -- \"\${COMP_WORDS[1]}\")
		return
	fi
	case \$verb in"
	echo "$verbs" | while read -r verb of at; do
		[ "$of" != poolscope ] || of=poolscope_$verb
		echo "	$verb) of=_$of poolscope_at=$at ;;"
	done
	# shellcheck disable=SC2016 # for bash
	echo '	*) return ;;
	esac
	if ! declare -F "$of" >/dev/null; then
		local script
		script=$(dirname "${BASH_SOURCE[0]}")/${of#_}
		[ ! -r "$script" ] || . "$script"
	fi
	! declare -F "$of" >/dev/null || "$of"
}
complete -o default -F _poolscope poolscope'
}

# Arguments of _arguments, each a line.
zsh_options() {
	awk -F '\t' -v partitions="$partitions" -v nodes="$nodes" '
		function plain(text) {
			gsub(/\[|\]|:|\\|\x27/, " ", text)
			return text
		}
		function quoted(text) { gsub(/\x27/, "\x27\\\x27\x27", text); return text }
		function ask(command) { return "{compadd -- ${(f)\"$(" quoted(command) ")\"}}" }
		$1 == "word" { words = words " " $2; next }
		{
			action["file"] = "_files"
			action["dir"] = "_files -/"
			action["choice"] = "(" $5 ")"
			action["partition"] = ask(partitions)
			action["node"] = ask(nodes)
			value = $4 == "flag" ? "" : ": :" action[$4]
			tail = "[" plain($6) "]" value
			print "\t\x27*--" $2 ($4 == "flag" ? "" : "=") tail "\x27 \\"
			if ($3 != "") print "\t\x27*-" $3 ($4 == "flag" ? "" : "+") tail "\x27 \\"
		}
		END {
			if (words != "") print "\t\x27 1:what:(" substr(words, 2) ")\x27 \\"
			print "\t\x27*:file:_files\x27"
		}' | sed "s/^	' 1:/	'1:/"
}

for_zsh() {
	echo "#compdef $name"
	if [ "$name" != poolscope ]; then
		echo "_arguments -S \\"
		describe "$program" | zsh_options
		return
	fi
	# shellcheck disable=SC2016 # for zsh
	echo 'if (( CURRENT == 2 )); then
	local -a verbs=('
	"$program" --help | sed -n "s/'//g; s/:/ /g; s/^  \([a-z]\{1,\}\)  *\(.*\)/	'\1:\2'/p"
	# shellcheck disable=SC2016
	echo ")
	_describe verb verbs
	return
fi"
	# shellcheck disable=SC2016
	echo 'local verb=$words[2]
case $verb in'
	# The words after a verb are those of its program, unless the verb is one of them.
	echo "$(echo "$verbs" | sed -n 's/^\([a-z]*\) .* 1$/\1/p' | paste -sd '|')) ;;
*) shift words; (( CURRENT-- )) ;;
esac
case \$verb in"
	echo "$verbs" | while read -r verb of at; do
		if [ "$of" != poolscope ]; then
			echo "$verb) autoload -Uz _$of && _$of ;;"
		else
			echo "$verb)
_arguments -S \\"
			describe "$program" "$verb" | zsh_options
			echo ";;"
		fi
	done
	echo 'esac'
}

# fish_options COMMAND [CONDITION]
fish_options() {
	awk -F '\t' -v command="$1" -v condition="${2:-}" '
		function quoted(text) {
			gsub(/\\/, "\\\\", text)
			gsub(/\x27/, "\\\x27", text)
			return "\x27" text "\x27"
		}
		{ begin = "complete -c " command (condition == "" ? "" : " -n " quoted(condition)) }
		$1 == "word" {
			first = condition == "" ? "test (count (commandline -opc)) -eq 1" : "test (count (commandline -opc)) -eq 2; and " condition
			print "complete -c " command " -n " quoted(first) " -f -a " $2 " -d " quoted($3)
			next
		}
		{
			values["flag"] = ""
			values["file"] = " -r -F"
			values["dir"] = " -x -a \x27(__fish_complete_directories)\x27"
			values["choice"] = " -x -a " quoted($5)
			values["partition"] = " -x -a \x27(__poolscope_partitions)\x27"
			values["node"] = " -x -a \x27(__poolscope_nodes)\x27"
			values["other"] = " -x"
			print begin ($3 != "" ? " -s " $3 : "") " -l " $2 values[$4] " -d " quoted($6)
		}'
}

for_fish() {
	echo "function __poolscope_partitions
	$partitions
end
function __poolscope_nodes
	$nodes
end"
	if [ "$name" != poolscope ]; then
		describe "$program" | fish_options "$name"
		return
	fi
	"$program" --help | sed -n "s/'//g; s/^  \([a-z]\{1,\}\)  *\(.*\)/complete -c poolscope -n 'test (count (commandline -opc)) -eq 1' -f -a \1 -d '\2'/p"
	echo "$verbs" | while read -r verb of at; do
		condition="test (commandline -opc)[2] = $verb"
		if [ "$of" = poolscope ]; then
			describe "$program" "$verb"
		else
			describe "$(dirname "$program")/$of" | if [ "$at" -eq 1 ]; then grep -v "^word"; else cat; fi
		fi | fish_options poolscope "test (count (commandline -opc)) -ge 2; and $condition"
	done
}

verbs=
[ "$name" != poolscope ] || verbs=$(list_verbs)
case $shell in
bash) for_bash ;;
zsh) for_zsh ;;
fish) for_fish ;;
*) echo "completion.sh bash|zsh|fish PROGRAM" >&2; exit 2 ;;
esac
