// Below a chart stand the last values of its curves; at a pointer, or after a tap, those there.
for (const figure of document.querySelectorAll(".charts figure")) {
  const moments = JSON.parse(figure.dataset.values);
  const picture = figure.querySelector("svg");
  const told = [...figure.querySelectorAll("output b")]; // of each curve, then the number of articles
  const { width, height } = picture.viewBox.baseVal;
  const last = moments.length - 1;
  let chosen = last;

  const line = document.createElementNS(picture.namespaceURI, "path");
  line.setAttribute("class", "s-muted");
  line.setAttribute("d", `M0 0V${height - 36}`); // to the axis, below which its labels are
  picture.append(line);

  function show(place) {
    chosen = Math.min(Math.max(place, 0), last);
    const [x, articles, values] = moments[chosen];
    line.setAttribute("transform", `translate(${x})`);
    line.removeAttribute("hidden");
    [...values, articles].forEach((text, k) => { told[k].textContent = text; });
  }

  function rest() {
    show(last);
    line.setAttribute("hidden", "");
  }

  function under(event) {
    const box = picture.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width;
    const distances = moments.map(([at]) => Math.abs(at - x));
    show(distances.indexOf(Math.min(...distances)));
  }

  rest();
  picture.tabIndex = 0;
  picture.addEventListener("pointerdown", under);
  picture.addEventListener("pointermove", under);
  picture.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") rest(); });
  picture.addEventListener("blur", rest);
  picture.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    show(chosen + by);
  });
}
