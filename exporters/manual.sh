# manual - make the pages of poolscope-stats: a short one, and one for each question.
#
#   sh exporters/manual.sh build/bin/poolscope-stats FOLDER
#
# writes poolscope-stats.1 and poolscope-stats-WORD.1 into FOLDER.  Words, options, columns
# and examples are those of the program.  exporters/question/WORD.mdoc has the sections that
# people write: what is answered, by which rule, what the notes mean.  An option that has an
# item in its section OPTIONS is described by that; one of poolscope-stats.1 is described
# there; all others by their help.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
program=$1
folder=$2
common=exporters/poolscope-stats.1
POOLSCOPE_DIR=/nonexistent
export POOLSCOPE_DIR
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

# What can be asked: WORD, the words behind it, a tab, one sentence.
list_words() {
	"$program" --help | awk '
		/^options:/ { exit }
		/^  [a-z]/ {
			sub(/^  /, "")
			at = match($0, /  +/)
			word = at ? substr($0, 1, at - 1) : $0
			words[++count] = word
			summary[count] = at ? substr($0, at + RLENGTH) : ""
			next
		}
		count && /^   +/ {
			sub(/^ +/, "")
			summary[count] = summary[count] (summary[count] == "" ? "" : " ") $0
		}
		END { for (i = 1; i <= count; i++) print words[i] "\t" summary[i] }'
}

# put_columns WORD...: the columns of an answer, as lines "column TABLE KEY TITLE TYPE UNIT
# WITH-DATA HELP" with tabs; nothing if it is no question with columns.
put_columns() {
	"$program" "$@" --columns help --format csv 2>/dev/null | awk -v of="${2:-}" '
		NR == 1 { next }
		{
			line = "column\t" of
			for (rest = $0; rest != ""; ) {
				if (rest ~ /^"/) {
					value = ""
					rest = substr(rest, 2)
					while (match(rest, /"/)) {
						value = value substr(rest, 1, RSTART - 1)
						rest = substr(rest, RSTART + 1)
						if (rest !~ /^"/) break
						value = value "\""
						rest = substr(rest, 2)
					}
					sub(/^,/, "", rest)
				} else {
					match(rest, /^[^,]*/)
					value = substr(rest, 1, RLENGTH)
					rest = substr(rest, RLENGTH + 2)
				}
				line = line "\t" value
			}
			print line
		}' || :
}

# The page of WORD, whose sentence is SUMMARY; the words behind it choose, if there are bars
# between them.
put_page() {
	word=$1
	behind=$2
	summary=$3
	text=exporters/question/$word.mdoc
	[ -e "$text" ] || text=/dev/null
	{
		put_columns "$word"
		for each in $(echo "$behind" | sed -n 's/^\([a-z|]*|[a-z|]*\).*/\1/p' | tr '|' ' '); do
			put_columns "$word" "$each"
		done
	} >"$TMP/columns"
	"$program" "$word" --help >"$TMP/help"
	awk -v word="$word" -v behind="$behind" -v summary="$summary" -v date="$date" -f exporters/manual.awk \
		file=choices "$TMP/choices" file=common "$common" file=help "$TMP/help" file=columns "$TMP/columns" file=text "$text" \
		>"$TMP/page"
	install -m 0644 "$TMP/page" "$folder/poolscope-stats-$word.1"
}

date=$(sed -n 's/^\.Dd //p' "$common")
"$program" --print-options=json | sed -n 's/.*"name": "\([^"]*\)".*"choices": "\([^"]*\)".*/choices \1 \2/p' >"$TMP/choices"
list_words >"$TMP/words"
mkdir -p "$folder"
rm -f "$folder"/poolscope-stats.1 "$folder"/poolscope-stats-*.1
tab=$(printf '\t')
while IFS=$tab read -r words summary; do
	case $words in
	*" "*) put_page "${words%% *}" "${words#* }" "$summary" ;;
	*) put_page "$words" "" "$summary" ;;
	esac
done <"$TMP/words"
for text in exporters/question/*.mdoc; do
	word=$(basename "$text" .mdoc)
	[ -e "$folder/poolscope-stats-$word.1" ] || {
		echo "manual: $text: there is no question $word" >&2
		exit 1
	}
done
awk -F '\t' '
	FNR == NR {
		split($1, part, " ")
		words = words ".It Xr poolscope-stats-" part[1] " 1\n" $2 "\n"
		next
	}
	/^\.\\" QUESTIONS$/ { printf "%s", words; next }
	{ print }' "$TMP/words" "$common" >"$TMP/page"
install -m 0644 "$TMP/page" "$folder/poolscope-stats.1"
