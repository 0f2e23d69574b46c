// Growth in the order of reading.

let growing = 0;
function stop() {
  cancelAnimationFrame(growing);
  growing = 0;
}
function grown(to) {
  shown = Math.min(Math.max(Math.round(to), 0), n);
  slider.value = n ? Math.round((1000 * shown) / n) : 1000;
  told.value = `${shown.toLocaleString("en")} ${head.noun}`;
  count();
  if (chosen >= shown) choosing(-1);
  later();
}
slider.addEventListener("input", () => {
  stop();
  grown((n * slider.valueAsNumber) / 1000);
});
time.addEventListener("submit", (event) => {
  event.preventDefault();
  stop();
  const begun = performance.now();
  const step = (now) => {
    const part = Math.min(Math.max((now - begun) / 10000, 0), 1);
    grown(n * part);
    growing = part < 1 ? requestAnimationFrame(step) : 0;
  };
  growing = requestAnimationFrame(step);
});
time.hidden = n < 2;

// Light, dark, print, and changes of the window.

function again() {
  choose();
  size();
  draw();
}
dark.addEventListener("change", again);
addEventListener("resize", () => { if (!printing && ratio !== sharpness()) again(); }); // the page is enlarged, or on another screen
new ResizeObserver(() => {
  const box = canvas.getBoundingClientRect();
  if (printing || (box.width === width && box.height === height)) return;
  size();
  draw();
}).observe(canvas);
addEventListener("beforeprint", () => {
  printing = true;
  again();
});
addEventListener("afterprint", () => {
  printing = false;
  again();
});

grown(n);
drawLand();
again();
sort();
performance.mark("drawn");
