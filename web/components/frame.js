// A web page in a frame that has no access to the app around it.

class FrameView {
  constructor(parent) {
    this.frame = parent.querySelector("iframe");
  }

  update({ data }) {
    this.frame.title = data.title;
    this.frame.style.height = `${data.height}px`;
    if (data.page === this.page) return;
    this.page = data.page;
    // An empty page, whose answer forbids it all but what it is sent (web/guard.py).
    this.frame.addEventListener("load", () => this.frame.contentWindow.postMessage(this.page, "*"),
      { once: true });
    this.frame.src = "/frame";
  }

  dispose() {
    this.disposed = true;
  }
}

export default component(FrameView);
