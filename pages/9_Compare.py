"""Every remedy side by side: one word or a thousand, against the gold."""

from web.bootstrap import start
from web.compare_page import compare_page

compare_page(start("Compare"))
