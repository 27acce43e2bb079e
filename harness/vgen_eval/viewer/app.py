"""The application: every page's routes behind the guard."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vgen_eval.viewer.assets import find_asset
from vgen_eval.viewer.bounding import Bounding
from vgen_eval.viewer.pages.errors import answer
from vgen_eval.viewer.security import Guard
from vgen_eval.viewer.warming import Noting

if TYPE_CHECKING:
    from vgen_eval.viewer.site import Site

__all__ = ["PAGES", "make_app"]

PAGES = (
    "runs", "leaderboard", "suite", "run", "gallery", "live", "media", "sample", "models", "compare"
)  # fmt: skip
"""Modules of `pages`, each with its ROUTES."""

FOREVER = "public, max-age=31536000, immutable"


def make_app(site: Site) -> Starlette:
    """The viewer of one site, an ASGI application; handlers find it as `app.state.site`."""
    routes = [Route("/static/{name}", serve_asset)]
    for name in PAGES:
        routes += import_module(f"vgen_eval.viewer.pages.{name}").ROUTES
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(Bounding),
            *([] if site.warmer is None else [Middleware(Noting, warmer=site.warmer)]),
            Middleware(Guard, site=site),
        ],
        exception_handlers={HTTPException: answer},
    )
    app.router.redirect_slashes = False
    app.state.site = site
    return app


def serve_asset(request: Request) -> Response:
    """A script, the style or the colour tables."""
    asset = find_asset(request.path_params["name"])
    if asset is None:
        raise HTTPException(404)
    fresh = request.query_params.get("v") == asset.version
    return Response(
        asset.body,
        media_type=asset.type,
        headers={"cache-control": FOREVER if fresh else "no-cache"},
    )
