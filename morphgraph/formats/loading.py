"""Load a tokeniser or vocabulary from a file, a folder, uploaded files, or a named demo."""

from morphgraph.formats.contents import Document
from morphgraph.formats.hugging_face import to_document
from morphgraph.formats.opening import open_tokeniser
from morphgraph.formats.tokeniser_files import Given
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary


def load_tokeniser(given: Given, pattern: str | None = None) -> BpeTokeniser:
    """Load a BPE tokeniser from a file, a folder, uploaded files, or a named demo (``demo:en``).

    A file is a ``tokenizer.json``, a SentencePiece BPE model, a rank file of tiktoken, Mistral's
    ``tekken.json``, a GGUF file, or a ``vocab.json`` or ``merges.txt`` with the other one beside
    it; a folder holds these, and settings (see `open_tokeniser`). ``pattern``: how text is cut into
    pieces, or the name of an encoding that does the same, where a rank or GGUF file does not say.
    Errors: `FileFormatError`.
    """
    return open_tokeniser(given, pattern).tokeniser()


def load_vocabulary(given: Given) -> SubwordVocabulary:
    """Load the vocabulary of a file, a folder, uploaded files or a demo."""
    return open_tokeniser(given).vocabulary()


def vocabulary_of(tokeniser: BpeTokeniser) -> SubwordVocabulary:
    """Return the present types of a tokeniser, as it would be saved, without merges.

    Without edits they keep their ids.
    """
    document = to_document(tokeniser)[0] if tokeniser.is_edited else tokeniser.document
    return Document(document).vocabulary(tokeniser.name)
