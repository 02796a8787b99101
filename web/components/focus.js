// Moves the focus to the field of the dialog that it is in, once.

export default function ({ parentElement }) {
  hide(parentElement);
  const dialog = (parentElement.host ?? parentElement).closest('[role="dialog"]');
  if (!dialog || dialog.dataset.entered) return;
  dialog.dataset.entered = "true";
  const enter = () => document.activeElement?.matches("input") || dialog.querySelector("input")?.focus();
  for (const wait of [50, 250, 600]) setTimeout(enter, wait); // the dialog takes the focus, too
}
