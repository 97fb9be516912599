"use strict";
// Two comforts; the page says everything without them.

// A click on a column's name sorts the table by it; a second click turns the order.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead th:not(.plain)").forEach((head) => {
    const column = head.cellIndex;
    const button = document.createElement("button"); // lies over the name: on paper, names inside buttons would be lost
    button.type = "button";
    button.setAttribute("aria-label", head.dataset.label);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      const value = (row) => row.cells[column].dataset.sort;
      const compare = (a, b) => {
        const [x, y] = [value(a), value(b)];
        return isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
      };
      const rows = [...body.rows].sort((a, b) => (up ? compare(a, b) : compare(b, a)));
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      table.classList.toggle("resorted", !(column === 0 && up));
      body.append(...rows);
    });
  });
}

// The slider moves the mark in the threshold chart and shows that threshold's values.
const slider = document.getElementById("threshold-slider");
if (slider) {
  const rows = JSON.parse(document.getElementById("threshold-data").textContent);
  const mark = document.getElementById("thresholds-mark");
  const [start, end] = [Number(mark.dataset.start), Number(mark.dataset.end)];
  slider.closest("[hidden]").hidden = false;
  slider.addEventListener("input", () => {
    const row = rows[slider.value];
    const place = start + row[1] * (end - start);
    mark.setAttribute("x1", place);
    mark.setAttribute("x2", place);
    document.querySelectorAll("[data-threshold]").forEach((shown) => {
      shown.textContent = row[shown.dataset.threshold];
    });
  });
}

// The section in view is marked in the contents.
if ("IntersectionObserver" in window) {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        links.forEach((link) => link.removeAttribute("aria-current"));
        links.get(entry.target.id)?.setAttribute("aria-current", "true");
      }
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  document.querySelectorAll("main > section").forEach((section) => watcher.observe(section));
}
