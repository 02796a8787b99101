// Making elements; text nodes only, for words and types come from uploaded files.

const SVG_NAMES = "http://www.w3.org/2000/svg";

function made(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function drawn(name, attributes, ...children) {
  const element = document.createElementNS(SVG_NAMES, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

