// Names: areas, then topics, then titles of typical articles; each where nothing is yet.

const SANS = getComputedStyle(document.body).fontFamily;
const byLevel = Uint32Array.from({ length: n }, (_, i) => i).sort((a, b) => levels[a] - levels[b] || a - b);
const counts = new Float64Array(topics.length + 1);
const areaCounts = new Float64Array(areas.length + 1);
function count() {
  counts.fill(0);
  areaCounts.fill(0);
  for (let i = 0; i < shown; i += 1) counts[Math.min(topicsOf[0][i], topics.length)] += 1;
  topics.forEach((topic, number) => { if (topic.area >= 0) areaCounts[topic.area] += counts[number]; });
}
const bySize = (list, sizes) => list.map((_, k) => k).sort((a, b) => sizes[b] - sizes[a] || a - b);

const widths = new Map();
function widthOf(text, font) {
  const key = font + text;
  if (!widths.has(key)) {
    if (widths.size > 20000) widths.clear();
    paper.font = font;
    widths.set(key, paper.measureText(text).width);
  }
  return widths.get(key);
}

// A long name in two lines of about the same length.
function halves(text, most) {
  if (text.length <= most) return [text];
  let best = -1;
  for (let space = text.indexOf(" "); space >= 0; space = text.indexOf(" ", space + 1)) {
    if (Math.abs(2 * space - text.length) < Math.abs(2 * best - text.length)) best = space;
  }
  return best > 0 ? [text.slice(0, best), text.slice(best + 1)] : [text];
}

function cut(text) {
  const letters = [...text];
  return letters.length > 42 ? `${letters.slice(0, 41).join("").trimEnd()}…` : text;
}

// The room for names: `take` says whether a box is free, and takes it. Boxes are found by the squares they touch.
const SQUARE = 32;
function roomForNames() {
  const columns = Math.ceil(width / SQUARE) + 1;
  const boxes = new Map();
  function squaresOf([left, top, right, bottom]) {
    const touched = [];
    for (let row = Math.floor(top / SQUARE); row <= Math.floor(bottom / SQUARE); row += 1) {
      for (let column = Math.floor(left / SQUARE); column <= Math.floor(right / SQUARE); column += 1) {
        touched.push(row * columns + column);
      }
    }
    return touched;
  }
  function take(box) {
    const [left, top, right, bottom] = box;
    if (left < 0 || top < 0 || right > width || bottom > height) return false;
    const touched = squaresOf(box);
    for (const square of touched) {
      for (const other of boxes.get(square) ?? []) {
        if (left < other[2] && other[0] < right && top < other[3] && other[1] < bottom) return false;
      }
    }
    for (const square of touched) {
      if (!boxes.has(square)) boxes.set(square, []);
      boxes.get(square).push(box);
    }
    return true;
  }
  return take;
}

function names() {
  const found = [];
  const take = roomForNames();
  const { offsetWidth, offsetHeight } = find(".zoom");
  if (!printing) take([width - offsetWidth - 24, height - offsetHeight - 24, width, height]);
  const narrow = width < 600 ? 0.85 : 1;

  function tried(kind, texts, [x, y], weight, size, colour) {
    const font = `${weight} ${size}px ${SANS}`;
    const high = size * 1.2;
    const half = Math.max(...texts.map((text) => widthOf(text, font))) / 2 + 4;
    const middle = x < 0 || x > width ? x : Math.min(Math.max(x, half), width - half); // a name at the edge is moved inwards
    const top = y - (high * texts.length) / 2;
    const box = [middle - half, top - 2, middle + half, top + high * texts.length + 2];
    if (!take(box)) return false;
    const told = texts.map((text, line) => ({ text, left: middle - widthOf(text, font) / 2, y: top + high * (line + 0.5) }));
    found.push({ kind, text: texts.join(" "), lines: told, font, colour, box, dot: -1 });
    return true;
  }

  function titled(i, weight, size) {
    const font = `${weight} ${size}px ${SANS}`;
    const text = cut(titles[i]);
    const [x, y] = placeOf(i);
    const left = x + Math.min(diameter(), 12) / 2 + 4;
    const box = [left - 3, y - size * 0.6, left + widthOf(text, font) + 3, y + size * 0.6];
    if (!take(box)) return false;
    found.push({ kind: "title", text, lines: [{ text, left, y }], font, colour: colours.ink, box, left, y, dot: i });
    return true;
  }

  // Elsewhere, the tip of the chosen dot tells its title.
  if (printing && chosen >= 0 && titles[chosen]) titled(chosen, 600, 13 * narrow);
  if (view.zoom < 8) {
    const size = (width < 900 ? 17 : 20) * narrow;
    const inOrder = bySize(areas, areaCounts).filter((k) => areaCounts[k] && areas[k].name);
    const named = (k, [x, y]) => {
      const colour = colours.written.get(areas[k].colour);
      tried("area", halves(areas[k].name.toUpperCase(), 12), place(x, y), 700, size, colour);
    };
    for (const k of inOrder) named(k, areas[k].place);
    for (const k of inOrder) for (const other of areas[k].others) named(k, other);
  }
  nameTopics(tried, narrow);
  nameTitles(titled, narrow);
  return found;
}

function nameTopics(tried, narrow) {
  let left = areas.length > 1 ? Math.round(((22 * width * height) / 1e6) * view.zoom ** 2) : 80;
  left = Math.min(left, 80);
  const most = Math.max(...counts.subarray(0, topics.length), 1);
  for (const k of bySize(topics, counts)) {
    if (left <= 0) return;
    if (!counts[k] || !topics[k].name) continue;
    const middle = place(...topics[k].place);
    const [x, y] = middle;
    if (x < 0 || y < 0 || x > width || y > height) continue;
    const least = view.zoom > 2.5 ? 13 : 12;
    const size = (least + 3.5 * Math.sqrt(counts[k] / most)) * narrow;
    const colour = colours.written.get(topics[k].colour);
    if (tried("topic", halves(topics[k].name, 14), middle, 600, size, colour)) left -= 1;
  }
}

// Titles appear where there are few dots, or the view is close.
function nameTitles(titled, narrow) {
  if (n >= 500 * view.zoom ** 2 && view.zoom <= (lit ? 2 : 3.5)) return;
  let room = Math.round((55 * width * height) / 1e6) + 6;
  let tries = 1500;
  const [across, down] = scales();
  for (let k = 0; k < n && room > 0 && tries > 0; k += 1) {
    const i = byLevel[k];
    if (i >= shown || i === chosen || (lit && !lit[i])) continue;
    const x = width / 2 + (xs[i] / 65535 - view.x) * across;
    if (x < 0 || x > width) continue;
    const y = height / 2 - (ys[i] / 65535 - view.y) * down;
    if (y < 0 || y > height || !titles[i]) continue;
    tries -= 1;
    if (titled(i, 400, 12 * narrow)) room -= 1;
  }
}

function drawNames(found) {
  paper.setTransform(ratio, 0, 0, ratio, 0, 0);
  paper.textBaseline = "middle";
  paper.textAlign = "left";
  paper.lineJoin = "round";
  paper.strokeStyle = colours.background;
  for (const { kind, lines: told, font, colour } of found) {
    paper.font = font;
    paper.lineWidth = kind === "title" ? 3 : 4.5;
    for (const { text, left, y } of told) {
      paper.globalAlpha = 0.85;
      paper.strokeText(text, left, y);
      paper.globalAlpha = 1;
      paper.fillStyle = colour;
      paper.fillText(text, left, y);
    }
  }
  paper.setTransform(1, 0, 0, 1, 0, 0);
}

function ring(i) {
  const [x, y] = placeOf(i);
  paper.beginPath();
  paper.arc(x * ratio, y * ratio, (diameter() / 2 + 3) * ratio, 0, 2 * Math.PI);
  paper.lineWidth = 2 * ratio;
  paper.strokeStyle = colours.ink;
  paper.stroke();
}

// Everything.

function draw() {
  pixels.fill(0);
  if (lit) drawDots(0.13, 0);
  drawDots(n > 20000 ? 0.7 : 0.8, 1);
  paper.putImageData(image, 0, 0);
  putLand();
  const found = names();
  drawNames(found);
  if (chosen >= 0 && chosen < shown) ring(chosen);
  canvas.drawn = { names: found, view: { ...view }, shown, lit: lit !== null }; // for tests
}

let waiting = 0;
function later() {
  waiting ||= requestAnimationFrame(() => {
    waiting = 0;
    draw();
    if (chosen >= 0 && !tip.hidden) put();
  });
}
