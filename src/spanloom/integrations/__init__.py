"""Bridges to other programs, in their conventions. Each needs an extra and is imported on its own."""
