"""What pages and the one-file report are made of: panes laid out, addresses, templates."""
