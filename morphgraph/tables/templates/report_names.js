(function () {
  // All that names a row stays when its table is scrolled, if that leaves room for numbers.
  const place = () => document.querySelectorAll('.wide').forEach(wide => {
    const rows = Array.from(wide.querySelectorAll('tr')).filter(row => row.querySelector('.name'));
    if (!rows.length) return;
    const names = Array.from(rows[0].querySelectorAll('.name'));
    const widths = names.map(cell => cell.offsetWidth);
    const fits = widths.reduce((a, b) => a + b, 0) < wide.clientWidth / 2;
    rows.forEach(row => {
      let left = 0;
      row.querySelectorAll('.name').forEach((cell, number) => {
        cell.classList.toggle('stays', fits);
        cell.style.left = fits || number === 0 ? left + 'px' : '';
        left += widths[number];
      });
    });
  });
  place();
  window.addEventListener('resize', place);
})();
