"use strict";
// Sorting of tables, switching between figures, and a hint where something scrolls sideways; the
// page says everything without it.
(() => {
  const seen = new ResizeObserver((entries) => {
    for (const { target } of entries)
      target.classList.toggle("overflows", target.scrollWidth > target.clientWidth + 1);
  });
  for (const one of document.querySelectorAll(".scroll, figure")) seen.observe(one);
  const value = (row, column) => {
    const cell = row.cells[column];
    if (cell === undefined) return "";
    const given = cell.dataset.value ?? cell.textContent.trim();
    return given !== "" && Number.isFinite(Number(given)) ? Number(given) : given;
  };
  const compare = (one, two) => {
    const numbers = [one, two].map((x) => typeof x === "number");
    if (numbers[0] && numbers[1]) return one - two;
    if (numbers[0] !== numbers[1]) return numbers[0] ? -1 : 1;
    return one.localeCompare(two);
  };
  const sort = (table, column, heading) => {
    const up = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    rows.sort((a, b) => (up ? 1 : -1) * compare(value(a, column), value(b, column)));
    body.append(...rows);
  };
  for (const table of document.querySelectorAll("table[data-sort]")) {
    Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, column, heading));
      heading.append(button);
    });
  }
  for (const group of document.querySelectorAll("[data-switch]")) {
    const choices = Array.from(group.querySelectorAll("[data-choice]"));
    if (choices.length < 2) continue;
    const controls = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = group.dataset.switch;
    controls.append(legend);
    const show = (chosen) => {
      for (const one of choices) one.hidden = one !== chosen;
    };
    choices.forEach((one, place) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      input.type = "radio";
      input.name = group.id;
      input.checked = place === 0;
      input.addEventListener("change", () => show(one));
      label.append(input, ` ${one.dataset.choice}`);
      controls.append(label);
    });
    group.prepend(controls);
    show(choices[0]);
  }
})();
