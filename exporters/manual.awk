# manual - one page of a question; manual.sh calls it with the choices of options, the
# common page, the help of the question, its columns, and the text that people wrote.
# SPDX-License-Identifier: MIT

# Text of others as a line of mdoc.
function plain(text) {
	gsub(/\\/, "\\e", text)
	gsub(/--/, "\\-\\-", text)
	return text ~ /^[.']/ ? "\\\&" text : text
}

function argument_of(name) {
	if (name in written) {
		text = written[name]
		sub(/\n.*/, "", text)
		sub(/.*Fl -[a-z-]+/, "", text)
		return text
	}
	if (choices[name] == "")
		return argument[name] == "" ? "" : " Ar " tolower(argument[name])
	text = choices[name]
	if (argument[name] == "TIME") {
		gsub(/\|/, " | Cm ", text)
		return " Ar time | Cm " text
	}
	gsub(/\|/, " | ", text)
	return " Cm " text
}

function put_synopsis(    i, count, part) {
	print ".Sh SYNOPSIS\n.Nm poolscope stats " word
	for (i = 1; i <= options; i++)
		print ".Op Fl " (letter[name[i]] != "" ? letter[name[i]] : "-" name[i]) argument_of(name[i])
	count = split(behind, part, " ")
	for (i = 1; i <= count; i++) {
		text = part[i]
		many = sub(/\.\.\./, "", text) ? " ..." : ""
		optional = gsub(/[\[\]]/, "", text)
		kind = text ~ /^[a-z|]+$/ ? "Cm" : "Ar"
		gsub(/\|/, " | ", text)
		print (optional ? ".Op " kind : "." kind) " " (kind == "Ar" ? tolower(text) : text) many
	}
}

# Those of the common page are listed if something is written of them here.
function put_options(    i, any) {
	print ".Sh OPTIONS"
	for (i = 1; i <= options; i++) {
		if (name[i] in is_common && !(name[i] in written))
			continue
		if (!any++)
			print ".Bl -tag -width Ds"
		if (name[i] in written) {
			printf "%s", written[name[i]]
			delete written[name[i]]
		} else {
			print ".It " (letter[name[i]] != "" ? "Fl " letter[name[i]] " , " : "") "Fl -" name[i] argument_of(name[i])
			print plain(toupper(substr(help[name[i]], 1, 1)) substr(help[name[i]], 2)) "."
		}
	}
	if (any)
		print ".El\n.Pp"
	print "All " (any ? "others " : "") "are described in\n.Xr poolscope-stats 1 ."
	for (each in written) {
		print "manual: " FILENAME ": " word " has no option --" each >"/dev/stderr"
		failed = 1
	}
}

function put_columns(    i) {
	if (tables == 0)
		return
	print ".Sh COLUMNS"
	print "A table shows those without brackets, with the name in parentheses above if there is one;\n.Fl -columns\nchooses others."
	for (i = 1; i <= tables; i++) {
		if (is_head[i])
			print ".Pp\nThe head of the answer" (of[i] != "" ? " of\n.Cm " of[i] "\n" : " ") "has in"
		if (is_head[i])
			print ".Cm json\nand\n.Cm jsonl :"
		else if (tables > 1)
			print ".Pp\nTable\n.Li " table[i] (of[i] != "" && of[i] != table[i] ? " No of Cm " of[i] : "") " :"
		if (list[i] in same) {
			print "the same columns as\n.Li " same[list[i]] " ."
			continue
		}
		same[list[i]] = table[i]
		print ".Bl -tag -width Ds -compact"
		printf "%s", list[i]
		print ".El"
	}
}

file == "choices" { choices[$2] = $3; next }

file == "common" {
	if (/^\.It (Fl [a-z] , )?Fl -/)
		for (line = $0; match(line, /Fl -[a-z-]+/); line = substr(line, RSTART + RLENGTH))
			is_common[substr(line, RSTART + 4, RLENGTH - 4)] = 1
	next
}

file == "help" && /^options:/ { part = "options"; next }
file == "help" && /^examples:/ { part = "examples"; next }
file == "help" && part == "options" && /^  (-[A-Za-z],|   ) --[a-z]/ {
	last = $0
	sub(/^[^-]*(-[A-Za-z],)? *--/, "", last)
	sub(/ .*/, "", last)
	if (last ~ /^(help|help-all|version)$/)
		next
	name[++options] = last
	letter[last] = $1 ~ /^-[A-Za-z],$/ ? substr($1, 2, 1) : ""
	line = $0
	sub(/^[^-]*(-[A-Za-z],)? *--[a-z0-9-]+/, "", line)
	if (match(line, /^ [A-Z][^ ]*/)) {
		argument[last] = substr(line, 2, RLENGTH - 1)
		line = substr(line, RLENGTH + 1)
	}
	sub(/^ */, "", line)
	help[last] = line
	next
}
file == "help" && part == "options" && /^   +/ {
	line = $0
	sub(/^ +/, "", line)
	help[last] = help[last] (help[last] == "" ? "" : " ") line
	next
}
file == "help" && part == "examples" && NF > 0 { examples = examples ".Dl " plain(substr($0, 3)) "\n"; next }
file == "help" { next }

file == "columns" {
	split($0, cell, "\t")
	if (tables == 0 || cell[3] != table[tables] || cell[2] != of[tables]) {
		table[++tables] = cell[3]
		of[tables] = cell[2]
		is_head[tables] = cell[3] == "head"
	}
	unit = cell[7]
	gsub(/[\[\]]/, "", unit)
	sub(/^By/, "bytes", unit)
	shown = cell[5] == "" ? ".It Bq Li " cell[4] : ".It Li " cell[4] (cell[5] != toupper(cell[4]) ? " Pq " cell[5] : "")
	if (is_head[tables])
		shown = ".It Li " cell[4]
	list[tables] = list[tables] shown "\n" plain(cell[9]) (unit == "" || unit == "1" || unit ~ /[{]/ ? "" : ", in " unit) \
	    (cell[8] == "true" ? "; such columns come with the data" : "") "\n"
	next
}

/^\.Sh / { section = substr($0, 5); current = "" }
section == "OPTIONS" {
	if (/^\.It /) {
		match($0, /Fl -[a-z-]+/)
		current = substr($0, RSTART + 4, RLENGTH - 4)
	}
	if (current != "" && !/^\.(Sh|El|Bl) /)
		written[current] = written[current] $0 "\n"
	next
}
section == "EXAMPLES" { more = more (/^\.Sh/ ? "" : $0 "\n"); next }
section == "SEE ALSO" { others = others (/^\.Sh/ ? "" : $0 "\n"); next }
section == "DESCRIPTION" && !/^\.Sh/ { described = described $0 "\n"; next }
section != "" && section != "DESCRIPTION" { rest[section == "EXIT STATUS"] = rest[section == "EXIT STATUS"] $0 "\n" }

END {
	print ".\\\" SPDX-License-Identifier: MIT"
	print ".Dd " date
	print ".Dt POOLSCOPE-STATS-" toupper(word) " 1\n.Os"
	print ".Sh NAME\n.Nm poolscope-stats-" word "\n.Nd " plain(summary)
	put_synopsis()
	print ".Sh DESCRIPTION"
	printf "%s", described != "" ? described : toupper(substr(summary, 1, 1)) substr(summary, 2) ".\n"
	put_options()
	put_columns()
	printf "%s%s", rest[0], rest[1]
	if (examples more != "")
		printf ".Sh EXAMPLES\n%s%s", examples, more
	print ".Sh SEE ALSO"
	if (others != "")
		printf "%s", others
	print ".Xr poolscope-stats 1"
	exit failed
}
