// The map: neighbours light up, a tip shows a topic's words, arrow keys move, a slider replays births.
// Without this script its topics are links.
for (const figure of document.querySelectorAll(".map")) {
  const tip = figure.querySelector(".tip");
  const maps = [...figure.querySelectorAll("svg")];
  const target = (link) => link.getAttribute("href");
  const card = (link) => document.querySelector(target(link)).closest("details");
  const part = (link, what) => card(link).querySelector(`summary ${what}`);

  function centre(link) {
    const { e, f } = link.transform.baseVal[0].matrix;
    return [e, f];
  }

  // A topic's tip, and its neighbours.

  function light(link) {
    const prefix = target(link).replace(/\d+$/, "");
    const near = new Set(card(link).dataset.near.split(" ").map((number) => prefix + number));
    const [, y] = centre(link);
    let downwards = 0; // where the neighbours are: the tip goes to the other side
    for (const other of link.ownerSVGElement.querySelectorAll("a")) {
      const lit = near.has(target(other));
      if (lit) downwards += centre(other)[1] - y;
      other.classList.toggle("near", lit || other === link);
    }
    link.ownerSVGElement.classList.add("lit");
    tip.replaceChildren(...["h4", ".share", ".words"].map((what) => {
      const line = document.createElement("span");
      line.append(...part(link, what).cloneNode(true).childNodes);
      return line;
    }));
    tip.hidden = false;
    const topic = link.getBoundingClientRect();
    const whole = figure.getBoundingClientRect();
    const left = topic.left + topic.width / 2 - tip.offsetWidth / 2 - whole.left;
    const room = tip.offsetHeight + 12;
    const below = topic.top < room || (downwards < 0 && topic.bottom + room < innerHeight);
    tip.style.left = `${Math.max(0, Math.min(left, whole.width - tip.offsetWidth))}px`;
    tip.style.top = `${(below ? topic.bottom + 6 : topic.top - tip.offsetHeight - 6) - whole.top}px`;
  }

  function dim() {
    tip.hidden = true;
    for (const map of maps) map.classList.remove("lit");
  }

  // One stop for Tab; arrow keys go to the nearest topic in their direction.

  const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function beyond(link, [right, down]) {
    const [x, y] = centre(link);
    let nearest = null;
    let least = Infinity;
    for (const other of link.ownerSVGElement.querySelectorAll("a:not(.unborn)")) {
      const [across, below] = centre(other).map((value, axis) => value - [x, y][axis]);
      const ahead = across * right + below * down;
      const aside = Math.abs(across * down) + Math.abs(below * right);
      if (ahead > 0 && ahead + 2 * aside < least) {
        nearest = other;
        least = ahead + 2 * aside;
      }
    }
    return nearest;
  }

  for (const map of maps) {
    for (const link of map.querySelectorAll("a")) {
      link.setAttribute("aria-label", `${part(link, "h4").textContent} (${part(link, ".share").textContent})`);
      link.setAttribute("tabindex", "-1");
    }
    map.querySelector("a").setAttribute("tabindex", "0");
    map.addEventListener("pointerover", (event) => {
      const link = event.target.closest("a");
      if (link) light(link);
      else dim();
    });
    map.addEventListener("pointerleave", dim);
    map.addEventListener("focusin", (event) => {
      map.querySelector("a[tabindex='0']").setAttribute("tabindex", "-1");
      const link = event.target.closest("a");
      link.setAttribute("tabindex", "0");
      light(link);
    });
    map.addEventListener("focusout", dim);
    map.addEventListener("keydown", (event) => {
      if (event.key === "Escape") dim();
      const next = event.key in directions && beyond(event.target.closest("a"), directions[event.key]);
      if (next) {
        event.preventDefault();
        next.focus({ preventScroll: true });
        next.scrollIntoView({ block: "nearest" });
      }
    });
  }

  // Births, from the curves of the topics' shares.

  const replay = figure.querySelector(".replay");
  if (!replay) continue;
  const [slider, told] = [replay.querySelector("input"), replay.querySelector("output")];
  const moments = replay.dataset.moments.split(" ").map(Number);
  const last = moments.length - 1;
  const inUse = 0.001;
  const topics = maps.flatMap((map) => [...map.querySelectorAll("a")]).map((link) => {
    const line = part(link, ".growth .line").getAttribute("d").match(/\d+/g).map(Number);
    const heights = line.filter((_, place) => place % 2).map((y) => 39 - y);
    const circle = link.querySelector("circle");
    const share = Number(part(link, ".share").value);
    return { link, circle, share, radius: circle.r.baseVal.value, parts: heights.map((height) => height / Math.max(heights[last], 0.5)) };
  });

  function show() {
    const moment = slider.valueAsNumber;
    const areas = new Set();
    let used = 0;
    for (const { link, circle, share, radius, parts } of topics) {
      const born = moment === last || parts[moment] * share > inUse;
      link.classList.toggle("unborn", !born);
      circle.setAttribute("r", (radius * Math.sqrt(Math.min(parts[moment], 1.6))).toFixed(1));
      if (!born) continue;
      areas.add(link.parentNode.classList[0]);
      used += 1 / maps.length;
    }
    for (const shape of figure.querySelectorAll(".lands path, .names g")) shape.classList.toggle("unborn", !areas.has(shape.classList[0]));
    told.value = `${Math.round(used)} topic${Math.round(used) === 1 ? "" : "s"} after ${moments[moment].toLocaleString("en")} ${replay.dataset.noun}`;
  }

  let playing = 0;
  function stop() {
    clearInterval(playing);
    playing = 0;
  }
  replay.hidden = false;
  slider.value = last;
  slider.addEventListener("input", () => { stop(); show(); });
  replay.addEventListener("submit", (event) => {
    event.preventDefault();
    stop();
    slider.value = 0;
    playing = setInterval(() => {
      show();
      if (slider.valueAsNumber === last) stop();
      slider.valueAsNumber += 1;
    }, 6000 / moments.length);
  });
  show();
}
