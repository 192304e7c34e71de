# palette - print the page's palette.js, made of the palette of the pictures.
#
#   sh exporters/web/palette.sh exporters/plot/palette.def
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
exec awk -F '"' '
	/^PLACE/ { light = light ", \"" $2 "\""; dark = dark ", \"" $4 "\"" }
	/^REST/  { split($1, of, /[(,]/); rest = rest "export const " of[2] " = [\"" $2 "\", \"" $4 "\"];\n" }
	/^PHASE/ { split($3, of, /[ ,)]+/); places = places ", [\"" $2 "\", " of[2] "]" }
	END {
		print "/* palette - made of exporters/plot/palette.def. */"
		print "export const LIGHT = [" substr(light, 3) "];"
		print "export const DARK = [" substr(dark, 3) "];"
		printf "%s", rest
		print "export const PLACES = new Map([" substr(places, 3) "]);"
	}' "$@"
