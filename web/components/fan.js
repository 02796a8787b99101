// The merge graph as a fan, in SVG: draws what Python has laid out and reports clicks. Labels are text
// nodes only, for types come from uploaded files. Pan and zoom are Panzoom's, which goes before this.

const cameras = (globalThis.__morphgraph_cameras ??= new Map()); // view key → where one last looked, if that was by hand
const LANES = 5;
const SCALE = { most: 1.35, smallest: 0.15, largest: 4 };
const MARGIN = 10; // px around all that is drawn
const BAR = 40; // px at the end of a long fan, for its last row not to lie behind the buttons
const LEAVING = 500; // ms after which what has faded is removed
const JUST = 5000; // ms ago that another picture was left for this one
const HERE = "▪"; // in a merge, the type in the middle
const NARROW = 400; // px; below, there is no room for both a merge and what it makes

/** A fan without merges: the parts run to the type in the middle, and results mark where it is in them. */
function compact(fan) {
  const all = new Map(fan.vertices.map((vertex) => [vertex.id, vertex]));
  const results = new Map(fan.edges.map(({ source, target }) => [source, all.get(target)])); // a merge has one
  const focus = fan.vertices.find(({ flags }) => flags.includes("focus"));
  const vertices = new Map(all);
  const instead = new Map(); // merge → the type in its place
  const isMaking = ({ id, kind, x }) => kind === "merge" && x < 0 && results.get(id) === focus;
  const [making, another] = fan.vertices.filter(isMaking);
  const isLeft = ({ x }) => making && !another && x <= making.x;
  const nearer = making ? focus.x - focus.width / 2 - (making.x - making.width / 2) : 0;
  const moved = (path) => path.replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x, y) => `${Number(x) + nearer} ${y}`);
  for (const vertex of fan.vertices) {
    const { id, kind, x, width, label, flags } = vertex;
    const result = results.get(id);
    if (isLeft(vertex)) {
      vertices.set(id, { ...vertex, x: x + nearer });
      if (vertex === making) instead.set(id, focus.id);
    } else if (kind === "merge" && x >= 0 && result && !results.has(result.id)) {
      const parts = label.split(" + ").map((part) => [part === HERE ? focus.label : part, part === HERE]);
      const isWhole = parts.map(([text]) => text).join("") === result.label;
      const place = { x: x + (result.width - width) / 2, flags: [...result.flags, ...flags] };
      vertices.set(result.id, { ...result, ...place, ...(isWhole && { parts }) });
      instead.set(id, result.id);
    }
  }
  const edges = fan.edges.map((edge) => ({
    ...edge,
    target: instead.get(edge.target) ?? edge.target,
    path: isLeft(all.get(edge.target)) ? moved(edge.path) : edge.path,
  }));
  return {
    vertices: [...vertices.values()].filter(({ id }) => !instead.has(id)),
    edges: edges.filter(({ source }) => !instead.has(source)),
  };
}

class FanView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".fan");
    this.surface = parent.querySelector(".surface");
    this.world = parent.querySelector(".world");
    this.thumb = parent.querySelector(".thumb");
    this.clicks = new Clicks();
    this.vertices = new Map();
    this.edges = new Map();
    this.camera = Panzoom(this.world, {
      canvas: true,
      excludeClass: "vertex",
      minScale: SCALE.smallest,
      maxScale: SCALE.largest,
      step: 0.25,
      cursor: "",
      setTransform: (element, { scale, x, y }) => {
        element.style.transform = `scale(${scale}) translate(${x}px, ${y}px)`;
        this.showPlace(scale, y);
      },
      handleStartEvent: () => this.frame.classList.remove("moving"),
    });
    this.surface.addEventListener("wheel", (event) => {
      this.frame.classList.remove("moving");
      // As on any page: the wheel scrolls, and zooms with Ctrl, which pinching on a touchpad sends, too.
      if (event.ctrlKey) this.camera.zoomWithWheel(event);
      else this.scroll(event);
      this.keepCamera();
    });
    this.world.addEventListener("panzoomend", () => this.keepCamera());
    this.listen();
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(this.surface);
  }

  // --- data in

  update(given) {
    const { data } = given;
    this.clicks.acknowledge(given);
    this.dark = isDark(this.parent);
    this.frame.classList.toggle("dark", this.dark);
    this.frame.style.height = data.height;
    const switched = this.viewKey !== data.view_key;
    this.viewKey = data.view_key;
    // While clicks are on their way, the page has not seen the latest of them.
    if (!this.clicks.pending.length || switched) this.selected = data.selected;
    const told = JSON.stringify([data.fan, this.dark]);
    if (told !== this.told || switched) {
      const first = !this.drawn;
      this.told = told;
      this.given = data.fan;
      this.least = data.least;
      this.drawn = true;
      this.fit();
      this.frame.classList.toggle("moving", !first && !switched);
      this.place();
      if (first) this.unfold();
    }
    this.mark();
    const types = this.fan.vertices.filter(({ kind }) => kind === "type").length;
    const merges = this.fan.vertices.filter(({ kind }) => kind === "merge").length;
    const how = "Arrow keys move, Enter clicks, Shift and Enter moves the graph there.";
    this.surface.setAttribute("aria-label", `Merge graph: ${types} types, ${merges} merges. ${how}`);
  }

  /** Draw what there is room for. */
  fit() {
    this.narrow = this.surface.clientWidth < NARROW;
    this.fan = this.narrow ? compact(this.given) : this.given;
    this.draw();
  }

  /** The first time, a type and its parts come from where a merge tree had them, what uses it out of it. */
  unfold() {
    const entries = [...this.vertices.values()];
    const middle = entries.find(({ flags }) => flags.includes("focus"));
    if (!middle || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const [scale, { x, y }] = [this.camera.getScale(), this.camera.getPan()];
    this.camera.setOptions({ startX: x, startY: y }); // where Panzoom goes a moment after it is made
    const { left, top } = this.surface.getBoundingClientRect();
    const isRecent = performance.now() - leaving.at < JUST;
    const place = ({ key }) => {
      const box = isRecent && leaving.boxes.get(key);
      return box && { x: (box.x + box.width / 2 - left) / scale - x, y: (box.y + box.height / 2 - top) / scale - y };
    };
    const from = place(middle) || middle;
    const move = (at, { element }, transition) => Object.assign(element.style, { transition, transform: `translate(${at.x}px, ${at.y}px)` });
    for (const entry of entries) move((entry.x < middle.x && place(entry)) || from, entry, "none");
    for (const { element } of this.edges.values()) element.classList.add("coming");
    this.world.getBoundingClientRect(); // where they are, before they move
    for (const entry of entries) move(entry, entry, "");
  }

  resize() {
    if (!this.drawn || !this.surface.clientWidth) return;
    if (this.narrow !== this.surface.clientWidth < NARROW) {
      this.fit();
      this.mark();
    }
    this.place();
  }

  // --- drawing by difference

  draw() {
    const focused = this.vertices.get(this.surface.getRootNode().activeElement?.dataset.id);
    this.point(undefined); // nothing, until the pointer moves or the focus is back
    this.notice().hidden = this.fan.vertices.length > 0;
    this.sync(this.vertices, this.fan.vertices, ".vertices", (v) => this.newVertex(v), (e, v) => this.dress(e, v));
    this.sync(this.edges, this.fan.edges, ".edges", () => drawn("path", {}), (e, edge) => this.trace(e, edge));
    this.light(undefined); // what changed is seen, whatever was pointed at
    // What is put elsewhere in the order of the tab key has lost the focus.
    if (focused) (this.vertices.get(focused.id) ?? this.home(focused.key))?.element.focus({ preventScroll: true });
  }

  /** The vertex of a key, or that in the middle. */
  home(key) {
    const entries = [...this.vertices.values()];
    return entries.find((entry) => entry.key === key) ?? entries.find(({ flags }) => flags.includes("focus")) ?? entries[0];
  }

  notice() {
    return this.parent.querySelector(".notice");
  }

  sync(known, wanted, place, make, update) {
    const group = this.world.querySelector(place);
    const isFirst = known.size === 0;
    const gone = new Map(known);
    for (const one of wanted) {
      let entry = known.get(one.id);
      gone.delete(one.id);
      if (!entry) {
        entry = { element: make(one) };
        known.set(one.id, entry);
        entry.coming = !isFirst;
      }
      Object.assign(entry, { parts: undefined }, one);
      update(entry.element, entry);
      group.append(entry.element); // in the order given, which is that of the tab key
      entry.coming = false;
    }
    for (const [id, { element }] of gone) {
      known.delete(id);
      element.classList.add("leaving");
      element.removeAttribute("tabindex");
      delete element.dataset.id;
      setTimeout(() => element.remove(), LEAVING);
    }
  }

  newVertex({ id, key }) {
    const [box, ring] = ["box", "ring"].map((name) => drawn("rect", { class: name }));
    const element = drawn("g", { role: "button", tabindex: "-1" }, drawn("title", {}), box, ring, drawn("text", {}));
    element.dataset.id = id;
    element.dataset.key = key;
    return element;
  }

  dress(element, { kind, label, parts = [[label, false]], about, value, x, y, width, lane, flags, fills, inks, coming }) {
    const classes = ["vertex", kind, ...flags, ...(lane === null ? [] : ["strand"])];
    element.setAttribute("class", [...classes, ...(coming ? ["coming"] : [])].join(" "));
    element.style.transform = `translate(${x}px, ${y}px)`;
    const dark = Number(this.dark);
    const set = (name, text) => (text ? element.style.setProperty(name, text) : element.style.removeProperty(name));
    set("--fill", value === null ? "" : fills[dark]);
    set("--ink", value === null ? "" : inks[dark]);
    set("--strand", lane === null ? "" : `var(--lane${lane % LANES})`);
    const [title, box, ring, text] = element.children;
    title.textContent = about;
    element.setAttribute("aria-label", `${kind} ${about.split("\n").join(", ")}`);
    for (const [rect, grow] of [[box, 0], [ring, 4]]) {
      const high = 30 + 2 * grow;
      const round = kind === "type" ? high / 2 : 6 + grow / 2;
      const shape = { x: -width / 2 - grow, y: -high / 2, width: width + 2 * grow, height: high, rx: round };
      for (const [name, size] of Object.entries(shape)) {
        rect.setAttribute(name, size);
        rect.style[name] = `${size}px`;
      }
    }
    const written = JSON.stringify(parts);
    if (text.dataset.written !== written) {
      text.dataset.written = written;
      text.replaceChildren(...parts.map(([part, isShared]) => (isShared ? drawn("tspan", { "font-weight": 700 }, part) : part)));
      text.removeAttribute("textLength");
      // Letters that the font lacks come from another, which may be wider.
      if (text.getComputedTextLength() > width - 14) {
        text.setAttribute("textLength", width - 14);
        text.setAttribute("lengthAdjust", "spacingAndGlyphs");
      }
    }
  }

  trace(element, { path, lane, flags, coming }) {
    const classes = ["edge", ...flags, ...(lane === null ? [] : ["strand"]), ...(coming ? ["coming"] : [])];
    element.setAttribute("class", classes.join(" "));
    if (lane !== null) element.style.setProperty("--strand", `var(--lane${lane % LANES})`);
    element.setAttribute("d", path);
    element.style.setProperty("d", `path("${path}")`);
  }

  /** Outline what is selected; one vertex is reached by the tab key, the others by arrows. */
  mark() {
    const entries = [...this.vertices.values()];
    const at = entries.find(({ element }) => element.matches(":focus"));
    const home = at ?? this.home(this.selected);
    for (const entry of entries) {
      entry.element.classList.toggle("selected", entry.key === this.selected);
      entry.element.setAttribute("tabindex", entry === home ? "0" : "-1");
    }
  }

  // --- camera

  /** Show what was last looked at by hand, or else all of it, or as much of it as can be read. */
  place() {
    const { clientWidth: wide, clientHeight: high } = this.surface;
    if (!wide || !high || !this.vertices.size) return;
    const kept = cameras.get(this.viewKey);
    this.move(kept ?? this.whole(wide, high, this.least));
  }

  /** Scroll as far as something is drawn; beyond that the page scrolls. */
  scroll(event) {
    const [box, scale, from] = [this.bounds(), this.camera.getScale(), this.camera.getPan()];
    const line = event.deltaMode ? 16 : 1; // px
    const along = (at, delta, low, high, size) => {
      const [last, first] = [Math.min(size / scale - high, at), Math.max(-low, at)];
      return size / scale >= high - low ? at : Math.min(first, Math.max(last, at - (delta * line) / scale));
    };
    const { clientWidth: wide, clientHeight: high } = this.surface;
    const x = along(from.x, event.deltaX, box.left, box.right, wide);
    const y = along(from.y, event.deltaY, box.top, box.bottom + BAR / scale, high);
    if (x === from.x && y === from.y) return;
    event.preventDefault();
    this.camera.pan(x, y, { force: true });
  }

  /** Show at the side which part of all that is drawn is in sight, if not all is. */
  showPlace(scale, y) {
    const { top, bottom } = this.bounds();
    const [from, part] = [(-y - top) / (bottom - top), this.surface.clientHeight / scale / (bottom - top)];
    this.thumb.hidden = !(part < 0.98);
    // Where all is in sight a finger scrolls the page.
    for (const element of [this.surface, this.world]) element.style.touchAction = this.thumb.hidden ? "pan-y" : "none";
    this.thumb.style.top = `${100 * Math.max(0, Math.min(1 - part, from))}%`;
    this.thumb.style.height = `${100 * part}%`;
  }

  bounds() {
    const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
    for (const { x, y, width } of this.vertices.values()) {
      box.left = Math.min(box.left, x - width / 2 - MARGIN);
      box.right = Math.max(box.right, x + width / 2 + MARGIN);
      box.top = Math.min(box.top, y - 15 - MARGIN);
      box.bottom = Math.max(box.bottom, y + 15 + MARGIN);
    }
    return box;
  }

  /** All of it, above the buttons if one were covered by them. */
  whole(wide, high, least) {
    const camera = this.fitted(wide, high, least);
    const bar = this.frame.querySelector(".tools");
    const isCovered = [...this.vertices.values()].some(
      (vertex) =>
        camera.scale * (vertex.x + vertex.width / 2 + camera.x) > bar.offsetLeft &&
        camera.scale * (vertex.y + 15 + camera.y) > bar.offsetTop,
    );
    return isCovered ? this.fitted(wide, bar.offsetTop, least) : camera;
  }

  fitted(wide, high, least) {
    const box = this.bounds();
    const [across, down] = [wide / (box.right - box.left), high / (box.bottom - box.top)];
    // What is too long is scrolled, from its top; of what is too wide the right side is in sight.
    const fits = down < least ? Math.min(across, 1) : Math.min(across, down);
    const scale = Math.min(SCALE.most, Math.max(fits, least));
    const middle = this.fan.vertices.find(({ flags }) => flags.includes("focus")) ?? { x: 0, y: 0 };
    const above = Math.max(box.top + high / scale / 2, middle.y - high / scale / 2 + 2 * MARGIN);
    const along = (low, end, size, at) =>
      end - low <= size / scale
        ? size / scale / 2 - (low + end) / 2
        : -Math.min(Math.max(at - size / scale / 2, low), end - size / scale);
    return {
      scale,
      x: along(box.left, box.right, wide, middle.x + (0.35 * wide) / scale),
      y: along(box.top, box.bottom, high, above),
    };
  }

  move({ scale, x, y }) {
    this.camera.zoom(scale, { force: true });
    this.camera.pan(x, y, { force: true });
  }

  keepCamera() {
    cameras.set(this.viewKey, { scale: this.camera.getScale(), ...this.camera.getPan() });
  }

  act(action) {
    const { clientWidth: wide, clientHeight: high } = this.surface;
    this.frame.classList.add("moving");
    if (action === "fit") {
      cameras.delete(this.viewKey);
      this.move(this.whole(wide, high, SCALE.smallest));
      return;
    }
    const { left, top } = this.surface.getBoundingClientRect();
    const scale = this.camera.getScale() * (action === "in" ? 1.3 : 1 / 1.3);
    this.camera.zoomToPoint(scale, { clientX: left + wide / 2, clientY: top + high / 2 });
    this.keepCamera();
  }

  /** All that is drawn, with its colours, as a picture of its own. */
  picture() {
    const { left: x, right, top: y, bottom } = this.bounds();
    const place = (copy) => {
      for (const vertex of copy.querySelectorAll(".vertex")) {
        const entry = this.vertices.get(vertex.dataset.id);
        if (entry) vertex.setAttribute("transform", `translate(${entry.x} ${entry.y})`);
        else vertex.remove();
      }
    };
    return standalone(this.surface, place, { x, y, width: right - x, height: bottom - y });
  }

  // --- events out

  listen() {
    const vertexOf = (event) => this.vertices.get(event.target.closest?.(".vertex")?.dataset.id);
    this.surface.addEventListener("click", (event) => {
      const vertex = vertexOf(event);
      if (vertex) this.click(vertex, "click");
    });
    this.surface.addEventListener("dblclick", (event) => {
      const vertex = vertexOf(event);
      if (vertex) this.click(vertex, "double");
    });
    this.surface.addEventListener("keydown", (event) => this.keyPressed(event, vertexOf(event)));
    this.surface.addEventListener("pointermove", (event) => hasMoved(event) && this.point(vertexOf(event)));
    this.surface.addEventListener("focusin", (event) => this.point(vertexOf(event)));
    for (const type of ["pointerleave", "focusout"]) {
      this.surface.addEventListener(type, () => this.point(undefined));
    }
    const looking = { "Show all (0)": "fit", "Zoom in (+)": "in", "Zoom out (−)": "out" };
    const acts = Object.entries(looking).map(([label, action]) => [label, () => this.act(action)]);
    offerTools(this.frame, () => this.picture(), () => "merge-graph", Object.fromEntries(acts));
    this.onWord = ({ detail }) => this.light(detail);
    addEventListener("morphgraph-word", this.onWord);
  }

  click(vertex, kind) {
    if (vertex.kind !== "more") this.selected = vertex.key;
    this.mark();
    this.clicks.add(vertex.key, kind);
  }

  keyPressed(event, vertex) {
    if (!vertex || event.ctrlKey || event.metaKey || event.altKey) return;
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const acts = { "+": "in", "-": "out", 0: "fit" };
    if (event.key === "Enter" || event.key === " ") this.click(vertex, event.shiftKey ? "double" : "click");
    else if (ways[event.key]) this.go(vertex, ...ways[event.key]);
    else if (acts[event.key]) this.act(acts[event.key]);
    else return;
    event.preventDefault();
  }

  /** Go to the nearest vertex in a direction. */
  go(from, right, down) {
    let [best, least] = [null, Infinity];
    for (const to of this.vertices.values()) {
      const [dx, dy] = [to.x - from.x, to.y - from.y];
      const ahead = dx * right + dy * down;
      const aside = Math.abs(dx * down) + Math.abs(dy * right);
      if (to === from || ahead < 1) continue;
      const cost = ahead + 2.5 * aside;
      if (cost < least) [best, least] = [to, cost];
    }
    if (!best) return;
    best.element.focus({ preventScroll: true });
    this.mark();
    this.reveal(best.element);
  }

  reveal(element) {
    const at = element.getBoundingClientRect();
    const box = this.surface.getBoundingClientRect();
    const off = (low, high, from, to) => (low < from + MARGIN ? from + MARGIN - low : Math.min(0, to - MARGIN - high));
    const dx = off(at.left, at.right, box.left, box.right);
    const dy = off(at.top, at.bottom, box.top, box.bottom);
    if (!dx && !dy) return;
    const scale = this.camera.getScale();
    this.camera.pan(dx / scale, dy / scale, { relative: true });
    this.keepCamera();
  }

  // --- words beside it

  /** Thicken the edges of a vertex, and let words mark themselves that it takes part in. */
  point(vertex) {
    if (vertex?.id === this.pointed) return;
    this.vertices.get(this.pointed)?.element.classList.remove("pointed");
    this.pointed = vertex?.id;
    vertex?.element.classList.add("pointed");
    for (const { element, source, target } of this.edges.values()) {
      element.classList.toggle("near", vertex !== undefined && [source, target].includes(vertex.id));
    }
    dispatchEvent(new CustomEvent("morphgraph-vertex", { detail: vertex?.key }));
  }

  /** Light up the types and merges of a word, and dim the others; nothing: light all. */
  light(keys) {
    const lit = new Set(keys ?? []);
    const isLit = (id) => lit.has(this.vertices.get(id)?.key);
    const any = [...this.vertices.keys()].some(isLit);
    // What runs through a removed type is seen to do so.
    const on = (id) => isLit(id) || (any && this.vertices.get(id)?.flags.includes("ghost"));
    this.world.classList.toggle("lit", any);
    for (const [id, { element }] of this.vertices) element.classList.toggle("on", on(id));
    for (const { element, source, target } of this.edges.values()) {
      element.classList.toggle("on", on(source) && on(target));
    }
  }

  dispose() {
    this.clicks.stop();
    this.resizing.disconnect();
    this.camera.destroy();
    removeEventListener("morphgraph-word", this.onWord);
  }
}

export default component(FanView);
