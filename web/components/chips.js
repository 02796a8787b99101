// Tokens as chips; text nodes only, for words and types come from uploaded files.

function made(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** A token, with a line at each gold boundary that it covers. */
function chipOf({ segments, tooltip, culprit, morph }) {
  const chip = made("span", "chip");
  chip.title = tooltip;
  chip.classList.toggle("covering", segments.length > 1);
  chip.classList.toggle("culprit", culprit);
  chip.classList.toggle("morph", morph);
  segments.forEach((segment, number) => {
    if (number) chip.append(made("span", "cut"));
    chip.append(made("span", "", segment));
  });
  return chip;
}

