// The toolbar of a chart gets a button that copies the chart, as every other picture has one.

/** The layers of a chart as one SVG. */
function chartPicture(plot) {
  const { width, height } = plot.getBoundingClientRect();
  const withoutPointer = (copy) => copy.querySelector(".hoverlayer")?.replaceChildren();
  const layers = [...plot.querySelectorAll(".main-svg")];
  const parts = layers.map((layer) => standalone(layer, withoutPointer, { x: 0, y: 0, width, height }));
  const [, size] = /viewBox="\S+ \S+ ([^"]+)"/.exec(parts[0]);
  const [w, h] = size.split(" ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" width="${w}" height="${h}">${parts.join("")}</svg>`;
}

function addCopy(plot) {
  const camera = plot.querySelector(".modebar-btn");
  if (!camera || plot.querySelector(".copy")) return;
  const copy = camera.cloneNode();
  copy.classList.add("copy");
  copy.dataset.title = "Copy picture";
  copy.setAttribute("aria-label", "Copy picture");
  const line = { d: "M7 7V3h10v10h-4M3 7h10v10H3Z", fill: "none", stroke: "currentColor", "stroke-width": 1.8 };
  copy.append(drawn("svg", { viewBox: "0 0 20 20", width: 16, height: 16, class: "icon", opacity: 0.5 }, drawn("path", line)));
  const said = made("span", "copied");
  said.setAttribute("role", "status");
  camera.parentElement.append(copy, said);
  copy.addEventListener("click", () => {
    const { backgroundColor } = getComputedStyle(plot.closest(".stApp"));
    copy.style.setProperty("--st-background-color", backgroundColor);
  });
  offerCopy(camera.parentElement, () => chartPicture(plot), () => "chart");
}

// Toolbars are drawn anew now and then, so whoever comes near to one brings its button.
for (const event of ["pointerover", "focusin"]) {
  addEventListener(event, ({ target }) => {
    const plot = target.closest?.(".js-plotly-plot");
    if (plot) addCopy(plot);
  });
}
