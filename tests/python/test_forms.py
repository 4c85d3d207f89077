"""Models of every config with data: forward() with a value at every tap has the bits of forward() without."""

import os
import pathlib
import tempfile
import unittest

import heed
import numpy

root = pathlib.Path(__file__).resolve().parents[2]


class Forms(unittest.TestCase):
    def test_taps_change_no_bit(self):
        seen = 0
        with tempfile.TemporaryDirectory() as folder:
            for config in sorted((root / "configs").glob("*.toml")):
                few = {"train.steps": 1, "train.evaluate_every": 1000, "train.batch_size": 2, "schedule.warmup_steps": 0}
                try:
                    run = heed.train(config, few, run=os.path.join(folder, config.stem))
                except heed.InputError as error:
                    self.assertRegex(str(error), "data.path|no such", config)
                    continue
                with self.subTest(config.stem):
                    plain, cached = run.forward(examples=[0, 1]), run.forward(examples=[0, 1], cache=True)
                    self.assertTrue(numpy.array_equal(plain.logits, cached.logits, equal_nan=True))
                    self.assertGreater(len(cached), 10)
                    seen += 1
        self.assertGreater(seen, 15)


if __name__ == "__main__":
    unittest.main()
