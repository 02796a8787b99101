"""The examples of CONTRIBUTING.md: a method, a format of references, a metric and a task."""
