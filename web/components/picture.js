// A picture on the page as a file of its own, and as pixels in the clipboard.

const PIXELS = 2; // of a PNG for each of the picture
const LONGEST_SIDE = 16000; // px that a canvas surely can have
const AROUND_PICTURE = 10; // px
const COPIED_FOR = 2500; // ms that one can read it
const PAINTED = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "opacity", "display", "font-size", "font-weight", "text-anchor", "dominant-baseline"];

const leaving = (globalThis.__morphgraph_leaving ??= { at: -Infinity, boxes: new Map() }); // where types stood in a picture that another takes the place of

/** An SVG of the page as text, with its colours in its elements; `finish` changes its copy. */
function standalone(shown, finish = () => {}, box = shown.viewBox.baseVal) {
  const copy = shown.cloneNode(true);
  const all = "rect, path, text, line, polyline, circle";
  const shapes = [...shown.querySelectorAll(all)];
  for (const [i, shape] of [...copy.querySelectorAll(all)].entries()) {
    const style = getComputedStyle(shapes[i]);
    for (const name of PAINTED) shape.setAttribute(name, style.getPropertyValue(name));
    shape.setAttribute("text-decoration", style.textDecorationLine); // of which an attribute has the short name only
  }
  finish(copy);
  return asFile(copy, box, getComputedStyle(shown).fontFamily);
}

/** An SVG, whose colours are in its elements, as text. */
function asFile(svg, box, font) {
  const [width, height] = [box.width, box.height].map((side) => Math.ceil(side + 2 * AROUND_PICTURE));
  const given = {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: [box.x - AROUND_PICTURE, box.y - AROUND_PICTURE, width, height].join(" "),
    width,
    height,
    "font-family": font,
  };
  for (const [name, value] of Object.entries(given)) svg.setAttribute(name, value);
  for (const element of [svg, ...svg.querySelectorAll("*")]) {
    for (const name of ["style", "class", "tabindex", "role"]) element.removeAttribute(name);
  }
  return new XMLSerializer().serializeToString(svg);
}

function svgBlob(source) {
  return new Blob([source], { type: "image/svg+xml;charset=utf-8" });
}

/** A picture on paper of the colour of the page around an element, for its letters may be light. */
function onPaper(source, element) {
  const [x, y, width, height] = (/viewBox="([^"]*)"/.exec(source)?.[1] ?? "0 0 100% 100%").split(" ");
  const paper = getComputedStyle(element).getPropertyValue("--st-background-color").trim() || "#fff";
  return source.replace(/<svg[^>]*>/, `$&<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${paper}"/>`);
}

/** Save a picture as an SVG on paper. */
function saveSvg(source, element, name) {
  save(svgBlob(onPaper(source, element)), `${name}.svg`);
}

/** An SVG as a PNG on the paper around an element. */
async function png(source, element) {
  const image = new Image();
  const address = URL.createObjectURL(svgBlob(onPaper(source, element)));
  try {
    await new Promise((onload, onerror) => Object.assign(image, { onload, onerror, src: address }));
  } finally {
    URL.revokeObjectURL(address);
  }
  const { naturalWidth: width, naturalHeight: height } = image;
  const scale = Math.min(PIXELS, LONGEST_SIDE / width, LONGEST_SIDE / height);
  const sides = { width: Math.round(width * scale), height: Math.round(height * scale) };
  const canvas = Object.assign(document.createElement("canvas"), sides);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("The picture is too large.");
  return blob;
}

/** Let the button that copies a picture do so, or save it where the clipboard is refused. */
function offerCopy(parent, picture, name) {
  const [button, said] = [".copy", ".copied"].map((one) => parent.querySelector(one));
  let reading;
  button.addEventListener("click", async () => {
    const made = png(picture(), button);
    let done = "Copied";
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": made })]);
    } catch {
      const blob = await made.catch(() => null);
      if (blob) save(blob, `${name()}.png`);
      done = blob ? "Saved as PNG" : "Too large to copy";
    }
    said.textContent = done;
    clearTimeout(reading);
    reading = setTimeout(() => said.replaceChildren(), COPIED_FOR);
  });
}

const SAVE = "M10 3v9M6 9l4 4 4-4M4 17h12";
const FULL = "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4";

/** Fill the `.tools` of a frame: a menu that takes its picture along, and does `more`, and full screen. */
function offerTools(frame, picture, name, more = {}) {
  const place = frame.querySelector(".tools");
  const icon = (element, label, path) => {
    Object.assign(element, { title: label, ariaLabel: label });
    element.append(drawn("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, drawn("path", { d: path })));
    return element;
  };
  const [menu, items] = [made("details"), made("div")];
  const summary = icon(made("summary"), "Save or copy the picture", SAVE);
  const item = (label, act, className) => {
    const button = made("button", className, label);
    button.type = "button";
    button.addEventListener("click", act);
    items.append(button);
  };
  const done = (act) => () => {
    summary.focus(); // what goes with the menu cannot keep it
    menu.open = false;
    act();
  };
  for (const [label, act] of Object.entries(more)) item(label, act);
  item("Download as SVG", done(() => saveSvg(picture(), frame, name())));
  item("Download as PNG", done(async () => save(await png(picture(), frame), `${name()}.png`)));
  item("Copy picture", done(() => {}), "copy");
  menu.append(summary, items);
  menu.addEventListener("focusout", ({ relatedTarget }) => relatedTarget && !menu.contains(relatedTarget) && (menu.open = false));
  menu.addEventListener("keydown", (event) => event.key === "Escape" && menu.open && done(() => {})());
  const full = icon(made("button"), "Full screen", FULL);
  full.type = "button";
  full.hidden = !document.fullscreenEnabled;
  full.addEventListener("click", () => (frame.matches(":fullscreen") ? document.exitFullscreen() : frame.requestFullscreen()));
  const said = made("span", "copied");
  said.setAttribute("aria-live", "polite");
  place.append(menu, full, said);
  offerCopy(frame, picture, name);
}
