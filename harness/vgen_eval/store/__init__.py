"""The run store: identity-named runs, journals, content-addressed outputs, the response index."""
