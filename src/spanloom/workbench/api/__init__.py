"""The API of the page: plain functions from a project and a request to JSON."""
