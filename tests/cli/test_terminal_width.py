"""Text fits the terminal: tables side by side where it is wide, 80 columns where it is not, or none."""
import subprocess

from harness import BUILD, CliTest, capture, on_terminal


class TerminalWidth(CliTest):
    def longest(self, columns):
        """The longest line on a terminal of that many columns; None: on a pipe."""
        words = [BUILD / "s3analyze", "cmp", "--quiet", capture("get-g4").name, capture("get-randsize").name]
        if columns is None:
            said = subprocess.run(words, cwd=capture("get-g4").parent, stdout=subprocess.PIPE, check=True).stdout
            return max(map(len, said.decode().splitlines()))
        status, said = on_terminal(*words, columns=columns, env={"NO_COLOR": "1"}, cwd=capture("get-g4").parent)
        self.assertEqual(status, 0)
        return max(len(line) for line in said.decode().splitlines())

    def test_wide(self):
        self.assertLessEqual(self.longest(80), 80)
        self.assertEqual(self.longest(40), self.longest(80))
        self.assertEqual(self.longest(None), self.longest(80))
        wide = self.longest(140)
        self.assertGreater(wide, 80)
        self.assertLessEqual(wide, 140)
