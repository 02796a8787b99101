// A text as the chips that it is cut into. It is typed over them: while it is, they stand as close
// as its letters, under a field whose letters are transparent, so that both have the same layout.

const PRESSES = ["pointerdown", "pointerup", "pointercancel"];
const PAUSE = 400; // ms without a key before a text is looked at
const CLICKED = 200; // ms after which a click has followed the end of a press; on touch, the focus goes in between
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/; // as Python
const LINES = /[\n-\r\x1c-\x1e\x85\u2028\u2029]/;
const JOINED = /[\p{M}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}]/u; // letters that take each other's shape
const RIGHT_TO_LEFT = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
let number = 0; // of views, for ids of elements

class TextView {
  shown = []; // what stands there: words and what is between them
  known = new Map(); // how the app cuts words
  before = new Map(); // how it did in the last state
  at = -1; // the word chosen, among all; none
  type = null;
  sequence = 0; // of what was said to the app

  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".text");
    this.words = parent.querySelector(".words");
    this.area = parent.querySelector("textarea");
    this.figures = parent.querySelector(".figures");
    this.id = `morphgraph-text-${(number += 1)}`;
    this.listen();
  }

  listen() {
    const { area, words } = this;
    this.parent.querySelector(".sheet").addEventListener("click", (event) => this.click(event));
    words.addEventListener("dblclick", () => this.edit(this.wordAt()?.end));
    words.addEventListener("keydown", (event) => this.walk(event));
    this.parent.querySelector(".another").addEventListener("click", () => this.ask?.("another", true));
    area.addEventListener("focus", () => this.editing(true));
    area.addEventListener("blur", () => {
      this.say(0);
      this.leave();
    });
    this.press = ({ type }) => {
      clearTimeout(this.releasing);
      this.isPressed = true;
      if (type === "pointerdown") return;
      this.releasing = setTimeout(() => {
        this.isPressed = false;
        this.leave();
      }, CLICKED);
    };
    for (const kind of PRESSES) addEventListener(kind, this.press, { capture: true });
    area.addEventListener("input", () => {
      this.isNew = true;
      this.follow();
      this.draw();
    });
    for (const kind of ["keyup", "click"]) area.addEventListener(kind, () => this.follow() && this.draw());
    area.addEventListener("keydown", (event) => {
      const isDone = event.key === "Escape" || (event.key === "Enter" && !event.shiftKey);
      if (!isDone || event.isComposing) return; // with Shift, Enter begins another line
      event.preventDefault();
      this.words.focus();
    });
    // Where nothing has the focus, arrows walk here, too.
    this.keys = (event) => document.activeElement === document.body && /^(Arrow(Left|Right)|F2)$/.test(event.key) && this.walk(event);
    this.tables = () => this.draw();
    addEventListener("keydown", this.keys);
    addEventListener("morphgraph-tables", this.tables);
  }

  update({ data, setStateValue, setTriggerValue }) {
    [this.report, this.ask] = [setStateValue, setTriggerValue];
    this.sequence = Math.max(this.sequence, data.heard);
    if (data.state !== this.state) {
      this.before = this.known;
      this.known = new Map();
    }
    const isOwn = data.heard < this.sequence || this.isNew || this.waiting;
    this.state = data.state;
    this.whole = data.whole;
    this.frame.classList.toggle("dark", isDark(this.parent));
    for (const line of data.lines) this.known.set(line.word, line);
    // What is typed stays, unless another text was chosen elsewhere.
    if (!isOwn && data.text !== this.given && data.text !== this.area.value) this.area.value = data.text;
    this.given = data.text;
    const texts = this.texts();
    if (!isOwn) {
      const [word, type] = data.chosen ?? [null, null];
      this.type = type;
      if (texts[this.at] !== word) this.at = texts.indexOf(word);
      this.said = JSON.stringify([data.text, word, type]);
    }
    this.draw();
  }

  // ------------------------------------------------------------------------------------ the text

  /** Words and what is between them, in order: text, place, and the number of a word. */
  parts() {
    const text = this.area.value;
    const parts = [];
    const isSpace = this.whole ? LINES : SPACES;
    let words = 0;
    for (let at = 0; at < text.length; ) {
      const is = isSpace.test(text[at]);
      let end = at + 1;
      while (end < text.length && isSpace.test(text[end]) === is) end += 1;
      parts.push({ text: text.slice(at, end), start: at, end, number: is ? -1 : words++ });
      at = end;
    }
    return parts;
  }

  texts() {
    return this.parts().filter((part) => part.number >= 0).map(({ text }) => text);
  }

  wordAt(place = this.at) {
    return this.parts().find((part) => part.number === place);
  }

  cutter() {
    return globalThis.morphgraphTables?.get(this.state);
  }

  /** How a word is cut: as the app says, or as its merges do until it has; null if unknown. */
  line(word) {
    const line = this.known.get(this.whole ? word.trim() : word);
    if (line) return line;
    const tokens = this.cutter()?.shown(word);
    if (!tokens) return null;
    const chips = tokens.map(({ text, type }) => ({ segments: [text], type, tooltip: "" }));
    const made = { word, morphs: [], tokens: chips, was: [], isOurs: true };
    this.known.set(word, made);
    return made;
  }

  // ------------------------------------------------------------------------------------ drawing

  draw() {
    const text = this.area.value;
    const isEdited = this.frame.classList.contains("editing");
    const parts = this.parts();
    this.count = parts.reduce((count, { number: place }) => count + (place >= 0), 0);
    this.at = Math.min(this.at, this.count - 1);
    this.frame.classList.toggle("many", this.count > 40);
    this.frame.classList.toggle("joined", JOINED.test(text));
    const wanted = parts.map((part) => {
      const line = part.number < 0 ? null : this.line(part.text);
      const isChosen = part.number === this.at;
      return { ...part, line, isChosen, isEdited, type: isChosen ? this.type : null };
    });
    const keys = ["text", "line", "isChosen", "isEdited", "type"];
    const same = (one, other) => one && other && keys.every((key) => one[key] === other[key]);
    let start = 0;
    while (start < wanted.length && same(wanted[start], this.shown[start])) start += 1;
    let end = 0;
    const least = Math.min(wanted.length, this.shown.length) - start;
    while (end < least && same(wanted.at(-1 - end), this.shown.at(-1 - end))) end += 1;
    const last = this.shown.length - end;
    for (const { node } of this.shown.slice(start, last)) node.remove();
    const following = this.shown[last]?.node ?? this.words.querySelector(".end");
    wanted.forEach((part, place) => {
      if (place < start) part.node = this.shown[place].node;
      else if (place >= wanted.length - end) part.node = this.shown[place - wanted.length + this.shown.length].node;
      else part.node = part.number < 0 ? this.gap(part) : this.word(part);
      if (part.number >= 0) Object.assign(part.node, { id: `${this.id}-${part.number}` }).dataset.number = part.number;
    });
    const fresh = wanted.slice(start, wanted.length - end).map(({ node }) => node);
    if (following) following.before(...fresh);
    else this.words.replaceChildren(...fresh, made("span", "end", "\u200b")); // the height of a last line
    this.shown = wanted;
    this.words.dir = RIGHT_TO_LEFT.test(text) ? "rtl" : "ltr";
    this.words.setAttribute("role", this.count ? "listbox" : "group");
    this.words.setAttribute("aria-activedescendant", this.at >= 0 ? `${this.id}-${this.at}` : "");
    this.tell();
  }

  gap({ text }) {
    const gap = made("span", "gap", text);
    gap.setAttribute("role", "presentation");
    return gap;
  }

  word({ text, line, isChosen, isEdited, type }) {
    const word = made("span", "word");
    word.setAttribute("role", "option");
    word.setAttribute("aria-selected", isChosen);
    word.classList.toggle("chosen", isChosen);
    const { tokens, morphs, was } = line ?? { tokens: [], morphs: [], was: [] };
    if (isChosen && morphs.length) word.dataset.gold = morphs.join(" · ");
    const covered = tokens.reduce((count, { segments }) => count + segments.length - 1, 0);
    const said = tokens.map(({ segments }) => segments.join("")).join(", ");
    word.setAttribute("aria-label", `${text}: ${said}${covered ? `; covered boundaries: ${covered}` : ""}`);
    word.title = morphs.length ? `gold: ${morphs.join(" · ")}` : "";
    let shown = tokens.map((token, place) => ({ ...token, segments: place ? token.segments : bare(token.segments, isEdited) }));
    const isSpelt = () => shown.flatMap(({ segments }) => segments).join("").replaceAll("␣", " ") === text;
    if (isEdited && !isSpelt()) {
      // While letters are typed, chips have just these, and stand around those that join.
      const cut = this.cutter()?.shown(text) ?? [];
      shown = shown.map((token, place) => ({ ...token, segments: [cut[place]?.letters ?? ""] }));
    }
    const isPlain = !tokens.length || (isEdited && (JOINED.test(text) || !isSpelt()));
    if (isPlain) word.append(made("span", `chip token${tokens.length ? "" : " open"}`, text));
    const changed = was.length > 0;
    const before = this.before.get(text)?.tokens;
    const isFresh = changed && before && cutsOf(before) !== cutsOf(tokens);
    for (const token of isPlain ? [] : shown) {
      if (!token.segments.join("")) continue;
      const chip = chipOf({ ...token, is_culprit: false, is_morph: false, is_half: token.is_half === true });
      chip.classList.add("token");
      chip.classList.toggle("marker", token.segments[0] === "␣");
      chip.classList.toggle("changed", changed);
      chip.classList.toggle("fresh", Boolean(isFresh));
      chip.classList.toggle("looked", isChosen && token.type === type);
      chip.dataset.type = token.type;
      if (changed) chip.title += `\nbefore the edits: ${was.join(" ")}`;
      if (token.segments.length > 1) chip.title += "\nred: a boundary of the gold that it covers";
      word.append(chip);
    }
    return word;
  }

  /** The figures of the text, at the right. */
  tell() {
    const lines = this.shown.filter((part) => part.number >= 0).map((part) => part.line).filter(Boolean);
    const sum = (count) => lines.reduce((total, line) => total + count(line), 0);
    const [tokens, gold] = [sum((line) => line.tokens.length), sum(({ morphs }) => morphs.length > 0)];
    const was = sum((line) => line.was.length || line.tokens.length);
    const running = this.whole ? this.area.value.split(SPACES).filter(Boolean).length : this.count;
    const covered = sum((line) => line.tokens.reduce((count, token) => count + token.segments.length - 1, 0));
    const counted = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
    const said = [counted(running, "word"), counted(tokens, "token") + (was === tokens ? "" : `, before ${was.toLocaleString("en")}`)];
    if (gold) said.push(`${covered.toLocaleString("en")} ${covered === 1 ? "boundary" : "boundaries"} covered`);
    this.figures.textContent = lines.length ? said.join(" · ") : "";
    const letters = sum(({ word }) => [...word].length);
    const more = [`${(tokens / running).toFixed(2)} tokens per word`, `${(letters / tokens).toFixed(2)} letters per token`];
    if (gold) more.push(`gold is known of ${gold} of ${counted(lines.length, "word")}; a red line is a boundary of it that a token covers`);
    this.figures.title = more.join("\n");
  }

  // ------------------------------------------------------------------------------------ choosing

  click({ target, clientX, clientY }) {
    if (target === this.area) return;
    const selection = this.parent.getSelection?.() ?? getSelection();
    if (selection && !selection.isCollapsed) return; // a text is marked, to be copied
    const word = target.closest(".word");
    const token = target.closest(".token");
    if (word) this.choose(Number(word.dataset.number), token?.dataset.type ? Number(token.dataset.type) : null);
    else this.edit(this.nearest(clientX, clientY));
  }

  choose(place, type) {
    this.at = place;
    this.type = type;
    this.draw();
    this.words.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
    this.say();
  }

  walk(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isBackwards = getComputedStyle(this.words).direction === "rtl";
    const steps = { ArrowRight: isBackwards ? -1 : 1, ArrowLeft: isBackwards ? 1 : -1 };
    const tokens = this.line(this.wordAt()?.text ?? "")?.tokens ?? [];
    const turns = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key === "Enter" || event.key === "F2") this.edit(this.wordAt()?.end);
    else if (event.key in steps || event.key === "Home" || event.key === "End") {
      const to = event.key === "Home" ? 0 : event.key === "End" ? this.count - 1 : this.at + steps[event.key];
      if (to >= 0 && to < this.count && to !== this.at) this.choose(to, null);
    } else if (event.key in turns && tokens.length) {
      const now = tokens.findIndex(({ type }) => type === this.type);
      const to = now < 0 ? 0 : (now + turns[event.key] + tokens.length) % tokens.length;
      this.choose(this.at, tokens[to].type);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // ------------------------------------------------------------------------------------ editing

  /** The end of the last word that begins before a point, on its line. */
  nearest(x, y) {
    const isBackwards = getComputedStyle(this.words).direction === "rtl";
    const before = this.shown.filter(({ number: place, node }) => {
      const { top, bottom, left, right } = node.getBoundingClientRect();
      return place >= 0 && (bottom < y || (top <= y && (isBackwards ? right > x : left < x)));
    });
    return before.at(-1)?.end ?? 0;
  }

  edit(place = this.area.value.length) {
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(place, place);
    this.follow();
    this.draw();
  }

  /** Show chips again; nothing moves under a pointer that is about to click. */
  leave() {
    const isLeft = this.frame.matches(".editing") && !this.area.matches(":focus");
    if (isLeft && !this.isPressed) this.editing(false);
  }

  editing(is) {
    this.frame.classList.toggle("editing", is);
    this.draw();
  }

  /** Choose the word at the caret, and say so when no key has followed for a while. */
  follow() {
    const caret = this.area.selectionStart;
    const word = this.parts().findLast((part) => part.number >= 0 && part.start <= caret);
    const isOther = word && word.number !== this.at;
    if (isOther) [this.at, this.type] = [word.number, null];
    if (isOther || this.isNew) this.say(PAUSE);
    return isOther;
  }

  say(patience = 60) {
    clearTimeout(this.waiting);
    const say = () => {
      const text = this.area.value;
      const word = this.texts()[this.at] ?? "";
      const said = JSON.stringify([text, word, this.type]);
      [this.isNew, this.waiting] = [false, null];
      if (said === this.said) return;
      this.said = said;
      this.sequence += 1;
      this.report?.("said", { text, word, type: this.type, sequence: this.sequence });
    };
    if (patience) this.waiting = setTimeout(say, patience);
    else if (this.isNew || this.waiting) say();
  }

  dispose() {
    clearTimeout(this.waiting);
    clearTimeout(this.releasing);
    for (const kind of PRESSES) removeEventListener(kind, this.press, { capture: true });
    removeEventListener("keydown", this.keys);
    removeEventListener("morphgraph-tables", this.tables);
  }
}

/** The first token of a word without the marker of its start; one that is no more, only if it must be. */
function bare([first, ...rest], isSure) {
  const text = first.replace(/^␣/, "");
  return [text || rest.length || isSure ? text : first, ...rest];
}

function cutsOf(tokens) {
  return tokens.map(({ segments }) => segments.join("")).join(" ");
}

export default component(TextView);
