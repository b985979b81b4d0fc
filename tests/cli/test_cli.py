"""What holds for every command: help, version, wrong usage, man pages, completion."""
import re
import shutil
import subprocess
import unittest

from harness import BUILD, CliTest, run


def commands():
    text = run("s3analyze", "--help").out
    names = re.findall(r"^  ([a-z]+) ", text.split("Commands:")[1], re.M)
    assert names, "s3analyze --help lists no command"
    return names


class Cli(CliTest):
    def test_version_names_libraries(self):
        out = self.s3analyze("--version").out
        self.assertRegex(out, r"^s3analyze \d+\.\d+\.\d+")
        for library in ("libzstd", "libcsv", "libxxhash", "jansson", "GSL", "OpenSSL", "libzip", "zlib"):
            self.assertRegex(out, library + r" \d+\.\d+")

    def test_help_fits_a_screen(self):
        for program in "s3analyze", "s3load":
            lines = self.check_run(program, "--help").out.splitlines()
            self.assertLessEqual(max(map(len, lines)), 80, program)
        for command in commands():
            first = self.s3analyze(command, "--help").out
            topics = re.search(r"--help TOPIC \((.*)\)", first)
            names = topics.group(1).split(", ") if topics else []
            for topic in [""] + [t for t in names if t != "all"]:
                with self.subTest(command=command, topic=topic):
                    option = f"--help={topic}" if topic else "--help"
                    lines = self.s3analyze(command, option).out.splitlines()
                    self.assertLessEqual(len(lines), 40)
                    self.assertLessEqual(max(map(len, lines)), 80)

    def test_help_names_every_option_once(self):
        for command in commands():
            with self.subTest(command=command):
                text = self.s3analyze(command, "--help", "all").out
                names = [n for line in text.splitlines() if re.match(r"  (-\w, )?--", line)
                         for n in re.findall(r"(?<=--)\[?[a-z][][.\w-]*", line.split("   ")[0])]
                self.assertEqual(len(names), len(set(names)))

    def test_no_command(self):
        r = self.s3analyze(status=2)
        self.assertEqual(r.out, "")
        self.assertIn("Commands:", r.err)

    def test_unknown_command(self):
        r = self.s3analyze("analyse", status=2)
        self.assertIn("unknown command 'analyse'", r.err)
        self.s3analyze("--nothing", status=2)

    def test_wrong_usage_points_to_help(self):
        for command in commands():
            r = self.s3analyze(command, "--no-such-option-anywhere", status=2)
            self.assertEqual(r.out, "")
            self.assertIn(f"Try 's3analyze {command} --help'.", r.err)

    def test_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BUILD / "s3analyze", "--help"], stdout=full,
                                  stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write standard output: No space left", done.stderr)

    def test_man_pages(self):
        pages = self.s3analyze("--dump-pages").out.split()
        self.assertEqual(pages, ["s3analyze"] + [f"s3analyze-{c}" for c in commands()])
        for page in pages:
            text = self.s3analyze("--dump-man", page).out
            for section in (".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH EXIT STATUS"):
                self.assertIn(section, text)
            if shutil.which("man"):
                path = self.tmp / f"{page}.1"
                path.write_text(text)
                r = self.check_run("/usr/bin/man", "--warnings", "-l", path, env={"MANWIDTH": "80"})
                self.assertEqual(r.err, "")

    def test_completion_scripts(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell=shell):
                text = self.s3analyze("--dump-completion", shell).out
                for command in commands():
                    self.assertIn(command, text)
                if shutil.which(shell):
                    self.check_run(shutil.which(shell), "-n", stdin=text.encode())
        self.s3analyze("--dump-completion", "tcsh", status=2)

    def test_bash_completes_commands(self):
        script = self.s3analyze("--dump-completion", "bash").out + (
            "\nCOMP_WORDS=(s3analyze '') COMP_CWORD=1\n_s3analyze\necho \"${COMPREPLY[@]}\"\n")
        r = self.check_run("/bin/bash", stdin=script.encode())
        self.assertEqual(r.out.split(), commands() + ["--help", "--version"])


if __name__ == "__main__":
    unittest.main()
