"""The cache of table and trend: it changes no answer, whatever lies there; and where it is, and who may read it."""

import concurrent.futures
import os
import shutil
import subprocess
import unittest

from capgen import row, text
from faults import limit_file_size
from harness import BUILD, TESTDATA, CliTest, capture, preload, run, without_sanitizers

SECOND = 10**9
HOUR_NS = 3600 * SECOND
FILTERS = (('--op', 'GET'), ('--host', '*127.0.0.1*'), ('--client', '*'), ('--size', '1KiB..1MiB'), ('--from', '1s'), ('--to', '20s'),
           ('--skip', '1s'), ('--dur', '2s'), ('--range', 'full'), ('--steady',), ('--co-interval', '1ms'), ('--salvage',))


def identity(path):
    """What changes when a file is written anew."""
    stat = path.lstat()
    return stat.st_ino, stat.st_mtime_ns, stat.st_mode


class CacheTest(CliTest):
    def setUp(self):
        super().setUp()
        self.base = self.tmp / 'base'
        self.folder = self.base / 's3analyze'
        self.runs = self.tmp / 'runs'
        self.runs.mkdir()

    def link(self, *paths):
        """Links to files that were not changed lately."""
        for i, path in enumerate(paths or [capture('mixed-3hosts'), capture('get-g4'), capture('slow-host')]):
            (self.runs / f'{i}.csv.zst').symlink_to(path)

    def table(self, *options, env=None, command='table', **kwargs):
        r = self.s3analyze(command, '--json', *options, self.runs, env={'XDG_CACHE_HOME': str(self.base)} | (env or {}),
                           **kwargs)
        self.assertEqual(r.err, '')
        return r.json()

    def fresh(self, *options, **kwargs):
        return self.table('--no-cache', *options, **kwargs)

    def entries(self):
        return sorted(self.folder.iterdir()) if self.folder.is_dir() else []

    def identities(self):
        return [identity(p) for p in self.entries()]


class Place(CacheTest):
    def test_it_is_the_user_s_alone(self):
        self.link()
        first = self.fresh()
        self.assertFalse(self.base.exists())
        old = os.umask(0)
        try:
            self.assertEqual(self.table(), first)
        finally:
            os.umask(old)
        self.assertEqual([p.stat().st_mode & 0o777 for p in (self.base, self.folder, *self.entries())],
                         [0o700, 0o700, 0o600, 0o600, 0o600])
        before = self.identities()
        self.assertEqual(self.table(), first)
        self.assertEqual(self.identities(), before)  # it was used

    def test_which_folder(self):
        self.link()
        home = self.tmp / 'home'
        home.mkdir()
        for given, found in ({'XDG_CACHE_HOME': '', 'HOME': str(home)}, home / '.cache'), \
                ({'XDG_CACHE_HOME': 'home', 'HOME': str(home)}, home / '.cache'), \
                ({'XDG_CACHE_HOME': f'{self.tmp}/x/', 'HOME': str(home)}, self.tmp / 'x'):
            with self.subTest(given):
                self.table(env=given, cwd=self.tmp)
                self.assertEqual(len(list((found / 's3analyze').iterdir())), 3)
                shutil.rmtree(found)
                self.assertEqual(list(home.iterdir()), [])
        there = set(self.tmp.rglob('*'))
        for given in {'XDG_CACHE_HOME': 'x', 'HOME': ''}, {'XDG_CACHE_HOME': '', 'HOME': 'home'}, \
                {'XDG_CACHE_HOME': '/proc/none'}, {'XDG_CACHE_HOME': str(self.tmp / 'no' / 'such')}:
            self.table(env=given, cwd=self.tmp)
            self.assertEqual(set(self.tmp.rglob('*')), there)

    def test_nothing_beside_captures(self):
        """Files of older versions are ignored and stay, links too."""
        self.link()
        other = self.tmp / 'other'
        other.touch()
        (self.runs / '.s3analyze-cache').symlink_to(other)
        there = set(self.runs.iterdir())
        self.assertEqual(self.table(), self.fresh())
        self.assertEqual(set(self.runs.iterdir()), there)
        self.assertEqual(other.read_bytes(), b'')

    def test_links_are_not_followed(self):
        self.link()
        first = self.table()
        entry, *rest = self.entries()
        target = self.tmp / 'target'
        entry.rename(target)
        entry.symlink_to(target)
        before = identity(target), [identity(p) for p in rest]
        self.assertEqual(self.table(), first)
        self.assertFalse(entry.is_symlink())
        self.assertEqual((identity(target), [identity(p) for p in rest]), before)
        moved = self.tmp / 'moved'
        self.folder.rename(moved)
        shutil.rmtree(moved)
        moved.mkdir()
        self.folder.symlink_to(moved)
        self.assertEqual(self.table(), first)
        self.assertEqual(list(moved.iterdir()), [])

    def test_what_others_can_write_is_ignored(self):
        self.link()
        first = self.table()
        entry, *rest = self.entries()
        for spoil in (lambda: entry.chmod(0o620), lambda: entry.chmod(0o602), *([lambda: os.chown(entry, 65534, 0)]
                                                                              if os.geteuid() == 0 else [])):
            spoil()
            before = identity(entry), [identity(p) for p in rest]
            self.assertEqual(self.table(), first)
            self.assertNotEqual(identity(entry), before[0])
            self.assertEqual([identity(p) for p in rest], before[1])
            self.assertEqual((entry.stat().st_mode & 0o777, entry.stat().st_uid), (0o600, os.geteuid()))
        self.folder.chmod(0o770)
        entry.unlink()
        self.assertEqual(self.table(), first)
        self.assertEqual(self.entries(), rest)

    def test_pipes_and_folders_in_it(self):
        self.link()
        first = self.table()
        pipe, folder, _ = self.entries()
        pipe.unlink()
        os.mkfifo(pipe)
        folder.unlink()
        folder.mkdir()
        self.assertEqual(self.table(), first)
        self.assertTrue(pipe.is_file() and folder.is_dir())

    def test_a_full_disk(self):
        self.link()
        first = self.fresh()
        self.assertEqual(self.table(preexec_fn=lambda: limit_file_size(10)), first)
        self.assertEqual(self.entries(), [])

    def test_names(self):
        """There are 32,768. What a killed process left is replaced."""
        self.link()
        first = self.table()
        entry, *rest = self.entries()
        for path in entry, *rest:
            self.assertRegex(path.name, r'^[0-7][0-9a-f]{3}$')
        entry.rename(f'{entry}.new')
        self.assertEqual(self.table(), first)
        self.assertEqual(self.entries(), [entry, *rest])

    def test_processes_at_once(self):
        self.link()
        first = self.fresh()
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            for report in pool.map(lambda _: self.table(), range(12)):
                self.assertEqual(report, first)
        before = self.identities()
        self.assertEqual(len(before), 3)
        self.assertEqual(self.table(), first)
        self.assertEqual(self.identities(), before)


class Answers(CacheTest):
    def test_files_of_one_checksum(self):
        """The files of this folder differ, but not by XXH3 of 128 bits."""
        self.link(*sorted((TESTDATA / 'collision').iterdir()))
        first = self.fresh()
        self.assertNotEqual(*({**r, 'run': '', 'path': '', 'start': ''} for r in first['rows']))
        for _ in range(2):
            self.assertEqual(self.table(), first)

    def test_damage(self):
        self.link()
        first = self.table()
        entry = self.entries()[0]
        whole = entry.read_bytes()
        middle = len(whole) // 2
        for damaged in (b'', whole[:-1], whole + b' ', whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:], whole.replace(b' ', b' 9', 1),
                        self.entries()[1].read_bytes(), b'\xff' * (1 << 21)):
            entry.write_bytes(damaged)
            self.assertEqual(self.table(), first)
            self.assertEqual(entry.read_bytes(), whole)

    def test_another_program_has_figures_of_its_own(self):
        self.link()
        first = self.table()
        before = self.identities()
        program = self.tmp / 's3analyze'
        shutil.copy(BUILD / 's3analyze', program)
        r = run(program, 'table', '--json', self.runs, env={'XDG_CACHE_HOME': str(self.base)})
        self.assertEqual(r.json(), first)
        self.assertFalse(set(before) & set(self.identities()))

    def test_options_that_change_figures(self):
        self.link()
        self.table()
        for command in 'table', 'trend':
            for option in FILTERS:
                with self.subTest(command=command, option=option):
                    with_cache, without = (run('s3analyze', command, '--json', *no_cache, *option, self.runs,
                                               env={'XDG_CACHE_HOME': str(self.base)}) for no_cache in ((), ('--no-cache',)))
                    self.assertEqual((with_cache.raw, with_cache.status), (without.raw, without.status))
                    self.assertEqual(without.status, 0, without.err)

    def test_runs_of_all_kinds(self):
        """The cache gives the figures that a fresh run gives, also of captures that are reduced because sums lie beside them."""
        for path in (capture('s3load-open-loop'), capture('get-errors'), capture('versioned')):
            (self.runs / path.name).symlink_to(path)
        for step in range(2):
            for command in 'trend', 'table':
                first = self.fresh(command=command)
                for _ in range(2):
                    self.assertEqual(self.table(command=command), first)
            for name in ('aggregated-1.6.1.json.zst', 's3load-first.sums.zst') if step == 0 else ():
                (self.runs / name).symlink_to(TESTDATA / 'formats' / name)
        self.assertEqual(len(self.entries()), 10)  # each as itself, and as sums

    def test_standard_input_is_no_file(self):
        """"-" is not the file of that name."""
        self.link(capture('get-g4'))
        shutil.copy(capture('slow-host'), self.tmp / '-')
        env = {'XDG_CACHE_HOME': str(self.base)}
        for stdin in capture('mixed-3hosts'), capture('list'):
            said = [run('s3analyze', 'table', '--json', *option, '-', capture('get-g4'), cwd=self.tmp, env=env,
                        stdin=stdin.read_bytes()) for option in ((), ('--no-cache',))]
            self.assertEqual((said[0].raw, said[0].status), (said[1].raw, said[1].status))


@without_sanitizers('a preloaded library moves the clock')
class Changes(CacheTest):
    """Captures that the test writes; to s3analyze they are an hour old."""

    def setUp(self):
        super().setUp()
        for i in range(3):
            (self.runs / f'{i}.csv').write_bytes(self.capture(i))

    @staticmethod
    def capture(day, op='GET'):
        return text([row(day * 86400 * SECOND + i * SECOND // 10, day * 86400 * SECOND + i * SECOND // 10 + SECOND // (11 + i % 5),
                         op=op) for i in range(100)])

    def table(self, *options, env=None, ahead_ns=HOUR_NS, **kwargs):
        return super().table(*options, env=preload('world.so') | {'WORLD_AHEAD_NS': str(ahead_ns)} | (env or {}), **kwargs)

    def test_what_was_changed_is_read_again(self):
        first = self.table()
        before = self.identities()
        self.assertEqual(self.table(), first)
        self.assertEqual(self.identities(), before)
        path = self.runs / '1.csv'
        stat = path.stat()
        path.write_bytes(path.read_bytes().replace(b'GET', b'PUT'))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.assertEqual(path.stat().st_size, stat.st_size)
        self.assertEqual([r['op'] for r in self.table()['rows']], ['GET', 'PUT', 'GET'])
        # Another file takes its place, and has its size and times.
        other = self.tmp / 'other'
        shutil.copy(self.runs / '0.csv', other)
        os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        other.rename(path)
        self.assertEqual([r['start'] for r in self.table()['rows']], [r['start'] for r in self.fresh()['rows']])
        self.assertEqual(len(self.entries()), 3)  # one for each path

    def test_what_has_just_changed_is_not_kept(self):
        """Its times may not show the next change. Here each file is from the future."""
        first = self.table(ahead_ns=-HOUR_NS)
        self.assertEqual(first, self.fresh())
        self.assertEqual(self.entries(), [])

    def test_large_runs_are_not_kept(self):
        """A file has at most 8 KiB."""
        path = self.runs / '1.csv'
        for n, n_kept in (10, 3), (40, 2):
            path.write_bytes(text([row(i * SECOND, i * SECOND + SECOND, op=f'OP{i}') for i in range(n)]))
            shutil.rmtree(self.base, ignore_errors=True)
            self.assertEqual(len(self.table()['rows']), 2 + n)
            self.assertEqual(len(self.entries()), n_kept)
            self.assertLessEqual(max(p.stat().st_size for p in self.entries()), 8192)

    def test_a_capture_that_grows_while_it_is_read(self):
        source, library, path = self.tmp / 'grow.c', self.tmp / 'grow.so', self.runs / '1.csv'
        more = self.capture(1, op='PUT').split(b'\n')[-2] + b'\n'
        source.write_text('#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\n'
                          '#include <sys/types.h>\n#include <unistd.h>\n'
                          'ssize_t read(int fd, void *p, size_t n)\n{\n'
                          '    static ssize_t (*real)(int, void *, size_t);\n    char of[64], name[4096] = "";\n'
                          '    if (!real) real = dlsym(RTLD_NEXT, "read");\n'
                          '    snprintf(of, sizeof of, "/proc/self/fd/%d", fd);\n'
                          '    ssize_t got = real(fd, p, n), len = readlink(of, name, sizeof name - 1);\n'
                          '    if (got > 0 && len > 0 && getenv("GROWS") && !__builtin_strcmp(name, getenv("GROWS"))) {\n'
                          '        FILE *f = fopen(name, "a"); fputs(getenv("MORE"), f); fclose(f); unsetenv("GROWS"); }\n'
                          '    return got;\n}\n')
        subprocess.run(['gcc', '-shared', '-fPIC', '-o', library, source], check=True)
        env = preload('world.so')
        env |= {'LD_PRELOAD': f'{library}:{env["LD_PRELOAD"]}', 'GROWS': str(path), 'MORE': more.decode()}
        size = path.stat().st_size
        self.table(env=env)
        self.assertGreater(path.stat().st_size, size)
        self.assertEqual(len(self.entries()), 2)
        self.assertEqual(self.table(), self.fresh())
        self.assertEqual(len(self.entries()), 3)


if __name__ == '__main__':
    unittest.main()
