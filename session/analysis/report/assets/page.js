"use strict";
// The map of articles needs scripts; what it shows of topics is below, too.
for (const part of document.querySelectorAll(".dots, .to-dots")) part.hidden = false;

// Search: hides topics without the typed words, and marks these in the others.
{
  const form = document.querySelector("form[role=search]");
  const input = form.querySelector("input");
  const told = form.querySelector("output");
  const topics = [...document.querySelectorAll("details.topic")];
  // Without a topic's earlier words, by which nearly all topics would be found.
  const parts = topics.map((topic) => [...topic.querySelectorAll("summary, .articles, .bars")]);
  const texts = parts.map((some) => some.map((part) => part.textContent).join("\n"));
  const heads = parts.map(([head]) => head.textContent);
  const opened = new Set();

  function ranges(node, pattern) {
    const found = [];
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      for (const match of walker.currentNode.data.matchAll(pattern)) {
        const range = new Range();
        range.setStart(walker.currentNode, match.index);
        range.setEnd(walker.currentNode, match.index + match[0].length);
        found.push(range);
      }
    }
    return found;
  }

  function find() {
    const sought = input.value.trim();
    const pattern = new RegExp(sought.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
    for (const topic of opened) topic.open = false;
    opened.clear();
    let left = 0;
    const marked = [];
    topics.forEach((topic, place) => {
      const fits = !sought || texts[place].search(pattern) >= 0;
      topic.hidden = !fits;
      const anchor = "#" + topic.querySelector(".told").id;
      for (const link of document.querySelectorAll(`.map a[href="${anchor}"]`)) {
        link.classList.toggle("found", Boolean(sought) && fits);
      }
      if (!sought || !fits) return;
      left += 1;
      if (!topic.open && heads[place].search(pattern) < 0 && opened.size < 5) {
        topic.open = true;
        opened.add(topic);
      }
      for (const part of parts[place]) marked.push(...ranges(part, pattern));
    });
    for (const rest of document.querySelectorAll(".rest")) rest.open = Boolean(sought);
    for (const map of document.querySelectorAll(".map")) {
      map.classList.toggle("seeking", Boolean(sought));
      map.querySelector(".tip").hidden = true; // of the topic under the pointer: it may cover those found
    }
    if (globalThis.Highlight) CSS.highlights.set("found", new Highlight(...marked));
    told.value = sought ? `${left} topic${left === 1 ? "" : "s"}` : "";
  }

  // A link to a topic opens it, and shows it if a search has hidden it; also the link that was chosen last.
  function show() {
    const topic = document.getElementById(location.hash.slice(1))?.closest("details.topic");
    if (!topic) return;
    if (topic.hidden) {
      input.value = "";
      find();
    }
    const rest = topic.closest(".rest");
    if (rest) rest.open = true;
    topic.open = true;
    topic.scrollIntoView({ block: "start" });
  }

  // What a link leads to begins below the navigation, which takes several lines on a phone.
  function makeRoom() {
    document.documentElement.style.scrollPaddingTop = `${document.querySelector("nav").offsetHeight + 16}px`;
  }

  form.hidden = false;
  makeRoom();
  addEventListener("resize", makeRoom);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    topics.find((topic) => !topic.hidden)?.scrollIntoView({ block: "start" });
  });
  input.addEventListener("input", find);
  addEventListener("hashchange", show);
  addEventListener("click", (event) => {
    if (event.target.closest("a")?.getAttribute("href") === location.hash) show();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape" && document.activeElement === input) {
      input.value = "";
      find();
      input.blur();
    }
  });
  addEventListener("load", show); // after the browser's own scrolling
}
