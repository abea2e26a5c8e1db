"""Tables in, tables out: ``spanloom.frames.tag(df, "gene.loom", text="abstract")``."""

from spanloom.integrations.frames import connect_duckdb, tag

__all__ = ["connect_duckdb", "tag"]
