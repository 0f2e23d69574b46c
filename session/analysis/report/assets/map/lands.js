// Land: the colours of the dots, spread around them, on a small canvas that the browser enlarges. So it costs
// nothing to move.

const SQUARES = 256; // in each direction
const EDGE = 0.05; // how far land reaches beyond the map, as a part of it
const BLUR = 3; // the dots are spread by the mean of so many squares on each side, three times
const DENSEST = 0.4; // how strongly land is shaded
const FARTHEST = 10; // the zoom from which none is seen
const land = find("canvas.land");

// The mean around each square, along lines of squares that are `step` apart and begin `next` apart.
function smoothed(counts, step, next) {
  const around = new Float32Array(counts.length);
  for (let line = 0; line < SQUARES; line += 1) {
    const start = line * next;
    let sum = 0;
    for (let k = -BLUR; k < SQUARES; k += 1) {
      if (k + BLUR < SQUARES) sum += counts[start + (k + BLUR) * step];
      if (k > BLUR) sum -= counts[start + (k - BLUR - 1) * step];
      if (k >= 0) around[start + k * step] = sum / (2 * BLUR + 1);
    }
  }
  return around;
}

function spread(counts) {
  let around = counts;
  for (let time = 0; time < 3; time += 1) {
    around = smoothed(around, 1, SQUARES);
    around = smoothed(around, SQUARES, 1);
  }
  return around;
}

function drawLand() {
  const wide = 1 + 2 * EDGE;
  const squareOf = (place) => Math.min(Math.floor(((place / 65535 + EDGE) / wide) * SQUARES), SQUARES - 1);
  const squares = Uint32Array.from(xs, (x, i) => (SQUARES - 1 - squareOf(ys[i])) * SQUARES + squareOf(x));
  const members = new Map();
  for (let i = 0; i < n; i += 1) {
    const { colour } = groups[groupOf[i]];
    if (!members.has(colour)) members.set(colour, new Float32Array(SQUARES * SQUARES));
    members.get(colour)[squares[i]] += 1;
  }
  const total = new Float32Array(SQUARES * SQUARES);
  const mixed = [0, 1, 2].map(() => new Float32Array(SQUARES * SQUARES));
  for (const [colour, counts] of members) {
    const around = spread(counts);
    const parts = channels(colour);
    for (let k = 0; k < total.length; k += 1) {
      if (!around[k]) continue;
      total[k] += around[k];
      mixed.forEach((channel, place) => { channel[k] += around[k] * parts[place]; });
    }
  }
  let usual = 0;
  for (let i = 0; i < n; i += 1) usual += total[squares[i]] / n;
  land.width = SQUARES;
  land.height = SQUARES;
  const picture = new ImageData(SQUARES, SQUARES);
  for (let k = 0; k < total.length; k += 1) {
    if (!total[k]) continue;
    mixed.forEach((channel, place) => { picture.data[4 * k + place] = channel[k] / total[k]; });
    picture.data[4 * k + 3] = 255 * DENSEST * (1 - Math.exp((-1.5 * total[k]) / usual));
  }
  land.getContext("2d").putImageData(picture, 0, 0);
}

// Lay the land under the dots; on paper, draw it there.
function putLand() {
  const [left, top] = place(-EDGE, 1 + EDGE);
  const [right, bottom] = place(1 + EDGE, -EDGE);
  const strength = 1 - Math.log(Math.max(view.zoom, 1)) / Math.log(FARTHEST);
  const opacity = Math.max(strength, 0) * (lit ? 0.4 : 1);
  land.hidden = printing || opacity === 0;
  if (printing) {
    paper.save();
    paper.globalCompositeOperation = "destination-over";
    paper.globalAlpha = opacity;
    paper.drawImage(land, left * ratio, top * ratio, (right - left) * ratio, (bottom - top) * ratio);
    paper.globalAlpha = 1;
    paper.fillStyle = colours.background;
    paper.fillRect(0, 0, canvas.width, canvas.height);
    paper.restore();
    return;
  }
  const across = (right - left) / SQUARES;
  const down = (bottom - top) / SQUARES;
  land.style.opacity = String(opacity);
  land.style.transform = `translate(${left}px, ${top}px) scale(${across}, ${down})`;
}
