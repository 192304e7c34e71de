# A head of the packages is restored by root, in whose directory the store of the
# service is: the restored store is the service's again.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name
. "$(dirname "$0")/lib.sh"
if [ "$(id -u)" -ne 0 ]; then
	echo "SKIPPED - a restore by root: this test needs root"
	exit 0
fi
OWNER=54324
service() { setpriv --reuid $OWNER --regid $OWNER --clear-groups -- "$@"; }
head() {
	printf '#!/bin/sh\nexec setpriv --reuid %s --regid %s --clear-groups -- poolscope-aggregator "$@"\n' $OWNER $OWNER >"$TMP/head"
	chmod 755 "$TMP/head"
	start aggregator "$TMP/head"
}
events() { poolscope-dump -p 'acct$p' --kind event --format jsonl | wc -l; }
chmod 0755 "$TMP" "$DIR"
mkdir "$DIR/store" "$TMP/backups"
chown $OWNER:$OWNER "$DIR/store" "$DIR/run" "$TMP/backups"
chmod 0700 "$DIR/store"

check "a head of a service" head
printf '{"kind":"event","partition":"acct$p","node":"n","time_ns":%s,"source":"a","name":"b","attributes":{}}\n' 1790000000000000000 >"$TMP/rows"
check "a record" service poolscope-import records --broker "ipc://$DIR/run/intake.ipc" "$TMP/rows"
check "is stored" wait_until '[ "$(events)" -eq 1 ]' 30
check "a backup" service poolscope-admin backup "$TMP/backups/one"
stop aggregator
check "root restores it" poolscope-admin restore "$TMP/backups/one" --set-aside
check_text "all of it is the service's" "" "$(find "$DIR/store" ! -user $OWNER)"
check_text "... for nobody else" 700 "$(stat -c %a "$DIR/store")"
check "the head starts again" head
check_text "... with what was there" 1 "$(events)"
stop aggregator
rm -r "$DIR/store"
service sh -c : && mkdir -m 0700 "$DIR/store" && chown $OWNER:$OWNER "$DIR/store"
check "an empty directory of the service is restored into, too" poolscope-admin restore "$TMP/backups/one"
check_text "... and is the service's" "" "$(find "$DIR/store" ! -user $OWNER)"

# In a directory of the service another could be put in the place of the copy meanwhile.
chown -R $OWNER "$DIR" "$TMP/backups"
check_status 1 "in a directory of the service root restores nothing" poolscope-admin restore "$TMP/backups/one" --set-aside
check_printed "... and says who can" "$DIR belongs to another user (uid $OWNER): run this as that user"
check "who can" service poolscope-admin restore "$TMP/backups/one" --set-aside
check "the head starts once more" head
check_text "... with the same" 1 "$(events)"
