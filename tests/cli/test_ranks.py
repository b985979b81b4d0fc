"""s3load-mpi: one run of several processes; and s3load, where a launcher started several."""
import unittest

from loadcase import LoadTest

QUICK = ("--obj.size", "1KiB", "--concurrent", "2", "--duration", "100ms", "--stress")


class Launched(LoadTest):
    def test_refuses_to_be_one_of_many(self):
        self.start()
        for env in ({"OMPI_COMM_WORLD_SIZE": "4"}, {"PMI_SIZE": "4"}, {"PMIX_RANK": "3"},
                    {"SLURM_NTASKS": "4", "SLURM_STEP_ID": "0"}):
            with self.subTest(env):
                for command in ("put", "clean"):
                    r = self.s3load(command, status=2, env=env)
                    self.assertIn("4 copies would load the same names unrelated: use s3load-mpi", r.err)
        self.assertEqual(self.server.log(), [])
        self.s3load("put", *QUICK, "--alone", env={"OMPI_COMM_WORLD_SIZE": "4"})

    def test_is_one(self):
        """One copy, and a batch script, which is told of the tasks that it may start, are no crowd."""
        self.start()
        for env in ({"OMPI_COMM_WORLD_SIZE": "1"}, {"PMIX_RANK": "0"}, {"SLURM_NTASKS": "4"}):
            self.s3load("put", *QUICK, env=env)


if __name__ == "__main__":
    unittest.main()
