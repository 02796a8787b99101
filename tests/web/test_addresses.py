"""Old addresses lead to the pages that there are."""

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from web.addresses import OLD_ADDRESSES, OldAddresses

app = Starlette(
    routes=[Route("/{rest:path}", lambda request: PlainTextResponse(str(request.url)))],
    middleware=[Middleware(OldAddresses)],
)


def test_an_address_of_a_page_that_has_gone_leads_on_with_its_parameters():
    client = TestClient(app, follow_redirects=False)
    for old, new in OLD_ADDRESSES.items():
        for before in ("", "/below"):
            answer = client.get(f"{before}/{old}?type=%E2%90%A3a&word=b")
            page, _, shows = new.partition("?")
            asked = "&".join(filter(None, (shows, "type=%E2%90%A3a&word=b")))
            assert answer.headers["location"] == f"{before}/{page}?{asked}"


def test_every_other_address_is_left_alone():
    client = TestClient(app, follow_redirects=False)
    for place in ("/", "/Repair", "/static/Blame.js", "/_stcore/health"):
        assert client.get(place).status_code == 200
