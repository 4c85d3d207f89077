"""Shared by bench/compare and bench/generate: run each program in its fastest environment, print tables."""
import argparse
import ctypes
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's PyTorch; another one may come first in PATH


def fail(message):
    sys.exit(f"{os.path.relpath(sys.argv[0])}: {message}")  # to standard error, exit code 1


def run(command, environment):
    """Run a benchmark and return the JSON object it prints."""
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    except OSError as error:
        fail(f"{command[0]}: {error.strerror}")
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        fail(f"{' '.join(command)}: {lines[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def cpuinfo(key):
    with open("/proc/cpuinfo") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    return ""


def physical_cores():
    """Count the cores that this process may use, as heed does: hyper-threads of one core count once."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        try:
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as file:
                cores.add(file.read())
        except OSError:
            cores.add(cpu)
    return len(cores)


def best_environment(threads):
    """Return the environment in which PyTorch is fastest.

    The OpenMP build of OpenBLAS, if installed, shares its threads with PyTorch. The pthread build, which
    numpy depends on, has a thread pool of its own that competes for the cores. An OpenBLAS older than the
    processor falls back to its slowest kernels, of 2004, and reports Prescott: OPENBLAS_CORETYPE selects
    better ones. heed does the same for itself.
    """
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    libraries = sorted(glob.glob("/usr/lib/*/openblas-openmp/libopenblas.so.0"))
    if libraries:
        before = os.environ.get("LD_PRELOAD")
        environment["LD_PRELOAD"] = libraries[0] + (":" + before if before else "")
    try:
        openblas = ctypes.CDLL(libraries[0] if libraries else "libopenblas.so.0")
        openblas.openblas_get_corename.restype = ctypes.c_char_p
        unknown = openblas.openblas_get_corename() == b"Prescott"
    except (OSError, AttributeError):  # another BLAS
        unknown = False
    flags = cpuinfo("flags").split()
    if unknown and "OPENBLAS_CORETYPE" not in os.environ:
        if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= set(flags):
            environment["OPENBLAS_CORETYPE"] = "SkylakeX"
        elif {"avx2", "fma"} <= set(flags):
            environment["OPENBLAS_CORETYPE"] = "Haswell"
    return environment


def require_pytorch():
    if subprocess.run([PYTHON, "-c", "import torch"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        fail(f"{PYTHON} has no PyTorch; on Debian: apt-get install python3-torch")


def heed_program():
    return os.environ.get("HEED") or os.path.join(HERE, "..", "heed")


def table(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def machine():
    flags = cpuinfo("flags").split()
    known = {"avx2": "AVX2", "avx512f": "AVX-512", "avx512_bf16": "AVX-512 BF16", "amx_bf16": "AMX"}
    features = ", ".join(name for flag, name in known.items() if flag in flags)
    family, model = cpuinfo("cpu family"), cpuinfo("model")
    kind = f" (family {family}, model {model})" if model else ""
    return f"{cpuinfo('model name') or os.uname().machine}{kind}{', ' + features if features else ''}"


def names(choices):
    """Return the parser of an option: one or more of `choices`, separated by commas."""
    def parse(text):
        for name in text.split(","):
            if name not in choices:
                raise argparse.ArgumentTypeError(f"no '{name}'; there are {', '.join(choices)}")
        return list(dict.fromkeys(text.split(",")))
    return parse


def positive(text):
    if int(text) < 1:
        raise ValueError
    return int(text)
