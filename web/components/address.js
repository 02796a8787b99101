// Writes a value into the address, unless the browser has moved on. In that case it reports the
// address, as Back does: a restarted Python may know of no step.

let told = null;

export default function ({ data, parentElement }) {
  hide(parentElement);
  const address = new URL(location.href), parameters = address.searchParams;
  const here = parameters.get("step") ?? "";
  if (here !== data.step) {
    if (here !== data.arrived && !(+here >= data.since && +here < +data.step)) {
      if (told !== here) dispatchEvent(new PopStateEvent("popstate"));
      told = here;
      return;
    }
    parameters.set("step", "before" + data.step);
    history.replaceState(history.state, "", address);
    parameters.set("step", data.step);
    history.pushState(null, "", address);
  }
  if (data.value) parameters.set(data.name, data.value);
  else parameters.delete(data.name);
  history.replaceState(history.state, "", address);
}
