// A byte-level BPE tokeniser in a page: it cuts words as in running text. The story has it, too.

/** How GPT-2 and the demo tokenisers divide text before anything is merged. */
const PIECES =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const LONGEST = 300; // bytes of a piece, beyond which cutting takes long
const PREFIX = 65536; // numbers from here on are parts of a merge that are not yet all of them

/** A letter, or its number in hexadecimal if nothing would be seen of it. */
function printable(letter) {
  if (letter === " " || !/[\p{C}\p{Z}]/u.test(letter)) return letter;
  return `⟨${letter.codePointAt(0).toString(16).toUpperCase().padStart(2, "0")}⟩`;
}

class Cutter {
  /**
   * `bytes`: the types of the 256 bytes; of each merge, the first merge first, `results` has the
   * type that it makes and `parts` those that it joins, two unless `widths` (a Map) says more.
   * `added`: texts that are tokens whatever stands around them; words with one are not cut here.
   */
  constructor({ bytes, results, parts, widths = new Map(), space = true, added = [] }) {
    Object.assign(this, { bytes, results, added });
    this.before = space ? " " : "";
    this.next = new Map(); // what is joined so far and the next part, to a number of a step
    this.ranks = []; // of each step: the merge that it completes, if any
    this.goesOn = []; // whether another step may follow
    let at = 0;
    for (let rank = 0; rank < results.length; rank += 1) {
      const end = at + (widths.get(rank) ?? 2);
      let state = parts[at];
      for (at += 1; at < end; at += 1) {
        const key = state * PREFIX + parts[at];
        let step = this.next.get(key);
        if (step === undefined) {
          step = this.ranks.push(Infinity) - 1;
          this.goesOn.push(false);
          this.next.set(key, step);
        }
        if (at < end - 1) this.goesOn[step] = true;
        else this.ranks[step] = Math.min(this.ranks[step], rank);
        state = PREFIX + step;
      }
    }
  }

  /** The tokens of a word, each its type and its number of bytes; null if it is for the library. */
  cut(word) {
    const text = this.before + word;
    if (!word || /\p{Cn}|\p{Cs}/u.test(word) || this.added.some((one) => text.includes(one))) return null;
    const tokens = [];
    for (const piece of text.match(PIECES) ?? []) {
      const bytes = Cutter.encoder.encode(piece);
      if (bytes.length > LONGEST) return null;
      tokens.push(...this.merge(Array.from(bytes, (byte) => [this.bytes[byte], 1])));
    }
    return tokens;
  }

  /** Apply the merge of the lowest rank at its leftmost place, until none applies. */
  merge(tokens) {
    for (;;) {
      let [best, at, width] = [Infinity, 0, 0];
      for (let i = 0; i + 1 < tokens.length; i += 1) {
        let state = tokens[i][0];
        for (let j = i + 1; j < tokens.length; j += 1) {
          const step = this.next.get(state * PREFIX + tokens[j][0]);
          if (step === undefined) break;
          if (this.ranks[step] < best) [best, at, width] = [this.ranks[step], i, j - i + 1];
          if (!this.goesOn[step]) break;
          state = PREFIX + step;
        }
      }
      if (best === Infinity) return tokens;
      const joined = tokens.slice(at, at + width).reduce((sum, [, length]) => sum + length, 0);
      tokens.splice(at, width, [this.results[best], joined]);
    }
  }

  /**
   * The tokens of a word: its letters, or bytes in hexadecimal of those that it shares, and of the
   * letters only those that begin in it.
   */
  shown(word) {
    const tokens = this.cut(word);
    if (!tokens) return null;
    const letters = [...(this.before + word)];
    let [letter, inside, bytes] = [-1, 0, []]; // of that letter, the bytes behind us, and all
    return tokens.map(([type, length]) => {
      let [text, begun] = ["", ""];
      for (let left = length; left > 0; ) {
        if (inside === bytes.length) {
          [letter, inside] = [letter + 1, 0];
          bytes = Cutter.encoder.encode(letters[letter]);
          begun += letters[letter];
        }
        const taken = Math.min(left, bytes.length - inside);
        if (taken === bytes.length) text += printable(letters[letter]);
        else for (const byte of bytes.slice(inside, inside + taken)) text += `⟨${byte.toString(16).toUpperCase()}⟩`;
        inside += taken;
        left -= taken;
      }
      return { text: text.replace(/^ /, "␣"), letters: begun.replace(/^ /, ""), type };
    });
  }

  /** What `morphgraph.draw.cutting` has packed, and the state that it is of. */
  static unpack(data) {
    const packed = data.slice(); // begins at an even address
    const length = new DataView(packed.buffer).getUint32(0, true);
    const { state, merges, wide, ...rest } = JSON.parse(new TextDecoder().decode(packed.subarray(4, 4 + length)));
    const numbers = new Uint16Array(packed.buffer, 4 + length);
    const results = numbers.subarray(256, 256 + merges);
    const widths = new Map(wide[0].map((rank, number) => [rank, wide[1][number]]));
    const parts = numbers.subarray(256 + merges);
    return [state, new Cutter({ ...rest, bytes: numbers.subarray(0, 256), results, parts, widths })];
  }

  static encoder = new TextEncoder();
}
