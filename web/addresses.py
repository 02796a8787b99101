"""Addresses of pages that have gone lead to those that have what they had."""

from starlette.datastructures import URL
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

OLD_ADDRESSES = {
    "Merge_graph": "?state=Type",
    "Merge_tree": "?state=Word",
    "Vocabulary": "?state=All+types",
    "Blame": "Repair?remedy=blame",
    "ReBPE": "Repair?remedy=rebpe",
    "History": "",
    "History_and_export": "",
    "Segmentations": "Compare",
    "Scores": "Compare",
    "Train": "Build",
    "Batch": "Build",
}
"""The page that has what one had, empty for the Workbench, and what it has to show."""


class OldAddresses:
    """Answers a request for a page that has gone by where to look, with its parameters."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or say where the page is now."""
        place, _, name = scope.get("path", "").rstrip("/").rpartition("/")
        if scope["type"] != "http" or name not in OLD_ADDRESSES:
            await self.app(scope, receive, send)
            return
        page, _, shows = OLD_ADDRESSES[name].partition("?")
        query = "&".join(filter(None, (shows, scope["query_string"].decode("ascii", "replace"))))
        url = URL(scope=scope).replace(scheme="", netloc="", path=f"{place}/{page}", query=query)
        await RedirectResponse(url)(scope, receive, send)
