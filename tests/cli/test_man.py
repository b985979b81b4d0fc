"""Man pages name each other. They, README and the packages explain what users look for first."""
import re

from harness import ROOT, CliTest, run

PROGRAMS = ("s3analyze", "s3load")


class Man(CliTest):
    def test_pages_name_each_other(self):
        pages = {p: name for name in PROGRAMS for p in run(name, "--dump-pages").out.split()}
        for page, program in pages.items():
            with self.subTest(page):
                text = run(program, "--dump-man", page).out
                also = re.findall(r"^\\fB(\S+)\\fR\(1\),?$", text[text.index(".SH SEE ALSO"):], re.M)
                also = [name.replace(r"\-", "-") for name in also]
                own = {p for p in pages if pages[p] == program}
                self.assertEqual(set(also), (own - {page}) | set(PROGRAMS) - {page})
                self.assertEqual(len(also), len(set(also)))
                self.assertNotRegex(text, r"\(1\),\s*\Z")

    def test_what_is_asked_for_first(self):
        page = run("s3analyze", "--dump-man", "s3analyze-analyze").out.replace(r"\-", "-")
        text = page[page.index(".SH DESCRIPTION"):page.index(".SH OPTIONS")]
        readme = (ROOT / "README.md").read_text()
        for option in "--range", "--co-interval", "--salvage":
            self.assertIn(option, text)
            self.assertIn(option, readme)
        for kind in "all:", "single:", "full:", "auto:":
            self.assertIn(kind, text)
        self.assertIn("s3load clean --older-than", readme)

    def test_packages_have_the_documents(self):
        for program in PROGRAMS:
            words = (ROOT / "debian" / f"{program}.docs").read_text().split()
            self.assertIn("docs", words)
            for word in words:
                self.assertTrue((ROOT / word).exists(), word)
