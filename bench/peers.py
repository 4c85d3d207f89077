"""Shared by bench/compare and bench/generate: run each program in its fastest environment, print tables."""
import argparse
import ctypes
import glob
import json
import os
import shlex
import statistics
import subprocess
import sys

# What an environment sets for OpenBLAS, such as the kernels of an older processor, must not decide who is faster.
for variable in [name for name in os.environ if name.startswith("OPENBLAS_")]:
    del os.environ[variable]

# What makes these programs use no more than AVX2, as on a processor without AVX-512.
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "OPENBLAS_CORETYPE": "Haswell"}

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
HAS_PYTORCH = "import importlib.util, json; print(json.dumps(importlib.util.find_spec('torch') is not None))"
COMPILES = """import json, torch
try:
    torch.compile(torch.nn.Linear(2, 2))(torch.ones(1, 2))
    print(json.dumps(True))
except Exception:  # version 1, or no C++ compiler
    print(json.dumps(False))"""
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's PyTorch; another one may come first in PATH


def fail(message):
    sys.exit(f"{os.path.relpath(sys.argv[0])}: {message}")  # to standard error, exit code 1


def run(command, environment=None, script=None):
    """Run a benchmark and return the JSON object it prints. `script` is its standard input."""
    try:
        done = subprocess.run(command, env=environment, input=script, capture_output=True, text=True)
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


def best_environment(threads, avx2):
    """Return the environment in which PyTorch is fastest, with `avx2` of those that use no more than AVX2.

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
    if avx2:
        return environment | AVX2
    try:
        openblas = ctypes.CDLL(libraries[0] if libraries else "libopenblas.so.0")
        openblas.openblas_get_corename.restype = ctypes.c_char_p
        unknown = openblas.openblas_get_corename() == b"Prescott"
    except (OSError, AttributeError):  # another BLAS
        unknown = False
    flags = cpuinfo("flags").split()
    if unknown:
        if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= set(flags):
            environment["OPENBLAS_CORETYPE"] = "SkylakeX"
        elif {"avx2", "fma"} <= set(flags):
            environment["OPENBLAS_CORETYPE"] = "Haswell"
    return environment


class Interpreter:
    """A Python with PyTorch: a command that ends in the interpreter, such as "chroot /tmp/trixie python3".

    It reads each script from standard input, because the files of this folder may not exist where it runs.
    """

    def __init__(self, command, threads, avx2):
        self.command = shlex.split(command)
        with open(__file__) as file:
            question = file.read() + f"\nprint(json.dumps(best_environment({threads}, {avx2})))"
        found = run([*self.command, "-"], script=question)
        self.variables = [f"{name}={value}" for name, value in found.items() if os.environ.get(name) != value]
        if not run([*self.command, "-"], script=HAS_PYTORCH):
            fail(f"{command} has no PyTorch; on Debian: apt-get install python3-torch")

    def compiles(self):
        """Return whether torch.compile works."""
        works = run([*self.command, "-"], script=COMPILES)
        if not works:
            print(f"{shlex.join(self.command)}: torch.compile does not work, left out", file=sys.stderr)
        return works

    def run(self, script, *arguments, imports=()):
        """Run a script of this folder, which imports these others, in the environment in which PyTorch is fastest."""
        def text(name):
            with open(os.path.join(HERE, name)) as file:
                return file.read()
        lines = ["import sys, types"]
        for name in imports:
            module = name.removesuffix(".py")
            lines += [f"sys.modules[{module!r}] = module = types.ModuleType({module!r})", f"exec({text(name)!r}, module.__dict__)"]
        return run([*self.command[:-1], "env", *self.variables, self.command[-1], "-", *arguments],
                   script="\n".join([*lines, f"exec({text(script)!r})"]))


class Results:
    """What programs measured in alternating rounds: for each measurement, a tuple that begins with the size, and each
    program one result per round."""

    def __init__(self):
        self.results = {}  # measurement → {peer: [result, …]}

    def add(self, measurement, result, key, unit):
        self.results.setdefault(measurement, {}).setdefault(result["peer"], []).append(result)
        print(f"{', '.join(measurement)}, {result['peer']}: {result[key]} {unit}", file=sys.stderr)
        size = measurement[0]
        counts = {r["parameters"] for m, peers in self.results.items() if m[0] == size for rs in peers.values() for r in rs}
        if len(counts) > 1:
            fail(f"{size}: the models differ, they have {' and '.join(map(str, sorted(counts)))} parameters")

    def median(self, measurement, peer, key):
        return statistics.median(result[key] for result in self.results[measurement][peer])

    def names(self, of=lambda measurement: True):
        """The programs that ran these measurements, PyTorch's older versions first."""
        return sorted({peer for m, peers in self.results.items() if of(m) for peer in peers}, key=str.lower)


PEER_OF = {"highest": "float32", "high": "float32", "medium": "bfloat16"}  # the type of PyTorch's products, by heed's precision


def parser_of(description, sizes, measured):
    """Return a parser with the options of a comparison. `measured` is what takes the seconds."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=names(sizes), metavar="NAMES", help=f"of {', '.join(sizes)}")
    parser.add_argument("--rounds", type=positive, default=5)
    parser.add_argument("--seconds", type=float, default=5, help=f"for each {measured} and round; default: 5")
    parser.add_argument("--threads", type=positive, default=physical_cores(), help="default: one per physical core")
    parser.add_argument("--precision", type=names(list(PEER_OF)), default=list(PEER_OF), metavar="NAMES",
                        help="highest, high, medium; default: those this processor supports")
    parser.add_argument("--python", action="append", metavar="COMMAND",
                        help=f"starts a Python that has PyTorch; may be repeated; default: {PYTHON}")
    parser.add_argument("--avx2", action="store_true", help="no program uses AVX-512; HEED is one built with HEED_ARCH=x86-64-v3")
    return parser


def interpreters(options):
    if options.avx2:
        os.environ.update(AVX2)  # for heed's OpenBLAS
    return [Interpreter(command, options.threads, options.avx2) for command in options.python or [PYTHON]]


def call(main):
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)


def heed_program():
    return os.environ.get("HEED") or os.path.join(HERE, "..", "heed")


def table(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def machine(avx2):
    flags = ["avx2"] if avx2 else cpuinfo("flags").split()
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
