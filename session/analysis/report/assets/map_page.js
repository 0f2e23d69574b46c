"use strict";
// The map of articles: dots on a canvas, names that never overlap, search, and growth in the order of reading.
(async () => {
  const find = (what) => document.querySelector(what);
  const [canvas, tip, said] = [find("canvas"), find(".tip"), find(".said")];
  const paper = canvas.getContext("2d", { alpha: false });
  const [form, input, list] = [find("form[role=search]"), find("#sought"), find("#suggested")];
  const time = find(".time");
  const [slider, told] = [time.querySelector("input"), time.querySelector("output")];
  const NONE = 0xffff;

  // The data: see `_packed` in map_page.py.

  async function unpacked(text) {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }

  if (!globalThis.DecompressionStream) {
    find(".note").prepend("This browser is too old for the map; the topics below need none. ");
    return;
  }
  const data = await unpacked(find("#packed").textContent);
  const length = new DataView(data).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  const { n, topics, areas, labels } = head;
  let at = 4 + length;
  function taken(Kind, count) {
    const end = at + count * Kind.BYTES_PER_ELEMENT;
    const part = new Kind(data.slice(at, end));
    at = end;
    return part;
  }
  const xs = taken(Uint16Array, n);
  const ys = taken(Uint16Array, n);
  const levels = taken(Uint8Array, n);
  const topicsOf = [];
  for (let column = 0; column < head.columns; column += 1) {
    const stored = taken(head.width === 1 ? Uint8Array : Uint16Array, n);
    topicsOf.push(head.width === 1 ? Uint16Array.from(stored, (topic) => (topic === 255 ? NONE : topic)) : stored);
  }
  const labelOf = labels.length ? taken(Uint8Array, n) : null;
  const lines = new TextDecoder().decode(new Uint8Array(data, at)).split("\n");
  const [titles, addresses, snippets] = head.texts.map((has) => (has ? lines.splice(0, n) : []));

  const noTopic = { name: "", words: [], area: -1, colour: "#949494" };
  const topicOf = (i, column = 0) => topics[topicsOf[column][i]] ?? noTopic;

  function addressOf(i) {
    // As Python's `quote` does, which encodes some more.
    const code = (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
    const encoded = () => encodeURIComponent(titles[i].replaceAll(" ", "_")).replace(/[!'()*]/g, code);
    const address = (addresses[i] ?? "").replace("\u0001", encoded);
    return /^https?:\/\//.test(address) ? address : "";
  }

  // Groups of dots, which have a colour: of labels, else of topics; and their keys: labels, else areas.

  const groups = labelOf ? labels : [...topics, noTopic];
  const groupOf = labelOf ?? topicsOf[0].map((topic) => Math.min(topic, topics.length)); // the last one: no topic
  const keys = labelOf ? labels : areas;
  const keyOf = labelOf ? (i) => labelOf[i] : (i) => topicOf(i).area;

  function channels(colour) {
    const value = parseInt(colour.slice(1), 16);
    return [value >> 16, (value >> 8) & 255, value & 255];
  }

  // Colours of light, dark and print.

  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  let colours;
  function choose() {
    const isDark = dark.matches && !printing;
    const [ground, ink] = isDark ? ["#15171b", "#d9dde3"] : ["#fbfaf7", "#23282e"];
    const background = printing ? "#ffffff" : ground;
    const packed = ([red, green, blue]) => (255 << 24) | (blue << 16) | (green << 8) | red;
    const mixed = (one, other, part) => {
      const [first, second] = [channels(one), channels(other)];
      return `rgb(${first.map((value, k) => Math.round(part * value + (1 - part) * second[k])).join(" ")})`;
    };
    colours = {
      background,
      ink,
      ground: packed(channels(background)),
      dots: Int32Array.from(groups, (group) => packed(channels(group.colour))),
      written: new Map([...topics, ...areas, noTopic].map((each) => [each.colour, labelOf ? ink : mixed(each.colour, ink, isDark ? 0.55 : 0.5)])),
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
    const [across, down] = [width * 0.96, height * 0.94];
    const least = Math.min(across, down);
    return [Math.min(across, 1.5 * least) * view.zoom, Math.min(down, 1.5 * least) * view.zoom];
  }
  const place = (x, y) => {
    const [across, down] = scales();
    return [width / 2 + (x - view.x) * across, height / 2 - (y - view.y) * down];
  };
  const placeOf = (i) => place(xs[i] / 65535, ys[i] / 65535);

  function bound() {
    view.zoom = Math.min(Math.max(view.zoom, 0.8), CLOSEST);
    view.x = Math.min(Math.max(view.x, 0), 1);
    view.y = Math.min(Math.max(view.y, 0), 1);
  }

  function size() {
    const box = canvas.getBoundingClientRect();
    width = printing ? 1100 : box.width;
    height = printing ? 850 : box.height;
    ratio = printing ? 2 : Math.min(devicePixelRatio || 1, 2);
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    image = paper.createImageData(canvas.width, canvas.height);
    pixels = new Int32Array(image.data.buffer);
  }

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
    const [right, below] = [canvas.width - reach, canvas.height - reach];
    const [perX, perY] = [(across * ratio) / 65535, (down * ratio) / 65535];
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
      const [odd, even] = [colour & 0xff00ff, colour & 0x00ff00];
      const start = y * canvas.width + x;
      for (let part = 0; part < parts; part += 1) {
        const alpha = alphas[part];
        const rest = 256 - alpha;
        const here = start + offsets[part];
        const under = pixels[here];
        const redBlue = ((Math.imul(under & 0xff00ff, rest) + Math.imul(odd, alpha)) >>> 8) & 0xff00ff;
        const green = ((Math.imul(under & 0x00ff00, rest) + Math.imul(even, alpha)) >>> 8) & 0x00ff00;
        pixels[here] = 0xff000000 | redBlue | green;
      }
    }
  }

  // Names: areas, then topics, then titles of typical articles; each where nothing is yet.

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

  const SANS = getComputedStyle(document.body).fontFamily;
  function names() {
    const found = [];
    const CELL = 32; // boxes are found by the squares that they touch
    const columns = Math.ceil(width / CELL);
    const squares = new Map();
    const beside = Math.min(diameter(), 12) / 2 + 4;
    function tried(kind, text, x, y, font, high, colour, dot = -1) {
      const wide = widthOf(text, font);
      const left = dot >= 0 ? x + beside : x - wide / 2;
      const box = [left - 3, y - high / 2 - 1, left + wide + 3, y + high / 2 + 1];
      if (box[0] < 0 || box[1] < 0 || box[2] > width || box[3] > height) return false;
      const touched = [];
      for (let row = Math.floor(box[1] / CELL); row <= Math.floor(box[3] / CELL); row += 1) {
        for (let column = Math.floor(box[0] / CELL); column <= Math.floor(box[2] / CELL); column += 1) {
          touched.push(row * (columns + 1) + column);
        }
      }
      for (const square of touched) {
        for (const other of squares.get(square) ?? []) {
          if (box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]) return false;
        }
      }
      for (const square of touched) {
        if (!squares.has(square)) squares.set(square, []);
        squares.get(square).push(box);
      }
      found.push({ kind, text, left, y, font, colour, box, dot });
      return true;
    }
    if (!printing) {
      const buttons = [width - 64, height - 148, width, height];
      for (let row = Math.floor(buttons[1] / CELL); row <= Math.floor(height / CELL); row += 1) {
        for (let column = Math.floor(buttons[0] / CELL); column <= columns; column += 1) {
          squares.set(row * (columns + 1) + column, [buttons]);
        }
      }
    }
    const narrow = width < 600 ? 0.85 : 1;
    // Titles appear where there are few dots, or the view is close.
    const titling = n < 500 * view.zoom ** 2 || view.zoom > (lit ? 2 : 3.5);
    if (printing && chosen >= 0 && titles[chosen]) { // elsewhere its tip tells it
      const [x, y] = placeOf(chosen);
      tried("title", cut(titles[chosen]), x, y, `600 ${13 * narrow}px ${SANS}`, 16, colours.ink, chosen);
    }
    if (view.zoom < 8) {
      const high = 17 * narrow;
      for (const k of bySize(areas, areaCounts)) {
        if (!areaCounts[k] || !areas[k].name) continue;
        const [x, y] = place(...areas[k].place);
        tried("area", areas[k].name.toUpperCase(), x, y, `700 ${high}px ${SANS}`, high * 1.25, colours.written.get(areas[k].colour));
      }
    }
    let left = areas.length > 1 ? Math.round(((10 * width * height) / 1e6) * view.zoom ** 2) : 80;
    left = Math.min(left, 80);
    for (const k of bySize(topics, counts)) {
      if (left <= 0) break;
      if (!counts[k] || !topics[k].name) continue;
      const [x, y] = place(...topics[k].place);
      if (x < 0 || y < 0 || x > width || y > height) continue;
      const high = (view.zoom > 2.5 ? 14 : 12.5) * narrow;
      if (tried("topic", topics[k].name, x, y, `600 ${high}px ${SANS}`, high * 1.25, colours.written.get(topics[k].colour))) left -= 1;
    }
    if (titling) {
      let room = Math.round((55 * width * height) / 1e6) + 6;
      let tries = 1500;
      const font = `400 ${12 * narrow}px ${SANS}`;
      const [across, down] = scales();
      for (let k = 0; k < n && room > 0 && tries > 0; k += 1) {
        const i = byLevel[k];
        if (i >= shown || i === chosen || (lit && !lit[i])) continue;
        const x = width / 2 + (xs[i] / 65535 - view.x) * across;
        if (x < 0 || x > width) continue;
        const y = height / 2 - (ys[i] / 65535 - view.y) * down;
        if (y < 0 || y > height || !titles[i]) continue;
        tries -= 1;
        if (tried("title", cut(titles[i]), x, y, font, 15 * narrow, colours.ink, i)) room -= 1;
      }
    }
    return found;
  }
  const cut = (text) => ([...text].length > 42 ? `${[...text].slice(0, 41).join("").trimEnd()}…` : text);

  function drawNames(found) {
    paper.setTransform(ratio, 0, 0, ratio, 0, 0);
    paper.textBaseline = "middle";
    paper.textAlign = "left";
    paper.lineJoin = "round";
    paper.strokeStyle = colours.background;
    for (const { kind, text, left, y, font, colour } of found) {
      paper.font = font;
      paper.lineWidth = kind === "title" ? 2.5 : 4;
      paper.globalAlpha = 0.85;
      paper.strokeText(text, left, y);
      paper.globalAlpha = 1;
      paper.fillStyle = colour;
      paper.fillText(text, left, y);
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

  function draw() {
    pixels.fill(colours.ground);
    if (lit) drawDots(0.13, 0);
    drawDots(n > 20000 ? 0.7 : 0.8, 1);
    paper.putImageData(image, 0, 0);
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
    const [u, v] = [view.x + (x - width / 2) / across, view.y - (y - height / 2) / down];
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

  // The tip of the chosen dot.

  function put() {
    const [x, y] = placeOf(chosen);
    const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
    const left = Math.min(Math.max(x - wide / 2, 8), Math.max(width - wide - 8, 8));
    const above = y - high - 14;
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(above > 4 ? above : y + 16)}px)`;
  }

  function choosing(i, stays = false, speaks = false) {
    if (i === chosen && held === stays) return;
    chosen = i;
    held = stays;
    canvas.classList.toggle("on", i >= 0);
    tip.classList.toggle("held", stays);
    tip.hidden = i < 0;
    if (i >= 0) {
      const address = addressOf(i);
      const heading = document.createElement(address ? "a" : "b");
      heading.dir = "auto";
      heading.textContent = titles[i] || `${head.noun.replace(/s$/, "")} without a title here`;
      if (address) {
        heading.href = address;
        heading.target = "_blank";
        heading.rel = "noopener noreferrer";
      }
      const about = topicsOf.map((_, column) => topicOf(i, column)).filter((topic) => topic !== noTopic).map((topic) => {
        const line = document.createElement("span");
        line.style.setProperty("--c", labelOf ? "transparent" : topic.colour);
        line.append(topic.name);
        return line;
      });
      tip.replaceChildren(heading, ...about);
      if (labelOf) {
        const line = document.createElement("span");
        line.style.setProperty("--c", labels[labelOf[i]].colour);
        line.append(labels[labelOf[i]].name);
        tip.append(line);
      }
      if (snippets[i]) {
        const line = document.createElement("i");
        line.dir = "auto";
        line.append(snippets[i]);
        tip.append(line);
      }
      if (speaks) said.textContent = [heading.textContent, ...about.map((line) => line.textContent)].join(", ");
      put();
    }
    later();
  }

  function open(i) {
    const address = i >= 0 && addressOf(i);
    if (address) window.open(address, "_blank", "noopener,noreferrer");
  }

  // Moving: dragged, pinched, by the wheel, or flown.

  let flight = 0;
  function zoomed(factor, x, y) {
    const [across, down] = scales();
    const [u, v] = [view.x + (x - width / 2) / across, view.y - (y - height / 2) / down];
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
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = spot(event);
    const last = pointers.get(event.pointerId);
    if (!last) {
      if (event.pointerType !== "touch") choosing(nearest(x, y, 10));
      return;
    }
    const spread = () => {
      const [[x1, y1], [x2, y2]] = [...pointers.values()];
      return [Math.hypot(x1 - x2, y1 - y2), (x1 + x2) / 2, (y1 + y2) / 2];
    };
    const before = pointers.size === 2 ? spread() : [1, ...last];
    pointers.set(event.pointerId, [x, y]);
    const after = pointers.size === 2 ? spread() : [1, x, y];
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
  canvas.addEventListener("wheel", (event) => {
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

  // Keys: arrows go from article to article, about a finger's width at a time.

  const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = directions[event.key];
    if (direction) {
      let [x, y] = [width / 2, height / 2];
      if (chosen >= 0) [x, y] = placeOf(chosen);
      for (let step = 40; step < 400; step *= 1.5) {
        const i = nearest(x + step * direction[0], y + step * direction[1], step * 0.8, chosen);
        if (i < 0) continue;
        choosing(i, true, true);
        const [newX, newY] = placeOf(i);
        if (newX < 60 || newY < 60 || newX > width - 60 || newY > height - 60) fly(xs[i] / 65535, ys[i] / 65535, view.zoom);
        break;
      }
    } else if (event.key === "+" || event.key === "=" || event.key === "-") {
      let [x, y] = [width / 2, height / 2];
      if (chosen >= 0) [x, y] = placeOf(chosen);
      zoomed(event.key === "-" ? 1 / 1.5 : 1.5, x, y);
    } else if (event.key === "0" || event.key === "Home") whole();
    else if (event.key === "Enter") open(chosen);
    else if (event.key === "Escape") {
      choosing(-1);
      light(null);
    } else return;
    event.preventDefault();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || document.activeElement === input) return;
    event.preventDefault();
    input.focus();
  });

  // What is lit: what a search has found, or a key.

  const chips = [];
  function light(which, chip = null) {
    for (const other of chips) other.setAttribute("aria-pressed", String(other === chip));
    lit = null;
    if (which) {
      lit = new Uint8Array(n);
      for (let i = 0; i < n; i += 1) lit[i] = which(i) ? 1 : 0;
    }
    later();
  }
  const used = new Set();
  for (let i = 0; i < n; i += 1) used.add(keyOf(i));
  keys.forEach((key, number) => {
    if (!key.name || !used.has(number)) return;
    const item = document.createElement("li");
    const chip = document.createElement("button");
    chip.type = "button";
    chip.textContent = key.name;
    chip.style.setProperty("--c", key.colour);
    chip.setAttribute("aria-pressed", "false");
    chip.addEventListener("click", () => {
      if (chip.getAttribute("aria-pressed") === "true") light(null);
      else light((i) => keyOf(i) === number, chip);
    });
    chips.push(chip);
    item.append(chip);
    find(".legend").append(item);
  });
  for (const item of document.querySelectorAll("li[data-topic]")) {
    const number = Number(item.dataset.topic);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = item.querySelector("b").textContent;
    button.addEventListener("click", () => show({ topic: number }));
    item.querySelector("b").replaceWith(button);
  }

  // Search: in titles, and in names and words of topics.

  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  let searched = null;
  function searchable() {
    if (searched) return searched;
    const text = plain(titles.join("\n"));
    const ends = new Uint32Array(n + 1);
    let from = 0;
    for (let i = 0; i < n; i += 1) {
      const end = text.indexOf("\n", from);
      ends[i + 1] = end < 0 ? text.length + 1 : end + 1;
      from = ends[i + 1];
    }
    searched = { text, ends, topics: topics.map((topic) => plain(`${topic.name} ${topic.words.join(" ")}`)) };
    return searched;
  }

  function matches(sought) {
    const { text, ends, topics: told } = searchable();
    const found = [];
    let i = 0;
    for (let hit = text.indexOf(sought); hit >= 0 && i < n; hit = text.indexOf(sought, ends[i])) {
      let [low, high] = [i, n - 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (ends[middle + 1] > hit) high = middle;
        else low = middle + 1;
      }
      i = low;
      found.push(i);
      i += 1;
      if (ends[i] >= text.length) break;
    }
    return { found, topics: told.map((each, k) => (each.includes(sought) ? k : -1)).filter((k) => k >= 0) };
  }

  let offered = [];
  let marked = -1;
  function offer() {
    const sought = plain(input.value.trim());
    marked = -1;
    offered = [];
    if (sought) {
      const { found, topics: about } = matches(sought);
      const { text, ends } = searchable();
      const rank = (i) => {
        const title = text.slice(ends[i], ends[i + 1] - 1);
        if (title === sought) return 0;
        return title.startsWith(sought) ? 1 : 2;
      };
      const ranked = found.slice(0, 20000).map((i) => [rank(i), i]).sort((a, b) => a[0] - b[0] || levels[a[1]] - levels[b[1]] || a[1] - b[1]);
      offered = [...about.slice(0, 3).map((topic) => ({ topic })), ...ranked.slice(0, 8).map(([, article]) => ({ article }))];
      const these = new Uint8Array(n);
      for (const i of found) these[i] = 1;
      const those = new Set(about);
      light((i) => these[i] || those.has(topicsOf[0][i]));
      said.textContent = `${found.length} titles, ${about.length} topics`;
    } else light(null);
    list.replaceChildren(...offered.map(({ topic, article }, k) => {
      const item = document.createElement("li");
      item.id = `suggested-${k}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      const name = document.createElement("span");
      name.dir = "auto";
      name.textContent = topic === undefined ? titles[article] : topics[topic].name;
      const kind = document.createElement("small");
      kind.textContent = topic === undefined ? topicOf(article).name : "topic";
      item.append(name, kind);
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        show(offered[k]);
      });
      return item;
    }));
    list.hidden = !offered.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    input.removeAttribute("aria-activedescendant");
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  }

  function show({ topic, article }) {
    close();
    stop();
    if (article !== undefined && article >= shown) grown(n);
    if (topic !== undefined) {
      light((i) => topicsOf[0][i] === topic);
      const [x, y] = topics[topic].place;
      choosing(-1);
      fly(x, y, Math.max(view.zoom, 4));
    } else {
      light(null);
      choosing(article, true, true);
      fly(xs[article] / 65535, ys[article] / 65535, Math.max(view.zoom, Math.min(12, 2 + Math.sqrt(n) / 20)));
    }
    canvas.scrollIntoView({ block: "nearest" });
  }

  form.hidden = false;
  input.addEventListener("input", offer);
  input.addEventListener("focus", () => { if (input.value) offer(); });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      offer();
      canvas.focus();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && offered.length) {
      event.preventDefault();
      const by = event.key === "ArrowDown" ? 1 : -1;
      marked = (marked + by + offered.length + (marked < 0 && by < 0 ? 1 : 0)) % offered.length;
      [...list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === marked)));
      list.children[marked].scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", `suggested-${marked}`);
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const which = offered[Math.max(marked, 0)];
    if (which) show(which);
  });

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
  again();
  sort();
  performance.mark("drawn");
})();
