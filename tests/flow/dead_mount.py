"""dead_mount PATH SIGN END: mount a file system on PATH that never answers and
make the file SIGN; when the file END is there it goes.  Needs root and /dev/fuse.
SPDX-License-Identifier: MIT"""
import ctypes
import os
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
path, sign, end = sys.argv[1:]
fd = os.open("/dev/fuse", os.O_RDWR)
options = "fd=%d,rootmode=40000,user_id=0,group_id=0" % fd
if libc.mount(b"dead", path.encode(), b"fuse.dead", 0, options.encode()):
    sys.exit("mount: " + os.strerror(ctypes.get_errno()))
open(sign, "w").close()
for _ in range(1200):
    if os.path.exists(end):
        break
    time.sleep(0.1)
# Lazily: whoever waits for it gets an error when the descriptor is closed.
libc.umount2(path.encode(), 2)
