// F1 over all edits, one point each, along which one travels: a drag or the arrow keys. Pointing
// says what a point is. Python hears of where one stops.

const [ASIDE, HIGH, TOP, FOOT] = [22, 58, 12, 34]; // px beside the line, in all, and of its points
const WIDEST = 90; // px from one point to the next
const PATIENCE = 250; // ms without another step
const LETTER = 6.6; // px that one takes in a label

class TapeView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".tape");
    this.title = parent.querySelector(".head b");
    this.said = parent.querySelector(".said");
    this.line = parent.querySelector(".line");
    this.range = parent.querySelector("input");
    this.choice = new Choice(PATIENCE);
    this.range.addEventListener("input", () => {
      this.mark(Number(this.range.value));
      this.choice.tell(this.chosen);
    });
    this.range.addEventListener("pointermove", (event) => this.point(event));
    this.range.addEventListener("pointerleave", () => this.point(null));
    this.resizing = new ResizeObserver(() => this.draw());
    this.resizing.observe(this.line);
  }

  update(given) {
    const { data } = given;
    this.frame.classList.toggle("dark", isDark(this.parent));
    this.title.textContent = data.title;
    const source = JSON.stringify([data.points, data.done]);
    if (source !== this.source) {
      this.source = source;
      this.points = data.points;
      this.done = data.done;
      this.note = data.note;
      this.range.max = data.points.length - 1;
      this.range.disabled = data.points.length < 2;
      this.draw();
    }
    if (this.choice.hear({ ...given, data: { chosen: data.done } })) this.mark(data.done);
  }

  draw() {
    const width = this.line.clientWidth;
    if (!this.points || !width) return;
    const last = this.points.length - 1;
    this.gap = Math.min(WIDEST, (width - 2 * ASIDE) / Math.max(1, last));
    const known = this.points.flatMap(({ f1, learned }) => [f1, learned]).filter((one) => one !== null);
    const [least, most] = [Math.min(...known), Math.max(...known)];
    const x = (number) => ASIDE + number * this.gap;
    const flat = last < 1 || !(most > least);
    const y = (f1) => (flat ? (TOP + FOOT) / 2 : FOOT - (((f1 ?? least) - least) * (FOOT - TOP)) / Math.max(most - least, 1));
    const path = (name, from, to) =>
      this.points.slice(from, to + 1).map((one, number) => `${x(from + number)},${y(one[name])}`).join(" ");
    const lines = [drawn("polyline", { points: path("f1", 0, this.done) })];
    if (this.done < last) lines.push(drawn("polyline", { class: "undone", points: path("f1", this.done, last) }));
    const seen = this.points.filter(({ learned }) => learned !== null).length - 1;
    if (seen > 0) lines.unshift(drawn("polyline", { class: "beside", points: path("learned", 0, seen) }));
    const room = Math.floor((this.gap - 8) / LETTER); // letters
    const groups = this.points.map((point, number) => {
      const at = { transform: `translate(${x(number)} ${y(point.f1)})` };
      const group = drawn("g", { class: `${point.kind}${number > this.done ? " undone" : ""}`, "data-edit": number });
      group.append(drawn("circle", { r: 10, ...at }), drawn("path", { d: SHAPES[point.kind], ...at }));
      if (room > 3) {
        const label = point.label.length > room ? `${point.label.slice(0, room - 1)}…` : point.label;
        group.append(drawn("text", { x: x(number), y: HIGH - 4 }, label));
      }
      return group;
    });
    const size = { viewBox: `0 0 ${width} ${HIGH}`, height: HIGH, "aria-hidden": "true" };
    this.line.replaceChildren(drawn("svg", size, ...lines, ...groups));
    this.range.style.left = `${ASIDE - 1}px`;
    this.range.style.width = `${last * this.gap + 2}px`;
    this.mark(this.chosen ?? this.done);
  }

  /** Say what the point nearest to the pointer is. */
  point(event) {
    const number = event && Math.round((event.offsetX - 1) / this.gap);
    const point = event && this.points[Math.max(0, Math.min(number, this.points.length - 1))];
    this.tell(point ?? this.points[this.chosen]);
    for (const group of this.line.querySelectorAll("g")) {
      group.classList.toggle("pointed", this.points[group.dataset.edit] === point);
    }
  }

  /** Put the ring at the state after this number of edits. */
  mark(chosen) {
    this.chosen = Math.min(chosen, this.points.length - 1);
    for (const group of this.line.querySelectorAll("g")) {
      group.classList.toggle("chosen", Number(group.dataset.edit) === this.chosen);
    }
    const point = this.points[this.chosen];
    this.range.value = this.chosen;
    this.range.setAttribute("aria-valuetext", point.said);
    this.tell(point);
  }

  tell(point) {
    this.said.textContent = this.points.length < 2 ? this.note : point.said;
  }

  dispose() {
    this.choice.stop();
    this.resizing.disconnect();
  }
}

export default component(TapeView);
