"""The one-file report: numbers, chosen samples, their pictures in a page that opens from disk."""
