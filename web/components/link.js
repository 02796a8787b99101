// A button that copies the address of the page, which has the edits in it.

export default function ({ data, parentElement }) {
  let button = parentElement.querySelector("button");
  if (!button) parentElement.append((button = made("button", "", data.label)));
  button.disabled = !data.fits;
  button.title = data.tip;
  button.onclick = async () => {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = data.label), 2000);
  };
}
