"""Tagging over HTTP: ``spanloom serve MODEL``, and a client for programs.

``engine`` tags the texts of many requests together, ``api`` is the ASGI application, ``security`` guards it, and
``labelstudio``, ``inception`` and ``doccano`` answer in the words of other tools. The server needs the extra
``spanloom[serve]``; the client needs nothing.
"""
