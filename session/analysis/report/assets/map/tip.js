// The tip of the chosen dot.

function put() {
  const [x, y] = placeOf(chosen);
  const wide = tip.offsetWidth;
  const high = tip.offsetHeight;
  const left = Math.min(Math.max(x - wide / 2, 8), Math.max(width - wide - 8, 8));
  const above = y - high - 14;
  const top = above > 4 ? above : y + 16;
  tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}

function headingOf(i) {
  const address = addressOf(i);
  const heading = document.createElement(address ? "a" : "b");
  heading.dir = "auto";
  heading.textContent = titles[i] || `${head.noun.replace(/s$/, "")} without a title here`;
  if (address) {
    heading.href = address;
    heading.target = "_blank";
    heading.rel = "noopener noreferrer";
  }
  return heading;
}

function lineOf(kind, text, colour = "transparent") {
  const line = document.createElement(kind);
  line.dir = "auto";
  line.style.setProperty("--c", colour);
  line.append(text);
  return line;
}

function linesOf(i) {
  const told = [];
  topicsOf.forEach((_, column) => {
    const topic = topicOf(i, column);
    if (topic !== noTopic) told.push(lineOf("span", topic.name, labelOf ? "transparent" : topic.colour));
  });
  if (labelOf) told.push(lineOf("span", labels[labelOf[i]].name, labels[labelOf[i]].colour));
  if (snippets[i]) told.push(lineOf("q", snippets[i]));
  return told;
}

function choosing(i, stays = false, speaks = false) {
  if (i === chosen && held === stays) return;
  chosen = i;
  held = stays;
  canvas.classList.toggle("on", i >= 0);
  tip.classList.toggle("held", stays);
  tip.hidden = i < 0;
  if (i >= 0) {
    tip.replaceChildren(headingOf(i), ...linesOf(i));
    if (speaks) said.textContent = [...tip.children].map((line) => line.textContent).join(", ");
    put();
  }
  later();
}

function open(i) {
  const address = i >= 0 && addressOf(i);
  if (address) window.open(address, "_blank", "noopener,noreferrer");
}
