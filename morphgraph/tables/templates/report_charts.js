(function () {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const charts = Array.from(document.querySelectorAll('.chart'));
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const of = name => style.getPropertyValue(name).trim();
    return {
      'font.color': of('--ink'), 'font.family': getComputedStyle(document.body).fontFamily,
      'hoverlabel.bgcolor': of('--head'), 'hoverlabel.bordercolor': of('--line'),
      'hoverlabel.font.color': of('--ink')
    };
  };
  const drawn = charts.map(place => {
    const figure = JSON.parse(place.querySelector('script').textContent);
    const div = document.createElement('div');
    place.appendChild(div);
    Object.assign(figure.layout, {
      paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', autosize: true
    });
    const options = { responsive: true, displaylogo: false, modeBarButtonsToRemove: [
      'select2d', 'lasso2d', 'autoScale2d'] };
    return Plotly.newPlot(div, figure.data, figure.layout, options)
      .then(() => Plotly.relayout(div, colours())).then(() => div);
  });
  const again = () => drawn.forEach(wait => wait.then(div => Plotly.relayout(div, colours())));
  dark.addEventListener('change', again);
  Promise.all(drawn).then(() => document.documentElement.setAttribute('data-drawn', 'yes'));
})();
