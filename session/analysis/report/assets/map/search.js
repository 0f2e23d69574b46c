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
    let low = i;
    let high = n - 1;
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

// The titles found, those that are or begin with what is sought first, then the most typical articles.
function bestOf(found, sought) {
  const { text, ends } = searchable();
  const rank = (i) => {
    const title = text.slice(ends[i], ends[i + 1] - 1);
    if (title === sought) return 0;
    return title.startsWith(sought) ? 1 : 2;
  };
  const ranked = found.slice(0, 20000).map((article) => ({ article, rank: rank(article) }));
  ranked.sort((a, b) => a.rank - b.rank || levels[a.article] - levels[b.article] || a.article - b.article);
  return ranked.slice(0, 8).map(({ article }) => ({ article }));
}

function itemOf(suggestion, k) {
  const { topic, article } = suggestion;
  const isTopic = topic !== undefined;
  const item = document.createElement("li");
  item.id = `suggested-${k}`;
  item.setAttribute("role", "option");
  item.setAttribute("aria-selected", "false");
  const name = document.createElement("span");
  name.dir = "auto";
  name.textContent = isTopic ? topics[topic].name : titles[article];
  const kind = document.createElement("small");
  kind.textContent = isTopic ? "topic" : topicOf(article).name;
  item.append(name, kind);
  item.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    show(suggestion);
  });
  return item;
}

function nothingFound() {
  const item = document.createElement("li");
  item.className = "nothing";
  item.setAttribute("role", "presentation");
  item.textContent = "nothing found";
  return item;
}

function offer() {
  const sought = plain(input.value.trim());
  marked = -1;
  offered = [];
  if (sought) {
    const { found, topics: about } = matches(sought);
    const some = about.slice(0, 3).map((topic) => ({ topic }));
    offered = [...some, ...bestOf(found, sought)];
    const articles = new Uint8Array(n);
    for (const i of found) articles[i] = 1;
    const itsTopics = new Set(about);
    light((i) => articles[i] || itsTopics.has(topicsOf[0][i]));
    said.textContent = `${found.length} titles, ${about.length} topics`;
  } else light(null);
  list.replaceChildren(...offered.map(itemOf));
  if (sought && !offered.length) list.append(nothingFound());
  list.hidden = !sought;
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
