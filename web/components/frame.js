// A web page in a frame that has no access to the app around it, but can say what is clicked in it.

class FrameView {
  clicks = new Clicks();

  constructor(parent) {
    this.parent = parent;
    this.frame = parent.querySelector("iframe");
    this.hear = ({ source, data }) => {
      if (source !== this.frame.contentWindow || typeof data?.clicked !== "string") return;
      this.clicks.add(data.clicked);
    };
    addEventListener("message", this.hear);
  }

  update(given) {
    const { data } = given;
    this.clicks.acknowledge(given);
    this.frame.title = data.title;
    this.frame.style.height = `${data.height}px`;
    this.frame.style.colorScheme = isDark(this.parent) ? "dark" : "light";
    if (data.page === this.page) return;
    this.page = data.page;
    // An empty page, whose answer forbids it all but what it is sent (web/guard.py).
    this.frame.addEventListener("load", () => this.frame.contentWindow.postMessage(this.page, "*"),
      { once: true });
    this.frame.src = "/frame";
  }

  dispose() {
    this.clicks.stop();
    removeEventListener("message", this.hear);
  }
}

export default component(FrameView);
