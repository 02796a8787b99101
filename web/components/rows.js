// Words beside the merge graph: pointing at one lights its path there, and vertices mark theirs here.
// Text nodes only, for words come from uploaded files.

const BEFORE = { "|": "right", "·": "wrong", "‿": "missed", "": "" };

class RowsView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".rows");
    this.clicks = new Clicks();
    this.key = new Key(parent.querySelector(".below"), this.frame);
    this.buttons = [];
    this.onVertex = ({ detail }) => this.mark(detail);
    addEventListener("morphgraph-vertex", this.onVertex);
  }

  update(given) {
    const { data } = given;
    this.clicks.acknowledge(given);
    for (const part of this.parent.querySelectorAll(".signs")) part.classList.toggle("dark", isDark(this.parent));
    this.frame.style.maxHeight = data.height;
    const told = JSON.stringify(data.groups);
    if (told === this.told) return;
    this.told = told;
    this.light();
    this.buttons = [];
    this.frame.replaceChildren(...data.groups.flatMap((group) => this.group(group)));
    this.key.update();
  }

  group({ title, count, rows, more, kind }) {
    const head = made("h4", "", title);
    head.append(made("span", "", count));
    const shown = rows.map((row) => (row.closer ? this.pair(row, kind) : this.row(row, kind)));
    return [head, ...shown, ...(more ? [made("div", "note", more)] : [])];
  }

  /** A word, and the type that covers its boundary now. */
  pair({ number, closer: [type, name], ...row }, kind) {
    const link = made("button", "closer", name);
    link.type = "button";
    link.title = `${name} covers the boundary now. A click chooses it.`;
    link.setAttribute("aria-label", link.title);
    link.addEventListener("click", () => this.clicks.add(`${number}:${type}`));
    const pair = made("div", "pair");
    pair.append(this.row({ number, ...row }, kind), link);
    return pair;
  }

  row({ number, gold, pieces, keys, gain, was, won, word }, kind) {
    const button = made("button", kind);
    button.type = "button";
    const isChanged = kind === "changed";
    const cut = isChanged ? this.tokensOverGold(pieces, won, gold) : made("span", "word");
    if (!isChanged) {
      const parts = pieces.map(([text, sign, here]) => [text, BEFORE[sign], here ? "here" : ""]);
      cut.append(...chipsOf(parts, Boolean(gold)));
    }
    cut.dir = "auto";
    const spoken = pieces.map(([text, sign]) => sign + text).join("");
    const [opens, shows] = word ? [` Opens the merge tree of ${word}.`, "A click shows its merge tree."] : ["", ""];
    button.setAttribute("aria-label", `${spoken}${gold && `, gold ${gold}`}.${opens}`);
    button.title = `${gold && `gold ${gold}\n`}${shows}`;
    const side = made("span", "gold", isChanged ? "" : gold && `gold ${gold}`);
    if (isChanged) {
      const verdict = gain > 0 ? "better" : gain < 0 ? "worse" : "same score";
      if (gold) side.append(made("b", verdict, verdict));
      side.append(made("span", "was", `was ${was}`));
    }
    button.append(cut, side);
    button.addEventListener("pointermove", (event) => hasMoved(event) && this.light(button, keys));
    button.addEventListener("focus", () => this.light(button, keys));
    for (const type of ["pointerleave", "blur"]) button.addEventListener(type, () => this.light());
    button.addEventListener("click", () => this.clicks.add(String(number)));
    this.buttons.push({ button, keys: new Set(keys) });
    return button;
  }

  /** Tokens with their gold morphs below, letter by letter; a green line is a boundary that was won. */
  tokensOverGold(pieces, won, gold) {
    const both = made("span", "both");
    const [above, below] = [made("span", "tokens"), made("span", "morphs")];
    let at = 0;
    let [token, morph] = [null, null];
    for (const [text, sign] of pieces) {
      if (!token || sign === "|" || sign === "·") above.append((token = made("span", "chip")));
      if (!morph || sign === "|" || sign === "‿") below.append((morph = made("span", "morph")));
      if (sign === "‿" || won.includes(at)) {
        token.append(made("i", `cut${sign === "‿" ? "" : " won"}`));
      }
      if (sign === "‿") token.classList.add("covering");
      token.append(text);
      morph.append(text);
      at += [...text].length;
    }
    both.style.setProperty("--letters", at);
    both.append(above, ...(gold ? [below] : []));
    return both;
  }

  /** Let the graph light up the types and merges of a row, or nothing in particular. */
  light(button, keys) {
    if (button === this.lit) return;
    this.lit?.classList.remove("lit");
    this.lit = button;
    button?.classList.add("lit");
    dispatchEvent(new CustomEvent("morphgraph-word", { detail: keys }));
  }

  mark(key) {
    for (const { button, keys } of this.buttons) button.classList.toggle("marked", keys.has(key));
  }

  dispose() {
    this.clicks.stop();
    this.light();
    removeEventListener("morphgraph-vertex", this.onVertex);
  }
}

export default component(RowsView);
