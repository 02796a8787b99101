"""The app as a server: ``streamlit run web/serve.py``, which ``morphgraph app`` runs."""

import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

ROOT = Path(__file__).resolve().parent.parent
# Streamlit searches for modules beside this file; ours are in the parent folder.
sys.path = [str(ROOT) if Path(place) == Path(__file__).parent else place for place in sys.path]

from morphgraph.core.limits import PUBLIC_UPLOADS  # noqa: E402
from web.guard import BoundedUploads, KnownHosts, SafeHeaders, frame_route  # noqa: E402
from web.hosting import allows_frames, is_public, own_hosts  # noqa: E402
from web.housekeeping import CountTabs, Tabs, manage_memory  # noqa: E402

tabs = Tabs()
middleware = [
    Middleware(CountTabs, tabs=tabs),
    Middleware(SafeHeaders, allow_frame=allows_frames()),
    Middleware(KnownHosts, hosts=own_hosts()),
]
if is_public():
    st.set_option("client.showErrorDetails", "none")  # a traceback reveals details of the server
    middleware.append(Middleware(BoundedUploads, most=PUBLIC_UPLOADS.value * 2**20))

app = st.App(
    ROOT / "app.py",
    routes=[frame_route(allow_frame=allows_frames())],
    middleware=middleware,
    lifespan=lambda app: manage_memory(tabs),
)
