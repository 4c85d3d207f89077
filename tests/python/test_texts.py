"""The stub, the documentation and the import of the package heed."""

import ast
import inspect
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import heed

folder = pathlib.Path(heed.__file__).parent
root = pathlib.Path(__file__).resolve().parents[2]


def parameters(function):
    return [(p.name, p.kind, p.default is not p.empty and repr(p.default)) for p in inspect.signature(function).parameters.values()]


class Texts(unittest.TestCase):
    def test_the_stub_is_that_of_the_module(self):
        stub = ast.parse((folder / "__init__.pyi").read_text())
        for node in ast.walk(stub):  # the stub without types is Python
            if isinstance(node, ast.FunctionDef):
                for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.kwarg]:
                    if argument:
                        self.assertTrue(argument.annotation or argument.arg == "self", node.name)
                        argument.annotation = None
                self.assertIsNotNone(node.returns, node.name)
                node.returns = None
        stub.body = [node for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        for node in stub.body:
            if isinstance(node, ast.ClassDef):
                node.bases = []
        module = {}
        exec(compile(stub, "stub", "exec"), module)
        self.assertEqual({name for name in module if not name.startswith("__")}, set(heed.__all__))
        for name in heed.__all__:
            real, said = getattr(heed, name), module[name]
            if inspect.isfunction(real):
                self.assertEqual(parameters(real), parameters(said), name)
                continue
            own = {key for key, value in vars(real).items() if callable(value) or isinstance(value, property)}
            members = {key for key in own if not key.startswith("_") or key == "__init__"}
            described = {key for key in vars(said) if key == "__init__" or not key.startswith("_")}
            self.assertEqual(members, described, name)
            for key in members:
                if not isinstance(vars(real)[key], property):
                    self.assertEqual(parameters(vars(real)[key]), parameters(vars(said)[key]), f"{name}.{key}")
                self.assertTrue(vars(real)[key].__doc__, f"{name}.{key}")

    def test_the_page_is_that_of_the_docstrings(self):
        page = subprocess.run([sys.executable, root / "docs" / "python_page.py"], capture_output=True, text=True, check=True)
        self.assertEqual(page.stdout, (root / "docs" / "python.md").read_text())

    def test_the_import_takes_less_than_a_fifth_of_a_second(self):
        code = "import time; begin = time.process_time(); import heed; print(time.process_time() - begin)"
        times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(5)]
        self.assertLess(min(times), 0.2)
        code = "import sys, heed; print('numpy' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout, b"False\n")

    def test_the_threads_of_the_package_do_not_spin(self):
        code = "import heed, os; print(os.environ.get('GOMP_SPINCOUNT'))"
        environment = {key: value for key, value in os.environ.items() if key not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment).stdout
        self.assertEqual(said, b"3000\n")

    def test_the_program_chooses_the_module(self):
        with tempfile.TemporaryDirectory() as base:
            library, program = pathlib.Path(base, "lib"), pathlib.Path(base, "bin", "heed")
            shutil.copytree(folder, library / "heed", ignore=shutil.ignore_patterns("*.so*", "x86-64-*"))
            (library / "heed" / "x86-64-v9").mkdir()
            module = "version = 'v9'\n" + "use_program = use_tasks = lambda *path: None\n"
            (library / "heed" / "x86-64-v9" / "_heed.py").write_text(module)
            program.parent.mkdir()

            def imported(script):
                program.write_text("#!/bin/sh\n" + script)
                program.chmod(0o755)
                code = "import heed; print(heed.__version__)"
                words = {"env": {**os.environ, "PYTHONPATH": str(library)}, "capture_output": True, "text": True}
                return subprocess.run([sys.executable, "-c", code], **words)

            self.assertEqual(imported("echo heed 1; echo kernels: x86-64-v9").stdout, "v9\n")
            self.assertIn("ImportError: HEED_KERNELS=v1: no\n", imported("echo error: HEED_KERNELS=v1: no >&2; exit 2").stderr)


if __name__ == "__main__":
    unittest.main()
