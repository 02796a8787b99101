// A web page in a frame that has no access to the app around it.

class FrameView {
  constructor(parent) {
    this.frame = parent.querySelector("iframe");
  }

  update({ data }) {
    this.frame.title = data.title;
    this.frame.style.height = `${data.height}px`;
    if (data.page !== this.page) this.frame.srcdoc = this.page = data.page;
  }

  dispose() {
    this.disposed = true;
  }
}

export default component(FrameView);
