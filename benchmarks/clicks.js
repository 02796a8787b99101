// The page remembers what is shown, then measures from the click to the first frame in which what
// is wanted holds. It checks every frame, so it is as precise as human sight.
(() => {
  const surface = () => {
    for (const host of document.querySelectorAll("*")) {
      const found = host.shadowRoot?.querySelector("svg.surface");
      if (found) return found;
    }
    return null;
  };
  const idle = () => document.querySelector('[data-testid="stApp"]')
    .dataset.testScriptState === 'notRunning';
  const tests = {
    knockout: () => document.querySelector('.st-key-type-name').innerText.includes('knocked out')
      && document.querySelector('.st-key-type-sheet').innerText.includes('F1 '),
    select: ({ label, rank }) => {
      const main = document.querySelector('[data-testid="stMain"]');
      const heads = [...main.querySelectorAll('h3')].map((h) => h.innerText.trim());
      return heads.includes(label) && idle() && main.innerText.includes(`rank ${rank} `);
    },
  };
  globalThis.__timeClick = (kind, wanted) => {
    globalThis.__timed = null;
    let begin = 0;
    const begun = (event) => {
      if (begin) return;
      begin = event.timeStamp;
      const look = (now) => {
        if (tests[kind](wanted)) globalThis.__timed = performance.now() - begin;
        else if (now - begin < 20000) requestAnimationFrame(look);
        else globalThis.__timed = -1;
      };
      requestAnimationFrame(look);
    };
    for (const kind_ of ['pointerdown', 'keydown']) addEventListener(kind_, begun, { once: true, capture: true });
  };
  globalThis.__targets = () => {
    const drawn = [...surface().querySelectorAll('.vertex.type[data-id]:not(.ghost, .focus)')];
    return drawn.filter((vertex) => vertex.textContent.includes('rank ')).map((vertex) => {
      const { left, top, width, height } = vertex.querySelector('.box').getBoundingClientRect();
      const told = vertex.querySelector('title').textContent;
      return { key: vertex.dataset.key, label: vertex.querySelector('text').textContent,
        applied: !told.includes('never applied'), tooltip: told,
        x: left + width / 2, y: top + height / 2 };
    });
  };
  // From the next click until the page is shown and its run has ended; it may move for a second more.
  globalThis.__timeVisit = () => {
    const visit = globalThis.__visit = { took: 0, shift: 0, quiet: () => false };
    new PerformanceObserver((list) => {
      for (const one of list.getEntries()) if (!one.hadRecentInput) visit.shift += one.value;
    }).observe({ type: 'layout-shift' });
    addEventListener('click', ({ timeStamp }) => {
      let ended = Infinity, ran = false;
      visit.quiet = () => performance.now() - ended > 1000;
      const look = () => {
        ran ||= !idle();
        if (ran && idle() && !document.documentElement.classList.contains('turning')) {
          ended = performance.now();
          visit.took = ended - timeStamp;
        } else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, { once: true, capture: true });
  };
  // From the event of each key to the first moment after the frame in which the chips have its letter.
  globalThis.__timeKeys = () => {
    globalThis.__keys = [];
    const area = [...document.querySelectorAll('*')]
      .map((host) => host.shadowRoot?.querySelector('.text textarea')).find(Boolean);
    const words = area.parentElement.querySelector('.words');
    const plain = () => words.textContent.replaceAll('\u200b', '');
    addEventListener('keydown', ({ timeStamp }) => {
      const look = () => {
        if (plain() !== area.value) return requestAnimationFrame(look);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => globalThis.__keys.push(performance.now() - timeStamp);
        port2.postMessage(null);
      };
      area.addEventListener('input', () => requestAnimationFrame(look), { once: true });
    }, { capture: true });
  };
})()
