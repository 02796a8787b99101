// A table of words by methods, built of text nodes only: words and types come from uploaded files.
//
// The table is built anew only if its rows differ. Chips shrink until those of a cell fit its width.

const USUAL = 13; // px, the size of letters
const SMALLEST = 11;
const UNREADABLE = 8;

class CompareView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".compare");
    this.table = parent.querySelector("table");
    this.below = parent.querySelector(".below");
    this.key = new Key(this.below, this.frame, true);
    this.clicks = new Clicks();
    this.frame.addEventListener("click", (event) => this.chose(event));
    this.frame.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.chose(event);
      }
    });
    this.sizes = new ResizeObserver(() => this.fit());
    this.sizes.observe(this.frame);
  }

  update(given) {
    const { data } = given;
    this.clicks.acknowledge(given);
    for (const part of [this.frame, this.below]) part.classList.toggle("dark", isDark(this.parent));
    const source = JSON.stringify([data.labels, data.rows]);
    if (source !== this.source) {
      this.source = source;
      this.build(data);
      this.key.update();
      this.fit();
    }
    for (const cell of this.table.querySelectorAll("td.cell")) {
      cell.classList.toggle("chosen", cell.dataset.key === data.chosen);
    }
  }

  build({ labels, rows, first }) {
    const columns = made("colgroup");
    const total = first + labels.length;
    for (const width of [first, ...labels.map(() => 1)]) {
      const column = made("col");
      column.style.width = `${(100 * width) / total}%`;
      columns.append(column);
    }
    const head = made("thead");
    const titles = made("tr");
    for (const label of ["gold", ...labels]) titles.append(made("th", "", label));
    head.append(titles);
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
    this.table.replaceChildren(columns, head, body);
  }

  cell(given, key) {
    if (!given) return made("td", "waiting", "…");
    const { pieces, tokens, count, exact, known } = given;
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

  chose(event) {
    const cell = event.target.closest?.("td.cell");
    if (cell) this.clicks.add(cell.dataset.key);
  }

  dispose() {
    this.sizes.disconnect();
    this.clicks.stop();
  }
}

export default component(CompareView);
