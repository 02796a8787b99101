// Words as chips: each token with the gold boundaries that it covers, and the key of their signs.

/** What shows that a sign is there, an example of it, and what it means. */
const SIGNS = [
  [".gold .chip, .morphs", "gold", "go|ld", "where the reference cuts"],
  [".chip.morph", "chip morph", "morph", "a token as in the gold"],
  [".chip:not(.gold .chip, .morph, .covering, .dropped)", "chip", "token", "a token"],
  [".chip.covering", "chip covering", "to|ken", "a token over a gold boundary"],
  [".chip.culprit", "chip culprit", "token", "made by the merge most to blame"],
  [".chip.half", "chip half", "½", "a token that begins inside a letter"],
  [".chip.dropped", "chip dropped", "token", "left out: no model sees it"],
  [".exact", "exact", "✓", "cut just as in the gold"],
  [".cut.won", "cut won", "", "a gold boundary that was covered before"],
  [".here", "here", "type", "the type looked at"],
];

/** A token, with a line at each gold boundary that it covers. */
function chipOf({ segments, tooltip, is_culprit: culprit, is_morph: morph, is_half: half }, kind = "span") {
  const chip = made(kind, "chip");
  chip.title = tooltip;
  chip.classList.toggle("culprit", culprit);
  chip.classList.toggle("morph", morph);
  chip.classList.toggle("half", half);
  for (const segment of segments) extend(chip, segment);
  return chip;
}

/** Add to a token what follows, after a gold boundary unless it is the first. */
function extend(chip, text, kind = "") {
  if (chip.firstChild) {
    chip.append(made("span", "cut"));
    chip.classList.add("covering");
  }
  chip.append(made("span", kind, text));
}

/**
 * The tokens of a word given in pieces: text, what is before it (start, right, wrong, missed, split,
 * inside or marker; none within a token), and a kind: here, or dropped.
 */
function chipsOf(pieces, isKnown) {
  const chips = [];
  for (const [text, boundary, kind] of pieces) {
    if (chips.length && !boundary) chips.at(-1).chip.append(made("span", kind, text));
    else if (chips.length && boundary === "missed") extend(chips.at(-1).chip, text, kind);
    else {
      const chip = made("span", `chip${boundary === "inside" ? " half" : ""}${kind === "dropped" ? " dropped" : ""}`);
      extend(chip, text, kind);
      chips.push({ chip, left: boundary || "start" });
    }
  }
  const within = ["wrong", "inside", "marker"]; // what cuts a morph, or cuts no word
  chips.forEach(({ chip, left }, number) => {
    const right = chips[number + 1]?.left ?? "start";
    const is = isKnown && !within.includes(left) && !within.includes(right);
    chip.classList.toggle("morph", is && !chip.matches(".covering, .dropped"));
  });
  return chips.map(({ chip }) => chip);
}

/** The meaning of the signs that stand in an element, behind a question mark. */
class Key {
  constructor(parent, frame, isOpen = false) {
    this.frame = frame;
    this.items = SIGNS.map(([sign, kind, text, meaning]) => {
      const [item, sample] = [made("span", "item"), made("span", kind)];
      const parts = kind.includes("covering") ? text.split("|") : [text];
      for (const part of parts) extend(sample, part);
      item.append(sample, meaning);
      return { sign, item };
    });
    this.list = made("div");
    this.details = made("details", "key");
    const mark = made("summary", "", "?");
    mark.title = "What the signs mean";
    mark.setAttribute("aria-label", mark.title);
    this.details.append(mark, this.list);
    this.details.open = isOpen;
    this.details.hidden = true;
    parent.append(this.details);
  }

  update() {
    const shown = this.items.filter(({ sign }) => this.frame.querySelector(sign));
    this.list.replaceChildren(...shown.map(({ item }) => item));
    if (this.frame.textContent.includes("␣")) {
      const item = made("span", "item");
      item.append(made("span", "chip", "␣"), "start of a word");
      this.list.append(item);
    }
    this.details.hidden = !this.list.firstChild;
  }
}
