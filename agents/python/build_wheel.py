"""build_wheel - a wheel of what `make python` built: of the module, and of nothing else.

    python3 build_wheel.py FROM TO     FROM is build/python, TO a folder

pip, which calls this for `pip install agents/python`, finds build_wheel() below (PEP 517).
One file serves Python 3.10 and later, and every system with glibc 2.34 or later:
tests/flow/313-wheel.sh judges that.
SPDX-License-Identifier: MIT
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def version():
    with open(os.path.join(ROOT, "proto/base/version.h")) as header:
        return re.search(r'^#define VERSION "(.*)"', header.read(), re.M).group(1)


def metadata():
    return ("Metadata-Version: 2.1\nName: poolscope\nVersion: %s\n"
            "Summary: Spans, events and numbers of a program, and what a store says about them\n"
            "License: MIT\nRequires-Python: >=3.10\n" % version())


def files(built):
    """Names and contents of the package; the extension without what is for debuggers."""
    for folder, folders, names in os.walk(os.path.join(built, "poolscope")):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for path in sorted(os.path.join(folder, name) for name in names):
            with tempfile.NamedTemporaryFile() as stripped:
                if path.endswith(".so"):
                    subprocess.run(["strip", "-o", stripped.name, path], check=True)
                with open(stripped.name if path.endswith(".so") else path, "rb") as file:
                    yield os.path.relpath(path, built), file.read()


def write(built, folder):
    """Write the wheel, the same bytes each time; returns its name."""
    machine = os.uname().machine
    tag = "cp310-abi3-manylinux_2_34_" + machine
    info = "poolscope-%s.dist-info/" % version()
    contents = list(files(built)) + [
        (info + "METADATA", metadata().encode()),
        (info + "WHEEL", ("Wheel-Version: 1.0\nGenerator: poolscope\nRoot-Is-Purelib: false\nTag: %s\n" % tag).encode()),
    ]
    with open(os.path.join(ROOT, "LICENSE"), "rb") as licence:
        contents.append((info + "LICENSE", licence.read()))
    record = "".join("%s,sha256=%s,%d\n" % (
        name, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data))
        for name, data in contents) + info + "RECORD,,\n"
    contents.append((info + "RECORD", record.encode()))
    os.makedirs(folder, exist_ok=True)
    wheel = "poolscope-%s-%s.whl" % (version(), tag)
    with zipfile.ZipFile(os.path.join(folder, wheel), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in contents:
            member = zipfile.ZipInfo(name)
            member.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, data)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """What pip calls."""
    subprocess.run(["make", "-s", "-C", ROOT, "python", "PYTHON=" + sys.executable], check=True)
    return write(os.path.join(ROOT, "build/python"), wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the source distribution of poolscope is the whole source tree")


if __name__ == "__main__":
    print(os.path.join(sys.argv[2], write(sys.argv[1], sys.argv[2])))
