// A live region, announced when its text changes but not when its page is opened.

export default function ({ data, parentElement }) {
  hide(parentElement);
  let region = parentElement.querySelector("[role]");
  if (!region) {
    region = Object.assign(document.createElement("div"), { role: "status" });
    region.dataset.said = data.said;
    parentElement.append(region);
  } else if (region.dataset.said !== data.said) {
    region.dataset.said = region.textContent = data.said;
  }
}
