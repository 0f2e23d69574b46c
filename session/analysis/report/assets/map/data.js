// The map of articles: dots on a canvas, names that never overlap, search, and growth in the order of reading.
// One module in several files, which are joined in the order of `SCRIPTS` in map_page.py.

// The parts of the page.

const find = (what) => document.querySelector(what);
const canvas = find("canvas");
const paper = canvas.getContext("2d");
const tip = find(".tip");
const said = find(".said");
const form = find("form[role=search]");
const input = find("#sought");
const list = find("#suggested");
const time = find(".time");
const slider = time.querySelector("input");
const told = time.querySelector("output");

// Within another page, the map leaves the wheel and the finger to that page until it is chosen.
const isWithin = window !== window.parent;
document.documentElement.classList.toggle("within", isWithin);

// The data: see `_packed` in map_page.py.

const NONE = 0xffff;

async function unpacked(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

if (!globalThis.DecompressionStream) {
  const tooOld = "This browser is too old for the map; the topics below need none. ";
  find(".note").prepend(tooOld);
  throw new Error(tooOld);
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
  const wide = head.width === 1 ? Uint16Array.from(stored, (topic) => (topic === 255 ? NONE : topic)) : stored;
  topicsOf.push(wide);
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
const keys = labelOf ? labels : [...areas, { ...noTopic, name: areas.length ? "other" : "" }];
const keyOf = labelOf ? (i) => labelOf[i] : (i) => (topicOf(i).area < 0 ? areas.length : topicOf(i).area);

function channels(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
