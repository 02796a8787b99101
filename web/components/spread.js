// The merges that go at a threshold, worst first, and how blame is spread over all: both follow the
// line that one drags on the same page. Text nodes only, for types come from uploaded files.

const [HIGH, LEFT, FOOT, TOP] = [222, 36, 34, 8]; // px of the picture, and around what it shows
const BARS = 20;
const LISTED = 30;

class SpreadView {
  shown = "bars";

  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".spread");
    this.list = parent.querySelector(".list");
    this.picture = parent.querySelector(".picture");
    [this.count, this.unit] = parent.querySelectorAll("h4 span");
    this.clicks = new Clicks();
    const kinds = ["bars", "joins"];
    this.buttons = [...parent.querySelectorAll(".how button")];
    for (const [number, button] of this.buttons.entries()) {
      button.addEventListener("click", () => {
        this.shown = kinds[number];
        for (const one of this.buttons) one.setAttribute("aria-pressed", one === button);
        this.draw();
      });
    }
    this.onThreshold = ({ detail }) => this.mark(detail);
    addEventListener("morphgraph-threshold", this.onThreshold);
    this.resizing = new ResizeObserver(() => this.draw());
    this.resizing.observe(this.picture);
  }

  update(given) {
    const { data } = given;
    this.clicks.acknowledge(given);
    this.frame.classList.toggle("dark", isDark(this.parent));
    const source = JSON.stringify(data.spread);
    if (source === this.source) return;
    this.source = source;
    this.spread = data.spread;
    this.least = null;
    this.draw();
    this.mark(this.wanted ?? data.threshold);
  }

  /** Show what goes at a threshold, in hundredths. */
  mark(least) {
    this.wanted = least;
    if (!this.spread || least === this.least) return;
    this.least = least;
    const total = this.spread.steps.slice(least).reduce((sum, count) => sum + count, 0);
    const rows = this.spread.worst.filter(([, , , , , step]) => step >= least).slice(0, LISTED);
    const most = Math.max(...rows.map(([, , , , joins]) => joins));
    this.count.textContent = rows.length ? "most wrong joins first" : "";
    this.list.replaceChildren(...rows.map((row) => this.row(row, most)));
    if (!rows.length) this.list.append(made("p", "none", "None is wrong that often: move the line to the left."));
    if (total > rows.length && rows.length) this.list.append(made("p", "none", `${(total - rows.length).toLocaleString("en")} more`));
    this.cut();
  }

  row([parts, type, number, wrong, joins], most) {
    const button = made("button");
    button.type = "button";
    const [merge, bar] = [made("span", "merge", `${parts} → ${type}`), made("span", "bar")];
    merge.title = `${parts} → ${type}`;
    button.title = "Open it in the Workbench";
    for (const part of [wrong, joins - wrong]) {
      bar.append(Object.assign(made("i"), { style: `width: ${(100 * part) / most}%` }));
    }
    const [some, all] = [wrong, joins].map((count) => Math.round(count).toLocaleString("en"));
    button.append(merge, bar, made("span", "count", `${some} of ${all}`));
    button.addEventListener("click", () => this.clicks.add(String(number)));
    return button;
  }

  draw() {
    const width = this.picture.clientWidth;
    if (!this.spread || !width) return;
    const isBars = this.shown === "bars";
    this.unit.textContent = isBars ? "merges, log" : "each square: merges";
    const [wide, foot] = [width - LEFT - 6, HIGH - FOOT];
    const shapes = isBars ? this.bars(wide, foot) : this.joins(wide, foot);
    this.clip = drawn("rect", { x: 0, y: 0, width, height: HIGH });
    const both = ["stay", "bad"].map((kind) => {
      const group = drawn("g", { class: kind });
      group.append(...shapes.map((shape) => shape()));
      return group;
    });
    both[1].setAttribute("clip-path", "url(#goes)");
    this.here = drawn("line", { class: "here" });
    const size = { viewBox: `0 0 ${width} ${HIGH}`, height: HIGH, role: "img" };
    this.svg = drawn("svg", size, drawn("clipPath", { id: "goes" }, this.clip), ...this.axes(wide, foot, isBars), ...both, this.here);
    this.place = isBars ? (share) => LEFT + share * wide : (share) => foot - share * (foot - TOP);
    this.picture.replaceChildren(this.svg);
    this.cut();
  }

  /** Merges by blame; heights are logarithms, as most merges have none. */
  bars(wide, foot) {
    const each = (this.spread.steps.length - 1) / BARS;
    const counts = Array.from({ length: BARS }, (_, bar) => {
      const end = bar === BARS - 1 ? this.spread.steps.length : (bar + 1) * each;
      return this.spread.steps.slice(bar * each, end).reduce((sum, count) => sum + count, 0);
    });
    this.most = Math.max(10, ...counts);
    const high = (count) => (Math.log10(count + 1) * (foot - TOP)) / Math.log10(this.most + 1);
    return counts.flatMap((count, bar) => {
      if (!count) return [];
      const place = { x: LEFT + (bar * wide) / BARS + 1, y: foot - high(count), width: wide / BARS - 2, height: high(count), rx: 2 };
      const label = `blame ${bar * each} to ${(bar + 1) * each} %: ${count.toLocaleString("en")}`;
      return [() => drawn("rect", place, drawn("title", {}, label))];
    });
  }

  /** Merges by how often they join (doubling from column to column) and by blame. */
  joins(wide, foot) {
    const { cells } = this.spread;
    this.columns = Math.max(...cells.map(([column]) => column)) + 1;
    const most = Math.max(...cells.map(([, , count]) => count));
    const [cell, high] = [wide / this.columns, (foot - TOP) / BARS];
    return cells.map(([column, row, count]) => {
      const share = 0.3 + (0.6 * Math.log1p(count)) / Math.log1p(most);
      const [width, height] = [Math.min(cell, 3 * high) * share, high * share + 1];
      const x = LEFT + (column + 0.5) * cell - width / 2;
      const place = { x, y: foot - (row + 0.5) * high - height / 2, width, height, rx: 1.5 };
      const label = `${2 ** column} joins or more, blame ${5 * row} to ${5 * row + 5} %: ${count.toLocaleString("en")}`;
      return () => drawn("rect", place, drawn("title", {}, label));
    });
  }

  axes(wide, foot, isBars) {
    const axis = [drawn("line", { class: "axis", x1: LEFT, x2: LEFT + wide, y1: foot, y2: foot })];
    const below = (x, label) => axis.push(drawn("text", { x, y: foot + 16, "text-anchor": "middle" }, label));
    const beside = (y, label) => axis.push(drawn("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, label));
    if (isBars) {
      for (const share of [0, 0.5, 1]) below(LEFT + share * wide, `${100 * share} %`);
      for (let count = 1; count <= this.most; count *= 10) {
        beside(foot - (Math.log10(count + 1) * (foot - TOP)) / Math.log10(this.most + 1), count.toLocaleString("en"));
      }
      axis.push(drawn("text", { x: LEFT + wide / 2, y: HIGH - 2, "text-anchor": "middle" }, "share of joins that are wrong"));
    } else {
      for (const share of [0, 0.5, 1]) beside(foot - share * (foot - TOP), `${100 * share} %`);
      const every = Math.ceil(this.columns / 5);
      for (let column = 0; column < this.columns; column += every) {
        below(LEFT + ((column + 0.5) * wide) / this.columns, (2 ** column).toLocaleString("en"));
      }
      axis.push(drawn("text", { x: LEFT + wide / 2, y: HIGH - 2, "text-anchor": "middle" }, "joins of a merge, at least"));
    }
    return axis;
  }

  /** What is at the threshold or above is red. */
  cut() {
    if (!this.here || this.least === null || this.least === undefined) return;
    const at = this.place(this.least / 100);
    const foot = HIGH - FOOT;
    const set = (element, values) => {
      for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
    };
    if (this.shown === "bars") {
      set(this.clip, { x: at });
      set(this.here, { x1: at, x2: at, y1: 0, y2: foot });
    } else {
      set(this.clip, { height: at });
      set(this.here, { x1: LEFT, x2: this.picture.clientWidth - 6, y1: at, y2: at });
    }
    const total = this.spread.steps.reduce((sum, count) => sum + count, 0);
    const going = this.spread.steps.slice(this.least).reduce((sum, count) => sum + count, 0);
    this.svg.setAttribute("aria-label", `${going} of ${total} merges are wrong in at least ${this.least} % of their joins`);
  }

  dispose() {
    this.clicks.stop();
    this.resizing.disconnect();
    removeEventListener("morphgraph-threshold", this.onThreshold);
  }
}

export default component(SpreadView);
