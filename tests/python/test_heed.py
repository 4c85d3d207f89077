"""The package heed (python/heed): what runs in Python has the bits, the numbers and the errors of the program."""

import gc
import hashlib
import importlib.util
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import heed
import numpy

root = pathlib.Path(__file__).resolve().parents[2]
program = heed._program()
small = {
    "train": {"steps": 60, "batch_size": 16, "evaluate_every": 30, "log_every": 20, "statistics": True},
    "model": {"kind": "language_model", "layers": 2, "dim": 16, "heads": 2},
    "data": {"kind": "sort", "symbols": 3, "lengths": [6, 6], "val_fraction": 0.05, "test_fraction": 0.25},
}
reverse = {
    "train": {"steps": 20, "batch_size": 8, "evaluate_every": 10},
    "model": {"kind": "seq2seq", "layers": 1, "dim": 16, "heads": 2},
    "data": {"kind": "reverse", "symbols": 5, "lengths": [2, 5]},
}


def toml(config):
    return "".join(
        f"[{section}]\n" + "".join(f"{key} = {heed._toml(value)}\n" for key, value in keys.items())
        for section, keys in config.items()
    )


def command(*words):
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True)


def digests(run):
    """The files of all checkpoints of a run, but for the times in state.json."""
    folder = pathlib.Path(run, "checkpoints")
    files = sorted(folder.glob("step-*/*.safetensors"))
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def rows(run):
    lines = map(json.loads, pathlib.Path(run, "metrics.jsonl").read_text().splitlines())
    return [{key: value for key, value in row.items() if key not in ("seconds", "tokens_per_s")} for row in lines]


class InFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.before = os.getcwd()
        os.chdir(cls.folder.name)
        pathlib.Path("small.toml").write_text(toml(small))

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.before)
        cls.folder.cleanup()


class Training(InFolder):
    def test_bits_are_those_of_the_command(self):
        command("train", "small.toml", "--set", "seed=3", "--run", "command")
        given = []
        run = heed.train("small.toml", {"seed": 3}, run="python", callback=given.append)
        self.assertEqual(len(digests("python")), 2)
        self.assertEqual(digests("command"), digests("python"))
        self.assertEqual(rows("command"), rows("python"))
        records = [json.loads(pathlib.Path(each, "run.json").read_text()) for each in ("command", "python")]
        self.assertEqual(*(record["sessions"][0]["kernels"] for record in records))
        lines = pathlib.Path("python/metrics.jsonl").read_text().splitlines()
        self.assertEqual(given, [json.loads(line) for line in lines])
        self.assertEqual(run.path, "python")
        log = pathlib.Path("python/train.log").read_text()
        self.assertIn("step 60", log)
        self.assertEqual(log.count("\n"), pathlib.Path("command/train.log").read_text().count("\n"))

    def test_dictionaries(self):
        heed.train("small.toml", run="file")
        heed.train(small, run="dictionary")
        heed.train({"base": "small.toml"}, {"train.steps": numpy.int64(60)}, run="base")
        self.assertEqual(digests("file"), digests("dictionary"))
        self.assertEqual(digests("file"), digests("base"))
        self.assertEqual(heed.train(small, {"train": {"steps": 1}}).path, "runs/python")

    def test_interrupt_and_resume(self):
        heed.train("small.toml", run="whole")
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started this with SIGINT ignored
        handler = signal.getsignal(signal.SIGINT)

        def interrupt(row):
            if row["step"] == 20:
                os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaisesRegex(KeyboardInterrupt, "stopped: interrupted and saved"):
            heed.train("small.toml", run="stopped", callback=interrupt)
        self.assertLess(heed.open("stopped", "latest").step, 60)
        self.assertEqual(heed.train(run="stopped", resume=True).path, "stopped")
        self.assertEqual(digests("whole"), digests("stopped"))
        self.assertEqual(signal.getsignal(signal.SIGINT), handler)
        with self.assertRaises(KeyboardInterrupt):  # Python handles the signal again
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        heed.train("small.toml", run="paused", until=25)
        heed.train("small.toml", run="paused", resume=True)
        self.assertEqual(digests("whole"), {k: v for k, v in digests("paused").items() if "step-25" not in k})

    def test_a_callback_that_raises(self):
        error = ZeroDivisionError("mine")

        def fail(row):
            raise error

        with self.assertRaises(ZeroDivisionError) as caught:
            heed.train("small.toml", run="raises", callback=fail)
        self.assertIs(caught.exception, error)
        self.assertIn("mine", pathlib.Path("raises/error.txt").read_text())

    def test_threads(self):
        expected, counted, ended = [], [0], threading.Event()
        for seed in range(2):
            heed.train("small.toml", {"seed": seed}, run=f"alone{seed}")
            expected.append(digests(f"alone{seed}"))

        def count():
            while not ended.is_set():
                counted[0] += 1
                time.sleep(0.001)

        threads = [
            threading.Thread(target=heed.train, args=("small.toml", {"seed": s, "threads": 1 + s}), kwargs={"run": f"beside{s}"})
            for s in range(2)
        ]
        counter = threading.Thread(target=count)
        for thread in [counter, *threads]:
            thread.start()
        for thread in threads:
            thread.join()
        ended.set()
        counter.join()
        self.assertGreater(counted[0], 10)  # the interpreter ran meanwhile
        for seed in range(2):
            self.assertEqual(digests(f"beside{seed}"), expected[seed])
            log = pathlib.Path(f"beside{seed}/train.log").read_text()
            self.assertIn(f"run beside{seed}\n", log)
            self.assertNotIn(f"run beside{1 - seed}\n", log)

    def test_errors_are_those_of_the_command(self):
        for words, call in [
            (["train", "small.toml", "--set=model.layer=1"], lambda: heed.train("small.toml", {"model.layer": 1})),
            (["train", "small.toml", "--set=optim.lr=[1]"], lambda: heed.train("small.toml", {"optim.lr": [1]})),
            (["train", "none.toml"], lambda: heed.train("none.toml")),
            (["train"], lambda: heed.train()),
            (["train", "--resume", "--run=none"], lambda: heed.train(run="none", resume=True)),
            (["evaluate", "none"], lambda: heed.open("none")),
            (["compare", "none"], lambda: heed.compare(["none"]).table),
            (["sweep", "none.toml"], lambda: heed.sweep("none.toml")),
        ]:
            with self.subTest(words):
                expected = command(*words)
                self.assertEqual(expected.returncode, 2)
                with self.assertRaises(heed.InputError) as caught:
                    call()
                self.assertIsInstance(caught.exception, ValueError)
                self.assertIn(f"error: {caught.exception}\n", expected.stderr)
        with self.assertRaisesRegex(heed.Error, "step 1.*(loss|gradient)") as caught:
            heed.train("small.toml", {"optim.lr": 1e30, "train.evaluate_every": 1}, run="diverges")
        self.assertIsInstance(caught.exception, RuntimeError)
        with self.assertRaises(TypeError):
            heed.train("small.toml", callback=1)


class Runs(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.language = heed.train(small, {"train.steps": 200}, run="language")
        cls.translator = heed.train(reverse, run="translator")

    def test_scores_and_answers_are_those_of_the_commands(self):
        for run in (self.language, self.translator):
            for split in ("test", "val"):
                said = json.loads(command("evaluate", run.path, "--split", split, "--json").stdout)
                scores = run.evaluate(split)
                self.assertGreater(len(scores), 2)
                for name, value in scores.items():
                    self.assertAlmostEqual(said["scores"][name] if "scores" in said else said[name], value, 6)
        said = command("generate", "language", "--prompt", "0 2 1 0 2 1").stdout
        self.assertEqual(self.language.generate("0 2 1 0 2 1").split(), said.split()[-6:])
        self.assertEqual(self.language.generate("0 2 1 0 2 1", count=1), [self.language.generate("0 2 1 0 2 1")])
        lines = ["1 2 3", "", "4 0"]
        pathlib.Path("lines").write_text("\n".join(lines) + "\n")
        said = command("generate", "translator", "--input", "lines").stdout
        self.assertEqual("\n".join(self.translator.predict(lines)) + "\n", said)
        with self.assertRaisesRegex(heed.InputError, "predict"):
            self.translator.generate("1")
        with self.assertRaisesRegex(heed.InputError, "line 2: .*nine"):
            self.translator.predict(["1", "nine"])

    def test_metrics(self):
        metrics = self.language.metrics
        self.assertEqual(set(metrics), {"steps", "val", "statistics"})
        self.assertEqual(metrics["steps"].step.tolist(), list(range(20, 201, 20)))
        self.assertEqual(metrics["steps"].dtype["step"], numpy.int64)
        self.assertEqual(metrics["val"]["val.loss"].dtype, numpy.float64)
        entropy = metrics["statistics"]["statistics.heads.decoder.layers.0.attention.entropy"]
        self.assertEqual(entropy.shape, (10, 2))

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_metrics_in_pandas(self):
        metrics = self.language.metrics
        self.assertEqual(len(metrics["val"].to_pandas()["val.loss"]), 7)
        self.assertEqual(len(metrics["statistics"].to_pandas()), 10)

    def test_forward_has_the_logits_and_taps(self):
        plain = self.language.forward("0 2 1 0 2 1")
        self.assertEqual(list(plain), ["logits"])
        out = self.language.forward("0 2 1 0 2 1", cache=True)
        self.assertTrue(numpy.array_equal(plain.logits, out.logits))
        batch, time_, _ = out.logits.shape
        weights = out["decoder.layers.1.attention.weights"]
        self.assertEqual(weights.shape, (batch, 2, time_, time_))
        numpy.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
        self.assertEqual(numpy.abs(numpy.triu(weights[0, 0], 1)).max(), 0)  # causal
        stream = out["embedding.embedded"]
        for layer in range(2):
            for sublayer in ("attention", "feed_forward"):
                name = f"decoder.layers.{layer}.{sublayer}_norm"
                stream = stream + out[f"{name}.sublayer"]
                numpy.testing.assert_allclose(out[f"{name}.stream"], stream, atol=1e-4)
        heads = out["decoder.layers.0.attention.values"].reshape(batch, time_, 2, 8)
        mixed = numpy.einsum("bhqk,bkhd->bqhd", out["decoder.layers.0.attention.weights"], heads)
        numpy.testing.assert_allclose(mixed.reshape(batch, time_, 16), out["decoder.layers.0.attention.heads"], atol=1e-5)

    def test_forward_reads_texts_tokens_and_examples(self):
        tokens = numpy.array([[0, 1, 2, 2, 1, 0], [1, 1, 2, 0, 0, 1]])
        self.assertTrue(numpy.array_equal(self.language.forward(tokens).logits, self.language.forward(tokens.tolist()).logits))
        one = self.language.forward([1, 1, 2, 0, 0, 1]).logits
        numpy.testing.assert_allclose(self.language.forward(tokens).logits[1:], one, atol=1e-5)
        padded = self.language.forward([[0, 1], [1, 1, 2]]).logits
        numpy.testing.assert_allclose(padded[0, :2], self.language.forward([0, 1]).logits[0], atol=1e-5)
        both = self.translator.forward(["1 2 3", "4 0"], ["3 2 1", "0 4"], cache=True)
        self.assertEqual(both.logits.shape[:2], (2, 4))
        self.assertIn("decoder.layers.0.cross_attention.weights", both)
        alone = self.translator.forward("4 0", "0 4")
        numpy.testing.assert_allclose(both.logits[1:, :3], alone.logits, atol=1e-5)
        examples = self.translator.forward(examples=[3, 5, 4], split="val")
        numpy.testing.assert_allclose(
            examples.logits[1, :2], self.translator.forward(examples=5, split="val").logits[0, :2], atol=1e-5
        )
        for call, problem in [
            (lambda: self.language.forward([0, 99]), "row 0: there is no token 99"),
            (lambda: self.language.forward([0, -1]), "no token -1"),
            (lambda: self.language.forward([]), "at least one"),
            (lambda: self.language.forward([[]]), "at least one token"),
            (lambda: self.language.forward("9 9"), "text 0: "),
            (lambda: self.language.forward(), "either inputs or examples"),
            (lambda: self.language.forward(examples=[10**6]), "example 1000000: test has"),
            (lambda: self.translator.forward([0, 1]), "needs targets"),
            (lambda: self.translator.forward(["1"], ["1", "2"]), "a target for each of 1 inputs, found 2"),
        ]:
            with self.subTest(problem), self.assertRaisesRegex(heed.InputError, problem):
                call()
        with self.assertRaises(TypeError):
            self.language.forward([0.5])

    def test_arrays_own_their_memory(self):
        draw = random.Random(1)
        run = heed.open("language")
        for _ in range(10):
            out = run.forward("0 2 1 0 2 1", cache=True)
            before = {name: array.copy() for name, array in out.items()}
            kept = list(out.items())
            draw.shuffle(kept)
            views = [(name, array[..., ::2]) for name, array in kept[: len(kept) // 2]]
            del out, kept[: len(kept) // 2]
            if draw.random() < 0.3:
                run = heed.open("language")
            gc.collect()
            heed.open("language").forward("2 2 2 2 2 2", cache=True)
            while kept or views:
                for name, array in kept:
                    self.assertTrue(numpy.array_equal(array, before[name]), name)
                for name, array in views:
                    self.assertTrue(numpy.array_equal(array, before[name][..., ::2]), name)
                for some in (kept, views):
                    del some[: 1 + draw.randrange(9)]
        thread = threading.Thread(target=lambda: kept.append(run.forward("0 2 1 0 2 1", cache=True)))
        thread.start()
        thread.join()
        self.assertTrue(numpy.array_equal(kept[0].logits, before["logits"]))
        with self.assertRaises(ValueError):
            kept[0].logits[:] = 0

    def test_views_are_those_of_the_commands(self):
        for view in ("heads", "ablate", "lens", "attribute", "trace"):
            said = json.loads(command("inspect", "language", view, "--examples", 50, "--json").stdout)
            self.assertEqual(self.language.inspect(view, examples=50), said)
        with_zero = command("inspect", "language", "ablate", "--with=zero", "--parts=decoder.layers.1.attention.head.1", "--json")
        row = self.language.ablate("decoder.layers.1.attention", head=1, with_="zero")
        self.assertEqual(row, json.loads(with_zero.stdout)["parts"][0])
        with self.assertRaisesRegex(heed.InputError, "there is no view"):
            self.language.inspect("arms")

    def test_report(self):
        page = self.language._repr_html_()
        self.assertTrue(page.startswith('<iframe srcdoc="&lt;!DOCTYPE html'))
        self.assertGreater(len(page), 20000)
        self.assertEqual(page.count('"'), 8)  # none of the page ends the attribute


class Sweeps(InFolder):
    def test_sweep_and_compare(self):
        compared = heed.sweep(config="small.toml", axis=["model.layers=1,2"], seeds=2, run="swept", set=["train.steps=20"])
        table = compared.table
        self.assertEqual(table["layers" if "layers" in table.dtype.names else "model.layers"].tolist(), [1, 2])
        self.assertEqual(str(compared), command("compare", "swept").stdout)
        self.assertEqual(str(heed.compare(["swept"])), str(compared))
        self.assertEqual(heed.sweep("swept").table.dtype, table.dtype)
        self.assertIn("<iframe", compared._repr_html_())
        runs = [heed.open(record.parent) for record in pathlib.Path("swept").glob("**/run.json")]
        self.assertEqual(len(runs), 4)
        self.assertEqual(len(heed.compare(runs, runs=True).table), 4)
        with self.assertRaises(heed.Error):
            heed.sweep(config="small.toml", axis=["optim.lr=1e30"], seeds=1, run="fails", set=["train.steps=20"])


@heed.task
def copied(rng, split):
    digits = rng.integers(0, 10, 4)
    text = " ".join(map(str, digits))
    return {"source": text, "target": text}


class Tasks(InFolder):
    config = {
        "train": {"steps": 30, "batch_size": 8},
        "model": {"kind": "seq2seq", "layers": 1, "dim": 16, "heads": 2},
        "data": {"kind": "examples", "level": "word", "val_size": 50, "test_size": 50, "command": copied},
    }

    def test_bits_are_those_of_a_program_with_these_lines(self):
        pathlib.Path("lines.py").write_text(
            "import argparse, itertools, sys\n"
            f"sys.path[:0] = {[str(pathlib.Path(__file__).parent)]!r}\n"
            "parser = argparse.ArgumentParser()\n"
            "for name, kind in (('split', str), ('seed', int), ('start', int)): parser.add_argument('--' + name, type=kind)\n"
            "args = parser.parse_args()\n"
            "import test_heed\n"
            "for n in itertools.count(args.start): print(test_heed.heed._tasks.line('copied', args.split, args.seed, n))\n"
        )
        heed.train(self.config, run="task")
        heed.train(self.config, {"data.command": [sys.executable, "lines.py"]}, run="lines")
        self.assertEqual([file.read_bytes() for file in sorted(pathlib.Path("task/data").iterdir())],
                         [file.read_bytes() for file in sorted(pathlib.Path("lines/data").iterdir())])
        weights = [sorted(pathlib.Path(run, "checkpoints").glob("step-*/optimizer.safetensors"))[-1] for run in ("task", "lines")]
        self.assertEqual(*(file.read_bytes()[8 + int.from_bytes(file.read_bytes()[:8], "little"):] for file in weights))

    def test_resume(self):
        heed.train(self.config, run="whole")
        heed.train(self.config, run="paused", until=10)
        said = command("train", "--resume", "--run", "paused")
        self.assertEqual(said.returncode, 2)
        self.assertIn("'copied', a function of Python" if "'copied'" in said.stderr else "\"copied\", a function of Python", said.stderr)
        self.assertIn("resume=True", said.stderr)
        heed.train(run="paused", resume=True)
        self.assertEqual(digests("whole"), {k: v for k, v in digests("paused").items() if "step-10/" not in k})
        self.assertEqual(command("evaluate", "whole").returncode, 0)  # of the examples that the run has kept
        del heed._tasks.tasks["copied"]
        try:
            with self.assertRaisesRegex(heed.InputError, "no heed.task copied"):
                heed.train(run="paused", resume=True, overrides={"train.steps": 40})
        finally:
            heed.task(copied.function)

    def test_functions_that_fail(self):
        @heed.task
        def fails(rng, split):
            raise ZeroDivisionError("mine")

        @heed.task
        def late(rng, split):
            late.count = getattr(late, "count", 0) + 1
            if late.count > 3000:
                raise ZeroDivisionError("later")
            return copied(rng, split)

        for function in (fails, late):
            with self.assertRaisesRegex(heed.InputError, "ZeroDivisionError: (mine|later)") as caught:
                heed.train(self.config, {"data.command": function, "train.steps": 4000})
            self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)

        @heed.task
        def strange(rng, split):
            return {"source": object()}

        with self.assertRaisesRegex(heed.InputError, "cannot have a object"):
            heed.train(self.config, {"data.command": strange})
        self.assertEqual(copied(numpy.random.default_rng(1), "train"), copied.function(numpy.random.default_rng(1), "train"))
        pair = heed.task(lambda rng, split: ("1 2", numpy.array([2, 1])))
        self.assertEqual(heed._tasks.line(pair.name, "train", 1, 1), '{"source": "1 2", "target": [2, 1]}')


if __name__ == "__main__":
    unittest.main()
