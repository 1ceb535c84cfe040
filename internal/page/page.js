// The page works without this: it shows a chart's values below it while they are
// pointed at, and sorts tables.
"use strict";

for (const values of document.querySelectorAll("figure > .values")) {
  values.parentElement.addEventListener("pointermove", (event) => {
    const title = event.target.querySelector(":scope > title");
    if (title) {
      values.textContent = title.textContent;
    }
  });
}

const value = (row, column) => {
  const cell = row.cells[column];
  const text = cell.dataset.sort ?? cell.firstChild?.textContent.trim() ?? "";
  const number = Number(text.replaceAll(",", ""));
  return { text, number: text === "" || Number.isNaN(number) ? null : number, none: text === "" || text === "-" };
};

const compare = (a, b) => {
  if (a.number !== null && b.number !== null) {
    return a.number - b.number;
  }
  return a.text.localeCompare(b.text, "en", { numeric: true });
};

const sort = (table, column, direction) => {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => ({ row, value: value(row, column) }));
  rows.sort((a, b) => a.value.none - b.value.none || direction * compare(a.value, b.value));
  body.append(...rows.map((r) => r.row));
};

for (const table of document.querySelectorAll(".sortable table")) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.title = "Sort by this column";
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      sort(table, column, up ? 1 : -1);
    });
  });
}
