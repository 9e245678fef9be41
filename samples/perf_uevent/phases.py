#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Mark the phases of a Python program in its profile.

Counts the words of a file, compresses it and checks that it decompresses to the
same. Where each phase starts and ends it emits a userspace event. perf shows
these events between the samples. There is nothing to build or to install:

    perf record -e cpu-clock/uevent=1/ -g python3 phases.py -n 3 MAINTAINERS
    perf script

Without perf watching, and on kernels without userspace events, it does the same
work.
"""

import argparse
import collections
import contextlib
import ctypes
import errno
import functools
import os
import re
import sys
import zlib

# From <linux/prctl.h> and <linux/perf_event.h>
PR_TASK_PERF_UEVENT = 0x55455654
PERF_UEVENT_TYPE_TEXT = 0

libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.restype = ctypes.c_int
libc.prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong,
                       ctypes.c_char_p, ctypes.c_ulong]


@functools.lru_cache(maxsize=None)
def warn_once(error):
    """Say once why events do not arrive; a program has to work without them, too."""
    if error == errno.EINVAL:
        reason = "no userspace events in this kernel, continuing without them"
    else:
        reason = f"cannot emit userspace event: {os.strerror(error)}"
    print(f"{sys.argv[0]}: {reason}", file=sys.stderr)


def uevent(text):
    """Emit a line of text."""
    data = text.encode(errors="surrogateescape")
    if libc.prctl(PR_TASK_PERF_UEVENT, PERF_UEVENT_TYPE_TEXT, len(data), data, 0):
        warn_once(ctypes.get_errno())


def message(name, what, values):
    return " ".join([f"{name}: {what}"] + [f"{key}={value}" for key, value in values.items()])


@contextlib.contextmanager
def phase(name, **values):
    """Mark a phase; what is put into the dict it yields goes with its end."""
    uevent(message(name, "start", values))
    result = {}
    try:
        yield result
    finally:
        uevent(message(name, "end", result))


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def count_words(text):
    return collections.Counter(re.findall(rb"\w+", text.lower()))


def process(path):
    with phase("read", file=path) as result:
        text = read_file(path)
        result["bytes"] = len(text)

    with phase("count", bytes=len(text)) as result:
        words = count_words(text)
        result["words"] = sum(words.values())
        result["distinct"] = len(words)

    with phase("compress", bytes=len(text)) as result:
        packed = zlib.compress(text, 9)
        result["out"] = len(packed)

    with phase("verify", bytes=len(packed)):
        if zlib.decompress(packed) != text:
            sys.exit(f"{path}: decompresses to something else")

    return (f"{path}: {sum(words.values())} words, {len(words)} distinct, "
            f"{len(text)} bytes compressed to {len(packed)} bytes")


def main():
    parser = argparse.ArgumentParser(description="Mark the phases of a program for perf")
    parser.add_argument("-n", dest="rounds", type=int, default=1, help="do it so many times")
    parser.add_argument("file")
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error("at least one round")

    try:
        for _ in range(args.rounds):
            result = process(args.file)
    except OSError as error:
        sys.exit(f"{parser.prog}: {error}")
    print(result)


if __name__ == "__main__":
    main()
