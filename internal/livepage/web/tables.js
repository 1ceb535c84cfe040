// Tables that are filled again every second. Only cells that have changed are touched, so that a selection and the
// place of a screen reader stay.

import { visible } from "./text.js";

export const element = (name, attributes = {}, ...children) => {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
};

const set = (cell, value) => {
  const { text: given, bad, label, hidden } = typeof value === "object" && value !== null ? value : { text: value };
  const text = visible(String(given ?? "–"));
  if (cell.textContent !== text) {
    cell.textContent = text;
  }
  cell.classList.toggle("bad", Boolean(bad));
  cell.hidden = Boolean(hidden);
  if (label) {
    cell.setAttribute("aria-label", visible(label));
  }
};

const button = (press) => {
  const b = element("button", { type: "button", class: "small" });
  b.addEventListener("click", press);
  return b;
};

// A Table has columns: [name, a function of a row that returns a text or {text, bad, label, hidden}, "n" for numbers, a
// function that is called with the row if its text is clicked]. Without that function, the text is no button.
export class Table {
  constructor(place, caption, columns) {
    this.columns = columns;
    this.body = element("tbody");
    const heads = columns.map(([name, , kind]) => element("th", { scope: "col", class: kind ?? "" }, name));
    this.table = element("table", { "aria-label": caption }, element("thead", {}, element("tr", {}, ...heads)), this.body);
    this.none = element("p", { class: "help" }, `${caption}: none`);
    place.replaceChildren(this.table, this.none);
  }

  fill(rows) {
    this.rows = rows;
    this.table.hidden = rows.length === 0;
    this.none.hidden = rows.length > 0;
    while (this.body.rows.length > rows.length) {
      this.body.lastChild.remove();
    }
    while (this.body.rows.length < rows.length) {
      this.body.append(this.newRow(this.body.rows.length));
    }
    rows.forEach((row, i) => {
      this.columns.forEach(([, of], column) => {
        const cell = this.body.rows[i].cells[column];
        set(cell.firstElementChild ?? cell, of(row));
      });
    });
  }

  newRow(i) {
    return element("tr", {}, ...this.columns.map(([, , kind, press], column) => {
      const cell = column === 0 ? element("th", { scope: "row" }) : element("td");
      cell.className = kind ?? "";
      if (press) {
        cell.append(button(() => press(this.rows[i])));
      }
      return cell;
    }));
  }
}

// List is a description list of [name, text or {text, bad}].
export class List {
  constructor(place) {
    this.place = place;
    this.values = new Map();
  }

  fill(pairs) {
    for (const [name, value] of pairs) {
      if (!this.values.has(name)) {
        this.values.set(name, element("dd"));
        this.place.append(element("div", {}, element("dt", {}, name), this.values.get(name)));
      }
      set(this.values.get(name), value);
    }
  }
}
