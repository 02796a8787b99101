// All types by length and blame on a small canvas, one mark for all of a cell; a click goes to one of them.

const PAD = { left: 46, right: 4, top: 5, bottom: 15 }; // px

class OverviewView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".overview");
    this.canvas = parent.querySelector("canvas");
    this.said = parent.querySelector("p");
    this.clicks = new Clicks();
    this.canvas.addEventListener("click", (event) => this.choose(this.nearest(event)));
    this.canvas.addEventListener("pointermove", (event) => hasMoved(event) && this.point(this.nearest(event)));
    for (const type of ["pointerleave", "blur"]) this.canvas.addEventListener(type, () => this.point(undefined));
    this.canvas.addEventListener("keydown", (event) => this.keyPressed(event));
    this.resizing = new ResizeObserver(() => this.data && this.draw());
    this.resizing.observe(this.canvas);
  }

  update(given) {
    this.clicks.acknowledge(given);
    this.data = given.data;
    this.most = Math.max(...this.data.cells.map(([, , count]) => count));
    this.dark = isDark(this.parent);
    this.frame.classList.toggle("dark", this.dark);
    const all = this.data.cells.reduce((sum, [, , count]) => sum + count, 0).toLocaleString("en");
    const how = "Arrow keys point at a place, Enter goes to a type there.";
    const label = `All ${all} types by length and blame. ${this.data.name}: ${this.where(this.data.at)}. ${how}`;
    this.canvas.setAttribute("aria-label", label);
    this.point(undefined);
  }

  /** The middle and the size of a cell. */
  box([column, row]) {
    const { clientWidth: wide, clientHeight: high } = this.canvas;
    const width = (wide - PAD.left - PAD.right) / this.data.longest;
    const height = (high - PAD.top - PAD.bottom) / 12.4;
    const y = row < 0 ? high - PAD.bottom - height / 2 : PAD.top + (10.5 - row) * height;
    return { x: PAD.left + (column - 0.5) * width, y, width, height };
  }

  where([column, row]) {
    const length = `${column}${column === this.data.longest ? " or more" : ""} character${column === 1 ? "" : "s"}`;
    return `${length}, ${row < 0 ? "no joins" : `blame ≈ ${10 * row} %`}`;
  }

  draw() {
    const { clientWidth: wide, clientHeight: high } = this.canvas;
    const scale = devicePixelRatio;
    Object.assign(this.canvas, { width: wide * scale, height: high * scale });
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(this.frame);
    const [line, selected] = ["--line", "--selected"].map((name) => style.getPropertyValue(name));
    pen.scale(scale, scale);
    pen.font = style.font;
    pen.fillStyle = style.color;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const [row, label] of [[10, "100 %"], [0, "0 %"], [-1, "no joins"]]) pen.fillText(label, PAD.left - 5, this.box([1, row]).y);
    pen.textAlign = "center";
    for (const column of [1, 5, 10, 15]) pen.fillText(column, this.box([column, 0]).x, high - 6);
    pen.textAlign = "right";
    pen.fillText(`${this.data.longest}+`, wide - PAD.right, high - 6);
    const fills = this.data.fills[Number(this.dark)];
    pen.strokeStyle = line;
    pen.lineWidth = 0.7;
    for (const [column, row, count] of this.data.cells) {
      const { x, y, width, height } = this.box([column, row]);
      const share = 0.3 + 0.65 * Math.log1p(count) / Math.log1p(this.most);
      pen.fillStyle = fills.at(row);
      pen.beginPath();
      pen.roundRect(x - (width * share) / 2, y - (height * share) / 2, width * share, height * share, 2);
      pen.fill();
      pen.stroke();
    }
    pen.strokeStyle = selected;
    for (const [at, thick] of [[this.data.at, 2.5], [this.pointed, 1.5]]) {
      if (!at) continue;
      const { x, y, width, height } = this.box(at);
      pen.lineWidth = thick;
      pen.beginPath();
      pen.roundRect(x - width / 2 - 2, y - height / 2 - 2, width + 4, height + 4, 4);
      pen.stroke();
    }
  }

  /** The cell with types that is nearest to a pointer. */
  nearest({ offsetX, offsetY }) {
    const far = (cell) => Math.hypot(this.box(cell).x - offsetX, this.box(cell).y - offsetY);
    return this.data.cells.reduce((best, cell) => (far(cell) < far(best) ? cell : best));
  }

  point(cell) {
    this.pointed = cell;
    const types = cell && `${cell[2].toLocaleString("en")} type${cell[2] === 1 ? "" : "s"}`;
    this.said.textContent = cell ? `${this.where(cell)}: ${types}` : `here: ${this.where(this.data.at)}`;
    this.draw();
  }

  choose(cell) {
    this.clicks.add(`${cell[0]},${cell[1]}`);
  }

  keyPressed(event) {
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const [from, way] = [this.pointed ?? this.data.at, ways[event.key]];
    if (event.key === "Enter" && this.pointed) this.choose(this.pointed);
    else if (way) {
      const ahead = ([column, row]) => (column - from[0]) * way[0] + (row - from[1]) * way[1];
      const cost = (cell) => ahead(cell) + 3 * (Math.abs(cell[0] - from[0]) + Math.abs(cell[1] - from[1]) - ahead(cell));
      const [next] = this.data.cells.filter((cell) => ahead(cell) > 0).sort((a, b) => cost(a) - cost(b));
      if (next) this.point(next);
      this.canvas.setAttribute("aria-description", this.said.textContent);
    } else return;
    event.preventDefault();
  }

  dispose() {
    this.clicks.stop();
    this.resizing.disconnect();
  }
}

export default component(OverviewView);
