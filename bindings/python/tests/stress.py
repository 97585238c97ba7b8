"""Many calls in one process: does memory stay flat, is a descriptor leaked, are the bytes the command line's?

    DOWNSAMPLE_LIBRARY=... PYTHONPATH=bindings/python/src python3 stress.py --program PROGRAM FILE|FOLDER...

`-` reads names from standard input. Pictures that the program does not make are left out. Prints the resident memory
and the descriptors after every 500 calls; exit 1 when anything is not as it should be.
"""

import argparse
import collections
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import threading

import downsample

ROUND = 500


def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def names(arguments):
    for name in arguments:
        if name == "-":
            yield from (line.rstrip("\n") for line in sys.stdin)
        elif os.path.isdir(name):
            for folder, _, files in sorted(os.walk(name)):
                yield from (os.path.join(folder, file) for file in sorted(files))
        else:
            yield name


def digest(data):
    return hashlib.blake2b(data, digest_size=16).digest()


class OneWay:
    """A source that can be read in order only."""

    def __init__(self, file):
        self.read = file.read


def make(path, turn, options, folder):
    """A picture by one of the ways there are for sources and destinations."""
    turn %= 4
    if turn == 0:
        result = os.path.join(folder, f"{threading.get_ident()}.jpg")
        downsample.thumbnail(path, result, **options)
        with open(result, "rb") as file:
            data = file.read()
        os.unlink(result)
        return data
    with open(path, "rb") as file:
        if turn == 1:
            return downsample.thumbnail(file.read(), **options)
        out = io.BytesIO()
        downsample.thumbnail(file if turn == 2 else OneWay(file), out, **options)
        return out.getvalue()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--max", type=int, default=512)
    parser.add_argument("--margin", type=float, default=4, help="MB that memory may grow by after the first 500 calls")
    parser.add_argument("--megapixels", type=float, default=1, help="larger pictures are left out")
    parser.add_argument("--program", required=True, help="the command line, whose results are what is expected")
    parser.add_argument("names", nargs="+")
    arguments = parser.parse_args()
    downsample.configure_process()
    options = {"max_size": arguments.max, "memory": "auto"}
    failures = []

    with tempfile.TemporaryDirectory() as folder:
        expected = {}
        for path in names(arguments.names):
            try:
                header = downsample.probe(path)
            except downsample.Error:
                continue
            if header.width * header.height > arguments.megapixels * 1e6:
                continue
            command = [arguments.program, "--quiet", "--memory", "auto", "--max", str(arguments.max)]
            made = subprocess.run([*command, "--format", "jpeg", path, "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if made.returncode == 0:
                expected[path] = digest(made.stdout)
        pictures = list(expected)
        if not pictures:
            parser.error("there is no picture that can be made")
        print(f"{len(pictures)} pictures, {arguments.calls} calls, {arguments.threads} threads")

        lock = threading.Lock()
        curve = []
        next_call = 0
        end_of_round = 0
        open_before = descriptors()
        barrier = threading.Barrier(arguments.threads)

        def work():
            nonlocal next_call
            while True:
                with lock:
                    number = next_call
                    if number >= end_of_round:
                        return
                    next_call += 1
                path = pictures[number % len(pictures)]
                try:
                    same = digest(make(path, number // len(pictures), options, folder)) == expected[path]
                    if not same:
                        failures.append(f"{path}: other bytes than the command line's")
                except Exception as error:
                    failures.append(f"{path}: {error!r}")

        def rounds():
            nonlocal end_of_round
            while True:
                if barrier.wait() == 0:
                    end_of_round = min(next_call + ROUND, arguments.calls)
                barrier.wait()
                work()
                if barrier.wait() == 0:
                    curve.append((resident(), descriptors()))
                    print(f"{next_call:6} calls  {curve[-1][0]:6.1f} MB  {curve[-1][1]} descriptors", flush=True)
                barrier.wait()
                if next_call >= arguments.calls:
                    return

        threads = [threading.Thread(target=rounds) for _ in range(arguments.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        failures += [f"left behind: {name}" for name in os.listdir(folder)]

    grown = max(memory for memory, _ in curve) - curve[0][0]
    if grown > arguments.margin:
        failures.append(f"memory grew by {grown:.1f} MB after the first {ROUND} calls")
    if curve[-1][1] != open_before:
        failures.append(f"{curve[-1][1]} descriptors are open, {open_before} were before")
    for failure, count in collections.Counter(failures).items():
        print(f"stress: {failure} ({count} times)", file=sys.stderr)
    print(f"grown by {grown:.1f} MB; {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
