// Moves the focus to the field of the dialog that it is in, whenever the dialog itself has it.

export default function ({ parentElement }) {
  hide(parentElement);
  const dialog = (parentElement.host ?? parentElement).closest('[role="dialog"]');
  if (!dialog || dialog.dataset.entered) return;
  dialog.dataset.entered = "true";
  const enter = () => dialog.querySelector("input")?.focus();
  // A dialog takes it as it opens, and once more when it has moved in, however long that takes.
  dialog.addEventListener("focusin", ({ target }) => target === dialog && enter());
  const wait = setInterval(() => {
    if (!dialog.querySelector("input")) return;
    clearInterval(wait);
    if (!dialog.contains(document.activeElement) || document.activeElement === dialog) enter();
  }, 50);
}
