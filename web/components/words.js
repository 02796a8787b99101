// A word to edit, and how it is cut.

const WAIT = 350; // ms without a key before a text is looked at

class WordsView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".words");
    this.area = parent.querySelector("textarea");
    this.lines = parent.querySelector(".lines");
    this.area.addEventListener("input", () => {
      this.grow();
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.send(), WAIT);
    });
    this.area.addEventListener("keydown", (event) => {
      // Enter looks at once; with Shift it begins another line.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.send();
    });
  }

  update({ data, setStateValue }) {
    this.report = setStateValue;
    this.frame.classList.toggle("dark", isDark(this.parent));
    this.frame.classList.toggle("many", data.lines.flat().length > 1);
    // What is typed stays, unless another text was chosen elsewhere.
    if (data.version !== this.version) {
      this.version = data.version;
      this.sent = this.area.value = data.text;
    }
    const source = JSON.stringify(data.lines);
    if (source !== this.source) {
      const before = this.cut ?? null;
      this.source = source;
      this.cut = new Map();
      this.lines.replaceChildren(...data.lines.map((line) => this.line(line, before)));
    }
    this.grow();
  }

  grow() {
    this.area.style.height = "auto";
    this.area.style.height = `${this.area.scrollHeight + 2}px`;
  }

  send() {
    clearTimeout(this.waiting);
    if (this.area.value === this.sent) return;
    this.sent = this.area.value;
    this.report?.("text", this.sent);
  }

  line(words, before) {
    const line = made("div", "line");
    for (const word of words) line.append(this.word(word, before));
    return line;
  }

  label(text, title, kind = "") {
    return Object.assign(made("span", `label ${kind}`, text), { title });
  }

  word({ word, morphs, tokens }, before) {
    const shown = made("div", "word");
    if (morphs.length) {
      const gold = made("div", "chips gold");
      for (const morph of morphs) gold.append(made("span", "chip", morph));
      shown.append(this.label("gold", "Where the reference cuts the word", "gold"), gold);
    }
    const chips = made("div", "chips");
    const now = tokens.map(({ segments }) => segments.join("")).join(" ");
    const isChanged = before?.has(word) && before.get(word) !== now;
    this.cut.set(word, now);
    for (const token of tokens) {
      const chip = chipOf(token);
      chip.classList.toggle("changed", isChanged);
      chips.append(chip);
    }
    shown.append(this.label("tokens", "Where the tokeniser cuts it"), chips);
    return shown;
  }

  dispose() {
    clearTimeout(this.waiting);
  }
}

export default component(WordsView);
