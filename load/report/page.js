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
