"""Browse the merge graph, and click types to knock them out."""

from web.bootstrap import start
from web.explorer import explorer

explorer(start("Merge graph"))
