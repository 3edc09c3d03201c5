"""Whole processes: CPU seconds, wall-clock time and peak memory, as the kernel counts them."""
import dataclasses
import math
import os
import statistics
import subprocess
import tempfile

ENDED = (128 + 9, 128 + 24)  # by SIGKILL, and by SIGXCPU: the limit on CPU time


@dataclasses.dataclass
class Run:
    """Medians over some runs of one command, and the last run's output; where it failed, `why`."""
    cpu_s: float
    wall_s: float
    peak_MiB: float
    runs: int
    output: str
    why: str = ""


def _once(launcher, command, limit_s):
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        figures, end = os.pipe()
        subprocess.run([launcher, str(math.ceil(limit_s)), str(end), *command], stdout=out, stderr=errors,
                       pass_fds=(end,), check=True)
        os.close(end)
        with os.fdopen(figures) as text:
            cpu, wall, peak, status = text.read().split()
        out.seek(0), errors.seek(0)
        failed = errors.read().strip()[-300:] or f"status {status}"
        why = "" if status == "0" else f"over {limit_s:g} s" if int(status) in ENDED else failed
        return Run(float(cpu), float(wall), int(peak) / 1024, 1, out.read(), why)


def measure(launcher, command, runs=5, limit_s=60.0):
    """Medians of `runs` runs; fewer where they take more than half the limit together."""
    done = []
    while len(done) < runs and sum(run.cpu_s for run in done) < limit_s / 2:
        done.append(_once(launcher, command, limit_s))
        if done[-1].why:
            return done[-1]
    medians = (statistics.median(getattr(run, field) for run in done) for field in ("cpu_s", "wall_s", "peak_MiB"))
    return Run(*medians, len(done), done[-1].output)
