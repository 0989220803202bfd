"""Runs a command and says what it took."""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time


def machine():
    """Whose figures these are, and what else it had to do."""
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} processors ({model}), load {os.getloadavg()[0]:.0f} at the end"


def measure(command, output=os.devnull, cwd=None):
    """CPU seconds (user + system), wall seconds and peak bytes of one run."""
    with open(output, "ab") as out, tempfile.TemporaryFile() as said:
        before = time.monotonic()
        child = subprocess.Popen([str(word) for word in command], stdout=out, stderr=said, cwd=cwd)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - before
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            said.seek(0)
            shown = " ".join(map(str, command))[:300]
            sys.exit(f"bench: {shown} ended with {child.returncode}\n{said.read().decode()[-2000:]}")
    return {"cpu": usage.ru_utime + usage.ru_stime, "wall": wall, "peak": usage.ru_maxrss * 1024}


def measure_all(commands, output=os.devnull, cwd=None):
    """The same of commands one after the other."""
    total = {"cpu": 0.0, "wall": 0.0, "peak": 0}
    for command in commands:
        run = measure(command, output, cwd)
        total = {"cpu": total["cpu"] + run["cpu"], "wall": total["wall"] + run["wall"],
                 "peak": max(total["peak"], run["peak"])}
        if output != os.devnull:
            with open(output, "ab") as out:
                out.write(b"\n---\n")
    return total


def median(runs):
    """Figure by figure."""
    return {figure: statistics.median(run[figure] for run in runs) for figure in runs[0]}


def spread(numbers):
    """Least, median and most."""
    return {"min": min(numbers), "median": statistics.median(numbers), "max": max(numbers)}
