"use strict";

/** Sort a table's rows by a column: numbers by size, with what is undefined last, texts by letters. */
function sortBy(table, column, ascending) {
  const body = table.tBodies[0];
  const key = (row) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim().replaceAll(",", "");
    const number = parseFloat(text);
    return cell.matches(".text, .name") ? text : Number.isNaN(number) ? null : number;
  };
  const keyed = [...body.rows].map((row) => [key(row), row]);
  keyed.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "string" ? a.localeCompare(b, "en") : a - b;
    return ascending ? order : -order;
  });
  body.append(...keyed.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  table.tHead.addEventListener("click", (event) => {
    const head = event.target.closest("th");
    if (head === null) return;
    const column = heads.indexOf(head);
    const isText = table.tBodies[0].rows[0]?.cells[column].matches(".text, .name");
    // The largest numbers first, and texts from A: what one looks for.
    const was = head.getAttribute("aria-sort");
    const ascending = was === null ? Boolean(isText) : was === "descending";
    for (const each of heads) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    sortBy(table, column, ascending);
  });
}

const choice = document.querySelector(".choice");
if (choice !== null) {
  const show = () => {
    const chosen = choice.querySelector(":checked").value;
    for (const map of document.querySelectorAll(".map")) map.hidden = map.id !== chosen;
  };
  choice.hidden = false;
  choice.addEventListener("change", show);
  show();
}
