// Buttons and a slider that play, step and scrub through numbered states, in the browser alone.

const ICONS = {
  play: "M5 3.5 16 10 5 16.5z",
  pause: "M5 4h3.6v12H5zM11.4 4H15v12h-3.6z",
  back: "M13 4 6 10l7 6z",
  next: "m7 4 7 6-7 6z",
};

class Player {
  at = 0;
  last = 0;

  /** `name`: what one step is; `show` is called at each, `stopped` where one stops. */
  constructor(place, range, name, pace, show, stopped = () => {}) {
    Object.assign(this, { range, pace, show, stopped });
    const button = (icon, label, action) => {
      const made_ = made("button");
      made_.type = "button";
      if (label) made_.title = label;
      if (label) made_.setAttribute("aria-label", label);
      made_.addEventListener("click", action);
      made_.append(this.icon(icon));
      place.append(made_);
      return made_;
    };
    this.main = button("play", "", () => (this.playing ? this.pause() : this.play()));
    this.main.className = "main";
    this.back = button("back", `Previous ${name}`, () => this.go(this.at - 1));
    this.next = button("next", `Next ${name}`, () => this.go(this.at + 1));
    range.addEventListener("input", () => this.go(Number(range.value)));
  }

  icon(name) {
    const picture = drawn("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" });
    picture.append(drawn("path", { d: ICONS[name] }));
    return picture;
  }

  /** States from `first` to `last`, the one at `at` on show. */
  set(first, last, at) {
    [this.first, this.last] = [first, last];
    [this.range.min, this.range.max] = [first, last];
    this.at = Math.max(first, Math.min(at, last));
    this.mark();
  }

  mark() {
    this.range.value = this.at;
    this.main.disabled = this.last <= this.first;
    this.back.disabled = this.at <= this.first;
    this.next.disabled = this.at >= this.last;
    this.main.replaceChildren(
      this.icon(this.playing ? "pause" : "play"),
      this.playing ? "Pause" : "Play",
    );
    this.show(this.at);
  }

  /** From the start, or on from where it was paused. */
  play() {
    if (!this.paused || this.at >= this.last) this.at = this.first;
    this.paused = false;
    this.playing = setInterval(() => {
      if (this.at >= this.last) {
        this.go(this.at);
        return;
      }
      this.at += 1;
      this.mark();
    }, this.pace);
    this.mark();
  }

  pause() {
    this.go(this.at);
    this.paused = true;
  }

  go(number) {
    this.halt();
    this.paused = false;
    this.at = Math.max(this.first, Math.min(number, this.last));
    this.mark();
    this.stopped(this.at);
  }

  halt() {
    clearInterval(this.playing);
    this.playing = null;
  }
}

