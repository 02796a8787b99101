// Tokens as chips.

/** A token, with a line at each gold boundary that it covers. */
function chipOf({ segments, tooltip, is_culprit: culprit, is_morph: morph }, kind = "span") {
  const chip = made(kind, "chip");
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

