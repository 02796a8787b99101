"""Train a tokeniser from word counts or text, by any method."""

from web.bootstrap import start
from web.train_page import train_page

train_page(start("Train"))
