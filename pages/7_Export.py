"""The edited tokeniser, exported: checked, in one archive."""

from web.bootstrap import start
from web.export import export_page

export_page(start("Export"))
