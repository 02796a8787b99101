// What all components share; goes before the script of each.

const RESEND = 4000; // ms after which clicks that nobody acknowledged are sent again

const painter = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext(
  "2d",
  { willReadFrequently: true },
);
const parsed = new Map();

/** Red, green and blue of a colour of CSS. */
function rgb(colour) {
  if (!parsed.has(colour)) {
    painter.clearRect(0, 0, 1, 1);
    painter.fillStyle = "#888";
    painter.fillStyle = colour;
    painter.fillRect(0, 0, 1, 1);
    parsed.set(colour, [...painter.getImageData(0, 0, 1, 1).data].slice(0, 3));
  }
  return parsed.get(colour);
}

/** Whether the page around an element of a component is dark. */
function isDark(parent) {
  const style = getComputedStyle(parent.host ?? parent);
  const [r, g, b] = rgb(style.getPropertyValue("--st-background-color").trim());
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

/** Numbered clicks, sent again until Python has acknowledged them. */
class Clicks {
  pending = [];
  sequence = 0;

  add(key, kind = "click") {
    this.sequence += 1;
    this.pending.push({ sequence: this.sequence, key, kind });
    this.flush();
  }

  flush() {
    clearTimeout(this.resending);
    if (!this.pending.length || !this.send) return;
    this.send("pending", [...this.pending]);
    this.resending = setTimeout(() => this.flush(), RESEND);
  }

  acknowledge({ data, setTriggerValue }) {
    const ack = data.ack ?? 0;
    this.send = setTriggerValue;
    this.sequence = Math.max(this.sequence, ack);
    this.pending = this.pending.filter(({ sequence }) => sequence > ack);
    if (!this.pending.length) clearTimeout(this.resending);
  }

  stop() {
    clearTimeout(this.resending);
    this.send = null;
  }
}

/** What is chosen here, of which Python hears when no other choice has followed for `patience`. */
class Choice {
  told = [];

  constructor(patience) {
    this.patience = patience; // ms
  }

  tell(chosen, patience = this.patience) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.told.push(chosen);
      this.send?.("chosen", chosen);
    }, patience);
  }

  /** Whether what Python says is chosen is to be shown: not while it has yet to hear of a newer. */
  hear({ data, setStateValue }) {
    this.send = setStateValue;
    const heard = this.told.lastIndexOf(data.chosen);
    if (heard >= 0) this.told.splice(0, heard + 1);
    else if (data.chosen !== this.known) this.told = []; // chosen elsewhere
    this.known = data.chosen;
    return !this.waiting && !this.told.length;
  }

  stop() {
    clearTimeout(this.waiting);
    this.send = null;
  }
}

/** Whether a pointer has moved: what moves under one that rests gets its events, too. */
function hasMoved({ movementX, movementY }) {
  return movementX !== 0 || movementY !== 0;
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * What a component exports: it is called again at every change of data or theme with the same
 * parent element, so the view of that element is kept, and updates itself by difference. What it
 * returns is also called when newer data came while its script was loading: the view goes only if
 * its element has left the page.
 */
function component(View) {
  const views = new WeakMap(); // an element's view, and the calls that hold, the latest last
  return (given) => {
    const { parentElement } = given;
    if (!views.has(parentElement)) views.set(parentElement, { view: new View(parentElement), calls: [] });
    const { view, calls } = views.get(parentElement);
    calls.push(given);
    view.update(given);
    return () => {
      const wasShown = calls.at(-1) === given;
      if (calls.includes(given)) calls.splice(calls.indexOf(given), 1);
      if (!parentElement.isConnected && views.delete(parentElement)) view.dispose();
      // It came late, after newer data, which holds.
      else if (parentElement.isConnected && wasShown && calls.length) view.update(calls.at(-1));
    };
  };
}
