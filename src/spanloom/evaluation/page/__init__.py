"""A report as one HTML page that needs nothing else: no network, no other file."""

from spanloom.evaluation.page.build import page, write_page

__all__ = ["page", "write_page"]
