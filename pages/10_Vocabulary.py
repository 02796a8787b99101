"""What vocabularies are made of, and how well they compress a corpus."""

from web.bootstrap import start
from web.vocabulary_page import vocabulary_page

vocabulary_page(start("Vocabulary"))
