// The merge graph on a canvas: draws a scene with vis-network and reports clicks.
//
// BLAME_SCALE and COLOURS are put in front of this file by the Python side. What must outlive a rerun
// or a page switch (zoom, pan, dragged vertices) is kept per view key in `memory`, which browser
// tests read as well.

const memory = (globalThis.__morphgraph_views ??= new Map());

const TWEEN = 400; // ms
const REACH = 14; // px around a vertex in which a click still counts
const FONT = { type: 15, merge: 12 };
const READABLE = 11; // px on the screen that labels try to keep when zoomed out
const LARGEST_BOOST = { type: 1.25, merge: 1.7 };
const HIDE_BELOW = { type: 4.5, merge: 10.99 }; // px on the screen
const MARGIN = { side: 28, top: 58, bottom: 24 }; // px around the graph when all of it is shown
const FIRST_SCALE = { least: 0.5, most: 1.35 };

// --- colours -----------------------------------------------------------------------------------

function mix(first, second, share) {
  const [a, b] = [rgb(first), rgb(second)];
  return `rgb(${a.map((value, i) => Math.round(value + (b[i] - value) * share)).join(",")})`;
}

function luminance(colour) {
  const [r, g, b] = rgb(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever is read more easily on the fill. */
function inkOn(fill) {
  const light = luminance(fill);
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? "#ffffff" : "#000000";
}

function blameColour(scale, value) {
  const place = Math.min(1, Math.max(0, value)) * (scale.length - 1);
  const step = Math.min(scale.length - 2, Math.floor(place));
  return mix(scale[step], scale[step + 1], place - step);
}

function paletteOf(element) {
  const style = getComputedStyle(element);
  const read = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  const background = read("--st-background-color", COLOURS.light.background);
  const theme = luminance(background) < 0.4 ? "dark" : "light";
  const own = COLOURS[theme];
  const text = read("--st-text-color", own.text);
  return {
    ...own,
    theme,
    background,
    text,
    line: mix(background, text, theme === "dark" ? 0.44 : 0.42),
    faint: mix(background, text, theme === "dark" ? 0.27 : 0.25),
    border: mix(background, text, 0.14),
    font: read("--st-font", "sans-serif"),
    scale: BLAME_SCALE[theme],
  };
}

// --- the view ------------------------------------------------------------------------------------

class GraphView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".graph");
    this.surface = parent.querySelector(".surface");
    this.notice = parent.querySelector(".notice");
    this.tip = parent.querySelector(".tip");
    this.spoken = parent.querySelector(".spoken");
    this.vertices = new Map();
    this.edges = new Map();
    this.clicks = new Clicks();
    this.memo = null;
    this.cursor = null;
    this.hovered = null;
    this.fading = new Map(); // vertex key → opacity while it comes or goes
    this.widths = new Map();
    this.disposed = false;
  }

  // --- data in

  update(given) {
    const { data } = given;
    this.latest = data;
    this.clicks.acknowledge(given);
    this.frame.style.height = `${data.height}px`;
    this.readTheme();
    if (globalThis.vis) {
      this.show();
    } else {
      addEventListener("vis-ready", () => this.disposed || this.show(), { once: true });
    }
  }

  readTheme() {
    const host = this.parent.host ?? this.parent;
    this.palette = paletteOf(host);
    this.frame.style.setProperty("--graph-border", this.palette.border);
    this.frame.style.setProperty("--graph-selected", this.palette.selected);
    const theme = JSON.stringify(this.palette);
    this.themeChanged = theme !== this.theme;
    this.theme = theme;
    if (this.themeChanged) this.widths.clear();
  }

  show() {
    const { scene, view_key: viewKey, selected } = this.latest;
    const first = !this.network;
    if (first) this.create();
    const switched = this.viewKey !== viewKey;
    if (switched) this.switchTo(viewKey);
    // While clicks are on their way, the page has not seen the latest of them.
    if (!this.clicks.pending.length || switched) this.selected = selected;
    const fresh = first || scene !== this.scene;
    this.scene = scene;
    const told = JSON.stringify(scene);
    if (told !== this.told) this.hideTip(); // it is about what was there before
    this.told = told;
    if (fresh || this.themeChanged) this.draw(first || switched);
    this.notice.hidden = scene.vertices.length > 0;
    this.notice.textContent = scene.vertices.length ? "" : "There is nothing to draw.";
    const types = scene.vertices.filter((vertex) => vertex.kind === "type").length;
    this.surface.setAttribute(
      "aria-label",
      `Merge graph with ${types} types and ${scene.vertices.length - types} merges. ` +
        "Arrow keys move between vertices, Enter clicks, plus and minus zoom, 0 shows all.",
    );
    this.markSelected();
  }

  create() {
    this.nodeSet = new vis.DataSet();
    this.edgeSet = new vis.DataSet();
    this.network = new vis.Network(
      this.surface,
      { nodes: this.nodeSet, edges: this.edgeSet },
      {
        physics: false,
        layout: { improvedLayout: false },
        interaction: {
          hover: true,
          hoverConnectedEdges: true,
          selectConnectedEdges: true,
          multiselect: false,
          zoomSpeed: 0.6,
        },
        nodes: { shape: "custom", ctxRenderer: (about) => this.paint(about), chosen: false },
        edges: {
          arrows: { to: { enabled: true, scaleFactor: 0.42 } },
          arrowStrikethrough: false,
          hoverWidth: 0.6,
          selectionWidth: 0.6,
          smooth: { enabled: true, type: "cubicBezier", forceDirection: "horizontal", roundness: 0.45 },
        },
      },
    );
    const on = (event, action) => this.network.on(event, action);
    on("click", (about) => this.clicked(about, "click"));
    on("doubleClick", (about) => this.clicked(about, "double"));
    on("hoverNode", ({ node, pointer }) => this.hover(node, pointer.DOM));
    on("blurNode", () => this.hover(null));
    on("hoverEdge", ({ edge, pointer }) => this.hoverEdge(edge, pointer.DOM));
    on("blurEdge", () => this.hideTip());
    on("dragStart", ({ nodes }) => this.dragStarted(nodes));
    on("dragEnd", ({ nodes }) => this.dragEnded(nodes));
    on("zoom", () => this.hideTip());
    on("afterDrawing", () => this.remember());
    this.surface.addEventListener("keydown", (event) => this.keyPressed(event));
    this.surface.addEventListener("blur", () => this.moveCursor(null));
    this.surface.addEventListener("pointerleave", () => this.hideTip());
    this.frame.querySelector(".toolbar").addEventListener("click", (event) => {
      const action = event.target.closest("button")?.dataset.action;
      if (action) this.act(action);
    });
    this.resizing = new ResizeObserver(() => this.waiting && this.place());
    this.resizing.observe(this.surface);
    document.fonts?.ready.then(() => {
      if (this.disposed) return;
      this.widths.clear();
      this.network.redraw();
    });
  }

  switchTo(viewKey) {
    this.saveCamera();
    if (this.memo?.view === this) Object.assign(this.memo, { view: null, network: null });
    this.viewKey = viewKey;
    if (!memory.has(viewKey)) memory.set(viewKey, { camera: null, moved: new Map() });
    this.memo = memory.get(viewKey);
    Object.assign(this.memo, {
      view: this,
      network: this.network,
      /** Where a vertex is on the page, in CSS pixels. */
      pagePosition: (key) => {
        const at = this.network.canvasToDOM(this.network.getPosition(key));
        const box = this.surface.getBoundingClientRect();
        return { x: box.left + at.x, y: box.top + at.y };
      },
    });
    this.showTidy();
  }

  // --- drawing by difference

  draw(place) {
    this.finishTween();
    const { scene } = this;
    const body = this.network.body.nodes;
    const before = this.vertices;
    const theme = this.palette;
    this.vertices = new Map();
    this.edges = new Map();
    const goals = new Map();
    for (const vertex of scene.vertices) {
      const flags = new Set(vertex.flags);
      const fill = vertex.value === null ? theme.undefined : blameColour(theme.scale, vertex.value);
      this.vertices.set(vertex.key, { ...vertex, flags, fill, ink: inkOn(fill) });
      const moved = this.memo.moved.get(vertex.key) ?? { x: 0, y: 0 };
      goals.set(vertex.key, { x: vertex.x + moved.x, y: vertex.y + moved.y });
    }
    const leaving = [...before.keys()].filter((key) => !this.vertices.has(key));
    const coming = scene.vertices.map(({ key }) => key).filter((key) => !body[key]);
    this.ghosts = new Map(leaving.map((key) => [key, before.get(key)]));

    const edges = new Map(scene.edges.map((edge) => [`${edge.source}→${edge.target}`, edge]));
    this.edgeSet.remove(this.edgeSet.getIds().filter((id) => !edges.has(id)));
    this.nodeSet.add(coming.map((key) => ({ id: key, ...goals.get(key) })));
    const changes = [];
    for (const [id, edge] of edges) {
      const options = this.edgeOptions(id, edge);
      const text = JSON.stringify(options);
      this.edges.set(id, { ...edge, text });
      if (this.edgeTexts?.get(id) !== text) changes.push(options);
    }
    this.edgeSet.update(changes);
    this.edgeTexts = new Map([...this.edges].map(([id, { text }]) => [id, text]));

    if (this.cursor && !this.vertices.has(this.cursor)) this.cursor = null;
    if (this.hovered && !this.vertices.has(this.hovered)) this.hover(null);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.tween(goals, coming, leaving, calm || place || before.size === 0);
    if (place) this.place();
    else if (!this.anyInSight(goals)) this.fit(true);
  }

  edgeOptions(id, { source, target, label }) {
    const theme = this.palette;
    const merge = this.vertices.get(source).kind === "merge" ? source : target;
    const { flags } = this.vertices.get(merge);
    const ghost = [source, target].some((key) => this.vertices.get(key).flags.has("ghost"));
    const colour = flags.has("changed") ? theme.changed : merge === source ? theme.line : theme.faint;
    return {
      id,
      from: source,
      to: target,
      label: label || undefined,
      width: flags.has("changed") ? 2 : merge === source ? 1.6 : 1.3,
      dashes: ghost ? [5, 5] : false,
      color: { color: colour, hover: theme.text, highlight: theme.selected, inherit: false },
      font: {
        size: 12,
        face: theme.font,
        color: theme.text,
        strokeWidth: 4,
        strokeColor: theme.background,
        vadjust: 0,
      },
    };
  }

  tween(goals, coming, leaving, atOnce) {
    const body = this.network.body.nodes;
    const starts = new Map();
    for (const [key, goal] of goals) {
      const node = body[key];
      if (node.x !== goal.x || node.y !== goal.y) starts.set(key, { x: node.x, y: node.y });
    }
    const finish = () => {
      this.animation = null;
      this.fading.clear();
      this.ghosts.clear();
      this.nodeSet.remove(leaving);
      this.nodeSet.update([...starts.keys()].map((key) => ({ id: key, ...goals.get(key) })));
      this.network.redraw();
    };
    if (atOnce || (!starts.size && !coming.length && !leaving.length)) {
      finish();
      return;
    }
    const begin = performance.now();
    const step = (now) => {
      if (this.disposed) return;
      const time = Math.min(1, Math.max(0, (now - begin) / TWEEN));
      const eased = time < 0.5 ? 4 * time ** 3 : 1 - (2 - 2 * time) ** 3 / 2;
      for (const [key, start] of starts) {
        if (key === this.dragging) continue;
        const goal = goals.get(key);
        body[key].x = start.x + (goal.x - start.x) * eased;
        body[key].y = start.y + (goal.y - start.y) * eased;
      }
      for (const key of coming) this.fading.set(key, eased);
      for (const key of leaving) this.fading.set(key, 1 - eased);
      if (time === 1) {
        finish();
      } else {
        this.network.redraw();
        this.animation.frame = requestAnimationFrame(step);
      }
    };
    this.animation = { finish, frame: requestAnimationFrame(step) };
    for (const key of coming) this.fading.set(key, 0);
  }

  finishTween() {
    if (!this.animation) return;
    cancelAnimationFrame(this.animation.frame);
    this.animation.finish();
  }

  // --- one vertex

  textWidth(context, vertex) {
    const id = `${vertex.kind}${vertex.flags.has("focus")}${vertex.label}`;
    if (!this.widths.has(id)) {
      context.font = this.fontOf(vertex, 1);
      this.widths.set(id, context.measureText(vertex.label).width);
    }
    return this.widths.get(id);
  }

  fontOf({ kind, flags }, boost) {
    const weight = flags.has("focus") ? 700 : kind === "type" ? 500 : 400;
    return `${weight} ${FONT[kind] * boost}px ${this.palette.font}`;
  }

  /** Labels grow a little when zoomed out, as far as the spacing of the layout allows. */
  sizeOf(context, vertex) {
    const zoom = this.network.getScale();
    const boost = Math.min(LARGEST_BOOST[vertex.kind], Math.max(1, READABLE / (FONT[vertex.kind] * zoom)));
    const shown = FONT[vertex.kind] * boost * zoom >= HIDE_BELOW[vertex.kind];
    const text = this.textWidth(context, vertex) * boost;
    if (vertex.kind === "type") {
      return { boost, shown, width: Math.max(30, text + 18), height: 30 };
    }
    return shown
      ? { boost, shown, width: Math.max(24, text + 12), height: 20 * Math.min(boost, 1.1) }
      : { boost, shown, width: 18, height: 18 };
  }

  paint({ ctx, id, x, y }) {
    const vertex = this.vertices.get(id) ?? this.ghosts?.get(id);
    if (!vertex) return { nodeDimensions: { width: 0, height: 0 } };
    const size = this.sizeOf(ctx, vertex);
    return {
      drawNode: () => this.paintVertex(ctx, id, vertex, x, y, size),
      nodeDimensions: { width: size.width, height: size.height },
    };
  }

  paintVertex(ctx, id, vertex, x, y, { boost, shown, width, height }) {
    const theme = this.palette;
    const { flags } = vertex;
    const ghost = flags.has("ghost");
    const radius = vertex.kind === "type" ? height / 2 : 4;
    const outline = (grow, dx = 0, dy = 0) => {
      ctx.beginPath();
      ctx.roundRect(
        x - width / 2 - grow + dx,
        y - height / 2 - grow + dy,
        width + 2 * grow,
        height + 2 * grow,
        Math.max(0, radius + grow),
      );
    };
    ctx.globalAlpha = (this.fading.get(id) ?? 1) * (ghost ? 0.75 : 1);
    ctx.setLineDash([]);

    if (flags.has("focus")) {
      outline(8);
      ctx.fillStyle = mix(theme.background, theme.text, 0.13);
      ctx.fill();
    }
    if (flags.has("changed")) {
      outline(vertex.kind === "merge" ? 5 : 6);
      ctx.fillStyle = mix(theme.background, theme.changed, 0.28);
      ctx.fill();
    }
    const edge = flags.has("changed")
      ? theme.changed
      : flags.has("focus")
        ? theme.text
        : mix(vertex.fill, theme.text, vertex.value === null ? 0.22 : 0.3);
    const thick = flags.has("changed") ? 3 : flags.has("focus") ? 2.6 : 1.2;

    if (flags.has("tuple")) {
      // A stack of cards: more than two parts lie under one merge.
      for (const shift of [6, 3]) {
        outline(0, shift, -shift);
        ctx.fillStyle = mix(theme.background, vertex.fill, 0.7);
        ctx.fill();
        ctx.strokeStyle = edge;
        ctx.lineWidth = 1.2;
        ctx.stroke();
      }
    }
    outline(0);
    ctx.fillStyle = ghost ? theme.background : vertex.fill;
    ctx.fill();
    ctx.strokeStyle = ghost ? theme.line : edge;
    ctx.lineWidth = thick;
    if (ghost) ctx.setLineDash([4, 3]);
    ctx.stroke();
    ctx.setLineDash([]);

    if (shown) {
      ctx.font = this.fontOf(vertex, boost);
      ctx.textAlign = "center";
      ctx.textBaseline = "middle";
      ctx.fillStyle = ghost ? mix(theme.background, theme.text, 0.7) : vertex.ink;
      ctx.fillText(vertex.label, x, y + 1);
      if (ghost) {
        const half = this.textWidth(ctx, vertex) * boost * 0.5 + 2;
        ctx.fillRect(x - half, y, 2 * half, 1.2);
      }
    }
    if (flags.has("frontier") && !ghost && this.network.getScale() > 0.7) {
      ctx.fillStyle = theme.line;
      for (const shift of [-5, 0, 5]) {
        ctx.beginPath();
        ctx.arc(x + shift, y + height / 2 + 4.5, 1.3, 0, 2 * Math.PI);
        ctx.fill();
      }
    }
    const ring = (colour, grow, lineWidth, dash = []) => {
      outline(grow);
      ctx.strokeStyle = colour;
      ctx.lineWidth = lineWidth;
      ctx.setLineDash(dash);
      ctx.stroke();
      ctx.setLineDash([]);
    };
    if (id === this.selected) ring(theme.selected, 5, 3);
    if (id === this.hovered) ring(theme.text, 3, 1.5);
    if (id === this.cursor) ring(theme.selected, 8, 2, [5, 4]);
    ctx.globalAlpha = 1;
  }

  // --- camera

  remember() {
    clearTimeout(this.saving);
    this.saving = setTimeout(() => this.saveCamera(), 120);
  }

  saveCamera() {
    if (this.disposed || this.waiting || !this.memo || !this.network) return;
    if (!this.surface.clientWidth || !this.surface.isConnected) return;
    this.memo.camera = { scale: this.network.getScale(), position: this.network.getViewPosition() };
  }

  /** Show what was last seen of this view, or all of it at first sight. */
  place() {
    this.waiting = !this.surface.clientWidth || !this.surface.clientHeight;
    if (this.waiting) return;
    this.network.setSize();
    const { camera } = this.memo;
    if (camera) {
      this.network.moveTo({ ...camera, animation: false });
      if (this.anyInSight()) return;
    }
    this.fit(false, FIRST_SCALE.least);
  }

  bounds() {
    const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
    for (const [key, vertex] of this.vertices) {
      const { width } = this.sizeOf(painter, vertex);
      const moved = this.memo.moved.get(key) ?? { x: 0, y: 0 };
      const [x, y] = [vertex.x + moved.x, vertex.y + moved.y];
      box.left = Math.min(box.left, x - width / 2);
      box.right = Math.max(box.right, x + width / 2);
      box.top = Math.min(box.top, y - 20);
      box.bottom = Math.max(box.bottom, y + 20);
    }
    return box;
  }

  fit(animated, least = 0) {
    if (!this.vertices.size) return;
    const box = this.bounds();
    const wide = this.surface.clientWidth - 2 * MARGIN.side;
    const high = this.surface.clientHeight - MARGIN.top - MARGIN.bottom;
    const whole = Math.min(wide / (box.right - box.left), high / (box.bottom - box.top));
    const scale = Math.min(FIRST_SCALE.most, Math.max(whole, least));
    const position = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
    if (scale > whole) {
      // Not all of it can be shown at a readable size: start at the focus.
      const focus = this.scene.vertices.find((vertex) => vertex.flags.includes("focus"));
      const clamp = (value, low, high, half) =>
        high - low < 2 * half ? (low + high) / 2 : Math.min(Math.max(value, low + half), high - half);
      if (focus) {
        position.x = clamp(focus.x, box.left, box.right, wide / scale / 2);
        position.y = clamp(focus.y, box.top, box.bottom, high / scale / 2);
      }
    }
    // The toolbar stands at the top: the middle of the free room is a little lower.
    position.y -= (MARGIN.top - MARGIN.bottom) / 2 / scale;
    this.moveTo({ scale, position }, animated);
  }

  moveTo(camera, animated) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const animation = animated && !calm && { duration: 250, easingFunction: "easeInOutQuad" };
    this.network.moveTo({ ...camera, animation });
  }

  anyInSight(places) {
    const { clientWidth, clientHeight } = this.surface;
    for (const [key, vertex] of this.vertices) {
      const at = this.network.canvasToDOM(places?.get(key) ?? vertex);
      if (at.x > 0 && at.x < clientWidth && at.y > 0 && at.y < clientHeight) return true;
    }
    return this.vertices.size === 0;
  }

  act(action) {
    if (!this.network) return;
    if (action === "fit") this.fit(true);
    if (action === "in") this.moveTo({ scale: Math.min(4, this.network.getScale() * 1.3) }, true);
    if (action === "out") this.moveTo({ scale: Math.max(0.1, this.network.getScale() / 1.3) }, true);
    if (action === "png") this.download();
    if (action === "tidy") {
      this.memo.moved.clear();
      this.showTidy();
      this.draw(false);
    }
  }

  showTidy() {
    this.frame.querySelector("[data-action=tidy]").hidden = this.memo.moved.size === 0;
  }

  download() {
    const drawn = this.surface.querySelector("canvas");
    const picture = document.createElement("canvas");
    [picture.width, picture.height] = [drawn.width, drawn.height];
    const context = picture.getContext("2d");
    context.fillStyle = this.palette.background;
    context.fillRect(0, 0, picture.width, picture.height);
    context.drawImage(drawn, 0, 0);
    picture.toBlob((blob) => save(blob, "merge-graph.png"));
  }

  // --- events out

  /** The vertex at a point of the surface, or the nearest one within reach. */
  vertexAt(point) {
    let [best, distance] = [null, REACH];
    const zoom = this.network.getScale();
    for (const [key, vertex] of this.vertices) {
      const at = this.network.canvasToDOM(this.network.getPosition(key));
      const { width, height } = this.sizeOf(painter, vertex);
      const dx = Math.max(0, Math.abs(point.x - at.x) - (width / 2) * zoom);
      const dy = Math.max(0, Math.abs(point.y - at.y) - (height / 2) * zoom);
      const apart = Math.hypot(dx, dy);
      if (apart <= distance && (apart < distance || best === null)) [best, distance] = [key, apart];
    }
    return best;
  }

  clicked({ pointer }, kind) {
    this.surface.focus({ preventScroll: true });
    const key = this.vertexAt(pointer.DOM);
    if (key) this.emit(key, kind);
    else this.markSelected();
  }

  emit(key, kind) {
    this.selected = key;
    this.markSelected();
    this.clicks.add(key, kind);
  }

  markSelected() {
    if (this.selected && this.vertices.has(this.selected)) this.network.selectNodes([this.selected]);
    else this.network.unselectAll();
    this.network.redraw();
  }

  hover(key, point) {
    this.hovered = key && this.vertices.has(key) ? key : null;
    this.surface.style.cursor = !this.hovered
      ? ""
      : this.latest.click_mode === "knockout"
        ? "crosshair"
        : "pointer";
    if (this.hovered && point) this.showTip(this.vertices.get(key).tooltip, point);
    else this.hideTip();
    this.network.redraw();
  }

  hoverEdge(id, point) {
    const text = this.edges.get(id)?.tooltip;
    if (text && !this.hovered) this.showTip(text, point);
  }

  showTip(text, { x, y }) {
    this.hideTip();
    this.tipping = setTimeout(() => {
      this.tip.textContent = text; // never HTML: labels come from uploaded files
      this.tip.hidden = false;
      const { offsetWidth, offsetHeight } = this.tip;
      const { clientWidth, clientHeight } = this.surface;
      this.tip.style.left = `${Math.max(4, Math.min(x + 16, clientWidth - offsetWidth - 8))}px`;
      const top = y + 20 + offsetHeight > clientHeight ? y - offsetHeight - 14 : y + 20;
      this.tip.style.top = `${Math.max(4, top)}px`;
    }, 150);
  }

  hideTip() {
    clearTimeout(this.tipping);
    this.tip.hidden = true;
  }

  dragStarted(keys) {
    this.hideTip();
    this.dragging = keys[0] ?? null;
  }

  dragEnded(keys) {
    this.dragging = null;
    for (const key of keys) {
      const vertex = this.vertices.get(key);
      if (!vertex) continue;
      const { x, y } = this.network.getPosition(key);
      const goal = { x: Math.round(x), y: Math.round(y) }; // vis-network cuts off fractions
      this.memo.moved.set(key, { x: goal.x - vertex.x, y: goal.y - vertex.y });
      this.nodeSet.update({ id: key, ...goal });
    }
    this.markSelected();
    this.showTidy();
  }

  // --- keyboard

  keyPressed(event) {
    const { key } = event;
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    if (event.ctrlKey || event.metaKey || event.altKey || !this.vertices.size) return;
    if (direction) this.step(...direction);
    else if ((key === "Enter" || key === " ") && this.cursor) {
      this.emit(this.cursor, event.shiftKey ? "double" : "click");
    } else if (key === "Escape") this.moveCursor(null);
    else if (key === "+" || key === "=") this.act("in");
    else if (key === "-") this.act("out");
    else if (key === "0") this.act("fit");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  step(right, down) {
    const focus = this.scene.vertices.find((vertex) => vertex.flags.includes("focus"));
    const start = this.vertices.has(this.selected) ? this.selected : focus?.key;
    if (!this.cursor) {
      this.moveCursor(start ?? this.scene.vertices[0].key);
      return;
    }
    const from = this.network.getPosition(this.cursor);
    let [best, least] = [null, Infinity];
    for (const key of this.vertices.keys()) {
      const at = this.network.getPosition(key);
      const [dx, dy] = [at.x - from.x, at.y - from.y];
      const ahead = dx * right + dy * down;
      const aside = Math.abs(dx * down) + Math.abs(dy * right);
      if (key === this.cursor || ahead < 1) continue;
      const cost = ahead + 2.5 * aside;
      if (cost < least) [best, least] = [key, cost];
    }
    if (best) this.moveCursor(best);
  }

  moveCursor(key) {
    if (key === this.cursor) return;
    this.cursor = key;
    if (key) {
      const { label, kind, tooltip } = this.vertices.get(key);
      this.spoken.textContent = `${kind} ${label}. ${tooltip.split("\n").join(". ")}`;
      const at = this.network.canvasToDOM(this.network.getPosition(key));
      const { clientWidth, clientHeight } = this.surface;
      if (at.x < 40 || at.y < 30 || at.x > clientWidth - 40 || at.y > clientHeight - 30) {
        this.moveTo({ position: this.network.getPosition(key) }, true);
      }
    }
    this.network?.redraw();
  }

  dispose() {
    if (this.disposed) return;
    this.disposed = true;
    this.clicks.stop();
    for (const timer of [this.saving, this.tipping]) clearTimeout(timer);
    if (this.animation) cancelAnimationFrame(this.animation.frame);
    this.resizing?.disconnect();
    if (this.memo?.view === this) Object.assign(this.memo, { view: null, network: null });
    this.network?.destroy();
  }
}

export default component(GraphView);
