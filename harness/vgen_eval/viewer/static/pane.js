/* One viewport over all panes of a sample: zoom, pan, wipe, keys, and the address that keeps them. */
(function () {
  "use strict";
  const V = (window.VgenView = window.VgenView || {});

  const LEAST = 0.25;
  const MOST_PIXELS = 64; // screen pixels a pixel of the original is drawn with at most
  const STEP = 1.25;
  const WRITES_MS = 250; // at most four changes of the address a second
  const LAYOUTS = ["row", "grid", "wipe"];
  const ROLES = { i: "input", a: "answer", p: "prediction", t: "target", e: "error" };

  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  const all = (root, selector) => Array.from(root.querySelectorAll(selector));
  const make = (tag, name, words) => {
    const found = document.createElement(tag);
    if (name) found.className = name;
    if (words !== undefined) found.textContent = words;
    return found;
  };
  const number = (text, other) => {
    const found = text === null || text === "" ? NaN : Number(text);
    return Number.isFinite(found) ? found : other;
  };
  const round = (value, digits) => String(Number(value.toFixed(digits)));

  V.stages = [];
  V.current = null;

  /* One pane: a picture of its own size, of which `frame` shows the original. */
  class Pane {
    constructor(stage, figure) {
      const data = figure.dataset;
      this.stage = stage;
      this.figure = figure;
      this.key = data.key;
      this.role = data.role;
      this.title = data.title;
      this.view = figure.querySelector(".view");
      this.layer = figure.querySelector(".layer");
      this.sheet = figure.querySelector(".sheet");
      this.image = this.sheet.querySelector("img");
      this.width = Number(data.width);
      this.height = Number(data.height);
      const frame = (data.frame || "").split(",").map(Number);
      this.inStep = frame.length === 4 && frame.every(Number.isFinite);
      this.frame = this.home = this.inStep ? frame : [0, 0, 1, 1];
      this.shift = [0, 0]; // off its step: parts of the original, to the right and down
      this.loose = false; // unlinked: it is shifted alone
      this.unlink = figure.querySelector("[data-unlink]");
      if (this.unlink) this.unlink.addEventListener("click", () => stage.link(this, !this.loose));
      this.sheet.style.width = this.width + "px";
      this.sheet.style.height = this.height + "px";
      this.cross = make("span", "cross");
      this.cross.hidden = true;
      this.layer.append(this.cross);
      this.placed = null;
      this.view.tabIndex = 0;
      this.view.setAttribute("role", "group");
      this.view.setAttribute("aria-label", this.title + ", picture that can be zoomed");
      this.view.classList.add("live");
    }

    host() {
      return this.layer.parentNode;
    }

    /* Where the pane's own pixels come to lie on the screen: x = left + column * across. */
    place() {
      const stage = this.stage;
      const [width, height] = stage.sizeOf(this.host());
      let [wide, high, x, y] = [stage.width, stage.height, stage.x, stage.y];
      let scale = stage.scale(width, height);
      if (!this.inStep) {
        [wide, high, x, y] = [this.width, this.height, 0.5, 0.5];
        scale = Math.min(width / wide, height / high);
      }
      const [left, top, across, down] = this.frame;
      const kx = (scale * wide) / (across * this.width);
      const ky = (scale * high) / (down * this.height);
      this.placed = {
        kx, ky, width, height,
        left: width / 2 - x * wide * scale - left * this.width * kx,
        top: height / 2 - y * high * scale - top * this.height * ky,
      };
      return this.placed;
    }

    draw() {
      if (this.host().clientWidth === 0) return;
      const at = this.place();
      this.sheet.style.transform =
        "translate(" + at.left + "px," + at.top + "px) scale(" + at.kx + "," + at.ky + ")";
      const crisp = at.kx * window.devicePixelRatio > 1.001;
      this.sheet.classList.toggle("crisp", crisp);
      const point = this.stage.point;
      const shown = point && this.inStep && (this.stage.byKeys || point.pane !== this);
      this.cross.hidden = !shown;
      if (shown) {
        const [column, row] = this.pixel(point.x, point.y);
        this.cross.style.left = at.left + column * at.kx + "px";
        this.cross.style.top = at.top + row * at.ky + "px";
      }
      if (this.field) this.field.draw(at);
    }

    shiftTo(x, y) {
      const [left, top, across, down] = this.home;
      this.shift = [clamp(x, -1, 1), clamp(y, -1, 1)];
      this.frame = [left - this.shift[0] * across, top - this.shift[1] * down, across, down];
      const far = [this.shift[0] * this.stage.width, this.shift[1] * this.stage.height];
      const isOff = far.some((part) => Math.abs(part) > 0.01);
      const words = "shifted " + far.map((part) => round(part, 1)).join(", ") + " px";
      this.figure.querySelector("[data-shifted]").textContent = isOff ? words : "";
    }

    /* A point of the original, 0 to 1, in this pane's pixels (edges whole, not rounded). */
    pixel(x, y) {
      const [left, top, across, down] = this.frame;
      return [(left + x * across) * this.width, (top + y * down) * this.height];
    }

    /* A place on its host, in CSS pixels, as a point of the original. */
    pointAt(atX, atY) {
      const at = this.place();
      const [left, top, across, down] = this.frame;
      const x = (atX - at.left) / at.kx / this.width;
      const y = (atY - at.top) / at.ky / this.height;
      return [(x - left) / across, (y - top) / down];
    }
  }

  /* The panes of one sample, and what all of them follow. */
  class Stage {
    constructor(root) {
      this.root = root;
      this.keepsAddress = root.hasAttribute("data-address");
      this.x = 0.5;
      this.y = 0.5;
      this.zoom = 1; // 1: the original fits its pane
      this.layout = "row";
      this.wipe = 0.5;
      this.point = null;
      this.byKeys = false;
      this.bare = false;
      this.sizes = new Map();
      this.watchers = [];
      this.panes = all(root, "figure[data-pane]").map((figure) => new Pane(this, figure));
      const first = this.panes.find((pane) => pane.role === "target") || this.panes[0];
      this.width = Number(root.dataset.width) || (first ? first.width * first.frame[2] : 1);
      this.height = Number(root.dataset.height) || (first ? first.height * first.frame[3] : 1);
      this.extent = this.reach();
      this.waiting = 0;
      this.written = 0;
      this.views = this.panes.map((pane) => pane.view);
      this.wipeView = root.querySelector(".wipe-view");
      if (this.wipeView) this.views.push(this.wipeView);
      for (const view of this.views) {
        view.style.aspectRatio = this.width + " / " + this.height;
        this.listen(view);
      }
      const sizes = new ResizeObserver(() => {
        this.sizes.clear();
        this.redraw();
      });
      this.views.forEach((view) => sizes.observe(view));
      this.tools();
      root.classList.add("ready");
      if (window.matchMedia("(max-width: 639px)").matches) {
        /* on a phone one pane after the other, and the colours folded away */
        if (root.dataset.layout === "grid" && this.panes.length <= 8) root.dataset.layout = "row";
        all(root, "details.looks").forEach((one) => (one.open = false));
      }
      this.restore();
    }

    /* What of the original's plane any pane shows: an answer may show more than the original. */
    reach() {
      let [left, top, right, bottom] = [0, 0, 1, 1];
      for (const { frame, inStep } of this.panes) {
        if (!inStep) continue;
        left = Math.min(left, -frame[0] / frame[2]);
        top = Math.min(top, -frame[1] / frame[3]);
        right = Math.max(right, (1 - frame[0]) / frame[2]);
        bottom = Math.max(bottom, (1 - frame[1]) / frame[3]);
      }
      return [left, top, right, bottom];
    }

    sizeOf(view) {
      let found = this.sizes.get(view);
      if (!found) {
        found = [view.clientWidth, view.clientHeight];
        if (found[0]) this.sizes.set(view, found);
      }
      return found;
    }

    fit(width, height) {
      return Math.min(width / this.width, height / this.height) || 1;
    }

    scale(width, height) {
      return this.fit(width, height) * this.zoom;
    }

    host() {
      return this.views.find((view) => view.clientWidth > 0) || this.views[0];
    }

    /* Screen pixels a pixel of the original. */
    percent() {
      return 100 * this.scale(...this.sizeOf(this.host())) * window.devicePixelRatio;
    }

    watch(change) {
      this.watchers.push(change);
    }

    tell(what) {
      this.watchers.forEach((change) => change(what));
    }

    set(x, y, zoom) {
      const size = this.sizeOf(this.host());
      const most = MOST_PIXELS / this.fit(...size) / window.devicePixelRatio;
      this.zoom = clamp(zoom, Math.min(LEAST, most), Math.max(most, 1));
      const scale = this.scale(...size);
      const [left, top, right, bottom] = this.extent;
      const within = (value, low, high, half) =>
        2 * half >= high - low ? (low + high) / 2 : clamp(value, low + half, high - half);
      this.x = within(x, left, right, size[0] / 2 / (this.width * scale));
      this.y = within(y, top, bottom, size[1] / 2 / (this.height * scale));
      this.redraw();
      this.keep();
    }

    zoomBy(factor, x = this.x, y = this.y) {
      const before = this.zoom;
      const size = this.sizeOf(this.host());
      const most = MOST_PIXELS / this.fit(...size) / window.devicePixelRatio;
      const zoom = clamp(before * factor, LEAST, Math.max(most, 1));
      const kept = before / zoom; // the point under the cursor stays there
      this.set(x + (this.x - x) * kept, y + (this.y - y) * kept, zoom);
    }

    pan(across, down) {
      this.set(this.x + across / this.zoom, this.y + down / this.zoom, this.zoom);
    }

    /* All of the original; what is unlinked lies as it came. */
    reset() {
      for (const pane of this.panes.filter((one) => one.loose)) {
        this.move(pane, -pane.shift[0], -pane.shift[1]);
      }
      this.set(0.5, 0.5, 1);
    }

    link(pane, loose) {
      pane.loose = loose;
      pane.figure.classList.toggle("loose", loose);
      pane.unlink.setAttribute("aria-pressed", String(loose));
      this.keep();
    }

    /* One pane against the others, by parts of the original. */
    move(pane, across, down) {
      pane.shiftTo(pane.shift[0] + across, pane.shift[1] + down);
      this.extent = this.reach();
      this.redraw();
      this.keep();
      this.tell("shift");
    }

    /* The pane that has the focus, is wiped, or is pointed at. */
    atWork() {
      const own = this.panes.find((pane) => pane.figure.contains(document.activeElement));
      const over = this.layout === "wipe"
        ? this.panes.filter((pane) => pane.host() === this.wipeView) : [];
      return own || over.find((pane) => pane.loose) || over[1] || (this.point && this.point.pane);
    }

    oneToOne() {
      const size = this.sizeOf(this.host());
      this.set(this.x, this.y, 1 / this.fit(...size) / window.devicePixelRatio);
    }

    redraw() {
      if (this.asked) return;
      this.asked = requestAnimationFrame(() => {
        this.asked = 0;
        this.panes.forEach((pane) => pane.draw());
        const zoomed = this.zoom > 1.001;
        this.root.classList.toggle("zoomed", zoomed);
        if (this.percentage) this.percentage.textContent = Math.round(this.percent()) + " %";
        this.tell("drawn");
      });
    }

    /* Where the cursor is, on the original; null: nowhere. */
    pointTo(x, y, pane, byKeys = false) {
      this.byKeys = byKeys;
      this.point = x === null ? null : { x, y, pane };
      this.redraw();
      this.tell("point");
    }

    listen(view) {
      const fingers = new Map();
      let moved = false;
      const paneAt = (event) => {
        const own = this.panes.filter((pane) => pane.host() === view);
        if (own.length < 2) return own[0];
        const box = view.getBoundingClientRect();
        const right = (event.clientX - box.left) / box.width > this.wipe;
        return own.find((pane) => pane.layer.classList.contains(right ? "over" : "under"));
      };
      const where = (event) => {
        const box = view.getBoundingClientRect();
        const pane = paneAt(event);
        if (!pane) return null;
        const at = pane.pointAt(event.clientX - box.left, event.clientY - box.top);
        return { pane, x: at[0], y: at[1] };
      };
      view.addEventListener("wheel", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const at = where(event);
        // at its smallest the page scrolls on
        if (!at || !at.pane.inStep || (event.deltaY > 0 && this.zoom <= 1)) return;
        event.preventDefault();
        const factor = Math.pow(1.0016, -event.deltaY * (event.deltaMode === 1 ? 20 : 1));
        const zoom = this.zoom * factor;
        if (zoom < 1) this.set(0.5, 0.5, 1);
        else this.zoomBy(factor, at.x, at.y);
      }, { passive: false });
      view.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        V.current = this;
        moved = false;
        fingers.set(event.pointerId, [event.clientX, event.clientY]);
        view.setPointerCapture(event.pointerId);
        if (event.pointerType === "mouse") event.preventDefault();
        view.focus({ preventScroll: true });
      });
      view.addEventListener("pointermove", (event) => {
        V.current = this;
        const before = fingers.get(event.pointerId);
        if (before) {
          const now = [event.clientX, event.clientY];
          if (Math.hypot(now[0] - before[0], now[1] - before[1]) < 3 && !moved) return;
          moved = true;
          this.drag(view, fingers, event.pointerId, now);
          fingers.set(event.pointerId, now);
        }
        const at = where(event);
        const inside = at && at.pane.inStep && at.x >= 0 && at.x < 1 && at.y >= 0 && at.y < 1;
        if (inside) this.pointTo(at.x, at.y, at.pane);
        else if (!this.byKeys) this.pointTo(null);
      });
      const end = (event) => {
        fingers.delete(event.pointerId);
        if (event.type === "pointerup" && event.pointerType !== "mouse" && !moved) {
          const at = where(event);
          if (at && at.pane.inStep) this.pointTo(at.x, at.y, at.pane);
        }
      };
      view.addEventListener("pointerup", end);
      view.addEventListener("pointercancel", end);
      view.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse" && !this.byKeys) this.pointTo(null);
      });
      view.addEventListener("focus", () => {
        V.current = this;
        this.tell("focus");
      });
    }

    drag(view, fingers, id, now) {
      const scale = this.scale(...this.sizeOf(view));
      const before = fingers.get(id);
      const others = Array.from(fingers).filter(([other]) => other !== id);
      const part = 1 / (others.length + 1);
      const across = ((now[0] - before[0]) * part) / (this.width * scale);
      const down = ((now[1] - before[1]) * part) / (this.height * scale);
      const alone = this.panes.find((pane) => pane.loose && pane.host() === view);
      if (alone && !others.length) return void this.move(alone, across, down);
      const [x, y] = [this.x - across, this.y - down];
      let zoom = this.zoom;
      if (others.length) {
        const still = others[0][1];
        const far = (at) => Math.hypot(at[0] - still[0], at[1] - still[1]) || 1;
        zoom = Math.max(1, (zoom * far(now)) / far(before));
      }
      this.set(x, y, zoom);
    }

    /* Layouts. */
    tools() {
      const root = this.root;
      this.percentage = root.querySelector("[data-percent]");
      const acts = {
        in: () => this.zoomBy(STEP), out: () => this.zoomBy(1 / STEP),
        fit: () => this.reset(), one: () => this.oneToOne(),
        full: () => this.fullScreen(),
      };
      all(root, "[data-act]").forEach((button) =>
        button.addEventListener("click", () => acts[button.dataset.act]()));
      all(root, "[data-layout-is]").forEach((button) =>
        button.addEventListener("click", () => this.lay(button.dataset.layoutIs)));
      document.addEventListener("fullscreenchange", () => {
        all(root, '[data-act="full"]').forEach((button) =>
          button.setAttribute("aria-pressed", String(document.fullscreenElement === root)));
        this.fill();
      });
      window.addEventListener("resize", () => this.fill());
      this.slider = root.querySelector("[data-wipe]");
      this.sides = all(root, "select[data-side]");
      if (!this.slider || this.panes.length < 2) {
        all(root, '[data-layout-is="wipe"]').forEach((button) => (button.hidden = true));
        return;
      }
      for (const side of this.sides) {
        for (const pane of this.panes) {
          const option = make("option", "", pane.title);
          option.value = pane.key;
          side.append(option);
        }
        side.addEventListener("change", () => this.lay("wipe"));
      }
      const [a, b] = this.pairAtFirst();
      this.sides[0].value = a.key;
      this.sides[1].value = b.key;
      this.slider.addEventListener("input", () => {
        this.wipe = this.slider.value / 1000;
        this.clip();
        this.keep();
      });
    }

    /* What is worth comparing: two predictions, else prediction and truth, else the first two. */
    pairAtFirst() {
      const of = (...roles) => this.panes.filter((pane) => roles.includes(pane.role));
      const first = of("prediction").length ? of("prediction") : of("answer");
      const pair = first.length > 1 ? first : [...first, ...of("target"), ...of("input")];
      return pair.length > 1 ? pair : this.panes;
    }

    lay(layout) {
      if (layout === "wipe" && (!this.slider || this.panes.length < 2)) layout = "row";
      this.layout = LAYOUTS.includes(layout) ? layout : "row";
      LAYOUTS.forEach((name) => this.root.classList.toggle("lay-" + name, name === this.layout));
      all(this.root, "[data-layout-is]").forEach((button) =>
        button.setAttribute("aria-pressed", String(button.dataset.layoutIs === this.layout)));
      const chosen = this.layout === "wipe" ? this.sides.map((side) => side.value) : [];
      for (const pane of this.panes) {
        const at = chosen.indexOf(pane.key);
        pane.figure.classList.toggle("chosen", at >= 0);
        pane.figure.style.order = at >= 0 ? at : ""; // captions stand as the sides do
        pane.layer.classList.toggle("under", at === 0);
        pane.layer.classList.toggle("over", at > 0);
        pane.layer.style.clipPath = "";
        const home = at >= 0 ? this.wipeView : pane.view;
        if (pane.layer.parentNode !== home) home.append(pane.layer);
      }
      this.sizes.clear();
      this.clip();
      this.set(this.x, this.y, this.zoom);
      this.tell("layout");
    }

    /* The pixels never move: what lies over them is cut. */
    clip() {
      if (this.layout !== "wipe") return;
      const over = this.wipeView.querySelector(".over");
      if (over) over.style.clipPath = "inset(0 0 0 " + 100 * this.wipe + "%)";
      const line = this.wipeView.querySelector(".wipe-line");
      if (line) line.style.left = 100 * this.wipe + "%";
      this.slider.value = Math.round(1000 * this.wipe);
      this.slider.setAttribute("aria-valuetext", Math.round(100 * this.wipe) + " % from the left");
    }

    /* On the whole screen: as many columns as make the pictures largest. */
    fill() {
      const isFull = document.fullscreenElement === this.root;
      this.root.classList.toggle("filling", isFull);
      if (!isFull || !this.panes.length) return;
      const about = 70; // pixels of a pane's caption and scale
      const rest = window.innerHeight - 150; // below the tools, above the readout
      let best = [1, 0];
      for (let columns = 1; columns <= this.panes.length; columns += 1) {
        const rows = Math.ceil(this.panes.length / columns);
        const wide = (window.innerWidth - 32) / columns - 12;
        const high = rest / rows - about;
        const width = Math.min(wide, (high * this.width) / this.height);
        if (width > best[1]) best = [columns, width, high];
      }
      this.root.style.setProperty("--columns", String(best[0]));
      this.root.style.setProperty("--high", Math.max(80, Math.floor(best[2] || rest)) + "px");
      this.sizes.clear();
      this.redraw();
    }

    fullScreen() {
      if (document.fullscreenElement) document.exitFullscreen();
      else if (this.root.requestFullscreen) this.root.requestFullscreen().catch(() => {});
    }

    show(role) {
      const of = this.panes.filter((pane) => pane.role === role);
      if (!of.length) return;
      const at = of.findIndex((pane) => pane.view === document.activeElement);
      const pane = of[(at + 1) % of.length];
      if (this.layout === "wipe") {
        this.sides[1].value = pane.key;
        this.lay("wipe");
        return;
      }
      pane.view.focus();
      pane.figure.scrollIntoView({ block: "nearest", inline: "center" });
    }

    /* The address. */
    restore() {
      const given = new URLSearchParams(this.keepsAddress ? location.search : "");
      this.wipe = clamp(number(given.get("wipe"), 0.5), 0, 1);
      this.look = {
        map: given.get("map") || "",
        lo: number(given.get("lo"), null),
        hi: number(given.get("hi"), null),
        scale: given.get("scale") || "",
        off: new Set((given.get("off") || "").split(".").filter(Boolean).map(Number)),
        opacity: number(given.get("opacity"), null),
        outline: given.get("outline") === "1",
      };
      if (this.sides.length && given.get("sides")) {
        const keys = given.get("sides").split("~");
        this.sides.forEach((side, at) => {
          if (this.panes.some((pane) => pane.key === keys[at])) side.value = keys[at];
        });
      }
      for (const part of (given.get("shift") || "").split("~")) {
        const [key, right, down, loose] = part.split(":");
        const pane = this.panes.find((one) => one.unlink && one.key === key);
        if (!pane) continue;
        pane.shiftTo(number(right, 0), number(down, 0));
        this.link(pane, loose === "u");
      }
      this.extent = this.reach();
      const [x, y] = [number(given.get("x"), 0.5), number(given.get("y"), 0.5)];
      this.zoom = number(given.get("z"), 1);
      [this.x, this.y] = [x, y];
      this.lay(given.get("layout") || (this.root.dataset.layout || "row"));
      this.set(x, y, number(given.get("z"), 1));
    }

    /* What the address says of the view; null: left out. */
    said() {
      const look = this.look;
      const moved = this.zoom > 1.001 || this.zoom < 0.999;
      const sides = this.layout === "wipe" ? this.sides.map((side) => side.value) : [];
      return {
        z: moved ? round(this.zoom, 3) : null,
        x: moved ? round(this.x, 4) : null,
        y: moved ? round(this.y, 4) : null,
        layout: this.layout === (this.root.dataset.layout || "row") ? null : this.layout,
        wipe: this.layout === "wipe" ? round(this.wipe, 3) : null,
        sides: sides.length ? sides.join("~") : null,
        map: look.map || null,
        lo: look.lo === null ? null : String(look.lo),
        hi: look.hi === null ? null : String(look.hi),
        scale: look.scale || null,
        off: look.off.size ? Array.from(look.off).sort((a, b) => a - b).join(".") : null,
        opacity: look.opacity === null ? null : round(look.opacity, 2),
        outline: look.outline ? "1" : null,
        shift: this.panes.filter((pane) => pane.loose || pane.shift.some(Boolean)).map((pane) =>
          [pane.key, ...pane.shift.map((part) => round(part, 4)), ...(pane.loose ? ["u"] : [])]
            .join(":")).join("~") || null,
      };
    }

    keep() {
      if (!this.keepsAddress || this.waiting) return;
      const wait = Math.max(0, this.written + WRITES_MS - performance.now());
      this.waiting = setTimeout(() => {
        this.waiting = 0;
        this.written = performance.now();
        this.write();
      }, wait);
    }

    write() {
      const said = this.said();
      const put = (address) => {
        const found = new URL(address, location.href);
        for (const name of Object.keys(said)) {
          if (said[name] === null) found.searchParams.delete(name);
          else found.searchParams.set(name, said[name]);
        }
        return found.href;
      };
      const href = put(location.href);
      if (href !== location.href) history.replaceState(history.state, "", href);
      all(document, "a[data-carry]").forEach((link) => (link.href = put(link.href)));
    }
  }

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function moveCross(stage, event) {
    const step = event.shiftKey ? 10 : 1;
    const [across, down] = ARROWS[event.key];
    const at = stage.point;
    const move = (value, by, size) =>
      clamp((Math.floor(value * size + 1e-6) + by * step + 0.5) / size, 0.5 / size, 1 - 0.5 / size);
    stage.pointTo(
      move(at.x, across, stage.width), move(at.y, down, stage.height), at.pane, true);
    const half = 0.45 / stage.zoom;
    if (Math.abs(stage.point.x - stage.x) > half || Math.abs(stage.point.y - stage.y) > half) {
      stage.set(stage.point.x, stage.point.y, stage.zoom);
    }
  }

  function toggleCross(stage) {
    if (stage.byKeys) {
      stage.pointTo(null);
      return;
    }
    const at = stage.point || { x: stage.x, y: stage.y };
    const middle = (value, size) => (Math.floor(clamp(value, 0, 0.9999) * size) + 0.5) / size;
    stage.pointTo(middle(at.x, stage.width), middle(at.y, stage.height), null, true);
  }

  function toggleWipe(stage) {
    if (!stage.slider || stage.panes.length < 2) return;
    if (stage.layout === "wipe") stage.lay(stage.root.dataset.layout || "row");
    else {
      stage.lay("wipe");
      stage.slider.focus();
    }
  }

  function toggleLink(stage) {
    const pane = stage.atWork();
    if (!pane || !pane.unlink) return false;
    stage.link(pane, !pane.loose);
    V.announce(pane.title + (pane.loose ? ": unlinked" : ": linked"));
  }

  function showLegend(stage) {
    const legend = stage.root.querySelector("[data-legend]");
    if (!legend) return false;
    const first = legend.querySelector("[data-class] input, [data-class] a")
      || legend.querySelector("summary");
    if (legend.tagName === "DETAILS") legend.open = true;
    first.focus();
    return true;
  }

  function hide(stage, event) {
    if (event.repeat) return;
    stage.bare = true;
    stage.root.classList.add("bare");
    stage.tell("bare");
  }

  const ACTS = {
    "+": (stage) => stage.zoomBy(STEP), "=": (stage) => stage.zoomBy(STEP),
    "-": (stage) => stage.zoomBy(1 / STEP),
    0: (stage) => stage.reset(), 1: (stage) => stage.oneToOne(),
    w: toggleWipe, x: toggleCross, h: hide, l: showLegend, u: toggleLink,
    f: (stage) => stage.fullScreen(),
    "[": (stage) => stage.tell("fainter"), "]": (stage) => stage.tell("stronger"),
    Escape: (stage) => {
      if (!stage.byKeys) return false;
      stage.pointTo(null);
      return true;
    },
  };

  /* Keys, through the page's own, which leaves out modifiers, fields and whoever wants none. */
  function listenToKeys() {
    if (!V.on) return;
    const on = (key, act) => V.on(key, (event) => (V.current ? act(V.current, event) : false));
    for (const key of Object.keys(ACTS)) on(key, ACTS[key]);
    for (const key of Object.keys(ROLES)) on(key, (stage) => stage.show(ROLES[key]));
    for (const key of Object.keys(ARROWS)) {
      const [across, down] = ARROWS[key];
      on(key, (stage, event) => {
        if (stage.byKeys) return void moveCross(stage, event);
        return across ? V.follow(across > 0 ? "a[rel~=next]" : "a[rel~=prev]") : false;
      });
      on("Shift+" + key, (stage, event) => {
        const pane = stage.atWork();
        if (stage.byKeys) moveCross(stage, event);
        else if (pane && pane.loose) stage.move(pane, 0.01 * across / stage.zoom, 0.01 * down / stage.zoom);
        else stage.pan(0.1 * across, 0.1 * down);
      });
    }
    V.on("n", () => V.follow("[data-next-attempt]"));
    V.on("N", () => V.follow("[data-last-attempt]"));
    V.on("m", () => V.follow("[data-next-model]"));
    if (V.films.length) {
      V.on(",", () => V.film().show(V.film().at - 1));
      V.on(".", () => V.film().show(V.film().at + 1));
      V.on(" ", () => V.film().play());
    }
  }

  function keyUp(event) {
    if (event.key !== "h") return;
    V.stages.filter((stage) => stage.bare).forEach((stage) => {
      stage.bare = false;
      stage.root.classList.remove("bare");
      stage.tell("bare");
    });
  }

  /* A clip: a strip of frames; the video, where the browser plays it, steps along. */
  class FilmPane {
    constructor(root) {
      this.root = root;
      this.video = root.querySelector("video");
      this.big = root.querySelector("[data-frame-shown]");
      this.buttons = all(root, "[data-frame]");
      this.at = 0;
      if (this.video && this.buttons.length) {
        this.video.poster = this.buttons[0].querySelector("img").src;
        this.video.addEventListener("error", () => this.show(this.at));
      }
      this.buttons.forEach((button, at) =>
        button.addEventListener("click", () => this.show(at)));
      all(root, "[data-time]").forEach((button) =>
        button.addEventListener("click", () => this.show(this.nearest(Number(button.dataset.time)))));
    }

    plays() {
      return this.video && !this.video.error;
    }

    nearest(time) {
      let best = 0;
      this.buttons.forEach((button, at) => {
        const far = (other) => Math.abs(Number(this.buttons[other].dataset.seconds) - time);
        if (far(at) < far(best)) best = at;
      });
      return best;
    }

    show(at) {
      this.at = clamp(at, 0, this.buttons.length - 1);
      const button = this.buttons[this.at];
      this.buttons.forEach((one) => one.removeAttribute("aria-current"));
      button.setAttribute("aria-current", "true");
      button.scrollIntoView({ block: "nearest", inline: "nearest" });
      const picture = button.dataset.large || button.querySelector("img").src;
      if (this.plays()) {
        if (!this.video.paused) this.video.pause(); // one that is about to play, too
        if (this.video.readyState === 0) this.video.poster = picture; // nothing is loaded yet
        this.video.currentTime = Number(button.dataset.middle || button.dataset.seconds);
      } else if (this.big) {
        this.big.src = picture;
        this.big.alt = button.textContent.trim();
        this.big.hidden = false;
      }
    }

    play() {
      if (!this.video) return;
      if (this.video.paused) this.video.play().catch(() => {});
      else this.video.pause();
    }
  }

  V.film = () => V.films.find((one) => one.root.contains(document.activeElement)) || V.films[0];

  /* A link that takes the view along has it as it is when it is followed. */
  function carry(event) {
    const link = event.target.closest && event.target.closest("a[data-carry]");
    if (link) V.stages.filter((stage) => stage.keepsAddress).forEach((stage) => stage.write());
  }

  V.start = () => {
    V.stages = all(document, "[data-stage]").map((root) => new Stage(root));
    V.current = V.stages.find((stage) => stage.panes.length) || null;
    V.films = all(document, "[data-film]").map((root) => new FilmPane(root));
    document.documentElement.setAttribute("data-ready", "");
    listenToKeys();
    document.addEventListener("keyup", keyUp);
    document.addEventListener("click", carry, true);
    window.addEventListener("pagehide", () => V.stages.forEach((s) => s.waiting && s.write()));
    if (V.joinFields) V.stages.forEach(V.joinFields);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", V.start);
  else V.start();
})();
