"""Bridges to other programs, with their manners. Each needs an extra, and is imported by who uses it."""
