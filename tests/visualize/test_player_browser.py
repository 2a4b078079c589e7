"""The player's page in a browser: each step shows what was recorded.

These tests need Chromium or Chrome on the PATH, which they drive through its debugging
pipe; without one they are skipped.
"""

import base64
import itertools
import json
import os
import re
import select
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.models as M
from dezero.core import Variable
from dezero.visualize import backward_player

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PROGRAM = next((path for name in NAMES if (path := shutil.which(name))), None)

pytestmark = pytest.mark.skipif(
    PROGRAM is None or os.name == "nt",
    reason=f"needs a browser driven through a pipe: one of {', '.join(NAMES)}",
)


# It reads commands from descriptor 3 and writes answers to 4.
START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, wanted in zip(ends, (3, 4)):
    os.dup2(end, wanted)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """Chromium without a window, and the few of its commands that tests need."""

    FLAGS = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--remote-debugging-pipe",
    )

    def __init__(self, folder):
        read, self.out = os.pipe()
        self.inn, write = os.pipe()
        command = [PROGRAM, *self.FLAGS, f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-ISc", START, str(read), str(write), *command],
            pass_fds=(read, write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self.numbers = itertools.count(1)
        self.rest = b""
        self.events = []
        self.session = {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.attach(target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def attach(self, target):
        answer = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = {"sessionId": answer["sessionId"]}

    def receive(self):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.inn], [], [], 60)
            assert ready, "the browser does not answer"
            part = os.read(self.inn, 1 << 16)
            assert part, "the browser ended"
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params} | self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while (answer := self.receive()).get("id") != number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, url):
        # By way of another page: a new fragment alone would load nothing.
        for place in ("about:blank", url):
            self.events.clear()
            self.call("Page.navigate", url=place)
            # It may put another fragment in the place of the one that it was given.
            here = f"location.href.startsWith({json.dumps(place.partition('#')[0])})"
            self.until(f'{here} && document.readyState === "complete"')

    def happened(self, *methods):
        return [e for e in self.events if e.get("method") in methods]

    def js(self, code):
        answer = self.call("Runtime.evaluate", expression=code, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def key(self, key):
        codes = {" ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}
        code = {"key": key, "windowsVirtualKeyCode": codes[key]}
        text = {"text": " "} if key == " " else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def until(self, code):
        for _ in range(600):
            if self.js(code):
                return
            time.sleep(0.05)
        raise AssertionError(f"never true: {code}")

    def look(self, width=1280, height=800, scheme="light", motion="reduce"):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": n, "value": v} for n, v in features.items()],
        )

    def screenshot(self):
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def close(self):
        self.session = {}
        self.call("Browser.close")
        self.process.wait(30)
        os.close(self.inn)
        os.close(self.out)


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def browser(started):
    started.look()
    return started


def diamond(path):
    x = Variable(np.array(2.0), name="x")
    a = x**2
    y = a**2 + a**2
    return backward_player(y, path, names={"a": a, "y": y})


def mlp(path):
    np.random.seed(0)
    model = M.MLP((10, 1))
    x = np.random.rand(16, 1).astype(np.float32)
    loss = F.mean_squared_error(model(x), np.sin(6 * x))
    return backward_player(loss, path, names={"model": model, "loss": loss})


def second(path):
    x = Variable(np.array(1.5), name="x")
    gx = dz.grad(F.sin(x) * x**3, x, create_graph=True)
    return backward_player(gx, path, names={"gx": gx})


def many_paths(path):
    h = Variable(np.ones((2, 3), np.float32), name="h")
    W = dz.Parameter(np.full((3, 3), 0.1, np.float32), name="W")
    for _ in range(4):
        h = F.tanh(F.matmul(h, W)) + h
    return backward_player(F.sum(h), path)


def not_finite(path):
    x = Variable(np.array([0.0, np.inf, np.nan], np.float16), name="x" * 60)
    return backward_player(F.sum(x * 2.0 + x), path)


PAGES = [diamond, mlp, second, many_paths, not_finite]


def opened(browser, make, tmp_path, fragment=""):
    page = make(tmp_path / "player.html")
    browser.open((tmp_path / "player.html").as_uri() + fragment)
    return json.loads(re.search(r'id="record">(.*?)</script>', page.html)[1])


# What the page shows, gathered where it is seen. Nothing is read from its variables.
SHOWN = """(() => {
  const text = (s) => [...document.querySelectorAll(s)].map((e) => e.textContent);
  const blocks = {};
  for (const head of document.querySelectorAll("#parts h3")) {
    const body = head.nextElementSibling;
    const rows = [...body.querySelectorAll("tbody tr")]
      .map((row) => [...row.cells].map((cell) => cell.textContent));
    const chips = [...body.querySelectorAll("li")].map((chip) => chip.textContent);
    blocks[head.textContent] = body.tagName === "TABLE" ? rows
      : body.tagName === "OL" ? chips : body.textContent;
  }
  const classes = (s) => Object.fromEntries(
    [...document.querySelectorAll(s)].map((e) => [e.id, [...e.classList]]));
  return {
    phase: text("#phase")[0], title: text("#step-title")[0], say: text("#say")[0],
    count: text("#count")[0], blocks, steps: classes("#graph .step"),
    values: classes("#graph .value"),
    grads: Object.fromEntries([...document.querySelectorAll("#graph .value")]
      .map((e) => [e.id, e.querySelector(".grad")?.textContent || ""])),
    live: [...document.querySelectorAll("#graph .edge.live")]
      .map((e) => [e.dataset.a, e.dataset.b]),
    scrubber: Number(document.getElementById("scrubber").value),
    wrong: document.getElementById("panel").classList.contains("wrong"),
  };
})()"""


def assert_step(shown, steps, i, stack):
    """What the page shows at step ``i`` is what the record says."""
    step = steps[i]
    for name in ("phase", "title", "say"):
        assert shown[name] == step[name]
    assert shown["count"] == f"{i + 1} / {len(steps)}"
    assert shown["scrubber"] == i
    assert shown["wrong"] == step.get("wrong", False)
    blocks = shown["blocks"]
    work, taken = ("Stack", "taken from the top") if stack else ("Queue", "popped")

    def chips(entries, word):
        return [
            f"{name} generation {generation}" + (f", {word}" if hit else "")
            for _, name, generation, hit in entries
        ] or ["empty"]

    if "f" in step and "before" in step:
        assert blocks[f"{work} before"] == chips(step["before"], taken)
        assert blocks[f"Local rule of {step['before'][0][1]}"] == step["rule"]
        assert blocks["Gradient flowing in"] == step["in"]
        assert blocks.get("Gradients flowing out", []) == step["out"]
    if "after" in step:
        assert blocks[f"{work} after"] == chips(step["after"], "new")
    for row, told in zip(blocks.get("Sums", []), step.get("sums", []), strict=True):
        name, old, new, total, progress, fitted = told
        numbers = f"{old} + {new} = {total}" if old else f"{new}, the first"
        assert row == [name, numbers + (f" ({fitted})" if fitted else ""), progress]
    if step.get("freed") and not stack:
        assert all(
            entry in blocks["Freed with retain_graph=False"] for entry in step["freed"]
        )
    if "end" in step:
        assert blocks["What the pass found"] == step["end"]
    if "given" in step:
        assert blocks["Values"] == step["given"]
    grads, visible = {}, set()
    for earlier in steps[: i + 1]:
        visible |= set(earlier.get("shown", []))
        for id_ in earlier.get("used", []):
            if grads.get(id_, ["", ""])[1] == "done":
                grads[id_] = [grads[id_][0], "used"]
        grads |= {id_: [text, mark] for id_, text, mark in earlier.get("grads", [])}
    for id_, classes in shown["values"].items():
        text, mark = grads.get(id_, ["", ""])
        sign = {"partial": " …", "wrong": " !"}.get(mark, "")
        assert shown["grads"][id_] == (f"grad {text}{sign}" if text else "")
        marks = {"partial", "done", "used", "wrong"} & set(classes)
        assert marks == ({mark} if mark else set())
        assert ("hidden" in classes) == (id_ not in visible)
    active = [id_ for id_, classes in shown["steps"].items() if "active" in classes]
    assert active == ([step["f"]] if "f" in step else [])
    queued = {id_ for id_, classes in shown["steps"].items() if "queued" in classes}
    assert queued == {entry[0] for entry in step.get("after", [])} - set(active)
    assert all(step.get("f") in edge for edge in shown["live"])


@pytest.mark.parametrize("make", PAGES)
@pytest.mark.parametrize("queue", ["priority", "stack"])
def test_every_step_shows_what_was_recorded(browser, tmp_path, make, queue):
    record = opened(browser, make, tmp_path)
    if queue == "stack":
        browser.js('document.getElementById("queue-stack").click()')
    steps = record["forward"] + record[queue]
    for i in range(len(steps)):
        assert_step(browser.js(SHOWN), steps, i, queue == "stack")
        browser.js("document.activeElement.blur()")
        browser.key("ArrowRight")
    assert_step(browser.js(SHOWN), steps, len(steps) - 1, queue == "stack")
    assert not browser.happened("Runtime.exceptionThrown", "Log.entryAdded")
    asked = browser.happened("Network.requestWillBeSent")
    assert {e["params"]["request"]["url"].partition("#")[0] for e in asked} == {
        (tmp_path / "player.html").as_uri()
    }


@pytest.mark.parametrize("make", [diamond, mlp, second])
def test_it_plays_to_the_end(browser, tmp_path, make):
    record = opened(browser, make, tmp_path)
    steps = record["forward"] + record["priority"]
    browser.js('document.getElementById("speed").value = "20"')
    browser.js("""
        window.seen = [];
        window.count = document.getElementById("count");
        new MutationObserver(() => seen.push(count.textContent))
          .observe(count, {childList: true});
    """)
    browser.key(" ")
    assert browser.js('document.getElementById("play").ariaLabel') == "Pause"
    browser.until(f'count.textContent === "{len(steps)} / {len(steps)}"')
    assert browser.js("seen") == [
        f"{i} / {len(steps)}" for i in range(2, len(steps) + 1)
    ]
    assert browser.js('document.getElementById("play").ariaLabel') == "Play"
    assert_step(browser.js(SHOWN), steps, len(steps) - 1, False)


def test_keys_and_buttons(browser, tmp_path):
    record = opened(browser, diamond, tmp_path, "#step=3&queue=stack")
    steps = record["forward"] + record["stack"]
    last = len(steps) - 1

    def at():
        return browser.js('Number(document.getElementById("scrubber").value)')

    assert_step(browser.js(SHOWN), steps, 3, True)
    for key, place in [
        ("ArrowLeft", 2),
        ("End", last),
        ("ArrowRight", last),
        ("Home", 0),
        ("ArrowLeft", 0),
        ("ArrowRight", 1),
    ]:
        browser.key(key)
        assert at() == place
    for button, place in [("next", 2), ("back", 1), ("last", last), ("first", 0)]:
        browser.js(f'document.getElementById("{button}").click()')
        assert at() == place
    assert browser.js('document.getElementById("first").disabled')
    # On the slider the browser itself moves; on a button a space is a click.
    browser.js('document.getElementById("scrubber").focus()')
    browser.key("ArrowRight")
    assert at() == 1
    browser.js('document.getElementById("next").focus()')
    browser.key(" ")
    assert at() == 2
    assert browser.js('document.getElementById("play").ariaLabel') == "Play"
    assert browser.js("location.hash").endswith("queue=stack")


def test_it_is_described_to_a_screen_reader(browser, tmp_path):
    opened(browser, mlp, tmp_path)
    roles = {"button", "slider", "radio", "combobox", "image", "region"}
    named = []
    for _ in range(100):  # the browser builds its tree when first asked
        nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
        shown = [n for n in nodes if not n["ignored"] and "name" in n]
        named = [(n["role"]["value"], n["name"]["value"]) for n in shown]
        if roles <= {role for role, _ in named}:
            break
        time.sleep(0.05)
    assert roles <= {role for role, _ in named}
    assert all(name for role, name in named if role in roles)
    assert {("group", "Player"), ("group", "Work list:")} <= set(named)
    assert {("radio", "priority queue"), ("radio", "plain stack")} <= set(named)
    live = browser.js('document.getElementById("say").ariaLive')
    assert live == "polite"
    value = browser.js('document.getElementById("scrubber").ariaValueText')
    assert value == "1: What is given"
    # All that can be reached by the keyboard shows that it is.
    assert browser.js("""
        [...document.querySelectorAll("button, input, select, summary, #scroll")]
          .every((e) => e.tabIndex >= 0)
    """)


def test_colours_follow_the_system_and_the_button(browser, tmp_path):
    opened(browser, diamond, tmp_path)
    theme = "document.documentElement.dataset.theme"
    assert browser.js(theme) == "light"
    browser.look(scheme="dark")
    browser.until(f'{theme} === "dark"')
    browser.js('document.getElementById("theme").click()')
    assert browser.js(theme) == "light"
    assert browser.js('document.getElementById("theme").ariaLabel') == "Dark colours"


def test_nothing_moves_for_those_who_ask_for_it(browser, tmp_path):
    opened(browser, diamond, tmp_path, "#step=6")
    name = 'getComputedStyle(document.querySelector(".edge.back")).animationName'
    assert browser.js(name) == "none"
    browser.look(motion="no-preference")
    assert browser.js(name) == "flow"


# Texts of the drawing that leave their box, boxes that overlap, and parts of the page
# that are wider than it; rounding forgives one pixel.
FAULTS = """(() => {
  const faults = [];
  const boxes = [...document.querySelectorAll("#graph g")];
  for (const box of boxes) {
    const outer = box.querySelector("rect").getBoundingClientRect();
    for (const text of box.querySelectorAll("text")) {
      const inner = text.getBoundingClientRect();
      if (inner.width && (inner.left < outer.left - 1 || inner.right > outer.right + 1))
        faults.push(`text ${text.textContent}`);
    }
    for (const other of boxes) {
      const r = other.querySelector("rect").getBoundingClientRect();
      if (other !== box && r.left < outer.right && r.right > outer.left
          && r.top < outer.bottom && r.bottom > outer.top)
        faults.push(`${box.id} on ${other.id}`);
    }
  }
  for (const e of document.querySelectorAll("body *")) {
    const r = e.getBoundingClientRect();
    if (!e.closest("svg, #scroll") && r.width && r.right > innerWidth + 1)
      faults.push(`${e.tagName} ${e.id} ends at ${r.right}`);
  }
  const bar = document.getElementById("bar").getBoundingClientRect();
  if (bar.bottom > innerHeight + 1 || bar.top < innerHeight / 2)
    faults.push(`bar from ${bar.top} to ${bar.bottom}`);
  return faults;
})()"""


@pytest.mark.parametrize("width, height", [(390, 844), (1280, 800), (320, 640)])
@pytest.mark.parametrize("make", PAGES)
def test_nothing_overlaps_or_is_cut(browser, tmp_path, make, width, height):
    browser.look(width, height)
    record = opened(browser, make, tmp_path)
    for queue in ("priority", "stack"):
        last = len(record["forward"]) + len(record[queue]) - 1
        for step in {0, last // 2, last - 1, last}:
            browser.js(f'location.hash = "#step={step}&queue={queue}"')
            browser.until(
                f'Number(document.getElementById("scrubber").value) === {step}'
            )
            assert browser.js(FAULTS) == []
    assert browser.screenshot().startswith(b"\x89PNG")


NASTY = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>"


def test_names_do_not_run(browser, tmp_path):
    x = Variable(np.array(1.0), name=NASTY)
    y = x * x
    path = tmp_path / "player.html"
    backward_player(y, path, names={NASTY + "y": y}, title=NASTY)
    browser.open(path.as_uri() + "#step=3")
    assert browser.js("window.hit") is None
    assert browser.js("document.title") == NASTY
    assert browser.js("document.images.length") == 0
    browser.js('document.querySelector("details").open = true')
    assert browser.js("window.hit") is None


def test_in_the_frame_of_a_notebook(browser, tmp_path):
    page = diamond(tmp_path / "player.html")
    (tmp_path / "notebook.html").write_text(page._repr_html_(), encoding="utf-8")
    browser.open((tmp_path / "notebook.html").as_uri())
    # A sandboxed frame is a page of its own to the browser.
    frames = browser.call("Target.getTargets", filter=[{"type": "iframe"}])
    (frame,) = frames["targetInfos"]
    outer = browser.session
    browser.attach(frame["targetId"])
    browser.until('document.getElementById("count")?.textContent === "1 / 11"')
    browser.js('document.getElementById("next").click()')
    assert browser.js('document.getElementById("count").textContent') == "2 / 11"
    browser.session = outer
