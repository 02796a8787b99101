"""The edited tokeniser to take home: checked, in one archive."""

from web.bootstrap import start
from web.take_home import take_home

take_home(start("Take home"))
