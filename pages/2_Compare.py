"""Methods side by side: their figures, and the words that they cut."""

from web.bootstrap import start
from web.compare.page import compare_page

compare_page(start("Compare"))
