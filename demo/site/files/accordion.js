// Opens and closes the answers of an accordion; without scripts a reader still has the printed price list.
for (const button of document.querySelectorAll("button[aria-controls]")) {
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    document.getElementById(button.getAttribute("aria-controls")).hidden = open;
  });
}
