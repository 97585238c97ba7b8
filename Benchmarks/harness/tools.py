"""The programs that are compared, and what starts and times them."""

import json
import os
import shutil
import signal
import subprocess

from . import figures, machine

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REFERENCE = "fixed work"
DJPEG = "djpeg -scale 1/8"
TIMEOUT = 900


class Tool:
    """A program, how it is asked for a JPEG of quality 85, and what it is here for: the product, a peer or a reference."""

    def __init__(self, name, role, command, kinds=None, native=True, most=None):
        self.name, self.role, self.command, self.kinds = name, role, command, kinds
        # Whether it starts in milliseconds, as those must that are started hundreds of times.
        self.native = native
        # The largest target that it serves as a reference of.
        self.most = most

    def takes(self, kind, longest):
        return (self.kinds is None or kind in self.kinds) and (self.most is None or longest <= self.most)


def find(name):
    """The first program of that name in PATH that is one itself: a script around it would be measured with it."""
    for folder in os.get_exec_path():
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    return path
    return None


def product(binary):
    return Tool(
        figures.PRODUCT, "product", lambda source, target, n: [binary, "--quiet", "--max", str(n), source, target]
    )


def fixed_work(starter):
    return Tool(REFERENCE, "reference", lambda *_: [starter, "--reference"])


def programs():
    """Peers that are programs, and djpeg; with their versions."""
    tools, versions = [], {}
    path = find("vipsthumbnail")
    if path:
        versions["vipsthumbnail"] = " ".join(machine.first_lines([path, "--version"], 1))

        def vipsthumbnail(source, target, n, path=path):
            return [path, source, "-s", f"{n}x{n}>", "-o", f"{target}[Q=85]"]

        tools.append(Tool("vipsthumbnail", "peer", vipsthumbnail))
    path = find("gm")
    if path:
        versions["GraphicsMagick"] = " ".join(machine.first_lines([path, "version"], 1))

        def gm(source, target, n, path=path):
            size = f"{n}x{n}"
            scaled = ["-auto-orient", "-thumbnail", f"{size}>", "-quality", "85", target]
            return [path, "convert", "-size", size, source, *scaled]

        # Its support of HEIF is left out of most builds.
        tools.append(Tool("GraphicsMagick", "peer", gm, kinds=("JPEG", "PNG")))
    path = find("magick") or find("convert") or find("convert-im6.q16")
    banner = machine.first_lines([path, "--version"], 1) if path else []
    if banner and "ImageMagick" in banner[0]:
        versions["ImageMagick"] = banner[0].replace("Version: ", "").split(" https:")[0]

        def magick(source, target, n, path=path):
            hint = ["-define", f"jpeg:size={n}x{n}"]
            return [path, *hint, source, "-auto-orient", "-thumbnail", f"{n}x{n}>", "-quality", "85", target]

        tools.append(Tool("ImageMagick", "peer", magick))
    path = find("djpeg")
    if path:
        versions["djpeg"] = " ".join(machine.first_lines([path, "-version"], 1))

        def djpeg(source, _, __, path=path):
            return [path, "-scale", "1/8", "-outfile", "/dev/null", source]

        tools.append(Tool(DJPEG, "reference", djpeg, kinds=("JPEG",), most=256))
    return tools, versions


def libraries(python):
    """Peers that are libraries of a Python; with their versions."""
    script = os.path.join(HERE, "peer.py")
    output = machine.first_lines([python, script, "--versions"])
    try:
        versions = json.loads(output[-1]) if output else {}
    except ValueError:
        versions = {}
    tools = []
    for name, library in (("Pillow", "pillow"), ("pyvips", "pyvips"), ("OpenCV", "opencv")):
        if name in versions:
            # Pillow reads HEIC only with its plug-in, OpenCV not at all; the wheels of pyvips have no decoder of HEVC.
            kinds = ("JPEG", "PNG", "HEIC") if name == "Pillow" and "pillow-heif" in versions else ("JPEG", "PNG")
            tools.append(
                Tool(
                    name,
                    "peer",
                    lambda source, target, n, library=library: [python, script, library, source, target, str(n)],
                    kinds=kinds,
                    native=False,
                )
            )
    return tools, versions


class Failure(Exception):
    """A run that does not count, and why: one line."""


class Runner:
    """Starts programs by bench-start, which is small: the kernel's peak of a process begins at that of its parent."""

    def __init__(self, starter, scratch):
        self.starter, self.scratch = starter, scratch

    def run(self, command):
        """Wall and processor milliseconds and peak MB of one run that ended with 0, else Failure."""
        process = subprocess.Popen(
            [self.starter, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            output, messages = process.communicate(timeout=TIMEOUT)
        except BaseException as error:
            # The group is the starter's and the program's own.
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                raise Failure(f"not done after {TIMEOUT} s") from None
            raise
        said = messages.decode("utf-8", "replace").strip().splitlines()
        words = output.split()
        if process.returncode != 0 or len(words) != 4:
            raise Failure(said[-1] if said else "cannot be started")
        status, wall, cpu, peak = (int(word) for word in words)
        if status != 0:
            how = f"exit status {status}" if status < 256 else f"signal {status - 256}"
            raise Failure(f"{how}: {said[-1]}" if said else how)
        return wall / 1e6, cpu / 1e6, peak / 1024

    def measure(self, tool, source, longest, wanted):
        """The same, of a tool on a picture; its output has to be there and of the wanted size."""
        target = os.path.join(self.scratch, "result.jpg")
        if os.path.exists(target):
            os.unlink(target)
        # Peers that are given the size as a hint would enlarge a small picture.
        asked = longest if tool.role == "product" else max(wanted)
        figures_of_run = self.run(tool.command(source, target, asked))
        if tool.role != "reference":
            size = None
            if os.path.exists(target):
                with open(target, "rb") as file:
                    size = figures.jpeg_size(file.read())
            wrong = figures.wrong_size(size, wanted, 0 if tool.role == "product" else 1)
            if wrong:
                raise Failure(wrong)
        return figures_of_run


def take_turns(runner, tools, sources, longest, wanted, rounds):
    """Runs every tool once a round, and gives each one's summaries, or its failure. The first round is not counted.

    `sources` are gone through in turn, one a round. A tool that fails once is not run again.
    """
    runs = {tool.name: [] for tool in tools}
    failures = {}
    for turn in range(rounds + 1):
        for tool in tools:
            if tool.name in failures:
                continue
            try:
                measured = runner.measure(tool, sources[turn % len(sources)], longest, wanted)
            except Failure as failure:
                failures[tool.name] = str(failure).replace(runner.scratch + os.sep, "")
                continue
            if turn > 0:
                runs[tool.name].append(measured)
    results = {}
    for tool in tools:
        result = {"role": tool.role}
        if tool.name in failures:
            result["failed"] = failures[tool.name]
        else:
            for column, measure in enumerate(figures.MEASURES):
                result[measure] = figures.summary([run[column] for run in runs[tool.name]])
        results[tool.name] = result
    return results


def information(binary, path):
    """What the product's `info` says of a picture: kind, and width and height as displayed; None where it is none."""
    result = subprocess.run(
        [binary, "info", "--json", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        found = json.loads(result.stdout)
        found = found.get("input", found)
        return found["kind"], found["width"], found["height"]
    except (ValueError, KeyError, AttributeError):
        return None


def needed(paths):
    """The first of these programs that is not there."""
    return next((path for path in paths if shutil.which(path) is None), None)
