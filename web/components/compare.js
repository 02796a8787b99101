// A table of words by methods, built of text nodes only: words and types come from uploaded files.
//
// The table is built anew only if its rows differ.

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
  }

  update(given) {
    const { data } = given;
    this.clicks.acknowledge(given);
    this.frame.style.maxHeight = `${data.height}px`;
    this.frame.classList.toggle("dark", isDark(this.parent));
    const source = JSON.stringify([data.labels, data.rows]);
    if (source !== this.source) {
      this.source = source;
      this.build(data);
    }
    for (const cell of this.table.querySelectorAll("td.cell")) {
      cell.classList.toggle("chosen", cell.dataset.key === data.chosen);
    }
  }

  build({ labels, rows }) {
    const head = element("thead");
    const titles = element("tr");
    for (const label of ["word", ...labels]) titles.append(element("th", "", label));
    head.append(titles);
    const body = element("tbody");
    for (const row of rows) {
      const line = element("tr");
      const word = element("td", "word");
      word.title = row.text;
      if (row.gold) {
        const gold = element("span", "gold");
        for (const morph of row.gold) gold.append(element("span", "chip whole", morph));
        word.append(gold);
      }
      word.append(element("span", "text", row.text));
      line.append(word);
      row.cells.forEach((cell, column) => line.append(this.cell(cell, `${row.number},${column}`)));
      body.append(line);
    }
    this.table.replaceChildren(head, body);
  }

  cell({ pieces, tokens, count, exact, known }, key) {
    const made = element("td", "cell");
    made.dataset.key = key;
    made.tabIndex = 0;
    made.title = tokens;
    let chip = null;
    const chips = [];
    for (const [text, boundary, dropped] of pieces) {
      if (boundary === "missed" && chip) {
        chip.append(element("span", "missed", text));
        chips.at(-1).crossed = true;
        continue;
      }
      if (boundary !== "start") made.append(element("span", `mark ${boundary}`));
      chip = element("span", dropped ? "chip dropped" : "chip");
      chip.append(element("span", "", text));
      chips.push({ chip, left: boundary, dropped });
      made.append(chip);
    }
    if (known) {
      // A whole morph, one that crosses a boundary, or part of a morph.
      chips.forEach(({ chip: shown, left, crossed, dropped }, number) => {
        const right = chips[number + 1]?.left ?? "start";
        if (dropped) return;
        if (crossed) shown.classList.add("crossing");
        else if (left !== "wrong" && right !== "wrong") shown.classList.add("whole");
      });
    }
    made.append(element("span", exact ? "note exact" : "note", exact ? `✓ ${count}` : `${count}`));
    return made;
  }

  chose(event) {
    const cell = event.target.closest?.("td.cell");
    if (cell) this.clicks.add(cell.dataset.key);
  }

  dispose() {
    this.disposed = true;
    this.clicks.stop();
  }
}

export default component(CompareView);
