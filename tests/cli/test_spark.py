"""The SQL of sql/ gives the digits of s3analyze on Spark, in its local mode. .ci/run leaves this out where
there is no JVM."""
import pathlib
import shutil
import tempfile
import unittest

from engines import CAPTURES, SameDigits, several_captures, statements
from harness import capture

try:
    from pyspark.sql import SparkSession
    MISSING = None if shutil.which("java") else "no JVM"
except ImportError as e:
    MISSING = f"{e}: '.ci/deps --ci' installs it where there is a JVM"

SETTINGS = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1", "spark.sql.session.timeZone": "UTC",
            "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
            "spark.ui.showConsoleProgress": "false", "spark.sql.adaptive.enabled": "false"}
# Captures of some thousand rows are done before compiled code would be.
SMALL = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN",
         "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


@unittest.skipIf(MISSING, MISSING)
class Spark(SameDigits, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        builder = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", folder.name)
        for name, value in {**SETTINGS, **SMALL}.items():
            builder = builder.config(name, value)
        cls.spark = builder.getOrCreate()
        cls.spark.sparkContext.setLogLevel("ERROR")
        cls.addClassCleanup(cls.spark.stop)

    def table(self, view):
        return [row.asDict() for row in self.spark.sql(f"SELECT * FROM {view}").collect()]

    def test_figures(self):
        for name in CAPTURES[:5]:
            with self.subTest(name):
                self.spark.sql(f"SET capture = {capture(name)}")
                for statement in statements("read-spark") + statements("analysis"):
                    self.spark.sql(statement)
                self.assert_figures(name)
                self.assert_segments(name)

    def test_captures_in_one_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "two.csv"
            path.write_bytes(several_captures(200))
            self.spark.sql(f"SET capture = {path}")
            for statement in statements("read-spark"):
                self.spark.sql(statement)
            rows = self.spark.sql("SELECT thread, count(*) AS n FROM requests GROUP BY thread").collect()
            self.assertEqual({(r["thread"] % 2**32, r["n"] > 50) for r in rows}, {(k, True) for k in range(4)})
            self.assertEqual(len(rows), 12)


if __name__ == "__main__":
    unittest.main()
