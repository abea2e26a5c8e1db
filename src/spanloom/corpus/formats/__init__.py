"""One file per format: ``read(path, report, *, options)`` and ``write(docs, path, report, *, options)``."""
