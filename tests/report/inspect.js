// Appended to a page of `tma-jit report` by browser.sh: writes what is wrong with its pictures into the page's body.
addEventListener("load", () => {
  const faults = [];
  const canvases = [...document.querySelectorAll("canvas")];
  for (const canvas of canvases) {
    const name = canvas.closest("figure").id;
    const fault = (text) => faults.push(`${name}: ${text}`);
    if (!(canvas.getAttribute("aria-label") || "").trim()) fault("it has no label");
    if (!canvas.closest("figure").querySelector("figcaption strong").textContent) fault("it has no title");
    const chart = Chart.getChart(canvas);
    if (!chart) { fault("nothing is drawn"); continue; }
    for (const [axis, scale] of Object.entries(chart.options.scales)) {
      if (!scale.title.display || !scale.title.text) fault(`axis ${axis} has no title`);
    }
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = new Set();
    for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] === 255) colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
    if (colours.size < 3) fault("it is blank");
  }
  const figures = [...document.querySelectorAll("figure")].map((figure) => figure.id);
  document.body.dataset.figures = figures.join(" ");
  document.body.dataset.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.body.dataset.faults = faults.length ? faults.join("; ") : "none";
});
