// A BPE tokeniser in a page: it cuts words as in running text, from a table of merges, one a line.

const story = { components: {}, merges: {} };

story.Tokeniser = class {
  /** `table`: the two parts of each merge with a space between them, the first merge first. */
  constructor(table) {
    this.ranks = new Map(table.split("\n").map((line, rank) => [line, rank]));
  }

  /** The tokens of a word, as the signs that stand for their bytes. */
  segment(word) {
    const words = ` ${word}`.match(story.WORDS) ?? [];
    return words.flatMap((text) => this.merge([...new TextEncoder().encode(text)].map((byte) => story.SIGNS[byte])));
  }

  /** Merge the pair of the lowest rank, wherever it stands, until no pair has one. */
  merge(parts) {
    for (;;) {
      let [best, least] = [null, Infinity];
      for (let i = 1; i < parts.length; i += 1) {
        const pair = `${parts[i - 1]} ${parts[i]}`;
        const rank = this.ranks.get(pair) ?? Infinity;
        if (rank < least) [best, least] = [pair, rank];
      }
      if (best === null) return parts;
      const merged = [];
      for (let i = 0; i < parts.length; i += 1) {
        const found = i + 1 < parts.length && `${parts[i]} ${parts[i + 1]}` === best;
        merged.push(found ? parts[i] + parts[(i += 1)] : parts[i]);
      }
      parts = merged;
    }
  }
};

/** How GPT-2 and the demo tokenisers divide text into words before anything is merged. */
story.WORDS = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** A printable sign for each byte, which is its own where it can be. */
story.SIGNS = (() => {
  const plain = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(plain(byte) ? byte : next++));
})();
