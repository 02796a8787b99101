// Keeps the cookie that identifies the browser, and, while a tab closes or reloads, one that
// identifies the tab: two tabs with different tokenisers stay separate.

const LEFT_BEHIND = 60; // seconds that a closing tab's cookie lives; a reload takes less
let leave = null;

// While a file is dragged over the window, all of it is the field that takes any file.
if (!globalThis.morphgraphDrags) {
  globalThis.morphgraphDrags = true;
  const dragging = (is) => document.documentElement.classList.toggle("dragging", is);
  addEventListener("dragenter", (event) => event.dataTransfer?.types.includes("Files") && dragging(true));
  addEventListener("dragleave", (event) => event.relatedTarget ?? dragging(false));
  for (const over of ["drop", "dragend"]) addEventListener(over, () => dragging(false), { capture: true });
}

// Keys that find, undo and redo, where no text is being typed; those with Ctrl are Streamlit's own.
const KEYS = { "/": ".st-key-go-to", z: '[class*="st-key-undo-"]', Z: '[class*="st-key-redo-"]' };
if (!globalThis.morphgraphFinds) {
  globalThis.morphgraphFinds = true;
  addEventListener("keydown", (event) => {
    const target = event.composedPath()[0];
    const types = target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
    const place = KEYS[event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase()];
    if (!place || types || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    document.querySelector(`${place} button:not(:disabled)`)?.click();
  });
}

export default function ({ data, parentElement, setTriggerValue }) {
  hide(parentElement);
  const keep = (name, value, seconds) => {
    const how = "path=/; samesite=strict" + (location.protocol === "https:" ? "; secure" : "");
    document.cookie = `${name}=${value}; ${how}; max-age=${seconds}`;
  };
  // What is over the page, as a dialog, is outside what Streamlit makes dark.
  document.documentElement.style.colorScheme = isDark(parentElement) ? "dark" : "light";
  keep(data.names.browser, data.browser, data.seconds);
  // Of another tab, which is on its way back, it stays.
  if (document.cookie.split("; ").includes(`${data.names.tab}=${data.tab}`)) {
    keep(data.names.tab, "", 0);
  }
  const tab = (globalThis.morphgraphTab ??= data.tab);
  if (tab !== data.tab) setTriggerValue("tab", tab);
  if (leave) removeEventListener("pagehide", leave);
  leave = () => keep(data.names.tab, tab, LEFT_BEHIND);
  addEventListener("pagehide", leave);
}
