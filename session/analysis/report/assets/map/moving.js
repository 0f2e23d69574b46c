// Moving: dragged, pinched, by the wheel, or flown.

let flight = 0;
function zoomed(factor, x, y) {
  const [u, v] = under(x, y);
  const before = view.zoom;
  view.zoom *= factor;
  bound();
  const part = before / view.zoom;
  view.x = u - (u - view.x) * part;
  view.y = v - (v - view.y) * part;
  bound();
  later();
}

function fly(x, y, zoom) {
  cancelAnimationFrame(flight);
  const from = { ...view };
  const begun = performance.now();
  const lasts = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 600;
  const step = (now) => {
    const part = lasts ? Math.min(Math.max((now - begun) / lasts, 0), 1) : 1;
    const eased = part * part * (3 - 2 * part);
    view.zoom = from.zoom * (zoom / from.zoom) ** eased;
    // The middle moves as the zoom does, so that the target stays in sight.
    const moved = Math.abs(zoom - from.zoom) > 1e-6 ? (1 / from.zoom - 1 / view.zoom) / (1 / from.zoom - 1 / zoom) : eased;
    view.x = from.x + (x - from.x) * moved;
    view.y = from.y + (y - from.y) * moved;
    bound();
    later();
    if (part < 1) flight = requestAnimationFrame(step);
  };
  flight = requestAnimationFrame(step);
}
const whole = () => fly(0.5, 0.5, 1);

const pointers = new Map();
let moved = 0;
const spot = (event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};
canvas.addEventListener("pointerdown", (event) => {
  cancelAnimationFrame(flight);
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, spot(event));
  if (pointers.size === 1) moved = 0;
  else moved = Infinity;
});
// The middle of two fingers, and how far apart they are.
function spanned() {
  const [[x1, y1], [x2, y2]] = [...pointers.values()];
  return [Math.hypot(x1 - x2, y1 - y2), (x1 + x2) / 2, (y1 + y2) / 2];
}
canvas.addEventListener("pointermove", (event) => {
  const [x, y] = spot(event);
  const last = pointers.get(event.pointerId);
  if (!last) {
    if (event.pointerType !== "touch") choosing(nearest(x, y, 10));
    return;
  }
  const areTwo = pointers.size === 2;
  const before = areTwo ? spanned() : [1, ...last];
  pointers.set(event.pointerId, [x, y]);
  const after = areTwo ? spanned() : [1, x, y];
  moved += Math.hypot(x - last[0], y - last[1]);
  if (moved < 5) return;
  canvas.classList.add("moving");
  if (!held) choosing(-1);
  const [across, down] = scales();
  view.x -= (after[1] - before[1]) / across;
  view.y += (after[2] - before[2]) / down;
  bound();
  zoomed(after[0] / Math.max(before[0], 1), after[1], after[2]);
});
function released(event) {
  if (!pointers.delete(event.pointerId)) return;
  canvas.classList.remove("moving");
  if (event.type === "pointercancel" || moved >= 5 || event.button > 0) return;
  const touched = event.pointerType === "touch";
  const i = nearest(...spot(event), touched ? 22 : 10);
  if (touched || !addressOf(i)) choosing(i, i >= 0);
  else open(i);
}
canvas.addEventListener("pointerup", released);
canvas.addEventListener("pointercancel", released);
canvas.addEventListener("pointerleave", () => { if (!held) choosing(-1); });
const hint = find(".hint");
let hinting = 0;
function hintAt() {
  hint.hidden = false;
  clearTimeout(hinting);
  hinting = setTimeout(() => { hint.hidden = true; }, 1500);
}
canvas.addEventListener("wheel", (event) => {
  if (isWithin && !document.hasFocus() && !event.ctrlKey) {
    hintAt();
    return;
  }
  event.preventDefault();
  cancelAnimationFrame(flight);
  const lines = event.deltaMode === 1 ? 16 : 1;
  const by = Math.min(Math.max(event.deltaY * lines, -240), 240);
  if (!held) choosing(-1);
  zoomed(Math.exp(-by * (event.ctrlKey ? 0.01 : 0.002)), ...spot(event));
}, { passive: false });
canvas.addEventListener("dblclick", (event) => zoomed(2, ...spot(event)));
for (const button of document.querySelectorAll(".zoom button")) {
  button.addEventListener("click", () => {
    if (button.dataset.zoom === "all") whole();
    else fly(view.x, view.y, view.zoom * (button.dataset.zoom === "in" ? 2 : 0.5));
  });
}
find(".zoom").hidden = false;
for (const change of ["focus", "blur"]) {
  addEventListener(change, () => canvas.classList.toggle("free", isWithin && !document.hasFocus()));
}
canvas.classList.toggle("free", isWithin && !document.hasFocus());

// Keys: arrows go from article to article, about a finger's width at a time.

const middle = () => (chosen >= 0 ? placeOf(chosen) : [width / 2, height / 2]);
function goTowards([right, down]) {
  const [x, y] = middle();
  for (let step = 40; step < 400; step *= 1.5) {
    const i = nearest(x + step * right, y + step * down, step * 0.8, chosen);
    if (i < 0) continue;
    choosing(i, true, true);
    const [newX, newY] = placeOf(i);
    const isAtEdge = newX < 60 || newY < 60 || newX > width - 60 || newY > height - 60;
    if (isAtEdge) fly(xs[i] / 65535, ys[i] / 65535, view.zoom);
    return;
  }
}
const actions = {
  ArrowLeft: () => goTowards([-1, 0]),
  ArrowRight: () => goTowards([1, 0]),
  ArrowUp: () => goTowards([0, -1]),
  ArrowDown: () => goTowards([0, 1]),
  "+": () => zoomed(1.5, ...middle()),
  "=": () => zoomed(1.5, ...middle()),
  "-": () => zoomed(1 / 1.5, ...middle()),
  0: whole,
  Home: whole,
  Enter: () => open(chosen),
  Escape: () => {
    choosing(-1);
    light(null);
  },
};
canvas.addEventListener("keydown", (event) => {
  const action = actions[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  action();
  event.preventDefault();
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || document.activeElement === input) return;
  event.preventDefault();
  input.focus();
});
