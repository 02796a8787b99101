// The story: puts the app's components, the figures and the columns of letters where they belong.
// Text nodes only, for a word may be typed.

const { data } = story;
const root = document.documentElement;
const find = (id) => document.getElementById(id);

function make(name, className = "", ...children) {
  const element = document.createElement(name);
  element.className = className;
  element.append(...children);
  return element;
}

// --- figures

for (const slot of document.querySelectorAll("[data-is]")) {
  const value = slot.dataset.is.split(".").reduce((found, key) => found[key], data);
  slot.textContent = typeof value === "number" ? value.toLocaleString("en-GB") : value;
}

// --- the app's components

const shown = [];

/** Show a component in an element, `more` style added, and return what gives it other data. */
function show(id, name, given, more = "") {
  const { html, css, show: draw } = story.components[name];
  const place = find(id).attachShadow({ mode: "open" });
  place.innerHTML = `<style>${css}${more}</style>${html}`; // from the components alone
  const nothing = () => {};
  const update = (changed) => {
    given = { ...given, ...changed };
    draw({ data: given, parentElement: place, setStateValue: nothing, setTriggerValue: nothing });
  };
  shown.push([place.host, update]);
  update({});
  return update;
}

/** Draw what stands beside a component for each state that it plays. */
function follow(id, draw) {
  const { shadowRoot: played } = find(id);
  const tell = () => draw(Number(played.querySelector("input[type=range]").value));
  new MutationObserver(tell).observe(played.querySelector(".said"), { childList: true });
  tell();
}

const lookAt = { view_key: "story", selected: null, height: "330px", least: 0.45 };

// --- columns of letters

/** Where pieces of a word begin, the first one aside; `skip`: how many letters are no letters of it. */
function cutsOf(pieces, skip = 0) {
  let at = -skip;
  return pieces.slice(0, -1).map((piece) => (at += [...piece].length));
}

/** A row of a grid: its name, and its pieces from a column on. */
function addRow(grid, row, name, pieces, first, classOf) {
  const label = make("span", `name ${name === "linguist" ? "gold" : ""}`, name);
  label.style.gridRow = 2 * row - 1;
  grid.append(label);
  let at = first;
  for (const piece of pieces) {
    const letters = [...piece];
    const box = make("span", `piece ${classOf(piece, at - first, letters.length)}`, ...letters.map((letter) => make("span", "", letter)));
    box.style.gridArea = `${2 * row} / ${at} / auto / span ${letters.length}`;
    grid.append(box);
    at += letters.length;
  }
}

/** Whether the name of a row stands above it; else it stands beside it. */
const isNarrow = matchMedia("(max-width: 640px)");

function columnsOf(letters) {
  const grid = make("div", "columns");
  grid.style.setProperty("--n", letters);
  return grid;
}

/** Names beside rows stand in the same row of the grid, those above one higher. */
function settle(grid) {
  for (const label of grid.querySelectorAll(".name")) {
    const row = Number(label.style.gridRow.split(" ")[0]);
    label.dataset.row ??= row;
    label.style.gridRow = Number(label.dataset.row) + (isNarrow.matches ? 0 : 1);
  }
  for (const element of grid.querySelectorAll("[data-at]")) {
    const column = Number(element.dataset.at) + (isNarrow.matches ? 0 : 1);
    element.style.gridColumnStart = column;
  }
}

/** What a token is: over a boundary, a morph, or neither. */
function kindOf(start, end, gold, length) {
  if (gold.some((cut) => start < cut && cut < end)) return "over";
  const edges = [0, ...gold, length];
  return gold.length && edges.includes(start) && edges.includes(end) ? "good" : "";
}

/** A word with its gold morphs above its tokens, and a mark at each boundary and cut. */
function compared({ word, morphs, tokens }) {
  const marker = tokens[0].startsWith("␣") ? 1 : 0;
  const length = [...word].length;
  const grid = columnsOf(length + marker);
  const gold = cutsOf(morphs);
  const cuts = cutsOf(tokens, marker);
  addRow(grid, 1, "linguist", morphs, 1 + marker, () => "morph");
  const classOf = (_, at, size) => kindOf(Math.max(0, at - marker), at - marker + size, gold, length);
  addRow(grid, 2, "tokeniser", tokens, 1, classOf);
  for (const cut of new Set([...gold, ...cuts])) {
    const kind = !gold.includes(cut) ? "wrong" : cuts.includes(cut) ? "hit" : "missed";
    const mark = make("i", `mark ${kind}`);
    mark.dataset.at = cut + marker + 1;
    mark.style.gridRow = kind === "wrong" ? "4" : "2 / 5";
    grid.append(mark);
  }
  for (const piece of grid.querySelectorAll(".piece")) piece.dataset.at = piece.style.gridColumnStart;
  settle(grid);
  return grid;
}

isNarrow.addEventListener("change", () => document.querySelectorAll(".columns").forEach(settle));

// --- step 1

const tokenisers = {};
const LANGUAGES = { en: "English", de: "German", nl: "Dutch" };
const EXAMPLES = {
  en: ["carries", "playgrounds", "unbelievable", "strawberries"],
  de: ["Arbeitszeit", "Freundlichkeit", "Bücher"],
  nl: ["dankbaarheid", "brieven", "kinderen"],
};
let language = "en";
let guessed = new Set();

/** The tokens of a word as its letters, each with all that begin in it. */
function tokensOf(word) {
  const packed = () => Uint8Array.from(atob(story.merges[language]), (sign) => sign.charCodeAt(0));
  tokenisers[language] ??= Cutter.unpack(packed())[1];
  return tokenisers[language].shown(word)?.map(({ text, letters }) => (text.startsWith("␣") ? `␣${letters}` : letters)) ?? [];
}

function drawGuess() {
  const word = find("word").value.trim().split(/\s+/)[0] || "carries";
  const letters = [...word];
  const grid = columnsOf(letters.length + 1);
  addRow(grid, 1, "your guess", letters, 2, () => "letter");
  const raw = tokensOf(word);
  const tokens = raw.filter(Boolean);
  addRow(grid, 2, "tokeniser", tokens, 1, () => "");
  const cuts = cutsOf(tokens, 1);
  for (const cut of cuts) {
    const mark = make("i", `mark ${guessed.has(cut) ? "hit" : "wrong"}`);
    mark.dataset.at = cut + 2;
    mark.style.gridRow = "4";
    grid.append(mark);
  }
  for (let at = 1; at < letters.length; at += 1) {
    const button = make("button", "between");
    button.type = "button";
    button.setAttribute("aria-label", `Cut between ${letters[at - 1]} and ${letters[at]}`);
    button.setAttribute("aria-pressed", guessed.has(at));
    button.dataset.at = at + 2;
    button.style.gridRow = "2";
    button.addEventListener("click", () => {
      if (!guessed.delete(at)) guessed.add(at);
      drawGuess();
      find("guess").querySelectorAll(".between")[at - 1].focus();
    });
    grid.append(button);
  }
  for (const piece of grid.querySelectorAll(".piece")) piece.dataset.at = piece.style.gridColumnStart;
  settle(grid);
  find("guess").replaceChildren(grid);
  const agree = cuts.filter((cut) => guessed.has(cut)).length;
  const count = raw.length === 1 ? "One token" : `${raw.length} tokens`;
  find("verdict").textContent = `${count}${guessed.size ? `; ${agree} of your ${guessed.size} cuts agree` : ""}.`;
}

function typeWord(word) {
  find("word").value = word;
  guessed = new Set();
  drawGuess();
}

function drawExamples() {
  const buttons = EXAMPLES[language].map((word) => {
    const button = make("button", "", word);
    button.type = "button";
    button.addEventListener("click", () => typeWord(word));
    return button;
  });
  find("try").replaceChildren(...buttons);
}

for (const [code, name] of Object.entries(LANGUAGES)) {
  const input = Object.assign(make("input"), { type: "radio", name: "language", value: code, checked: code === language });
  input.addEventListener("change", () => {
    language = code;
    drawExamples();
    typeWord(EXAMPLES[code][0]);
  });
  find("language").append(make("label", "", input, ` ${name}`));
}
find("word").addEventListener("input", () => {
  guessed = new Set();
  drawGuess();
});
drawExamples();
drawGuess();

// --- steps 2 to 4

const births = data.births.map(({ parts, count, words }) =>
  make("li", "", make("code", "", parts.join(" + ")), make("b", "", count.toLocaleString("en-GB")), make("small", "", `${words.join(", ")} …`)),
);
find("births").append(...births);
show("tree", "tree", { ...data.tree, clickable: false, offers: {}, file_name: "carries" }, ".tools { display: none; }");
follow("tree", (at) =>
  births.forEach((item, number) => {
    item.classList.toggle("now", number + 1 === at);
    item.classList.toggle("later", number + 1 > at);
  }),
);

for (const word of ["carries", "unbelievable", "underestimating"]) find("gold").append(compared(data.shown[word]));

show("fan", "fan", { ...lookAt, fan: data.fan, selected: data.fan.vertices.find(({ flags }) => flags.includes("focus"))?.key });
const groups = [{ title: `The ${data.rows.length} words`, count: "", rows: data.rows, more: "", fresh: false }];
const close = "button { padding: 1px 4px; border: 0; cursor: default; } button .gold { display: none; }";
show("rows", "rows", { groups, height: "none" }, close);
for (const type of ["er", "es", "ies"]) {
  const { joins, wrong, share } = data.blame[type];
  const cells = [make("td", "", make("code", "", type)), make("td", "", `${wrong} of ${joins}`), make("td", wrong ? "bad" : "", share)];
  find("blames").append(make("tr", "", ...cells));
}

// --- step 5

/** Tokens as chips, with a red line at each boundary that one covers. */
function chips({ word, morphs, tokens }) {
  const gold = cutsOf(morphs);
  let at = -1;
  const made = tokens.map((token) => {
    const start = at;
    const letters = [...token];
    at += letters.length;
    const chip = make("span", `chip ${kindOf(Math.max(0, start), at, gold, [...word].length)}`);
    letters.forEach((letter, number) => {
      if (number && gold.includes(start + number)) chip.append(make("i", "cut"));
      chip.append(letter);
    });
    return chip;
  });
  return make("span", "chips", ...made);
}

const change = ({ before, after }) => make("div", "change", chips(before), make("span", "to", "→"), chips(after));
find("better").append(...data.without.ies.changed.map(change));
find("worse").append(...data.without.er.changed.map(change));

const knock = find("knock");
const after = show("fan-after", "fan", { ...lookAt, view_key: "knockout", fan: data.fan });
knock.addEventListener("click", () => {
  const isOut = knock.getAttribute("aria-pressed") !== "true";
  knock.setAttribute("aria-pressed", isOut);
  knock.textContent = isOut ? "Bring ies back" : "Knock out ies";
  after({ fan: isOut ? data.fan_after : data.fan });
  const { f1, better, worse } = data.without.ies;
  find("knocked").textContent = isOut ? `F1 ${data.start.f1} → ${f1}: ${better} words are cut better, ${worse} worse. Blue outline: changed.` : "";
  find("result").classList.add("shown");
});

{
  const { ies, er } = data.without;
  const scores = [["as it was", data.start], ["without ies", ies], ["without er", er], [`without all ${data.to_blame}`, data.without_all]];
  const numbers = scores.flatMap(([, { low, high }]) => [Number(low), Number(high)]);
  const [least, most] = [Math.min(...numbers) - 2, Math.max(...numbers) + 2];
  const at = (value) => `${(100 * (value - least)) / (most - least)}%`;
  for (const [name, { f1, low, high }] of scores) {
    const way = Math.sign(f1 - data.start.f1);
    const [bar, point, start] = [make("i"), make("b"), make("u")];
    Object.assign(bar.style, { left: at(low), width: `${(100 * (high - low)) / (most - least)}%` });
    point.style.left = at(f1);
    start.style.left = at(data.start.f1);
    const line = make("div", "", make("strong", "", f1), name);
    const scale = make("div", "scale", start, bar, point);
    scale.title = `95 % interval [${low}, ${high}]`;
    find("intervals").append(make("div", `interval ${["down", "", "up"][way + 1]}`, line, scale));
  }
}

// --- step 6, and another language

const { points, names } = data.run;
show("run", "run", { points, names, chosen: points.length - 1, word: null }, ".copying { display: none; } .said { min-height: 2.7em; } .line polyline:not(.beside) { stroke: var(--start); }");
follow("run", (at) => {
  find("phase").textContent = at ? `Tokens after “${points[at].label}”` : "Tokens at the start";
  const [seen, fresh] = data.run.words[at];
  const lines = [["seen word", { ...data.shown.carries, tokens: seen.tokens }], ["new word", fresh]];
  find("end").replaceChildren(...lines.flatMap(([name, line]) => [make("span", "note", name), chips(line)]));
});
for (const one of data.languages) {
  const said = make("span", "", "most to blame: ", make("code", "", one.parts.join(" + ")), `, ${one.wrong} of ${one.joins} wrong`);
  const score = make("p", "note", `${one.held} new words: F1 ${one.start.f1} → `, make("b", "", one.end.f1), `, 95 % interval ${one.end.low} to ${one.end.high}`);
  find("others").append(make("div", "card", make("h3", "", one.name, said), change(one.example), score));
}

// --- a guess, and its answer

for (const section of document.querySelectorAll(".asks")) {
  const buttons = [...section.querySelectorAll(".ask button")];
  for (const button of buttons) {
    button.addEventListener("click", () => {
      if (section.classList.contains("open")) return;
      section.classList.add("open");
      button.classList.add("chosen");
      for (const one of buttons) {
        one.setAttribute("aria-disabled", "true"); // not disabled, which would lose the focus
        one.classList.toggle("answer", "right" in one.dataset);
      }
    });
  }
}

// --- where one is: addresses, keys, theme, size of type

const links = [...document.querySelectorAll(".steps a")];
const sections = links.map((link) => document.querySelector(link.getAttribute("href")));
let here = -1;

function mark(number) {
  if (number === here) return;
  here = number;
  links.forEach((link, index) => (index === here ? link.setAttribute("aria-current", "step") : link.removeAttribute("aria-current")));
}

addEventListener(
  "scroll",
  () => {
    const line = innerHeight * 0.35;
    mark(sections.findLastIndex((section) => section.getBoundingClientRect().top < line));
    clearTimeout(mark.waiting);
    mark.waiting = setTimeout(() => here >= 0 && history.replaceState(null, "", links[here].hash), 250);
  },
  { passive: true },
);

function go(number, behavior = "auto") {
  const section = sections[Math.max(0, Math.min(number, sections.length - 1))];
  section.scrollIntoView({ behavior });
}

const buttons = { theme: find("theme"), large: find("large"), copy: find("copy") };
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.composedPath()[0].closest?.("input, svg, [role=toolbar]")) return;
  if (event.key === "ArrowRight") go(here + 1);
  else if (event.key === "ArrowLeft") go(here - 1);
  else if (event.key >= "1" && event.key <= "6") go(Number(event.key) - 1);
  else if (event.key === "l") buttons.large.click();
  else if (event.key === "d") buttons.theme.click();
});

function paint(theme) {
  root.dataset.theme = theme;
  buttons.theme.textContent = theme === "dark" ? "Light" : "Dark";
  // What is in sight at once, the rest after it.
  const seen = shown.map(([host]) => isInSight(host));
  shown.forEach(([, update], number) => (seen[number] ? update({}) : setTimeout(update, 0, {})));
}

function isInSight(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

paint(root.dataset.theme);
buttons.theme.addEventListener("click", () => {
  const theme = root.dataset.theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("story theme", theme);
  } catch {
    // A browser that keeps nothing for files.
  }
  paint(theme);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) => paint(matches ? "dark" : "light"));
buttons.large.addEventListener("click", () => {
  const isLarge = root.toggleAttribute("data-large");
  buttons.large.setAttribute("aria-pressed", isLarge);
  const at = here;
  const stay = () => at >= 0 && go(at, "instant"); // a smooth scroll would end beside it
  stay();
  requestAnimationFrame(stay); // if one was on its way
});
buttons.copy.addEventListener("click", () => {
  const address = location.href.split("#")[0] + (links[here]?.hash ?? "#start");
  const isLocal = location.protocol === "file:";
  // Not navigator.clipboard, which some browsers refuse to files.
  addEventListener("copy", (event) => {
    event.clipboardData.setData("text/plain", address);
    event.preventDefault();
  }, { once: true });
  const isDone = document.execCommand("copy");
  buttons.copy.textContent = !isDone ? "Not allowed here" : isLocal ? "Local link copied" : "Link copied";
  setTimeout(() => (buttons.copy.textContent = "Copy link"), 2400);
});
