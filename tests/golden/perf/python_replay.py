"""python_replay - what poolscope.perf makes of images of /proc, asked as poolscope-agent is.

    python_replay.py --replay DIR... --print perf

SPDX-License-Identifier: MIT
"""
import glob
import json
import os
import sys
import tempfile
import types
from unittest import mock

from poolscope import perf


def show(root, image):
    """The host is as in this image from now on; returns what its clock and its file system say."""
    if os.path.islink(root + "/proc"):
        os.unlink(root + "/proc")
    os.symlink(os.path.abspath(image), root + "/proc")
    for name in os.listdir(root + "/sys/block"):
        os.rmdir(root + "/sys/block/" + name)
    host = {"time": 0.0, "sys_block": [], "statvfs": {}}
    if os.path.exists(image + "/host.json"):
        with open(image + "/host.json", encoding="utf-8") as file:
            host = json.load(file)
    for name in host["sys_block"]:
        os.mkdir(root + "/sys/block/" + name.replace("/", "!"))
    return host["time"], host["statvfs"]


def replay(images):
    reports = []
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(root + "/sys/block")
        host = perf._Host(root)
        show(root, images[0])
        before = host.processors()
        for image in images[1:]:
            now, space = show(root, image)
            gone = None if space else OSError("nobody knows")
            with mock.patch("time.time", lambda: now), mock.patch(
                    "os.statvfs", side_effect=gone, return_value=types.SimpleNamespace(**space)):
                after = host.processors()
                reports.append(host.report(before, after))
                before = after
    return reports


if __name__ == "__main__":
    folders = sys.argv[2:-2]
    if len(folders) == 1:
        folders = sorted(glob.glob(folders[0] + "/snap_*"))
    print(json.dumps(replay(folders)))
