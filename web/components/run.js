// A run as a line that one plays: height is F1, colour and shape are the phase. It plays here;
// Python hears of each phase, and of steps where one stops.

const [ASIDE, ABOVE, BELOW, HIGH] = [34, 30, 26, 176]; // px around the points, and of the line
const PACE = 1100; // ms a phase
const PATIENCE = 300; // ms without another step before Python hears of one
const LETTER = 7; // px that one takes in a label
const NAMES = {
  start: "start",
  anneal: "anneal",
  knockout: "knock out",
  repair: "repair",
  reify: "reify",
  portable: "make portable",
};
class RunView {
  rows = [];

  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".run");
    this.lineBox = parent.querySelector(".line");
    this.range = parent.querySelector("input[type=range]");
    this.said = parent.querySelector(".said");
    this.key = parent.querySelector(".key");
    this.word = parent.querySelector(".word");
    this.signs = new Key(this.frame, this.word);
    offerCopy(this.frame, () => standalone(this.lineBox.firstElementChild), () => "run");
    const place = parent.querySelector(".player");
    this.choice = new Choice(PATIENCE);
    const stopped = (number) => this.choice.tell(number);
    this.player = new Player(place, this.range, "phase", PACE, (at) => this.show(at), stopped);
    this.resizing = new ResizeObserver(() => this.draw());
    this.resizing.observe(this.lineBox);
  }

  update(given) {
    const { data } = given;
    this.frame.classList.toggle("dark", isDark(this.parent));
    const source = JSON.stringify(data.points);
    const isNew = source !== this.source;
    if (isNew && this.points && data.points.length !== this.points.length) this.player.halt();
    this.points = data.points;
    this.names = data.names; // other words for the kinds of phases
    const word = data.word && JSON.stringify(data.word);
    if (word && word !== this.shownWord) {
      this.shownWord = word;
      this.rows = data.word.rows;
      this.showWord(data.word);
    }
    if (isNew) {
      this.source = source;
      this.draw();
    }
    const isTold = this.choice.hear(given) && !this.player.playing;
    this.player.set(0, this.points.length - 1, isTold ? data.chosen : this.player.at);
  }

  /** Mark a phase; what is below follows while it plays, without steps to come back from. */
  show(at) {
    this.mark(at);
    const playing = Boolean(this.player.playing);
    if (playing !== this.playing) this.choice.send?.("playing", (this.playing = playing));
    if (playing && at !== this.passed) this.choice.tell(at, 0);
    this.passed = playing ? at : null;
  }

  // --- drawing

  draw() {
    const width = this.lineBox.clientWidth;
    if (!this.points || !width) return;
    const both = this.points.flatMap(({ f1, beside }) => [f1, beside ?? null]);
    const values = both.filter((value) => value !== null);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const [span, last] = [Math.max(most - least, 1), this.points.length - 1];
    const gap = (width - 2 * ASIDE) / Math.max(6, last);
    const x = (number) => ASIDE + number * gap;
    const y = (f1) => HIGH - BELOW - 8 - ((f1 ?? least) - least) * ((HIGH - ABOVE - BELOW - 8) / span);
    const every = Math.ceil(40 / gap); // numbers that do not touch each other
    const isWide = gap > LETTER * Math.max(...this.points.map(({ label }) => label.length));
    const path = this.points.map(({ f1 }, number) => `${x(number)},${y(f1)}`).join(" ");
    const groups = this.points.map((point, number) => {
      const at = `translate(${x(number)} ${y(point.f1)})`;
      const group = drawn(
        "g",
        { class: `${point.kind}${point.undone ? " undone" : ""}`, "data-phase": number },
        drawn("title", {}, `${point.label}\n${point.said}`),
        drawn("rect", { x: x(number) - gap / 2, width: gap, height: HIGH }),
        drawn("circle", { r: 12, transform: at }),
        drawn("path", { d: SHAPES[point.kind], transform: at }),
      );
      if (number === last || (number % every === 0 && last - number >= every)) {
        const first = this.points[number - every]?.iteration ? "" : "round ";
        const label = isWide || !point.iteration ? point.label : `${first}${point.iteration}`;
        group.append(
          drawn("text", { x: x(number), y: y(point.f1) - 15 }, point.value),
          drawn("text", { x: x(number), y: HIGH - 8 }, label),
        );
      }
      group.addEventListener("click", () => this.player.go(number));
      return group;
    });
    const line = drawn("polyline", { points: path });
    const size = { viewBox: `0 0 ${width} ${HIGH}`, height: HIGH, role: "img" };
    const picture = drawn("svg", { ...size, "aria-label": "F1 after each phase" }, line);
    // Another score of the same phases: on the words that a run has learned from.
    const others = this.points.filter(({ beside }) => beside !== null && beside !== undefined);
    if (others.length === this.points.length && last > 0) {
      const path = others.map(({ beside }, number) => `${x(number)},${y(beside)}`).join(" ");
      const label = `words learned from: ${others[last].beside.toFixed(1)}`;
      picture.append(drawn("polyline", { class: "beside", points: path }));
      groups.push(drawn("text", { class: "seen", x: width - ASIDE + 20, y: y(others[last].beside) - 8 }, label));
    }
    picture.append(...groups);
    this.lineBox.replaceChildren(picture);
    const one = this.points.length < 2;
    this.range.style.visibility = one ? "hidden" : "";
    this.range.style.marginLeft = `${ASIDE - 8}px`;
    this.range.style.width = `${(this.points.length - 1) * gap + 16}px`;
    const kinds = Object.keys(NAMES).filter((kind) => this.points.some((one) => one.kind === kind));
    this.key.replaceChildren(
      ...kinds.map((kind) => {
        const sample = drawn("svg", { viewBox: "-8 -8 16 16" }, drawn("path", { d: SHAPES[kind] }));
        const name = made("span", kind);
        name.append(sample, (this.names ?? NAMES)[kind]);
        return name;
      }),
    );
    this.mark(this.player.at);
  }

  showWord(word) {
    this.word.replaceChildren();
    const row = (label, chips, kind) => {
      const shown = made("div", `row ${kind}`);
      shown.append(label, chips);
      this.word.append(shown);
    };
    const gold = made("div", "chips gold");
    for (const morph of word.morphs) gold.append(made("span", "chip", morph));
    if (!word.morphs.length) gold.append(made("span", "none", "not in the reference"));
    row(this.field(word), gold, "gold");
    for (const { label, tokens } of word.rows) {
      const chips = made("div", "chips");
      chips.append(...tokens.map((token) => chipOf(token)));
      row(made("span", "label", label), chips, "tokens");
    }
    this.signs.update();
  }

  /** Where another word is typed or chosen. */
  field({ text, examples }) {
    const field = Object.assign(made("input"), { type: "text", value: text, maxLength: 200 });
    field.setAttribute("aria-label", "A word through the run");
    field.setAttribute("list", "run-examples");
    const list = Object.assign(made("datalist"), { id: "run-examples" });
    for (const example of examples) list.append(Object.assign(made("option"), { value: example }));
    // All examples are offered, not only those that begin with what is there.
    field.addEventListener("focus", () => field.select());
    field.addEventListener("change", () => this.choice.send?.("word", field.value));
    const both = made("span", "field");
    both.append(field, list);
    return both;
  }

  /** Show which phase is chosen, and what there is to say about it. */
  mark(chosen) {
    const point = this.points?.[chosen];
    if (!point) return;
    for (const group of this.lineBox.querySelectorAll("g")) {
      group.classList.toggle("chosen", Number(group.dataset.phase) === chosen);
    }
    this.range.setAttribute("aria-valuetext", `${point.label}, F1 ${point.value}`);
    this.said.replaceChildren(made("b", point.kind, point.label), `  ${point.said}`);
    const rows = [...this.word.querySelectorAll(".row.tokens")];
    rows.forEach((row, number) => {
      const now = this.rows[number].phases.includes(chosen);
      row.classList.toggle("now", now);
      const least = row.offsetLeft + row.offsetWidth - this.word.clientWidth;
      if (now && rows.length > 1) this.word.scrollLeft = Math.min(row.offsetLeft, Math.max(this.word.scrollLeft, least));
    });
  }

  dispose() {
    this.player.halt();
    this.choice.stop();
    this.resizing.disconnect();
  }
}

export default component(RunView);
