// What is hard to read on a page: text of little contrast, small text, what is cut off, and texts that overlap.
//
// A function of nothing that returns a list of lines, one for each finding; each names the text.
() => {
  const LEAST_CONTRAST = 4.5; // WCAG 2.2, 1.4.3
  const LEAST_OF_ICONS = 3; // 1.4.11
  const LEAST_SIZE = 11; // px
  const SVG = "http://www.w3.org/2000/svg";

  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const painter = canvas.getContext("2d", { willReadFrequently: true });
  const parsed = new Map();

  /** A colour as red, green, blue (0 to 255) and alpha (0 to 1). */
  function rgba(colour) {
    if (!parsed.has(colour)) {
      painter.clearRect(0, 0, 1, 1);
      painter.fillStyle = "#000";
      painter.fillStyle = colour;
      painter.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = painter.getImageData(0, 0, 1, 1).data;
      parsed.set(colour, [r, g, b, a / 255]);
    }
    return parsed.get(colour);
  }

  const over = ([r, g, b, a], under) => [r, g, b].map((v, i) => v * a + under[i] * (1 - a));

  function luminance(colour) {
    const [r, g, b] = colour.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function contrast(first, second) {
    const [light, dark] = [luminance(first), luminance(second)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  }

  const parentOf = (element) =>
    element.assignedSlot ??
    element.parentElement ??
    (element.getRootNode() instanceof ShadowRoot ? element.getRootNode().host : null);

  function chainOf(element) {
    const chain = [];
    for (let at = element; at; at = parentOf(at)) chain.push(at);
    return chain;
  }

  /** What is painted behind a text, from the root inwards. */
  function paperOf(element, chain, styles) {
    let paper = [255, 255, 255];
    let opacity = 1;
    const own = element.getBoundingClientRect();
    const [middle, centre] = [own.x + own.width / 2, own.y + own.height / 2];
    for (let i = chain.length - 1; i >= 0; i--) {
      opacity *= Number(styles[i].opacity);
      const [r, g, b, a] = rgba(styles[i].backgroundColor);
      const at = chain[i].getBoundingClientRect();
      // What is placed beside its parent is not painted on it.
      const holds = middle >= at.left && middle <= at.right && centre >= at.top && centre <= at.bottom;
      if (a && (holds || i > chain.length - 3)) paper = over([r, g, b, a * opacity], paper);
    }
    if (element.namespaceURI === SVG) {
      for (const shape of element.closest("svg").querySelectorAll("rect")) {
        const before = shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
        const at = shape.getBoundingClientRect();
        const holds = middle > at.left && middle < at.right && centre > at.top && centre < at.bottom;
        const style = getComputedStyle(shape);
        if (!before || !holds || style.fill === "none") continue;
        const [r, g, b, a] = rgba(style.fill);
        paper = over([r, g, b, a * Number(style.fillOpacity) * Number(style.opacity)], paper);
      }
    }
    return [paper, opacity];
  }

  /** What cannot be used now may be faint: 1.4.3 leaves it out; so is a label of such a thing. */
  function isInactive(chain) {
    return chain.some(
      (element) =>
        element.disabled ||
        element.getAttribute?.("aria-disabled") === "true" ||
        (element.dataset?.testid === "stWidgetLabel" &&
          element.parentElement.querySelector("input:disabled, [aria-disabled=true]")),
    );
  }

  function isHidden(element, chain, styles) {
    const { width, height } = element.getBoundingClientRect();
    if (width < 2 || height < 2 || !element.checkVisibility()) return true;
    if (styles.some((style) => style.display === "none" || style.clipPath === "inset(50%)")) return true;
    return styles[0].visibility !== "visible" || chain.some((e) => e.getAttribute?.("aria-hidden") === "true" && e.namespaceURI !== SVG && !e.matches("[data-testid=stIconMaterial]"));
  }

  const found = [];
  const shown = (text) => JSON.stringify(text.trim().replace(/\s+/g, " ").slice(0, 60));

  function judge(element, text) {
    const chain = chainOf(element);
    const styles = chain.map((at) => getComputedStyle(at));
    if (isHidden(element, chain, styles) || isInactive(chain)) return;
    const [paper, opacity] = paperOf(element, chain, styles);
    if (opacity < 0.05) return;
    const isSvg = element.namespaceURI === SVG;
    const [r, g, b, a] = rgba(isSvg ? styles[0].fill : styles[0].color);
    const ratio = contrast(over([r, g, b, a * opacity], paper), paper);
    const isIcon = element.matches("[data-testid=stIconMaterial]");
    const least = isIcon ? LEAST_OF_ICONS : LEAST_CONTRAST;
    if (ratio < least - 0.005) found.push(`contrast ${ratio.toFixed(2)}: ${shown(text)}`);
    let size = parseFloat(styles[0].fontSize);
    if (isSvg) {
      const svg = element.closest("svg");
      const drawn = svg.viewBox.baseVal?.width;
      if (drawn) size *= svg.getBoundingClientRect().width / drawn;
    }
    if (size < LEAST_SIZE - 0.05) found.push(`${size.toFixed(1)} px: ${shown(text)}`);
  }

  /** Whether one can scroll sideways, or pan, to what lies to the right. */
  const canScroll = (chain) =>
    chain.some((at) => at.matches?.("[role=group][aria-label^='Merge graph:']") || ["auto", "scroll"].includes(getComputedStyle(at).overflowX) && at.dataset?.testid !== "stMain");

  function cut(element) {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height || style.visibility !== "visible") return;
    if (style.textOverflow === "ellipsis" && element.scrollWidth > element.clientWidth + 1 && !element.closest("[data-testid=stSelectbox], [data-testid=stMultiSelect], [data-testid=stSidebar], [data-testid=stPageLink]") && element.getRootNode() === document) {
      found.push(`cut short: ${shown(element.textContent)}`);
    }
  }

  const seen = []; // the boxes of texts, as far as they are not scrolled away

  function note(node, chain) {
    const range = document.createRange();
    range.selectNodeContents(node);
    for (let { left, top, right, bottom } of range.getClientRects()) {
      for (const at of chain) {
        if (getComputedStyle(at).overflow === "visible") continue;
        const frame = at.getBoundingClientRect();
        [left, top] = [Math.max(left, frame.left), Math.max(top, frame.top)];
        [right, bottom] = [Math.min(right, frame.right), Math.min(bottom, frame.bottom)];
      }
      if (right - left > 2 && bottom - top > 2) seen.push({ node, chain, left, top, right, bottom });
    }
  }

  /** Texts of which one stands on the other; a layer over the page is above it on purpose. */
  function overlaps() {
    const layer = ({ chain }) =>
      chain.find((at) => ["fixed", "sticky"].includes(getComputedStyle(at).position) || at.tagName === "DIALOG");
    seen.forEach((one, number) => {
      for (const other of seen.slice(number + 1)) {
        const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        const least = Math.min(one.bottom - one.top, other.bottom - other.top);
        if (wide < 3 || high < least / 2 || one.node === other.node || layer(one) !== layer(other)) continue;
        found.push(`overlap: ${shown(one.node.textContent)} and ${shown(other.node.textContent)}`);
      }
    });
  }

  function walk(root) {
    const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      if (node.nodeType === Node.ELEMENT_NODE) {
        if (node.shadowRoot) walk(node.shadowRoot);
        cut(node);
        continue;
      }
      const element = node.parentElement;
      if (!node.textContent.trim() || !element) continue;
      if (element.closest("style, script, title, desc, noscript, canvas")) continue;
      judge(element, node.textContent);
      const box = element.getBoundingClientRect();
      const chain = chainOf(element);
      const isThere = !isHidden(element, chain, chain.map((at) => getComputedStyle(at)));
      if (isThere && element.namespaceURI !== SVG) note(node, chain);
      if (box.right > innerWidth + 1 && box.width > 1 && !canScroll(chain) && isThere) {
        found.push(`out of the window: ${shown(node.textContent)}`);
      }
    }
  }

  walk(document.body);
  overlaps();
  const main = document.querySelector("[data-testid=stMain]");
  if (main && main.scrollWidth > main.clientWidth + 1) found.push("the page scrolls sideways");
  return [...new Set(found)];
}
