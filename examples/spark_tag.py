"""Tag a table with Spark: ``spark-submit examples/spark_tag.py MODEL IN OUT --text abstract``.

IN is a folder or file of Parquet, or of JSON lines if its name has ``json`` in it. OUT becomes Parquet with a column
``mentions``. Spanloom has to be installed where the executors run, and MODEL has to be there under the same path.
"""

import argparse

from pyspark.sql import SparkSession

from spanloom.scale.spark import tag


def main() -> None:
    """Read, tag, write, and print how many mentions of each label there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("source")
    parser.add_argument("out")
    parser.add_argument("--text", default="text", help="the column of the texts")
    given = parser.parse_args()
    spark = SparkSession.builder.appName("spanloom").getOrCreate()
    table = spark.read.json(given.source) if "json" in given.source else spark.read.parquet(given.source)
    tag(table, given.model, text=given.text).write.parquet(given.out)
    done = spark.read.parquet(given.out).selectExpr("explode(mentions) AS mention")
    done.groupBy("mention.label").count().orderBy("label").show(truncate=False)
    spark.stop()


if __name__ == "__main__":
    main()
