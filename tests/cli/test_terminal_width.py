"""Text fits the terminal: tables side by side where it is wide, 80 columns where it is not, or none."""
import fcntl
import os
import pty
import struct
import subprocess
import termios

from harness import BUILD, CliTest, capture


class TerminalWidth(CliTest):
    def longest(self, columns):
        """The longest line on a terminal of that many columns; None: on a pipe."""
        words = [BUILD / "s3analyze", "cmp", "--quiet", capture("get-g4").name, capture("get-randsize").name]
        if columns is None:
            said = subprocess.run(words, cwd=capture("get-g4").parent, stdout=subprocess.PIPE, check=True).stdout
            return max(map(len, said.decode().splitlines()))
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        child = subprocess.Popen(words, cwd=capture("get-g4").parent, stdout=theirs, 
                                 env=os.environ | {"NO_COLOR": "1"})
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536):
                said += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(child.wait(), 0)
        return max(len(line) for line in said.decode().splitlines())

    def test_wide(self):
        self.assertLessEqual(self.longest(80), 80)
        self.assertEqual(self.longest(40), self.longest(80))
        self.assertEqual(self.longest(None), self.longest(80))
        wide = self.longest(140)
        self.assertGreater(wide, 80)
        self.assertLessEqual(wide, 140)
