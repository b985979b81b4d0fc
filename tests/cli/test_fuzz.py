"""Feeds the fuzz targets (tests/fuzz) with earlier findings and with the seeds of fuzzing."""
import sys
import unittest

from harness import BUILD, ROOT, CliTest, run

FUZZ = ROOT / "tests" / "fuzz"
sys.path.insert(0, str(FUZZ))

import seeds  # noqa: E402  (needs the path)

TARGETS = sorted({p.stem for p in FUZZ.glob("*.c")} - {"fuzz", "replay", "runner"})


class Fuzz(CliTest):
    def replay(self, target):
        files = sorted((FUZZ / "regress" / target).glob("*"))
        for i, seed in enumerate(seeds.of(target)):
            files.append(self.tmp / f"seed-{i}")
            files[-1].write_bytes(seed)
        r = run(BUILD / "fuzz" / target, *files)
        # The target prints the name of each input first.
        self.assertEqual(r.status, 0, r.err[-4000:])

    def test_there_is_a_target_for_each_regression(self):
        self.assertLessEqual({p.name for p in (FUZZ / "regress").iterdir()}, set(TARGETS))


for name in TARGETS:
    setattr(Fuzz, f"test_{name}", lambda self, name=name: self.replay(name))


if __name__ == "__main__":
    unittest.main()
