// The page works without this: it shows a chart's values below it while they are
// pointed at, and saves the result.
"use strict";

for (const figure of document.querySelectorAll("figure")) {
  const values = figure.querySelector(".values");
  figure.querySelector(".box").addEventListener("pointermove", (event) => {
    const title = event.target.querySelector(":scope > title");
    if (title) {
      values.textContent = title.textContent;
    }
  });
}

const save = document.getElementById("save");
save.hidden = false;
save.addEventListener("click", () => {
  const text = document.getElementById("result").textContent;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = save.dataset.file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});
