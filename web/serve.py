"""The app as a server: ``streamlit run web/serve.py``, which ``morphgraph app`` runs."""

import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

ROOT = Path(__file__).resolve().parent.parent
# Streamlit searches for modules beside this file; ours are in the parent folder.
sys.path = [str(ROOT) if Path(place) == Path(__file__).parent else place for place in sys.path]

from morphgraph.core.limits import PUBLIC_UPLOADS, is_public  # noqa: E402
from web import guard  # noqa: E402
from web.addresses import OldAddresses  # noqa: E402

# Streamlit makes variables of .streamlit/secrets.toml, where hosts keep them, only after this file.
st.secrets.load_if_toml_exists()
tabs, framed = guard.Tabs(), guard.allows_frames()
middleware = [
    Middleware(guard.CountTabs, tabs=tabs),
    Middleware(OldAddresses),
    Middleware(guard.Pages, allow_frame=framed),
    Middleware(guard.KnownHosts, hosts=guard.own_hosts()),
]
if is_public():
    st.set_option("client.showErrorDetails", "none")  # a traceback reveals details of the server
    middleware.append(Middleware(guard.BoundedUploads, most=PUBLIC_UPLOADS.value * 2**20))

app = st.App(
    ROOT / "app.py",
    routes=[guard.frame_route(allow_frame=framed)],
    middleware=middleware,
    lifespan=lambda app: guard.manage_memory(tabs),
)
