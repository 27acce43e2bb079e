"""Verbs that have verbs of their own: `task new`, `plugin new`, `runs list`."""

from __future__ import annotations

import click

__all__ = ["VerbGroup"]


class VerbGroup(click.Group):
    """Says what is near a word that is no verb."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with our own words."""
        verbs = self.list_commands(ctx)
        if args[0] not in verbs and not ctx.resilient_parsing:
            from vgen_eval.errors import UsageError, nearest

            raise UsageError(
                f"no verb '{self.name} {args[0]}'.{nearest(args[0], verbs)}",
                cure=f"vgen-eval {self.name} --help shows them all",
            )
        return super().resolve_command(ctx, args)
