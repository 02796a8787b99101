"""A small SuperBPE tokeniser, trained in two stages as Liu et al. 2025 do, by plain means."""

import json
import random
from collections import Counter
from functools import cache
from itertools import pairwise

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

WORDS = ["of", "the", "in", "a", "lot", "un", "doing", "undo", "house", "houses", "é", "世界"]
_FIRST = r" ?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_SECOND = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"


@cache
def superbpe_json():
    """The ``tokenizer.json``: 40 merges inside words, then 30 across them."""
    draw = random.Random(1)
    lines = [" ".join(draw.choices(WORDS, [9, 9, 6, 4, 3, *[1] * 7], k=8)) for _ in range(200)]
    made = Tokenizer(models.BPE())
    made.decoder = decoders.ByteLevel()
    made.pre_tokenizer = _cutting(_FIRST)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        lines,
        trainers.BpeTrainer(vocab_size=296, initial_alphabet=alphabet, show_progress=False),
    )
    chunks = Counter(tuple(made.encode(line).tokens) for line in lines)
    made.pre_tokenizer = _cutting(_SECOND)
    document = json.loads(made.to_str())
    vocabulary = document["model"]["vocab"]
    for _ in range(30):
        pairs = Counter()
        for tokens, count in chunks.items():
            for pair in pairwise(tokens):
                pairs[pair] += count
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        document["model"]["merges"].append(list(best))
        vocabulary.setdefault("".join(best), len(vocabulary))
        chunks = Counter({_merged(tokens, best): n for tokens, n in chunks.items()})
    return json.dumps(document).encode()


def _cutting(pattern):
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), bytes_])


def _merged(tokens, pair):
    found = []
    place = 0
    while place < len(tokens):
        width = 2 if tokens[place : place + 2] == pair else 1
        found.append("".join(tokens[place : place + width]))
        place += width
    return tuple(found)
