// A table of words by methods, built of text nodes only: words and types come from uploaded files.
//
// The table is built anew only if its rows differ. Chips shrink until those of a cell fit its width.

const USUAL = 13; // px, the size of letters
const SMALLEST = 11;

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

class CompareView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".compare");
    this.table = parent.querySelector("table");
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
    for (const part of [this.frame, this.parent.querySelector(".legend")]) {
      part.classList.toggle("dark", isDark(this.parent));
    }
    const source = JSON.stringify([data.labels, data.rows]);
    if (source !== this.source) {
      this.source = source;
      this.build(data);
      this.fit();
    }
    for (const cell of this.table.querySelectorAll("td.cell")) {
      cell.classList.toggle("chosen", cell.dataset.key === data.chosen);
    }
  }

  build({ labels, rows, first }) {
    const columns = element("colgroup");
    const total = first + labels.length;
    for (const width of [first, ...labels.map(() => 1)]) {
      const column = element("col");
      column.style.width = `${(100 * width) / total}%`;
      columns.append(column);
    }
    const head = element("thead");
    const titles = element("tr");
    for (const label of ["gold", ...labels]) titles.append(element("th", "", label));
    head.append(titles);
    const body = element("tbody");
    for (const row of rows) {
      const line = element("tr");
      const word = element("th", "word");
      word.scope = "row";
      word.title = row.text;
      word.dataset.word = row.text;
      const chips = element("div", "line");
      if (!row.gold) chips.append(element("span", "", row.text));
      for (const morph of row.gold ?? []) chips.append(element("span", "chip whole", morph));
      word.append(chips);
      line.append(word);
      row.cells.forEach((cell, column) => line.append(this.cell(cell, `${row.number},${column}`)));
      body.append(line);
    }
    this.table.replaceChildren(columns, head, body);
  }

  cell(given, key) {
    if (!given) return element("td", "waiting", "…");
    const { pieces, tokens, count, exact, known } = given;
    const made = element("td", "cell");
    made.dataset.key = key;
    made.tabIndex = 0;
    made.title = `${count} ${count === 1 ? "token" : "tokens"}: ${tokens}`;
    const line = element("div", "line");
    let chip = null;
    const chips = [];
    for (const [text, boundary, dropped] of pieces) {
      if (boundary === "missed" && chip) {
        chip.append(element("span", "missed", text));
        chips.at(-1).crossed = true;
        continue;
      }
      chip = element("span", dropped ? "chip dropped" : "chip");
      chip.classList.toggle("half", boundary === "inside");
      chip.append(element("span", "", text));
      chips.push({ chip, left: boundary, dropped });
      line.append(chip);
    }
    if (known) {
      // A whole morph, one that crosses a boundary, or part of a morph.
      const within = ["wrong", "inside", "marker"];
      chips.forEach(({ chip: shown, left, crossed, dropped }, number) => {
        const right = chips[number + 1]?.left ?? "start";
        if (dropped) return;
        if (crossed) shown.classList.add("crossing");
        else if (!within.includes(left) && !within.includes(right)) shown.classList.add("whole");
      });
    }
    if (exact) line.append(element("span", "exact", "✓"));
    made.append(line);
    return made;
  }

  /** Let the chips of each cell be as large as they can; what is too long takes several lines. */
  fit() {
    const lines = [...this.table.querySelectorAll(".line")];
    for (const line of lines) {
      line.classList.remove("long");
      line.style.removeProperty("--size");
    }
    const room = lines.map((line) => {
      const { paddingLeft, paddingRight } = getComputedStyle(line.parentElement);
      return line.parentElement.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    });
    const wide = lines.map((line) => line.offsetWidth + 1);
    lines.forEach((line, number) => {
      if (wide[number] <= room[number]) return;
      const size = Math.floor((10 * USUAL * room[number]) / wide[number]) / 10;
      line.style.setProperty("--size", `${Math.max(size, SMALLEST)}px`);
      line.classList.toggle("long", size < SMALLEST);
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
