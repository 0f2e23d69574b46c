// Dots.

function diameter() {
  const [across, down] = scales();
  const room = Math.sqrt((across * down) / (view.zoom * view.zoom) / Math.max(n, 1));
  return Math.min(Math.max(0.55 * room, 1.3), 6) * Math.min(Math.max(view.zoom, 1) ** 0.5, 5);
}

function stamp(across, strength) {
  const radius = across / 2;
  const reach = Math.ceil(radius + 0.5);
  const offsets = [];
  const alphas = [];
  for (let row = -reach; row <= reach; row += 1) {
    for (let column = -reach; column <= reach; column += 1) {
      const alpha = Math.round(256 * strength * Math.min(Math.max(radius + 0.5 - Math.hypot(row, column), 0), 1));
      if (alpha < 8) continue;
      offsets.push(row * canvas.width + column);
      alphas.push(alpha);
    }
  }
  return { offsets: Int32Array.from(offsets), alphas: Int32Array.from(alphas), reach };
}

function drawDots(strength, wanted) {
  const { offsets, alphas, reach } = stamp(Math.min(diameter(), 12) * ratio, strength);
  const [across, down] = scales();
  const right = canvas.width - reach;
  const below = canvas.height - reach;
  const perX = (across * ratio) / 65535;
  const perY = (down * ratio) / 65535;
  const startX = (width / 2) * ratio - view.x * across * ratio;
  const startY = (height / 2) * ratio + view.y * down * ratio;
  const { dots } = colours;
  const parts = offsets.length;
  for (let i = 0; i < shown; i += 1) {
    const x = (startX + xs[i] * perX) | 0;
    if (x < reach || x >= right) continue;
    const y = (startY - ys[i] * perY) | 0;
    if (y < reach || y >= below) continue;
    if (lit && lit[i] !== wanted) continue;
    const colour = dots[groupOf[i]];
    const redBlueOfIt = colour & 0xff00ff;
    const greenOfIt = colour & 0x00ff00;
    const start = y * canvas.width + x;
    for (let part = 0; part < parts; part += 1) {
      const alpha = alphas[part];
      const here = start + offsets[part];
      const beneath = pixels[here];
      const opacity = beneath >>> 24;
      if (!opacity) {
        pixels[here] = ((alpha - 1) << 24) | redBlueOfIt | greenOfIt;
        continue;
      }
      const rest = 256 - alpha;
      const redBlue = ((Math.imul(beneath & 0xff00ff, rest) + Math.imul(redBlueOfIt, alpha)) >>> 8) & 0xff00ff;
      const green = ((Math.imul(beneath & 0x00ff00, rest) + Math.imul(greenOfIt, alpha)) >>> 8) & 0x00ff00;
      const both = opacity + (((255 - opacity) * alpha) >> 8);
      pixels[here] = (both << 24) | redBlue | green;
    }
  }
}

// Which dot is near: dots sorted by the square of 256 x 256 that they lie in.

const SIDE = 256;
const starts = new Uint32Array(SIDE * SIDE + 1);
const inSquares = new Uint32Array(n);
function sort() {
  const square = (i) => (ys[i] >> 8) * SIDE + (xs[i] >> 8);
  for (let i = 0; i < n; i += 1) starts[square(i) + 1] += 1;
  for (let k = 0; k < SIDE * SIDE; k += 1) starts[k + 1] += starts[k];
  const next = starts.slice();
  for (let i = 0; i < n; i += 1) inSquares[next[square(i)]++] = i;
}

// The dot nearest to a point of the canvas, within so many pixels; -1: none.
function nearest(x, y, reach, but = -1) {
  const [across, down] = scales();
  const [u, v] = under(x, y);
  const bounded = (value) => Math.min(Math.max(Math.floor(value * SIDE), 0), SIDE - 1);
  let best = -1;
  let least = reach * reach;
  for (let row = bounded(v - reach / down); row <= bounded(v + reach / down); row += 1) {
    for (let column = bounded(u - reach / across); column <= bounded(u + reach / across); column += 1) {
      const square = row * SIDE + column;
      for (let k = starts[square]; k < starts[square + 1]; k += 1) {
        const i = inSquares[k];
        if (i >= shown || i === but || (lit && !lit[i])) continue;
        const apart = ((xs[i] / 65535 - u) * across) ** 2 + ((ys[i] / 65535 - v) * down) ** 2;
        if (apart <= least) {
          least = apart;
          best = i;
        }
      }
    }
  }
  return best;
}
