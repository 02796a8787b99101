"""Full evaluations: choose one, start it, watch it, and compare what came out."""

from web.batch_page import batch_page
from web.bootstrap import start

start("Batch")
batch_page()
