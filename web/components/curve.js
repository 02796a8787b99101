// Precision, recall and F1 over thresholds, and a line to drag across them. What else shows
// thresholds on the page hears of each at once, as an event; the rest comes from Python.

const [LEFT, RIGHT, TOP, BELOW, HIGH] = [44, 112, 22, 52, 300]; // px around the lines, and in all
const PATIENCE = 150; // ms without another step, after which Python hears of one before its answer
const LINE = 15; // px between names that do not touch each other
const SERIES = [
  ["precision", "precision"],
  ["recall", "recall"],
  ["learned", "F1 learned from"],
  ["f1", "F1 kept aside"],
];

class CurveView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".curve");
    this.said = parent.querySelector(".said");
    this.lines = parent.querySelector(".lines");
    this.range = parent.querySelector("input");
    this.range.addEventListener("input", () => this.choose(Number(this.range.value)));
    this.take = parent.querySelector(".take");
    this.take.addEventListener("click", () => this.choose(this.best));
    offerCopy(this.frame, () => standalone(this.lines.firstElementChild), () => "thresholds");
    this.choice = new Choice(PATIENCE);
    this.resizing = new ResizeObserver(() => this.draw());
    this.resizing.observe(this.lines);
  }

  update(given) {
    const { data } = given;
    this.frame.classList.toggle("dark", isDark(this.parent));
    const source = JSON.stringify([data.points, data.best, data.now]);
    if (source !== this.source) {
      this.source = source;
      this.points = data.points;
      this.best = data.best;
      this.now = data.now;
      [this.range.min, this.range.max] = [0, data.points.length - 1];
      this.draw();
    }
    this.ahead = data.ahead;
    this.aheadOf = data.chosen;
    this.mark(this.choice.hear(given) ? data.chosen : this.chosen);
  }

  /** Python hears at once, and while it is at work of the last step alone. */
  choose(chosen) {
    this.mark(chosen);
    this.choice.tell(chosen, this.choice.told.length ? PATIENCE : 0);
  }

  draw() {
    const width = this.lines.clientWidth;
    if (!this.points || !width) return;
    const values = this.points.flatMap((point) => SERIES.map(([name]) => point[name]));
    values.push(this.now);
    const known = values.filter((value) => value !== null);
    const step = Math.max(...known) - Math.min(...known) > 25 ? 10 : 5;
    const least = step * Math.floor(Math.min(100, ...known) / step);
    const most = Math.max(least + step, step * Math.ceil(Math.max(0, ...known) / step));
    this.x = (share) => LEFT + share * (width - LEFT - RIGHT);
    this.y = (value) => HIGH - BELOW - ((value - least) * (HIGH - TOP - BELOW)) / (most - least);
    const [first, last] = [this.points[0], this.points.at(-1)];
    this.range.style.left = `${this.x(first.threshold)}px`;
    this.range.style.width = `${this.x(last.threshold) - this.x(first.threshold)}px`;

    const grid = drawn("g", {});
    for (let value = least; value <= most; value += step) {
      const y = this.y(value);
      grid.append(
        drawn("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y, y2: y }),
        drawn("text", { class: "side", x: LEFT - 8, y: y + 4 }, `${value} %`),
      );
    }
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const place = { class: "foot", x: this.x(share), y: HIGH - BELOW + 26 };
      grid.append(drawn("text", place, `${100 * share} %`));
    }
    const meaning = { class: "foot", x: this.x(0.5), y: HIGH - 6 };
    grid.append(drawn("text", meaning, "knock out merges that are wrong at least this often"));
    if (this.now !== null) {
      const y = this.y(this.now);
      const label = { class: "side now", x: width - RIGHT, y: y + 14 };
      grid.append(
        drawn("line", { class: "now", x1: LEFT, x2: width - RIGHT, y1: y, y2: y }),
        drawn("text", label, `as it is: ${this.now.toFixed(1)}`),
      );
    }

    this.hand = drawn("g", { class: "hand" });
    const size = { viewBox: `0 0 ${width} ${HIGH}`, height: HIGH, "aria-hidden": "true" };
    const [lines, best] = known.length ? [this.series(), this.bestPoint()] : [[], []];
    this.lines.replaceChildren(drawn("svg", size, grid, ...lines, this.hand, ...best));
    this.mark(this.chosen);
  }

  /** The lines, their names at the right end, none of them over another. */
  series() {
    const known = SERIES.filter(([name]) => this.points.some((point) => point[name] !== null));
    const ends = known.map(([name, label]) => {
      const points = this.points.filter((point) => point[name] !== null);
      const path = points.map((point) => `${this.x(point.threshold)},${this.y(point[name])}`);
      const group = drawn("g", { class: name }, drawn("polyline", { points: path.join(" ") }));
      const isAlone = name === "f1" && !known.some(([other]) => other === "learned");
      return { group, label: isAlone ? "F1" : label, y: this.y(points.at(-1)?.[name] ?? 0) + 4 };
    });
    let lowest = -LINE;
    for (const end of [...ends].sort((one, other) => one.y - other.y)) {
      lowest = Math.max(end.y, lowest + LINE);
      end.group.append(drawn("text", { x: this.x(1) + 6, y: lowest }, end.label));
    }
    return ends.map(({ group }) => group);
  }

  bestPoint() {
    const point = this.points[this.best];
    if (!point) return [];
    const [x, y] = [this.x(point.threshold), this.y(point.f1)];
    const label = `best: ${Math.round(100 * point.threshold)} %`;
    const name = drawn("text", { x: Math.max(x, LEFT + 56), y: y - 12 }, label);
    return [drawn("g", { class: "f1 best" }, drawn("circle", { cx: x, cy: y, r: 6 }), name)];
  }

  /** Put the line at a threshold. */
  mark(chosen) {
    this.chosen = chosen;
    const point = this.points?.[chosen];
    if (!point || !this.hand) return;
    const x = this.x(point.threshold);
    const foot = HIGH - BELOW;
    const dots = SERIES.filter(([name]) => point[name] !== null).map(([name]) =>
      drawn("circle", { cx: x, cy: this.y(point[name]), r: 4 }),
    );
    this.hand.replaceChildren(
      drawn("line", { x1: x, x2: x, y1: 0, y2: foot }),
      drawn("rect", { x: x - 7, y: foot - 10, width: 14, height: 20, rx: 5 }),
      ...dots,
    );
    this.range.value = chosen;
    this.take.hidden = this.best === null;
    this.range.setAttribute("aria-valuetext", `${Math.round(100 * point.threshold)} %: ${point.said}`);
    const { gain, rest, sign } = chosen === this.aheadOf ? this.ahead : { gain: "", rest: "", sign: "" };
    this.said.replaceChildren(made("b", "", point.said), " ", made("span", sign, gain), ` ${rest}`);
    dispatchEvent(new CustomEvent("morphgraph-threshold", { detail: Math.round(100 * point.threshold) }));
  }

  dispose() {
    this.choice.stop();
    this.resizing.disconnect();
  }
}

export default component(CurveView);
