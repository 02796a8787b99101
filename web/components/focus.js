// Moves the focus to the field of the dialog that it is in, once.

export default function ({ parentElement }) {
  hide(parentElement);
  const dialog = (parentElement.host ?? parentElement).closest('[role="dialog"]');
  if (!dialog || dialog.dataset.entered) return;
  dialog.dataset.entered = "true";
  setTimeout(() => dialog.querySelector("input")?.focus(), 50);
}
