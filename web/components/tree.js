// Shows a merge tree that was drawn in Python, with tooltips and downloads.
//
// The picture is replaced only if it differs, so that a scrolled sheet stays where it is.

const SCALE = 2; // pixels of the PNG for each of the picture
const LONGEST_SIDE = 16000; // px that a canvas surely can have
const SVG = "http://www.w3.org/2000/svg";
const LEAST_SCALE = 11 / 12; // of a picture, whose smallest letters have 12 px
const HIGHEST = 760; // px above which a picture scrolls
const AROUND = { width: 20, height: 54 }; // px that buttons, borders and a scroll bar take

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
    this.clicks = new Clicks();
    this.tips = new Map();
    this.frame.addEventListener("click", (event) => this.clicked(event));
    this.sheet.addEventListener("pointermove", (event) => this.moved(event));
    this.sheet.addEventListener("pointerleave", () => this.hideTip());
    this.sheet.addEventListener("scroll", () => this.hideTip());
    this.resizing = new ResizeObserver(() => this.fit());
    this.resizing.observe(this.frame);
  }

  update(given) {
    const { data } = given;
    this.data = data;
    this.clicks.acknowledge(given);
    this.frame.classList.toggle("clickable", Boolean(data.clickable));
    this.pictures = isDark(this.parent) ? data.dark : data.light;
    this.fit();
    this.reveal(data.reveal ?? 0);
  }

  /** Scroll to the picture when a word was chosen, but not when one comes back to the page. */
  reveal(number) {
    const seen = globalThis.__morphgraph_revealed ?? 0;
    globalThis.__morphgraph_revealed = Math.max(seen, number);
    if (number <= seen) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    setTimeout(() => {
      this.frame.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
    }, 100); // when the page has made room
  }

  /** Show the widest picture that there is room for, a little smaller if need be. */
  fit() {
    const room = this.frame.clientWidth - AROUND.width;
    if (!this.pictures || room <= 0) return;
    const fits = (source) => sizeOf(source).width * LEAST_SCALE <= room;
    const source = this.pictures.find(fits) ?? this.pictures.at(-1);
    if (source !== this.source) this.show(source);
    const { width, height } = sizeOf(source);
    const scale = Math.min(1, Math.max(LEAST_SCALE, room / width));
    const picture = this.sheet.firstElementChild;
    if (picture) {
      picture.style.width = `${Math.floor(width * scale)}px`;
      picture.style.height = `${Math.floor(height * scale)}px`;
    }
    this.frame.style.height = `${Math.min(height * scale, HIGHEST) + AROUND.height}px`;
  }

  show(source) {
    // Parsed as XML and checked, never as HTML: labels come from uploaded files.
    const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
    const picture = parsed.documentElement;
    if (picture.namespaceURI !== SVG || parsed.querySelector("parsererror")) return;
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
    this.putOnPage(shown);
    this.sheet.replaceChildren(shown);
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
    const action = event.target.closest?.("button")?.dataset.action;
    if (action === "svg") this.saveSvg();
    if (action === "png") this.savePng();
    const type = event.target.closest?.("g[data-type]")?.dataset.type;
    if (type && this.data.clickable) this.clicks.add(`t${type}`);
  }

  // --- downloads

  blob() {
    return new Blob([this.source], { type: "image/svg+xml;charset=utf-8" });
  }

  saveSvg() {
    save(this.blob(), `${this.data.file_name}.svg`);
  }

  savePng() {
    const { width, height } = sizeOf(this.source);
    const scale = Math.min(SCALE, LONGEST_SIDE / width, LONGEST_SIDE / height);
    const address = URL.createObjectURL(this.blob());
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(address);
      canvas.toBlob((blob) => blob && save(blob, `${this.data.file_name}.png`), "image/png");
    };
    image.onerror = () => URL.revokeObjectURL(address);
    image.src = address;
  }

  dispose() {
    this.disposed = true;
    this.resizing.disconnect();
    this.clicks.stop();
  }
}

export default component(TreeView);
