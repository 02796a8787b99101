"""Which merges close gold boundaries, and what a threshold would remove."""

from web.blame_page import blame_dashboard
from web.bootstrap import start

blame_dashboard(start("Blame"))
