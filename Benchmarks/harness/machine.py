"""The machine: what it is, and how busy others keep it."""

import os
import platform
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


def read(path, default=None):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return default


def field(text, name):
    """The value after "name   :" in text such as /proc/cpuinfo's."""
    for line in (text or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None


def first_lines(command, lines=None):
    """What a program prints about itself, as a list of lines; empty where it cannot be run."""
    try:
        result = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=30, text=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in result.stdout.splitlines() if line.strip()][:lines]


def commit(root):
    def git(*words):
        return first_lines(["git", "-C", root, *words], 1)

    if git("rev-parse", "--is-inside-work-tree") != ["true"]:
        return None
    head = git("rev-parse", "--short=12", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no")
    return (head[0] if head else "none") + (", with changes" if changed else "")


def describe(root, binary):
    cpu = read("/proc/cpuinfo")
    memory = field(read("/proc/meminfo"), "MemTotal")
    system = dict(
        line.split("=", 1) for line in (read("/etc/os-release") or "").splitlines() if "=" in line and line[0] != "#"
    )
    return {
        "cpu": field(cpu, "model name") or platform.machine(),
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_mb": int(memory.split()[0]) // 1024 if memory else None,
        "kernel": platform.release(),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "system": system.get("PRETTY_NAME", platform.system()).strip('"'),
        "commit": commit(root),
        "product": first_lines([binary, "--version"]),
    }


def busy_seconds():
    """Processor seconds of everything on the machine since it started, without waiting and idling."""
    values = [int(word) for word in read("/proc/stat").split("\n", 1)[0].split()[1:9]]
    user, nice, system, _, _, interrupts, soft, steal = values
    return (user + nice + system + interrupts + soft + steal) / TICKS


def seconds_by_process():
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            text = read(f"/proc/{entry}/stat")
            if text:
                name = text[text.find("(") + 1 : text.rfind(")")]
                words = text[text.rfind(")") + 2 :].split()
                found[int(entry)] = (name, (int(words[11]) + int(words[12])) / TICKS)
    return found


def load(seconds=0.5):
    """Load average, the part of the machine that is busy now, and the busiest process's name, when it takes a twentieth."""
    before, busy, start = seconds_by_process(), busy_seconds(), time.monotonic()
    time.sleep(seconds)
    elapsed = time.monotonic() - start
    share = (busy_seconds() - busy) / elapsed / os.cpu_count()
    used = {
        pid: (value - before[pid][1], name)
        for pid, (name, value) in seconds_by_process().items()
        if pid in before and pid != os.getpid()
    }
    most = max(used.values(), default=(0, None))
    return {
        "load_average": read("/proc/loadavg", "").split(" ")[0],
        "busy_percent": round(100 * max(0.0, min(1.0, share))),
        "busiest": most[1] if most[0] > 0.05 * elapsed else None,
    }


class Others:
    """Processor time that others have used since this was made, as percent of the machine."""

    def __init__(self):
        self.start, self.busy, self.own = time.monotonic(), busy_seconds(), self.own_seconds()

    @staticmethod
    def own_seconds():
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    def percent(self):
        elapsed = max(0.01, time.monotonic() - self.start)
        used = busy_seconds() - self.busy - (self.own_seconds() - self.own)
        return round(100 * max(0.0, used / elapsed / os.cpu_count()))


def lines(machine):
    """The description for people."""
    governor = f", governor {machine['governor']}" if machine.get("governor") else ""
    yield f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_mb']} MB{governor}"
    yield f"{machine['system']}, Linux {machine['kernel']}"
    yield ", ".join(machine["product"]) + (f", commit {machine['commit']}" if machine["commit"] else "")
    for name, version in sorted(machine.get("peers", {}).items()):
        yield f"{name}: {version}"
    now = machine["load"]
    yield f"at the start: load {now['load_average']}, {now['busy_percent']}% of the processors busy"
