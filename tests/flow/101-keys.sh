# Keys: made, listed, allowed, revoked and rotated, and what files with keys
# must not be.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

judge() {
	/usr/bin/python3 "$ROOT/tests/flow/keys_judge.py" "$@"
}
# What keys list says of clients is what the judge reads in the file.
same_list() {
	poolscope-keys list --format json >"$TMP/list.json" &&
		judge allow "$DIR/keys/allow" >"$TMP/judged.json" &&
		/usr/bin/python3 -c '
import json, sys
listed, read = (json.load(open(p)) for p in sys.argv[1:])
assert [r for r in listed["rows"] if r["role"] != "server"] == read, listed' \
			"$TMP/list.json" "$TMP/judged.json"
}
allowed() {
	judge allow "$DIR/keys/allow" | /usr/bin/python3 -c '
import json, sys
print(sum(r["name"] == sys.argv[1] for r in json.load(sys.stdin)))' "$1"
}

# ---- nothing there
check "where nothing is nothing is listed" poolscope-keys list --format jsonl
check_text "... which is nothing" 0 "$(grep -c '"name"' "$TMP/out")"
check_status 1 "... and no key is revoked" poolscope-keys revoke nodes
check_status 1 "... nor rotated" poolscope-keys rotate nodes
check "... and nothing is made of that" test ! -e "$DIR/keys"

# ---- made and listed
check_status 1 "no key is made before the server has one" poolscope-keys new nodes
check_printed "... and the message says so" "server.key does not exist: create it with poolscope up --listen"
check "the server's key is made" poolscope-keys new server --role server
check_status 1 "it is made once" poolscope-keys new server --role server
# shellcheck disable=SC2016 # a dollar is part of the name
check "a key for nodes is made" \
	poolscope-keys new nodes -p 'acct$pool' -n 'n-*' -o "$TMP/nodes.key"
check_printed "... and shown" "^public  [^ ]\{40\}$"
check_status 1 "a name is given once" poolscope-keys new nodes -o "$TMP/nodes2.key"
check "no file came of that" test ! -e "$TMP/nodes2.key"
check_status 1 "a file is never replaced" poolscope-keys new others -o "$TMP/nodes.key"
check_text "... and no key is allowed then" 0 "$(allowed others)"
check "a key for readers is made" poolscope-keys new reader --role reader
check "a key for a broker is made" poolscope-keys new broker --role broker
check_text "each secret is that of its public key" 4 \
	"$(judge pairs "$DIR"/keys/server.key "$DIR"/keys/reader.key "$DIR"/keys/broker.key "$TMP/nodes.key")"
check_text "clients know the server" "$(judge public "$DIR/keys/server.key")" \
	"$(judge servers "$TMP/nodes.key")"
check_text "keys are for their owner only" "700 600" \
	"$(stat -c %a "$DIR/keys" "$DIR/keys/allow" | xargs)"
check "the list says what the file says" same_list
for format in table json jsonl csv; do
	check "keys are listed as $format" poolscope-keys list --format "$format"
	check_printed "... with the nodes" nodes
	check "... without a secret" sh -c "! grep -qF -e \"\$(sed -n 's/^secret: //p' '$TMP/nodes.key')\" '$TMP/out'"
done

# ---- allowed and revoked
check "a key is revoked" poolscope-keys revoke nodes
check_text "it is gone" 0 "$(allowed nodes)"
check_status 1 "it is revoked once" poolscope-keys revoke nodes
check "a file's key is allowed" poolscope-keys allow "$TMP/nodes.key" -n 'm-*'
check "it may do what was given last" poolscope-keys allow "$TMP/nodes.key" -n 'm-1'
check_text "... on one line" 1 "$(allowed nodes)"
check "a key is made where it is used" \
	poolscope-keys --dir "$TMP/node" new n1 --server "$(judge public "$DIR/keys/server.key")" -o "$TMP/n1.key"
check_text "... as good as any" 1 "$(judge pairs "$TMP/n1.key")"
check "its public key is allowed" poolscope-keys allow -n n1 "$(judge public "$TMP/n1.key")" n1
check "... and revoked" poolscope-keys revoke "$(judge public "$TMP/n1.key")"
check_text "that was the one" "0 1" "$(allowed n1) $(allowed nodes)"
echo "# by hand" >>"$DIR/keys/allow"
check "a change keeps comments" poolscope-keys allow -n n1 "$(judge public "$TMP/n1.key")" n1
check_text "... and their places" "# by hand" "$(tail -n 2 "$DIR/keys/allow" | head -n 1)"
check "the list still says what the file says" same_list
printf 'nonsense\n' >>"$DIR/keys/allow"
lines=$(wc -l <"$DIR/keys/allow")
check_status 1 "a list with a bad line is not changed" poolscope-keys revoke nodes
check_printed "... and the message gives the line" "keys/allow:$lines: expected PUBLIC, ROLE"
sed -i '$d' "$DIR/keys/allow"

# ---- rotated
old=$(judge public "$TMP/nodes.key")
check_status 1 "a new key needs a place" poolscope-keys rotate nodes
check_status 1 "it is not another's" poolscope-keys rotate nodes -o "$TMP/n1.key"
check_printed "... and the message says so" "n1.key is the key of n1"
check_status 1 "what was not begun is not finished" poolscope-keys rotate nodes --finish
check "a client's key is rotated" poolscope-keys rotate nodes -o "$TMP/nodes.key"
check "the file has a new key" test "$old" != "$(judge public "$TMP/nodes.key")"
check_text "... a good one" 1 "$(judge pairs "$TMP/nodes.key")"
check_text "both are let in" 2 "$(allowed nodes)"
check_status 1 "a second rotation waits" poolscope-keys rotate nodes -o "$TMP/nodes.key"
check "it is finished" poolscope-keys rotate nodes --finish
check "only the new one is let in" sh -c \
	"[ '$(allowed nodes)' = 1 ] && ! grep -qF '$old' '$DIR/keys/allow'"
check "what it may do is as it was" grep -q "	agent	\*	m-1	nodes\$" "$DIR/keys/allow"
# Interrupted after the list and before the file: nobody has the newest key.
cp -p "$TMP/nodes.key" "$TMP/before.key"
poolscope-keys rotate nodes -o "$TMP/nodes.key" >/dev/null
cp -p "$TMP/before.key" "$TMP/nodes.key"
check "an interrupted rotation is taken up again" poolscope-keys rotate nodes -o "$TMP/nodes.key"
check_text "... with the old key and the new one" "2 $(judge public "$TMP/nodes.key")" \
	"$(allowed nodes) $(judge allow "$DIR/keys/allow" | /usr/bin/python3 -c '
import json, sys
print([r["public"] for r in json.load(sys.stdin) if r["name"] == "nodes" and r["newest"]][0])')"
check "... and is finished" poolscope-keys rotate nodes --finish

server=$(judge public "$DIR/keys/server.key")
check_status 1 "the server's key is not rotated yet" poolscope-keys rotate server --finish
check "the server's key is rotated" poolscope-keys rotate server "$TMP/nodes.key"
next=$(judge public "$DIR/keys/server.next.key")
check "the listeners keep the old one" test "$server" = "$(judge public "$DIR/keys/server.key")"
for file in "$TMP/nodes.key" "$DIR/keys/reader.key" "$DIR/keys/broker.key"; do
	check_text "${file##*/} has both" "$(printf '%s\n%s' "$server" "$next")" "$(judge servers "$file")"
done
check_text "a file elsewhere gets its line by hand" "    echo 'server: $next' >>FILE" \
	"$(poolscope-keys rotate server | grep echo)"
printf 'server: %s\n' "$next" >>"$TMP/n1.key"
check_text "that is a good file" 1 "$(judge pairs "$TMP/n1.key")"
check "a key that is made meanwhile has both" poolscope-keys new late
check_text "... as the others" "$(printf '%s\n%s' "$server" "$next")" "$(judge servers "$DIR/keys/late.key")"
check "the rotation is finished" poolscope-keys rotate server --finish "$TMP/nodes.key" "$TMP/n1.key"
check_text "the server has its new key" "$next" "$(judge public "$DIR/keys/server.key")"
check "... and no other" test ! -e "$DIR/keys/server.next.key"
for file in "$TMP/nodes.key" "$TMP/n1.key" "$DIR/keys/late.key"; do
	check_text "${file##*/} has the new one" "$next" "$(judge servers "$file")"
done
check_text "all files are whole" 6 "$(judge pairs "$DIR"/keys/*.key "$TMP/nodes.key" "$TMP/n1.key")"
check "the list says what the file says, after all" same_list
check "no temporary file is left" sh -c \
	"! find '$DIR/keys' '$TMP' -name '.new-*' -o -name '*.lock' | grep -v up.lock | grep -q ."

# ---- files that are refused
refused() {
	check_status 1 "$1 is refused" timeout 60 poolscope-keys allow "$TMP/bad.key"
	check_text "... in one line" 1 "$(wc -l <"$TMP/err")"
	check_printed "... that says why" "bad.key.*$2"
	rm -rf "$TMP/bad.key"
}
copy() {
	cp "$TMP/nodes.key" "$TMP/bad.key" && chmod 600 "$TMP/bad.key"
}
copy; chmod 644 "$TMP/bad.key"; refused "a file that others read" "mode 0644): run chmod 600"
copy; chmod 620 "$TMP/bad.key"; refused "a file that others write" "mode 0620"
if [ "$(id -u)" -eq 0 ]; then
	copy; chown 65534 "$TMP/bad.key"; refused "another user's file" "belongs to another user (uid 65534)"
fi
ln -s "$TMP/nodes.key" "$TMP/bad.key"; refused "a link" "is a symbolic link"
mkfifo -m 600 "$TMP/bad.key"; refused "a pipe" "is not a regular file"
mkdir -m 700 "$TMP/bad.key"; refused "a directory" "is not a regular file"
refused "a missing file" "No such file"
copy; truncate -s 120 "$TMP/bad.key"; refused "a file that was cut" ":5: secret is not one key"
copy; sed -i 's/^public: ..../&~/' "$TMP/bad.key"; refused "a key that is no Z85" ":4: public is not one key"
copy; sed -i "s/^public: .*/public: $(judge public "$TMP/n1.key" | sed 's/[&/]/\\&/g')/" "$TMP/bad.key"
refused "a secret of another key" "the secret does not belong to the public key"
copy; truncate -s 10G "$TMP/bad.key"; refused "an endless file" "longer than the 16384 bytes"

# ---- root for others
if [ "$(id -u)" -eq 0 ]; then
	mkdir -m 700 "$TMP/theirs"
	chown 65534:65534 "$TMP/theirs"
	keys() {
		poolscope-keys --dir "$TMP/theirs" "$@"
	}
	check "root makes keys in another's instance" keys new server --role server
	check "... more than one" keys new nodes
	check "... and rotates them" keys rotate nodes
	check "... and finishes that" keys rotate nodes --finish
	check "... and lists them" keys list
	check_text "they are the owner's" "65534" "$(find "$TMP/theirs" -printf '%U\n' | sort -u)"
	chmod 755 "$TMP"
	check "who can use them" setpriv --reuid 65534 --regid 65534 --clear-groups \
		poolscope-keys --dir "$TMP/theirs" list
	check_printed "... as they are" nodes
fi

# ---- wrong usage
wrong_usage "a verb is needed" "missing argument" poolscope-keys
wrong_usage "an unknown verb is wrong usage" "'make' is not one of new, list" poolscope-keys make x
wrong_usage "a name is no path" "a name has 1 to 100 letters" poolscope-keys new ../x
wrong_usage "a name is no option" "a name has 1 to 100 letters" poolscope-keys new -- -x
wrong_usage "an option is for its verbs" "--finish is for rotate, not for new" poolscope-keys new x --finish
wrong_usage "the server's key has a name" "new server --role server" poolscope-keys new x --role server
wrong_usage "the server's key has a role" "new server --role server" poolscope-keys new server
wrong_usage "a pattern is not empty" "--partitions is empty" poolscope-keys new x -p ''
wrong_usage "a public key is Z85" "40 characters" poolscope-keys allow x y
wrong_usage "list takes nothing" "unexpected argument 'x': poolscope-keys list" poolscope-keys list x
