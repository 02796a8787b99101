// A table of words by methods, built of text nodes only: words and types come from uploaded files.
//
// The table is built anew only if its rows differ. Chips shrink until those of a cell fit its width.

const USUAL = 13; // px, the size of letters
const SMALLEST = 11;
const UNREADABLE = 8;
const HEADS = 44; // px above a picture's rows, for the names of methods
const LETTER = 0.55; // of its height, a letter's width

class CompareView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".compare");
    this.table = parent.querySelector("table");
    this.below = parent.querySelector(".below");
    this.menu = parent.querySelector(".menu");
    this.key = new Key(this.below, this.frame, true);
    this.clicks = new Clicks();
    offerCopy(this.below, () => this.picture(), () => "segmentations");
    this.below.querySelector(".save").addEventListener("click", () => saveSvg(this.picture(), this.frame, "segmentations"));
    this.field = parent.querySelector("textarea");
    this.field.addEventListener("change", () => this.typed());
    this.field.addEventListener("keydown", (event) => {
      event.stopPropagation(); // letters are no shortcuts here
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.typed();
    });
    this.frame.addEventListener("click", (event) => this.chose(event));
    this.frame.addEventListener("keydown", (event) => {
      if ((event.key === "Enter" || event.key === " ") && event.target.closest("td.cell")) {
        event.preventDefault();
        this.chose(event);
      }
    });
    this.menu.addEventListener("toggle", ({ newState }) => {
      const at = this.parent.getRootNode().activeElement;
      if (newState === "closed" && (!at || this.menu.contains(at))) this.button()?.focus();
    });
    this.sizes = new ResizeObserver(() => this.fit());
    this.sizes.observe(this.frame);
  }

  update(given) {
    const { data } = given;
    this.data = data;
    this.clicks.acknowledge(given);
    for (const part of [this.frame, this.below]) part.classList.toggle("dark", isDark(this.parent));
    const source = JSON.stringify([data.heads, data.figures, data.rows]);
    if (source !== this.source) {
      this.source = source;
      this.build(data);
      this.key.update();
      this.fit();
    }
    if (data.typed !== this.heard) {
      // What somebody has not finished stays.
      if (this.field.value === this.told || !this.field.matches(":focus")) this.field.value = data.typed;
      this.heard = this.told = data.typed;
    }
    this.parent.querySelector(".said").textContent = data.said;
    for (const cell of this.table.querySelectorAll("td.cell")) {
      cell.classList.toggle("chosen", cell.dataset.key === data.chosen);
    }
    if (this.menu.matches(":popover-open")) {
      const head = data.heads.find(({ name }) => name === this.of);
      if (head) this.fill(head);
      else this.menu.hidePopover();
    }
  }

  build({ heads, figures, rows }) {
    this.table.style.setProperty("--columns", heads.length);
    const columns = made("colgroup");
    columns.append(made("col", "first"), ...heads.map(() => made("col")));
    this.corner = rows.some((row) => row.gold) ? "gold" : "word";
    const titles = this.table.tHead.rows[0]; // the field in it keeps the focus
    for (const old of [...titles.cells].slice(1)) old.remove();
    titles.append(...heads.map((one) => this.head(one)));
    for (const old of [...this.table.tHead.rows].slice(1)) old.remove();
    this.table.tHead.append(...figures.map((one) => this.figure(one)));
    const body = made("tbody");
    for (const row of rows) {
      const line = made("tr");
      const word = made("th", "word");
      word.scope = "row";
      word.title = row.text;
      word.dataset.word = row.text;
      const chips = made("div", "line gold");
      chips.dir = "auto";
      if (!row.gold) chips.append(made("span", "", row.text));
      for (const morph of row.gold ?? []) chips.append(made("span", "chip morph", morph));
      word.append(chips);
      if (row.note) word.append(made("span", "note", row.note));
      line.append(word);
      row.cells.forEach((cell, column) => line.append(this.cell(cell, `${row.number},${column}`)));
      body.append(line);
    }
    this.table.querySelector("colgroup")?.remove();
    this.table.prepend(columns);
    this.table.tBodies[0]?.remove();
    this.table.append(body);
  }

  /** A method's name, which opens its menu, and what is told of it. */
  head(one) {
    const head = made("th");
    head.scope = "col";
    const button = made("button", "name", one.title);
    button.type = "button";
    button.title = one.does;
    button.dataset.name = one.name;
    button.setAttribute("aria-haspopup", "dialog");
    button.addEventListener("click", () => this.open(one));
    head.append(button, made("span", "told", one.told));
    if (one.seen) head.append(made("span", "note", one.seen));
    return head;
  }

  figure({ label, help, cells }) {
    const line = made("tr", "figure");
    const name = made("th", "word", label);
    name.scope = "row";
    name.title = help;
    line.append(name);
    for (const { text, mark, is_best: best } of cells) {
      const cell = made("td", best ? "best" : "");
      cell.append(made("span", "", text));
      if (mark) cell.append(made("span", mark.startsWith("*") ? "mark" : "mark none", mark));
      line.append(cell);
    }
    return line;
  }

  cell(given, key) {
    if (!given) return made("td", "waiting", "…");
    const { pieces, tokens, count, exact, known } = given;
    if (!pieces.length) {
      const lacking = made("td", "waiting", "–");
      lacking.title = "Not in its file";
      return lacking;
    }
    const shown = made("td", "cell");
    shown.dataset.key = key;
    shown.tabIndex = 0;
    shown.title = `${count} ${count === 1 ? "token" : "tokens"}: ${tokens}`;
    const line = made("div", "line");
    line.dir = "auto";
    line.append(...chipsOf(pieces, known));
    if (exact) line.append(made("span", "exact", "✓"));
    shown.append(line);
    return shown;
  }

  open(one) {
    this.of = one.name;
    this.fill(one);
    this.menu.showPopover();
    const { left, bottom } = this.button().getBoundingClientRect();
    const most = document.documentElement.clientWidth - this.menu.offsetWidth - 8;
    Object.assign(this.menu.style, { left: `${Math.max(8, Math.min(left, most))}px`, top: `${bottom + 4}px` });
    this.menu.querySelector("input, button")?.focus();
  }

  button() {
    return [...this.table.querySelectorAll("button.name")].find((one) => one.dataset.name === this.of);
  }

  /** Fill the menu with a method's fields, and what can be done with its column. */
  fill(one) {
    if (JSON.stringify(one) === this.menu.dataset.source) return;
    const at = this.menu.matches(":popover-open") ? this.parent.getRootNode().activeElement?.name : null;
    this.menu.dataset.source = JSON.stringify(one);
    this.menu.setAttribute("role", "dialog");
    this.menu.setAttribute("aria-label", one.title);
    const fields = one.fields.map(({ key, value, help, is_switch: isSwitch, least, most, step }) => {
      const field = made("label");
      const input = made("input");
      input.name = key;
      input.type = isSwitch ? "checkbox" : "number";
      if (isSwitch) input.checked = value;
      else Object.assign(input, { step, min: least ?? "", max: most ?? "", value });
      input.addEventListener("change", () => {
        const chosen = isSwitch ? input.checked : input.valueAsNumber;
        if (chosen === chosen) this.ask("set", one.name, key, chosen);
      });
      field.title = help ?? "";
      field.append(made("span", "", key), input);
      return field;
    });
    const actions = made("div", "actions");
    if (one.can_be_baseline) actions.append(this.action("Use as baseline", "base", one.name));
    actions.append(this.action("Remove", "drop", one.name));
    this.menu.replaceChildren(made("p", "", one.does), ...fields, actions);
    if (at) this.menu.querySelector(`[name="${CSS.escape(at)}"]`)?.focus();
  }

  action(label, ...asked) {
    const button = made("button", "", label);
    button.type = "button";
    button.addEventListener("click", () => {
      this.menu.hidePopover();
      this.ask(...asked);
    });
    return button;
  }

  typed() {
    if (this.field.value !== this.told) this.ask("words", (this.told = this.field.value));
  }

  ask(...asked) {
    this.clicks.add(JSON.stringify(asked));
  }

  /** Let the chips of each cell be as large as they can; what is too long takes several lines. */
  fit() {
    const lines = [...this.table.querySelectorAll(".line")];
    for (const line of lines) {
      line.classList.remove("long", "broken");
      line.style.removeProperty("--size");
    }
    const room = lines.map((line) => {
      const { paddingLeft, paddingRight } = getComputedStyle(line.parentElement);
      return line.parentElement.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    });
    const wide = lines.map((line) => line.offsetWidth + 1);
    const widest = lines.map((line) => Math.max(...[...line.children].map((chip) => chip.offsetWidth + 1)));
    lines.forEach((line, number) => {
      if (wide[number] <= room[number]) return;
      const fitting = (width) => Math.floor((10 * USUAL * room[number]) / width) / 10;
      const isLong = fitting(wide[number]) < SMALLEST;
      // A chip never breaks, but for one that nobody could read.
      const size = isLong ? Math.min(fitting(widest[number]), SMALLEST) : fitting(wide[number]);
      line.classList.toggle("long", isLong);
      line.classList.toggle("broken", size < UNREADABLE);
      line.style.setProperty("--size", `${size < UNREADABLE ? SMALLEST : size}px`);
    });
  }

  /** All rows as they are laid out, also those scrolled away, under the names of the methods. */
  picture() {
    const { left, width } = this.table.getBoundingClientRect();
    const { top, height } = this.table.tBodies[0].getBoundingClientRect();
    const usual = getComputedStyle(this.frame);
    const rows = this.table.tBodies[0];
    // The words stay where the page is scrolled sideways: they are drawn in their own column.
    const stuck = rows.rows[0].cells[0].getBoundingClientRect().left;
    const leftOf = (element) => (element.closest("th") ? stuck : left);
    const svg = drawn("svg", {});
    const draw = (name, given, ...inside) => svg.append(drawn(name, given, ...inside));
    const write = (text, given) => draw("text", { ...given, "dominant-baseline": "central", "xml:space": "preserve" }, text);
    const { heads, figures } = this.data;
    const titles = [this.corner, ...heads.map(({ title }) => title)];
    const below = figures[0] ? [figures[0].label, ...figures[0].cells.map(({ text, mark }) => `${text} ${mark}`)] : [];
    for (const [number, cell] of [...rows.rows[0].cells].entries()) {
      const x = cell.getBoundingClientRect().left - leftOf(cell) + 2;
      const head = (text, size, place) => {
        const fits = Math.min(size, cell.offsetWidth / (LETTER * Math.max(1, text.length)));
        write(text, { ...inkOf(usual), x, "font-size": `${fits}px`, ...place });
      };
      head(titles[number], USUAL, { y: 12 - HEADS, "font-weight": 600 });
      head(below[number] ?? "", USUAL - 1, { y: 30 - HEADS });
    }
    const { fill: stroke } = inkOf(usual);
    for (const element of rows.querySelectorAll("*")) {
      const style = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      const [x, y] = [box.left - leftOf(element), box.top - top];
      const at = { x, y, width: box.width, height: box.height, rx: parseFloat(style.borderTopLeftRadius) };
      if (element.matches("tr")) draw("path", { d: `M0 ${y}H${width}`, stroke, "stroke-opacity": 0.12 });
      if (element.matches(".chip.dropped")) draw("rect", { ...at, fill: "none", stroke, "stroke-opacity": 0.3 });
      else if (element.matches(".chip, .cut")) draw("rect", { ...at, fill: `rgb(${rgb(style.backgroundColor)})` });
      const struck = element.closest(".chip.dropped") ? { "text-decoration": "line-through" } : {};
      for (const line of linesOf(element)) {
        const place = { x: line.left - leftOf(element), y: line.middle - top };
        // In another font it takes the same room.
        const room = { textLength: line.right - line.left, lengthAdjust: "spacingAndGlyphs" };
        write(line.text, { ...inkOf(style), ...struck, ...place, ...room });
      }
    }
    return asFile(svg, { x: 0, y: -HEADS, width, height: height + HEADS }, usual.fontFamily);
  }

  chose(event) {
    const cell = event.target.closest?.("td.cell");
    if (cell) this.clicks.add(cell.dataset.key);
  }

  dispose() {
    this.sizes.disconnect();
    this.clicks.stop();
  }
}

function inkOf({ color, fontSize, fontFamily, fontWeight }) {
  const font = { "font-size": fontSize, "font-family": fontFamily, "font-weight": fontWeight };
  return { fill: `rgb(${rgb(color)})`, ...font };
}

/** The lines of the text directly in an element, each with its place. */
function linesOf(element) {
  const lines = [];
  const range = document.createRange();
  for (const node of element.childNodes) {
    if (node.nodeType !== Node.TEXT_NODE) continue;
    let line;
    let end = 0;
    for (const character of node.data) {
      range.setStart(node, end);
      range.setEnd(node, (end += character.length));
      const { left, right, top, bottom } = range.getBoundingClientRect();
      if (!line || Math.abs(line.top - top) > 1) {
        lines.push((line = { text: "", left, right, top, middle: (top + bottom) / 2 }));
      }
      line.text += character;
      line.left = Math.min(line.left, left);
      line.right = Math.max(line.right, right);
    }
  }
  return lines;
}

export default component(CompareView);
