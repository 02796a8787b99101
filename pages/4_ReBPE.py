"""ReBPE, step by step: anneal, knock out, reify, back and forth, to convergence."""

from web.bootstrap import start
from web.rebpe_page import rebpe_page

rebpe_page(start("ReBPE"))
