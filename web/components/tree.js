// Shows a merge tree that was drawn in Python: plays it, with tooltips and downloads.
//
// The picture is replaced only if it differs, so that a scrolled sheet stays where it is.

const GOOD_SCALE = 11 / 12; // of a picture, whose smallest letters have 12 px
const PHONE = 500; // px of room, below which a picture scrolls rather than shrinks
const PACE = 800; // ms a merge
const HIGHEST = 760; // px above which a picture scrolls
const LARGEST = 2; // scale on the full screen
const LEAVING = ["pointerdown", "keydown"]; // what may lead to another picture
const AROUND = { width: 20, height: 18 }; // px that borders and a scroll bar take

function sizeOf(source) {
  const [, width, height] = /<svg[^>]*? width="(\d+)" height="(\d+)"/.exec(source) ?? [0, 0, 0];
  return { width: Number(width), height: Number(height) };
}

class TreeView {
  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector(".tree");
    this.sheet = parent.querySelector(".sheet");
    this.tip = parent.querySelector(".tip");
    this.said = parent.querySelector(".said");
    this.clicks = new Clicks();
    const [place, range] = [parent.querySelector(".player"), parent.querySelector("input")];
    this.player = new Player(place, range, "merge", PACE, (at) => this.showStep(at));
    this.sheet.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      if (!event.target.closest("g[data-type]")) return;
      event.preventDefault();
      this.chosen(event.target.closest("g[data-type]"));
    });
    this.tips = new Map();
    offerTools(this.frame, () => this.source, () => this.data.file_name);
    this.frame.addEventListener("click", (event) => this.clicked(event));
    this.sheet.addEventListener("pointermove", (event) => this.moved(event));
    this.sheet.addEventListener("pointerleave", () => this.hideTip());
    this.sheet.addEventListener("scroll", () => this.hideTip());
    this.keep = () => {
      const shown = [...this.sheet.querySelectorAll("g:is([data-type], [data-atom])")];
      const boxes = shown.map((group) => [`t${group.dataset.type ?? group.dataset.atom}`, group.getBoundingClientRect()]);
      Object.assign(leaving, { at: performance.now(), boxes: new Map(boxes) });
    };
    for (const kind of LEAVING) addEventListener(kind, this.keep, { capture: true });
    this.resizing = new ResizeObserver(() => this.fit());
    this.resizing.observe(this.frame);
  }

  update(given) {
    const { data } = given;
    this.data = data;
    this.clicks.acknowledge(given);
    this.frame.classList.toggle("clickable", Boolean(data.clickable));
    this.frame.classList.toggle("dark", isDark(this.parent));
    this.pictures = isDark(this.parent) ? data.dark : data.light;
    this.fit();
    this.markChosen();
  }

  /** Show the widest picture that there is room for; a token too long for any shrinks. */
  fit() {
    const room = this.frame.clientWidth - AROUND.width;
    if (!this.pictures || room <= 0) return;
    const fits = (source) => sizeOf(source).width * GOOD_SCALE <= room;
    const source = this.pictures.find(fits) ?? this.pictures.at(-1);
    if (source !== this.source) this.show(source);
    const { width, height } = sizeOf(source);
    const bar = this.frame.querySelector(".toolbar").offsetHeight;
    const isFull = this.frame.matches(":fullscreen");
    const most = isFull ? Math.min(LARGEST, (this.frame.clientHeight - bar - AROUND.height) / height) : 1;
    const scale = Math.max(Math.min(most, room / width), room < PHONE || isFull ? GOOD_SCALE : 0);
    const picture = this.sheet.firstElementChild;
    if (picture) {
      picture.style.width = `${Math.floor(width * scale)}px`;
      picture.style.height = `${Math.floor(height * scale)}px`;
    }
    this.frame.style.height = `${Math.min(height * scale, HIGHEST) + bar + AROUND.height}px`;
  }

  show(source) {
    // Parsed as XML and checked, never as HTML: labels come from uploaded files.
    const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
    const picture = parsed.documentElement;
    if (picture.namespaceURI !== SVG_NAMES || parsed.querySelector("parsererror")) return;
    this.source = source;
    const shown = document.importNode(picture, true);
    this.tips.clear();
    this.hideTip();
    shown.setAttribute("aria-label", shown.querySelector(":scope > desc")?.textContent ?? "");
    // The browser's own tooltips would cover ours.
    for (const title of shown.querySelectorAll("title")) {
      this.tips.set(title.parentNode, title.textContent);
      title.remove();
    }
    this.tips.delete(shown);
    // What holds buttons is no image.
    if (this.data.clickable) shown.setAttribute("role", "group");
    this.putOnPage(shown);
    for (const group of this.data.clickable ? shown.querySelectorAll("g[data-type]") : []) {
      group.setAttribute("tabindex", "0");
      group.setAttribute("role", "button");
      group.setAttribute("aria-label", this.tips.get(group) ?? "");
    }
    this.sheet.replaceChildren(shown);
    this.markChosen();
    const all = [...shown.querySelectorAll("g[data-step]")].map(({ dataset }) => +dataset.step);
    const last = Math.max(0, ...all);
    // In another width or theme it stays at its step; another word, or state, is shown whole.
    const said = shown.getAttribute("aria-label");
    const stays = said === this.described && last === this.player.last;
    if (!stays) this.player.halt();
    this.described = said;
    this.frame.classList.toggle("still", !last);
    this.player.set(0, last, stays ? this.player.at : last);
  }

  /** Hide what comes after a step, and say what happens in it. */
  showStep(at) {
    const tips = new Set();
    const whole = at >= this.player.last && !this.player.playing;
    for (const element of this.sheet.querySelectorAll("[data-step]")) {
      const step = Number(element.dataset.step);
      element.classList.toggle("later", step > at);
      element.classList.toggle("now", step === at && !whole);
      if (step === at && this.tips.has(element)) tips.add(this.tips.get(element).split("\n")[0]);
    }
    const which = `${at} of ${this.player.last}`;
    this.said.textContent = at ? `Merge ${which}: ${[...tips].join("; ")}` : "The atoms";
    this.said.title = this.said.textContent;
  }

  /** On the page, the picture's paper is the page's own, whatever its colour. */
  putOnPage(shown) {
    const paper = shown.querySelector(":scope > rect");
    const colour = paper?.getAttribute("fill");
    paper?.remove();
    for (const name of ["fill", "stroke"]) {
      for (const element of shown.querySelectorAll(`[${name}="${colour}"]`)) {
        element.style[name] = "var(--st-background-color)";
      }
    }
  }

  // --- tooltips

  moved(event) {
    const group = event.target.closest?.("g");
    const text = group && this.tips.get(group);
    if (!text) {
      this.hideTip();
      return;
    }
    if (this.hovered !== group) {
      this.hovered = group;
      this.tip.textContent = text;
      this.tip.hidden = false;
    }
    const box = this.frame.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { offsetWidth, offsetHeight } = this.tip;
    const left = Math.max(4, Math.min(x + 14, box.width - offsetWidth - 6));
    const above = y + 18 + offsetHeight > box.height - 4;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${Math.max(4, above ? y - offsetHeight - 12 : y + 18)}px`;
  }

  hideTip() {
    this.hovered = null;
    this.tip.hidden = true;
  }

  // --- clicks

  clicked(event) {
    const group = event.target.closest?.("g[data-type]");
    if (group) this.chosen(group);
  }

  /** A merge was clicked: choose its type. */
  chosen(group) {
    if (this.data.clickable) this.clicks.add(`t${group.dataset.type}`);
  }

  markChosen() {
    for (const group of this.sheet.querySelectorAll("g[data-type]")) {
      group.classList.toggle("chosen", Number(group.dataset.type) === this.data.chosen);
    }
  }

  dispose() {
    for (const kind of LEAVING) removeEventListener(kind, this.keep, { capture: true });
    this.resizing.disconnect();
    this.player.halt();
    this.clicks.stop();
  }
}

export default component(TreeView);
