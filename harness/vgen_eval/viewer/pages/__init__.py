"""The viewer's pages: each module has its ROUTES; templates lie in ../templates."""
