"use strict";
(() => {
  const record = JSON.parse(document.getElementById("record").textContent);
  const by = (id) => document.getElementById(id);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let queue = "priority";
  let at = 0;
  let timer = null;
  let zoom = null; // null: as wide as there is room

  const steps = () => record.forward.concat(record[queue]);

  // Everything is written as text: names and numbers never become markup.
  function make(tag, className, ...children) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...children);
    return node;
  }

  function table(heads, rows, bad) {
    const body = make("tbody");
    for (const row of rows) {
      const line = make("tr");
      row.forEach((text, i) => {
        const last = i === row.length - 1 && heads.length > 2;
        const name = (last ? "note" : "") + (last && bad(row) ? " bad" : "");
        line.append(make("td", name, text));
      });
      body.append(line);
    }
    const cells = heads.map((head) => {
      const cell = make("th", "", head);
      cell.scope = "col";
      return cell;
    });
    return make("table", "", make("thead", "", make("tr", "", ...cells)), body);
  }

  function chips(entries, word) {
    const list = make("ol", "chips");
    for (const [, name, generation, hit] of entries) {
      const note = ` generation ${generation}` + (hit ? `, ${word}` : "");
      list.append(make("li", hit ? "hit" : "", name, make("small", "", note)));
    }
    if (!entries.length) list.append(make("li", "none", "empty"));
    return list;
  }

  // ---- the state at a step: what all steps so far have left ----

  function state(i) {
    const shown = new Set();
    const grads = new Map();
    const all = steps();
    for (const step of all.slice(0, i + 1)) {
      for (const id of step.shown || []) shown.add(id);
      for (const id of step.used || []) {
        const grad = grads.get(id);
        if (grad && grad[1] === "done") grads.set(id, [grad[0], "used"]);
      }
      for (const [id, text, mark] of step.grads || []) grads.set(id, [text, mark]);
    }
    return { step: all[i], shown, grads };
  }

  function paint({ step, shown, grads }) {
    const backward = step.phase !== "Forward";
    const waiting = new Set((step.after || []).map((entry) => entry[0]));
    for (const node of document.querySelectorAll("#graph .value")) {
      const [text, mark] = grads.get(node.id) || ["", ""];
      node.classList.toggle("hidden", !shown.has(node.id));
      for (const name of ["partial", "done", "used", "wrong"])
        node.classList.toggle(name, name === mark);
      const sign = { partial: " …", wrong: " !" }[mark] || "";
      const line = node.querySelector(".grad");
      if (line) line.textContent = text ? `grad ${text}${sign}` : "";
    }
    for (const node of document.querySelectorAll("#graph .step")) {
      node.classList.toggle("active", node.id === step.f);
      node.classList.toggle("queued", node.id !== step.f && waiting.has(node.id));
    }
    for (const edge of document.querySelectorAll("#graph .edge")) {
      const live = step.f && [edge.dataset.a, edge.dataset.b].includes(step.f);
      edge.classList.toggle("live", Boolean(live));
      edge.classList.toggle("back", Boolean(live && backward));
    }
  }

  function write(step) {
    by("phase").textContent = step.phase;
    by("step-title").textContent = step.title;
    by("say").textContent = step.say;
    by("panel").classList.toggle("wrong", Boolean(step.wrong));
    const parts = [];
    const add = (head, ...nodes) => parts.push(make("h3", "", head), ...nodes);
    const isWrong = (row) => /wrong|incomplete|would be right|changed/.test(row.at(-1));
    const work = queue === "stack" ? "Stack" : "Queue";
    if (step.given)
      add("Values", table(["name", "kind", "value"], step.given, () => false));
    if (step.before && step.f) {
      const word = queue === "stack" ? "taken from the top" : "popped";
      add(`${work} before`, chips(step.before, word));
    }
    if (step.rule) add(`Local rule of ${step.before[0][1]}`, make("code", "", step.rule));
    if (step.in) {
      const rows = step.in;
      add("Gradient flowing in", table(["of", "gradient", ""], rows, isWrong));
    }
    if (step.out && step.out.length)
      add("Gradients flowing out", table(["to", "gradient"], step.out, isWrong));
    if (step.sums && step.sums.length)
      add("Sums", table(["value", "old + new = sum", "arrived"],
        step.sums.map(([name, old, gx, total, progress, fitted]) => [
          name,
          (old ? `${old} + ${gx} = ${total}` : `${gx}, the first`) + (fitted ? ` (${fitted})` : ""),
          progress,
        ]), isWrong));
    if (step.after) add(`${work} after`, chips(step.after, "new"));
    if (step.freed && queue === "priority")
      add("Freed with retain_graph=False", make("p", "", step.freed.length
        ? `${step.freed.join("; ")}: no Function that is still to run reads it.`
        : "No array of a result."));
    if (step.end)
      add("What the pass found", table(["leaf", "gradient", ""], step.end, isWrong));
    by("parts").replaceChildren(...parts);
  }

  // ---- moving ----

  function go(i, keep) {
    const last = steps().length - 1;
    at = Math.min(Math.max(Math.trunc(i) || 0, 0), last);
    const now = state(at);
    paint(now);
    write(now.step);
    by("scrubber").max = last;
    by("scrubber").value = at;
    by("scrubber").setAttribute("aria-valuetext", `${at + 1}: ${now.step.title}`);
    by("count").textContent = `${at + 1} / ${last + 1}`;
    by("first").disabled = by("back").disabled = at === 0;
    by("next").disabled = by("last").disabled = at === last;
    follow(now.step);
    if (at === last) pause();
    if (!keep && !timer) remember();
  }

  function remember() {
    try {
      history.replaceState(null, "", `#step=${at}&queue=${queue}`);
    } catch { /* inside a notebook's frame there is no address to change */ }
  }

  function follow(step) {
    const ids = step.f ? [step.f] : (step.grads || []).map((grad) => grad[0]);
    const box = by("scroll");
    const node = ids.length ? by(ids[0]) : null;
    if (!node) return;
    const outer = box.getBoundingClientRect();
    const inner = node.getBoundingClientRect();
    const edge = 70;
    const inside = inner.top > outer.top + edge && inner.bottom < outer.bottom - edge
      && inner.left > outer.left && inner.right < outer.right;
    if (inside) return;
    box.scrollBy({
      left: (inner.left + inner.right - outer.left - outer.right) / 2,
      top: (inner.top + inner.bottom - outer.top - outer.bottom) / 2,
      behavior: still.matches ? "auto" : "smooth",
    });
  }

  function pause() {
    if (timer) clearTimeout(timer);
    timer = null;
    by("play").setAttribute("aria-label", "Play");
    by("play").title = "Play (space)";
    by("play-icon").setAttribute("d", "M5 3l11 6.5L5 16z");
  }

  function play() {
    if (at === steps().length - 1) go(0);
    by("play").setAttribute("aria-label", "Pause");
    by("play").title = "Pause (space)";
    by("play-icon").setAttribute("d", "M4 3h4v13H4zM11 3h4v13h-4z");
    const tick = () => {
      timer = setTimeout(tick, 2200 / Number(by("speed").value));
      go(at + 1);
    };
    timer = setTimeout(tick, 700 / Number(by("speed").value));
  }

  function toggle() {
    if (timer) {
      pause();
      remember();
    } else play();
  }

  function step(i) {
    pause();
    go(i);
  }

  function choose(name) {
    pause();
    queue = name;
    by(`queue-${name}`).checked = true;
    go(at);
  }

  // ---- size and theme ----

  function fit() {
    const svg = by("graph");
    const { width, height } = svg.viewBox.baseVal;
    const box = by("scroll");
    let scale = zoom;
    if (scale === null) scale = Math.min(1.15, Math.max(0.85, box.clientWidth / width));
    if (scale === "all")
      scale = Math.min(1.15, box.clientWidth / width, box.clientHeight / height);
    svg.setAttribute("width", width * scale);
    svg.setAttribute("height", height * scale);
    return scale;
  }

  function resize(to) {
    zoom = to;
    fit();
    follow(steps()[at]);
  }

  function theme(name) {
    document.documentElement.dataset.theme = name;
    by("theme").textContent = name === "dark" ? "Light" : "Dark";
    by("theme").setAttribute("aria-label",
      name === "dark" ? "Light colours" : "Dark colours");
  }

  // ---- what the reader does ----

  by("first").addEventListener("click", () => step(0));
  by("back").addEventListener("click", () => step(at - 1));
  by("play").addEventListener("click", toggle);
  by("next").addEventListener("click", () => step(at + 1));
  by("last").addEventListener("click", () => step(steps().length - 1));
  by("scrubber").addEventListener("input", () => step(Number(by("scrubber").value)));
  for (const name of ["priority", "stack"])
    by(`queue-${name}`).addEventListener("change", () => choose(name));
  by("bigger").addEventListener("click", () => resize(Math.min(fit() * 1.25, 3)));
  by("smaller").addEventListener("click", () => resize(Math.max(fit() / 1.25, 0.1)));
  by("all").addEventListener("click", () => resize("all"));
  by("theme").addEventListener("click", () =>
    theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  addEventListener("resize", fit);
  addEventListener("hashchange", open);

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const own = { BUTTON: [" "], SUMMARY: [" "], SELECT: [" ", "ArrowLeft", "ArrowRight",
      "Home", "End"], INPUT: ["ArrowLeft", "ArrowRight", "Home", "End"] };
    if ((own[event.target.tagName] || []).includes(event.key)) return;
    const last = steps().length - 1;
    const todo = { " ": toggle, ArrowRight: () => step(at + 1),
      ArrowLeft: () => step(at - 1), Home: () => step(0), End: () => step(last) };
    if (!Object.hasOwn(todo, event.key)) return;
    event.preventDefault();
    todo[event.key]();
  });

  function open() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    pause();
    queue = wanted.get("queue") === "stack" ? "stack" : "priority";
    by(`queue-${queue}`).checked = true;
    go(Number(wanted.get("step")), true);
  }

  theme(dark.matches ? "dark" : "light");
  for (const line of record.words) by("words").append(make("li", "", line));
  fit();
  open();
})();
