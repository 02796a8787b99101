"""Methods of segmentation: one file each, listed here by name."""

from morphgraph.segment.method import METHODS, Listing

LISTED = {
    "bpe": Listing("morphgraph.segment.bte", trained=True),
    "bpe-prime": Listing("morphgraph.segment.bte", segments=False, trained=True),
    "dropout": Listing("morphgraph.segment.dropout"),
    "trimmed": Listing("morphgraph.segment.trimmed"),
    "adaptbpe": Listing("morphgraph.segment.adaptbpe"),
    "litetoken": Listing("morphgraph.segment.litetoken"),
    "flota": Listing("morphgraph.segment.flota"),
    "first": Listing("morphgraph.segment.flota"),
    "longest": Listing("morphgraph.segment.flota"),
    "greedy": Listing("morphgraph.segment.wordpiece"),
    "suffix": Listing("morphgraph.segment.suffix"),
    "least": Listing("morphgraph.segment.least"),
    "morfessor": Listing("morphgraph.segment.morfessor", offered=False, trained=True),
    "parity": Listing("morphgraph.segment.parity", segments=False, trained=True),
    "picky": Listing("morphgraph.segment.picky", offered=False, trained=True),
    "scaffold": Listing("morphgraph.segment.trimmed", offered=False, trained=True),
    "unigram": Listing("morphgraph.segment.unigram", offered=False, trained=True),
    "unigram-prime": Listing("morphgraph.segment.unigram", segments=False, trained=True),
    "wordpiece": Listing("morphgraph.segment.wordpiece", offered=False, trained=True),
}
for _name, _listing in LISTED.items():
    METHODS[_name] = _listing
