// A word to edit, and how it is cut.

const WAIT = 350; // ms without a key before a text is looked at

class WordsView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".words");
    this.area = parent.querySelector("textarea");
    this.lines = parent.querySelector(".lines");
    this.figures = parent.querySelector(".figures");
    this.key = new Key(this.frame, this.lines, true);
    this.lines.addEventListener("click", ({ target }) => {
      const chip = target.closest("button.chip");
      if (chip) this.choose?.("chosen", Number(chip.dataset.type));
    });
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

  update({ data, setStateValue, setTriggerValue }) {
    this.report = setStateValue;
    this.choose = setTriggerValue;
    this.frame.classList.toggle("dark", isDark(this.parent));
    this.frame.classList.toggle("many", data.lines.flat().length > 1);
    // What is typed stays, unless another text was chosen elsewhere.
    if (data.version !== this.version) {
      this.version = data.version;
      this.sent = this.area.value = data.text;
    }
    this.told(data);
    const source = JSON.stringify(data.lines);
    if (source !== this.source) {
      const before = this.cut ?? null;
      this.source = source;
      this.cut = new Map();
      this.hue = 0;
      this.lines.replaceChildren(...data.lines.map((line) => this.line(line, before)));
      this.key.update();
    }
    for (const chip of this.lines.querySelectorAll("button.chip")) {
      chip.setAttribute("aria-pressed", Number(chip.dataset.type) === data.chosen);
    }
    this.grow();
  }

  /** The figures of a text, and switches for ids and for how it was. */
  told({ figures, has_before: hasBefore }) {
    const source = JSON.stringify([figures, hasBefore]);
    if (source === this.told_) return;
    this.told_ = source;
    const shown = figures.map(([value, label, was]) => {
      const figure = made("div", "figure");
      const number = made("strong", "", value);
      figure.append(number, made("span", "", label));
      if (was) number.append(made("small", "", `was ${was}`));
      return figure;
    });
    const switches = made("div", "switches");
    if (figures.length) switches.append(this.switch("ids", "ids"));
    if (hasBefore) switches.append(this.switch("before", "before"));
    this.figures.replaceChildren(...shown, switches);
  }

  switch(name, label) {
    const field = Object.assign(document.createElement("input"), { type: "checkbox", role: "switch" });
    const shown = `with-${name}`;
    field.checked = this.frame.classList.contains(shown);
    field.addEventListener("change", () => this.frame.classList.toggle(shown, field.checked));
    const whole = made("label", "", label);
    whole.prepend(field);
    return whole;
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

  word({ word, morphs, tokens, was }, before) {
    const shown = made("div", "word");
    shown.dir = "auto";
    if (was.length) shown.append(Object.assign(made("div", "was", was.join("|")), { title: "before the edits" }));
    const gold = made("div", "chips gold");
    for (const morph of morphs) gold.append(made("span", "chip", morph));
    const chips = made("div", "chips");
    const now = tokens.map(({ segments }) => segments.join("")).join(" ");
    const isFresh = before?.has(word) && before.get(word) !== now;
    this.cut.set(word, now);
    for (const token of tokens) {
      const chip = chipOf(token, "button");
      chip.type = "button";
      chip.dataset.type = token.type;
      chip.classList.toggle("fresh", Boolean(isFresh));
      chip.classList.toggle("changed", was.length > 0);
      chip.classList.add(`hue${this.hue++ % 6}`);
      const whole = made("span", "token");
      whole.append(chip, made("small", "id", token.id));
      chips.append(whole);
    }
    if (morphs.length) shown.append(this.label("gold", "Where the reference cuts the word", "gold"), gold);
    shown.append(this.label("tokens", "Where the tokeniser cuts it"), chips);
    return shown;
  }

  dispose() {
    clearTimeout(this.waiting);
  }
}

export default component(WordsView);
