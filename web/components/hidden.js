// Takes the element of a component that shows nothing out of the flow of the page; a screen reader
// finds what is in it.

function hide(parentElement) {
  const element = (parentElement.host ?? parentElement).closest(".stElementContainer");
  const size = { position: "absolute", width: "1px", height: "1px" };
  if (element) Object.assign(element.style, size, { overflow: "hidden", clipPath: "inset(50%)" });
}
