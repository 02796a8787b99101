// A field that finds a type as one types; Python looks for it, and orders what it finds.

const WAIT = 70; // ms without a key before a text is looked for

class FinderView {
  options = [];

  constructor(parent) {
    this.frame = parent.querySelector(".finder");
    this.field = parent.querySelector("input");
    this.button = parent.querySelector("button");
    this.found = parent.querySelector(".found");
    this.title = parent.querySelector("small");
    this.list = parent.querySelector("[role=listbox]");
    this.field.addEventListener("input", () => {
      this.goes = false;
      this.show();
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.ask(), WAIT);
    });
    this.field.addEventListener("keydown", (event) => this.keyPressed(event));
    this.field.addEventListener("click", () => this.show());
    this.button.addEventListener("click", () => {
      this.field.value = "";
      this.field.focus();
      this.show();
    });
    this.frame.addEventListener("focusout", ({ relatedTarget }) => !this.frame.contains(relatedTarget) && this.hide());
    this.found.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
    this.list.addEventListener("pointermove", (event) => {
      const at = [...this.list.children].indexOf(event.target.closest("[role=option]"));
      if (at >= 0 && hasMoved(event)) this.mark(at);
    });
    this.list.addEventListener("click", ({ target }) => {
      this.choose([...this.list.children].indexOf(target.closest("[role=option]")));
    });
  }

  update({ data, setStateValue, setTriggerValue }) {
    [this.report, this.go] = [setStateValue, setTriggerValue];
    this.button.lastElementChild.textContent = data.first;
    this.query = data.query;
    const told = JSON.stringify([data.title, data.options]);
    if (told !== this.told) {
      this.told = told;
      this.options = data.options;
      this.title.textContent = data.title;
      this.list.replaceChildren(...data.options.map(([, name, figures], number) => this.option(name, figures, number)));
      this.mark(0);
    }
    if (!this.found.hidden) this.show();
    if (this.goes && this.isKnown()) this.choose(this.at);
  }

  option(name, figures, number) {
    const option = made("div");
    Object.assign(option, { role: "option", id: `option${number}`, title: name });
    option.append(made("bdi", "", name), made("span", "", figures));
    return option;
  }

  /** Whether the list is that of what is in the field. */
  isKnown() {
    return this.query === this.field.value;
  }

  ask() {
    clearTimeout(this.waiting);
    if (!this.isKnown()) this.report?.("query", this.field.value);
  }

  /** Show the list, or that of the text before until Python has found another. */
  show() {
    if (!this.field.value) this.ask();
    this.found.hidden = false;
    this.field.setAttribute("aria-expanded", "true");
  }

  hide() {
    this.found.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
  }

  mark(at) {
    this.at = at;
    for (const [number, option] of [...this.list.children].entries()) option.setAttribute("aria-selected", number === at);
    if (this.options.length) this.field.setAttribute("aria-activedescendant", `option${at}`);
    else this.field.removeAttribute("aria-activedescendant");
  }

  choose(at) {
    this.goes = false;
    if (!this.options[at]) return;
    this.go?.("chosen", this.options[at][0]);
    this.field.value = "";
    this.hide();
  }

  keyPressed(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (steps[event.key]) {
      if (this.found.hidden) this.show();
      else this.mark(Math.max(0, Math.min(this.options.length - 1, this.at + steps[event.key])));
      this.list.children[this.at]?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && !event.isComposing && (this.field.value || !this.found.hidden)) {
      this.ask();
      if (this.isKnown()) this.choose(this.at);
      else this.goes = true; // to the first, once it is found
    } else if (event.key === "Escape") this.hide();
    else return;
    event.preventDefault();
  }

  dispose() {
    clearTimeout(this.waiting);
  }
}

export default component(FinderView);
