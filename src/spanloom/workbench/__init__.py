"""The workbench: a project of annotated text, the server of its page, and the recogniser that learns from it."""
