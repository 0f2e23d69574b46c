// Colours of light, dark and print.

const dark = matchMedia("(prefers-color-scheme: dark)");
let printing = false;
let colours;
function choose() {
  const isDark = dark.matches && !printing;
  const ink = isDark ? "#d9dde3" : "#23282e";
  const ground = isDark ? "#15171b" : "#fbfaf7";
  const packed = ([red, green, blue]) => (255 << 24) | (blue << 16) | (green << 8) | red;
  const mixed = (one, other, part) => {
    const first = channels(one);
    const second = channels(other);
    return `rgb(${first.map((value, k) => Math.round(part * value + (1 - part) * second[k])).join(" ")})`;
  };
  const written = new Map();
  for (const { colour } of [...topics, ...areas, noTopic]) {
    written.set(colour, labelOf ? ink : mixed(colour, ink, isDark ? 0.55 : 0.45));
  }
  colours = {
    background: printing ? "#ffffff" : ground,
    ink,
    dots: Int32Array.from(groups, (group) => packed(channels(group.colour))),
    written,
  };
}

// The view: the middle, in parts of the map, and how many times larger than the whole.

const view = { x: 0.5, y: 0.5, zoom: 1 };
const CLOSEST = 400;
let width = 0; // in pixels of the page
let height = 0;
let ratio = 1; // of the canvas's pixels to those
let shown = n; // how many have been read
let lit = null; // 1 for each dot that is lit, if some are
let chosen = -1;
let held = false; // whether the tip stays
let image;
let pixels;

// The map is drawn up to half as long again as it is wide, or as wide again as it is high.
function scales() {
  const across = width * 0.96;
  const down = height * 0.94;
  const least = Math.min(across, down);
  return [Math.min(across, 1.5 * least) * view.zoom, Math.min(down, 1.5 * least) * view.zoom];
}
const place = (x, y) => {
  const [across, down] = scales();
  return [width / 2 + (x - view.x) * across, height / 2 - (y - view.y) * down];
};
// The place on the map under a point of the canvas.
const under = (x, y) => {
  const [across, down] = scales();
  return [view.x + (x - width / 2) / across, view.y - (y - height / 2) / down];
};
const placeOf = (i) => place(xs[i] / 65535, ys[i] / 65535);

function bound() {
  view.zoom = Math.min(Math.max(view.zoom, 0.8), CLOSEST);
  view.x = Math.min(Math.max(view.x, 0), 1);
  view.y = Math.min(Math.max(view.y, 0), 1);
}

const sharpness = () => Math.min(devicePixelRatio || 1, 2);
function size() {
  const box = canvas.getBoundingClientRect();
  width = printing ? 1100 : box.width;
  height = printing ? 850 : box.height;
  ratio = printing ? 2 : sharpness();
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  image = paper.createImageData(canvas.width, canvas.height);
  pixels = new Int32Array(image.data.buffer);
}
