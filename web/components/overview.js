// All types by length and blame on a canvas, one mark for all of a cell; a region is dragged, or a cell clicked.

const PAD = { left: 60, right: 8, top: 8, bottom: 20 }; // px
const ROWS = 12; // blame in tenths, and no joins
const STILL = 5; // px that a click may move

class OverviewView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".overview");
    this.canvas = parent.querySelector("canvas");
    this.said = parent.querySelector("p");
    this.clicks = new Clicks();
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.from = event;
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (this.from && this.hasLeft(event)) this.drag(event);
      else if (!this.from && hasMoved(event)) this.point(this.nearest(event));
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (this.from && this.hasLeft(event)) this.choose(this.region);
      else if (this.from) this.chooseCell(this.nearest(event));
      this.from = null;
    });
    for (const type of ["pointerleave", "blur"]) this.canvas.addEventListener(type, () => this.point(undefined));
    this.canvas.addEventListener("keydown", (event) => this.keyPressed(event));
    this.resizing = new ResizeObserver(() => this.data && this.draw());
    this.resizing.observe(this.canvas);
  }

  update(given) {
    this.clicks.acknowledge(given);
    this.data = given.data;
    if (!this.from && !this.clicks.pending.length) this.region = this.data.region;
    this.most = Math.max(...this.data.cells.map(([, , count]) => count));
    this.dark = isDark(this.parent);
    this.frame.classList.toggle("dark", this.dark);
    const all = this.data.cells.reduce((sum, [, , count]) => sum + count, 0).toLocaleString("en");
    const how = "Arrow keys point at a place, Enter lists its types, Escape lists all.";
    const label = `All ${all} types by length and blame. ${this.data.name}: ${this.where(this.data.at)}. ${how}`;
    this.canvas.setAttribute("aria-label", label);
    this.point(undefined);
  }

  hasLeft({ offsetX, offsetY }) {
    return Math.hypot(offsetX - this.from.offsetX, offsetY - this.from.offsetY) > STILL;
  }

  /** The size of a cell. */
  size() {
    const { clientWidth: wide, clientHeight: high } = this.canvas;
    return {
      width: (wide - PAD.left - PAD.right) / this.data.longest,
      height: (high - PAD.top - PAD.bottom) / ROWS,
    };
  }

  /** The middle and the size of a cell. */
  box([column, row]) {
    const { width, height } = this.size();
    return { x: PAD.left + (column - 0.5) * width, y: PAD.top + (10.5 - row) * height, width, height };
  }

  /** The column and row at a place, on the map's edge if it is beside it. */
  cellAt({ offsetX, offsetY }) {
    const { width, height } = this.size();
    const column = Math.ceil((offsetX - PAD.left) / width);
    const row = 10 - Math.floor((offsetY - PAD.top) / height);
    return [Math.min(this.data.longest, Math.max(1, column)), Math.min(10, Math.max(-1, row))];
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
    for (const [row, label] of [[10, "100 %"], [5, "50 %"], [0, "0 %"], [-1, "no joins"]]) pen.fillText(label, PAD.left - 7, this.box([1, row]).y);
    pen.textAlign = "center";
    const step = this.size().width < 26 ? 5 : 1;
    for (let column = 1; column <= this.data.longest; column += step === 5 && column === 1 ? 4 : step) {
      pen.fillText(column === this.data.longest ? `${column}+` : column, this.box([column, 0]).x, high - 8);
    }
    const fills = this.data.fills[Number(this.dark)];
    pen.strokeStyle = line;
    pen.lineWidth = 0.7;
    for (const [column, row, count] of this.data.cells) {
      const { x, y, width, height } = this.box([column, row]);
      const share = 0.25 + 0.65 * Math.log1p(count) / Math.log1p(this.most);
      pen.fillStyle = fills.at(row);
      pen.beginPath();
      pen.roundRect(x - (width * share) / 2, y - (height * share) / 2, width * share, height * share, 3);
      pen.fill();
      pen.stroke();
    }
    pen.strokeStyle = selected;
    const around = ([left, low, right, high_], thick) => {
      const [first, last] = [this.box([left, high_]), this.box([right, low])];
      pen.lineWidth = thick;
      pen.beginPath();
      pen.roundRect(first.x - first.width / 2, first.y - first.height / 2, last.x - first.x + first.width, last.y - first.y + first.height, 5);
      pen.stroke();
    };
    const cell = ([column, row]) => [column, row, column, row];
    around(cell(this.data.at), 2.5);
    if (this.pointed) around(cell(this.pointed), 1.5);
    if (!this.region) return;
    around(this.region, 2);
    pen.globalAlpha = 0.1;
    pen.fillStyle = selected;
    pen.fill();
    pen.globalAlpha = 1;
  }

  /** The cell with types that is nearest to a pointer. */
  nearest({ offsetX, offsetY }) {
    const far = (cell) => Math.hypot(this.box(cell).x - offsetX, this.box(cell).y - offsetY);
    return this.data.cells.reduce((best, cell) => (far(cell) < far(best) ? cell : best));
  }

  drag(event) {
    const [[a, b], [c, d]] = [this.cellAt(this.from), this.cellAt(event)];
    this.region = [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)];
    this.point(undefined);
  }

  point(cell) {
    this.pointed = cell;
    const count = (types) => `${types.toLocaleString("en")} type${types === 1 ? "" : "s"}`;
    const isIn = ([column, row]) => column >= this.region[0] && row >= this.region[1] && column <= this.region[2] && row <= this.region[3];
    const sum = () => this.data.cells.filter(isIn).reduce((all, [, , types]) => all + types, 0);
    if (cell) this.said.textContent = `${this.where(cell)}: ${count(cell[2])}`;
    else if (this.region) this.said.textContent = `${count(sum())} in the region`;
    else this.said.textContent = "Each type by its length and blame. Drag over a region to list it.";
    this.draw();
  }

  choose(region) {
    this.region = region;
    this.clicks.add(region ? region.join(",") : "all");
    this.point(undefined);
  }

  /** A click lists the types of a cell; a second one there lists all again. */
  chooseCell([column, row]) {
    const region = [column, row, column, row];
    this.choose(String(this.region) === String(region) ? null : region);
  }

  keyPressed(event) {
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const [from, way] = [this.pointed ?? this.data.at, ways[event.key]];
    if (event.key === "Enter" && this.pointed) this.chooseCell(this.pointed);
    else if (event.key === "Escape" && this.region) this.choose(null);
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
