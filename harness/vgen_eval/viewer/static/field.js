/* The numbers behind a pane: read under the cursor, and coloured anew without asking the server. */
(function () {
  "use strict";
  const V = (window.VgenView = window.VgenView || {});

  const LEVELS = 65534; // 0 is none, 1 to 65535 are numbers
  const HATCH = 8; // pixels of the screen from one stripe to the next
  const DOTS = 6;
  const FILLED = "(open: filled as scored)";
  const SPOKEN_MS = 500;
  const ASKED_MS = 200;
  const SCALES = {
    linear: (value) => value,
    log: (value) => Math.log(value),
    inverse: (value) => 1 / value,
  };
  const all = (root, selector) => Array.from(root.querySelectorAll(selector));

  /* Colour tables: of a script of the page, or of the server; fetched once. */
  let tables = null;
  V.maps = () => {
    if (!tables) {
      const own = document.getElementById("maps");
      const root = document.querySelector("[data-maps]");
      tables = own
        ? Promise.resolve(JSON.parse(own.textContent))
        : fetch(root.dataset.maps).then((answer) => answer.json());
    }
    return tables;
  };

  const packed = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  const fromHex = (hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));

  /* Bytes and head of a field: from the server, or from a script of the page. */
  async function fetchField(address) {
    if (!address.startsWith("#")) {
      const answer = await fetch(address);
      if (!answer.ok) throw new Error("field: " + answer.status);
      const head = JSON.parse(answer.headers.get("X-Field"));
      return [head, new Uint8Array(await answer.arrayBuffer())];
    }
    const script = document.getElementById(address.slice(1));
    const text = atob(script.textContent.trim());
    const zipped = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    return [JSON.parse(script.dataset.field), bytes];
  }

  /* Low bytes, then high bytes; rows as differences where `summed`. */
  function joinBytes(bytes, start, width, height, summed) {
    const size = width * height;
    const found = new Uint16Array(size);
    for (let row = 0, at = 0; row < height; row++) {
      let value = 0;
      for (let column = 0; column < width; column++, at++) {
        const part = bytes[start + at] | (bytes[start + size + at] << 8);
        value = summed ? (value + part) & 65535 : part;
        found[at] = value;
      }
    }
    return found;
  }

  /* Four planes of bytes, the lowest first, as numbers; NaN where there is none. */
  function joinFloats(bytes, size) {
    const words = new Uint32Array(size);
    for (let at = 0; at < size; at++) {
      words[at] = bytes[at] | (bytes[size + at] << 8) | (bytes[2 * size + at] << 16) |
        (bytes[3 * size + at] << 24);
    }
    return new Float32Array(words.buffer);
  }

  function decode(head, bytes) {
    const { width, height } = head;
    const size = width * height;
    if (head.bits === 32) return [joinFloats(bytes, size)];
    if (head.kind === "classes") {
      return [head.bits === 8 ? bytes : joinBytes(bytes, 0, width, height, false)];
    }
    const first = joinBytes(bytes, 0, width, height, true);
    if (head.kind !== "directions") return [first];
    return [first, joinBytes(bytes, 2 * size, width, height, true)];
  }

  function direction(u, v) {
    let [x, y] = [u, v];
    const z = 1 - Math.abs(u) - Math.abs(v);
    if (z < 0) {
      x = (1 - Math.abs(v)) * (u < 0 ? -1 : 1);
      y = (1 - Math.abs(u)) * (v < 0 ? -1 : 1);
    }
    const length = Math.hypot(x, y, z);
    return [x / length, y / length, z / length];
  }

  const short = (value) => String(Number(value.toPrecision(5)));

  /* Digits that steps of that size carry, five at most; six of exact numbers. */
  function readable(value, step) {
    if (!step) return String(Number(value.toPrecision(6)));
    const places = Math.floor(-Math.log10(step) + 1e-9);
    const power = Math.pow(10, Math.max(0, -places));
    const rounded = places < 0 ? Math.round(value / power) * power
      : Number(value.toFixed(Math.min(100, places)));
    return short(rounded === 0 ? 0 : rounded);
  }

  /* The numbers of one pane. */
  class Field {
    constructor(pane, head, bytes) {
      this.pane = pane;
      this.head = head;
      this.planes = decode(head, bytes);
      const size = head.width * head.height;
      this.filled = head.filled ? bytes.subarray((head.bits / 8) * size) : null;
      this.step = head.bits === 16 && head.kind === "scalar" ? (head.high - head.low) / LEVELS : 0;
      const data = pane.figure.dataset;
      this.classes = data.classes ? JSON.parse(data.classes) : [];
      this.colours = (data.colours || "").split(" ").filter(Boolean).map(fromHex);
      this.patterned = new Set((data.patterned || "").split(" ").filter(Boolean).map(Number));
      this.clear = data.clear !== undefined;
      this.none = data.none;
      this.switched = data.switched !== undefined;
      this.canvas = document.createElement("canvas");
      this.canvas.width = head.width;
      this.canvas.height = head.height;
      this.canvas.className = "painted";
      this.context = this.canvas.getContext("2d");
      this.marks = null; // where stripes and dots go
      this.over = null; // the canvas that has them, in pixels of the screen
      this.shown = false;
    }

    /* What stands in a plane as a number. */
    number(level) {
      if (this.head.bits === 32) return level;
      const { low, high } = this.head;
      return low + ((level - 1) * (high - low)) / LEVELS;
    }

    /* Where a point of the original lies in the field's rows; -1 outside. */
    index(x, y) {
      const [column, row] = this.pane.pixel(x, y);
      const at = (value, full, size) => Math.floor((Math.floor(value + 1e-9) * size) / full);
      const across = at(column, this.head.full[0], this.head.width);
      const down = at(row, this.head.full[1], this.head.height);
      const inside = across >= 0 && down >= 0 && across < this.head.width && down < this.head.height;
      return inside ? down * this.head.width + across : -1;
    }

    isNone(level) {
      return this.head.bits === 32 ? Number.isNaN(level) : level === 0;
    }

    /* A number, a direction, a class's place; null for none. */
    at(x, y) {
      const at = this.index(x, y);
      if (at < 0 || this.isNone(this.planes[0][at])) return null;
      const level = this.planes[0][at];
      if (this.head.kind === "classes") return level - 1;
      if (this.head.kind === "scalar") return this.number(level);
      return direction(this.number(level), this.number(this.planes[1][at]));
    }

    text(x, y) {
      if (this.index(x, y) < 0) return "–";
      const value = this.at(x, y);
      if (value === null) return this.none || "–";
      if (this.head.kind === "classes") return this.classes[value] || String(value);
      const mark = this.head.reduced ? "~" : "";
      if (this.head.kind === "directions") {
        return mark + value.map((part) => part.toFixed(3)).join(" ");
      }
      const sign = this.head.body === "diverging" && value > 0 ? "+" : "";
      const filled = this.filled && this.filled[this.index(x, y)] ? " " + FILLED : "";
      const unit = this.head.unit ? " " + this.head.unit : "";
      return mark + sign + readable(value, this.step) + unit + filled;
    }

    /* From a number to its colour: low and high are the ends. */
    colourer(map, fixed, low, high, scale) {
      const given = scale !== "linear" && low > 0 ? scale : "linear";
      const bend = SCALES[given] || SCALES.linear;
      const [start, end] = [bend(low), bend(high)];
      const colours = map.map(packed);
      const [below, above] = [packed(fixed.below), packed(fixed.above)];
      // a number counts as the end that it is half a step from, or nearer: as the server draws it
      const slack = 0.5 * this.step;
      const near = this.head.bits === 32 ? Math.fround : (end) => end;
      const [least, most] = [near(low) - slack, near(high) + slack];
      const reverse = this.head.reverse;
      return (value) => {
        if (value < least) return below;
        if (value > most) return above;
        const part = Math.min(1, Math.max(0, (bend(value) - start) / (end - start)));
        const place = Math.floor(255 * part + 0.5);
        return colours[reverse ? 255 - place : place];
      };
    }

    /* Colours of all numbers; of levels each is reckoned once. */
    paintNumbers(out, colour) {
      const numbers = this.planes[0];
      if (this.head.bits === 32) {
        for (let at = 0; at < out.length; at++) {
          if (!Number.isNaN(numbers[at])) out[at] = colour(numbers[at]);
        }
        return;
      }
      const table = new Uint32Array(65536);
      for (let level = 1; level < 65536; level++) table[level] = colour(this.number(level));
      for (let at = 0; at < out.length; at++) out[at] = table[numbers[at]];
    }

    async paint(look) {
      const maps = await V.maps();
      const data = this.pane.figure.dataset;
      const image = this.context.createImageData(this.head.width, this.head.height);
      const out = new Uint32Array(image.data.buffer);
      const levels = this.planes[0];
      if (this.head.kind === "scalar") {
        const name = (this.main() && look.map) || data.map;
        this.paintNumbers(out, this.colourer(maps[name] || maps[data.map], this.pane.stage.fixed,
          ...this.ends(look), (this.main() && look.scale) || "linear"));
      } else if (this.head.kind === "classes") {
        const isSeen = look.outline ? this.isEdge(levels) : () => true;
        const colours = new Uint32Array(65536);
        this.colours.forEach((colour, place) => {
          colours[place + 1] = this.isOff(look, place) ? 0 : packed(colour);
        });
        for (let at = 0; at < out.length; at++) if (isSeen(at)) out[at] = colours[levels[at]];
      } else {
        this.paintDirections(out);
      }
      this.context.putImageData(image, 0, 0);
      this.mark(look);
      this.show();
      this.pane.stage.redraw();
    }

    /* Says of a place in the plane: does another class lie beside it? */
    isEdge(levels) {
      const { width, height } = this.head;
      return (at) => {
        const [column, level] = [at % width, levels[at]];
        return (column > 0 && levels[at - 1] !== level) ||
          (column < width - 1 && levels[at + 1] !== level) ||
          (at >= width && levels[at - width] !== level) ||
          (at < width * (height - 1) && levels[at + width] !== level);
      };
    }

    /* Is it one of the maps that the page's map and range are of? */
    main() {
      return this.pane.figure.dataset.main !== undefined;
    }

    isOff(look, place) {
      return this.switched && look.off.has(place);
    }

    ends(look) {
      const data = this.pane.figure.dataset;
      const [low, high] = [Number(data.low), Number(data.high)];
      if (!this.main()) return [low, high];
      return [look.lo === null ? low : look.lo, look.hi === null ? high : look.hi];
    }

    paintDirections(out) {
      const [first, second] = this.planes;
      for (let at = 0; at < out.length; at++) {
        if (first[at] === 0) continue;
        const normal = direction(this.number(first[at]), this.number(second[at]));
        out[at] = packed(normal.map((part) => Math.round((255 * (part + 1)) / 2)));
      }
    }

    /* Masks of what is striped and dotted; drawn over the pane at the screen's own pixels. */
    mark(look) {
      const levels = this.planes[0];
      const striped = (level) => this.isNone(level) && !(this.head.kind === "classes" && this.clear);
      const dotted = (level) => this.patterned.has(level - 1) && !this.isOff(look, level - 1);
      this.marks = [striped, this.patterned.size ? dotted : null].map((wanted) => {
        if (!wanted) return null;
        const canvas = document.createElement("canvas");
        canvas.width = this.head.width;
        canvas.height = this.head.height;
        const context = canvas.getContext("2d");
        const image = context.createImageData(canvas.width, canvas.height);
        const out = new Uint32Array(image.data.buffer);
        let any = false;
        for (let at = 0; at < out.length; at++) {
          if (!wanted(levels[at])) continue;
          out[at] = 0xff000000;
          any = true;
        }
        if (!any) return null;
        context.putImageData(image, 0, 0);
        return canvas;
      });
      if (!this.marks.some(Boolean)) this.marks = null;
    }

    show() {
      const { sheet, layer, cross } = this.pane;
      if (!this.shown) {
        this.shown = true;
        this.canvas.style.width = this.pane.width + "px";
        this.canvas.style.height = this.pane.height + "px";
        sheet.append(this.canvas);
        sheet.classList.add("fielded");
      }
      if (this.marks && !this.over) {
        this.over = document.createElement("canvas");
        this.over.className = "hatched";
        layer.insertBefore(this.over, cross);
      }
      if (this.over) this.over.hidden = !this.marks;
    }

    draw(at) {
      if (!this.over || !this.marks) return;
      const dense = window.devicePixelRatio || 1;
      const [width, height] = [Math.round(at.width * dense), Math.round(at.height * dense)];
      if (this.over.width !== width || this.over.height !== height) {
        this.over.width = width;
        this.over.height = height;
      }
      const context = this.over.getContext("2d");
      context.clearRect(0, 0, width, height);
      const place = [at.left * dense, at.top * dense,
        this.pane.width * at.kx * dense, this.pane.height * at.ky * dense];
      [stripes, dots].forEach((pattern, which) => {
        if (!this.marks[which]) return;
        const part = document.createElement("canvas");
        part.width = width;
        part.height = height;
        const inner = part.getContext("2d");
        inner.imageSmoothingEnabled = false;
        inner.drawImage(this.marks[which], ...place);
        inner.globalCompositeOperation = "source-in";
        inner.fillStyle = inner.createPattern(pattern(this.pane.stage.fixed), "repeat");
        inner.fillRect(0, 0, width, height);
        context.drawImage(part, 0, 0);
      });
    }
  }

  function tile(size, fill) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = size;
    fill(canvas.getContext("2d"));
    return canvas;
  }

  const css = (colour) => "rgb(" + colour.join(",") + ")";
  let stripeTile = null;
  let dotTile = null;

  function stripes(fixed) {
    stripeTile = stripeTile || tile(HATCH, (context) => {
      for (let y = 0; y < HATCH; y++) {
        for (let x = 0; x < HATCH; x++) {
          context.fillStyle = css(fixed.hatch[(x + y) % HATCH < HATCH / 2 ? 0 : 1]);
          context.fillRect(x, y, 1, 1);
        }
      }
    });
    return stripeTile;
  }

  function dots() {
    dotTile = dotTile || tile(DOTS, (context) => {
      context.fillStyle = "#000";
      context.fillRect(0, 0, 2, 2);
    });
    return dotTile;
  }

  /* What a stage does with numbers. */
  class Numbers {
    constructor(stage) {
      this.stage = stage;
      this.root = stage.root;
      this.loading = new Map();
      this.lines = new Map(all(this.root, "[data-value]").map((one) => [one.dataset.value, one]));
      this.place = this.root.querySelector("[data-place]");
      this.spoken = this.root.querySelector("[data-spoken]");
      this.exact = new Map();
      const colours = JSON.parse(this.root.dataset.fixed || "{}");
      stage.fixed = {
        below: colours.below || [255, 0, 255], above: colours.above || [0, 255, 255],
        hatch: colours.hatch || [[96, 96, 96], [150, 150, 150]],
      };
      stage.watch((what) => this.hear(what));
      this.join();
      if (this.changed()) this.repaint();
    }

    changed() {
      const { map, lo, hi, scale, off, opacity, outline } = this.stage.look;
      return map || lo !== null || hi !== null || scale || off.size || opacity !== null || outline;
    }

    hear(what) {
      if (what === "point" || what === "shift") this.read();
      else if (what === "bare") this.bare();
      else if (what === "fainter" || what === "stronger") this.fade(what === "fainter" ? -0.1 : 0.1);
      else if (what === "focus") this.loadAll();
    }

    /* The numbers of a pane; null where it has none. Asked for once. */
    load(pane) {
      const address = pane.figure.dataset.field;
      if (!address) return Promise.resolve(null);
      if (!this.loading.has(pane)) {
        this.loading.set(pane, fetchField(address).then(async ([head, bytes]) => {
          const field = new Field(pane, head, bytes);
          pane.numbers = field;
          this.under(pane);
          this.opacity(pane);
          await field.paint(this.stage.look);
          pane.field = field;
          this.stage.redraw();
          return field;
        }).catch((fault) => {
          this.loading.delete(pane);
          console.warn(pane.key, fault);
          return null;
        }));
      }
      return this.loading.get(pane);
    }

    loadAll() {
      return Promise.all(this.stage.panes.map((pane) => this.load(pane)));
    }

    /* The input picture beneath a pane that lies over it. */
    under(pane) {
      const key = pane.figure.dataset.over;
      const other = key && this.stage.panes.find((one) => one.key === key);
      if (!other || pane.sheet.querySelector(".beneath")) return;
      const image = document.createElement("img");
      image.className = "beneath";
      image.alt = "";
      image.src = other.image.currentSrc || other.image.src;
      pane.sheet.prepend(image);
      this.opacity(pane);
    }

    opacity(pane) {
      if (!pane.numbers || pane.numbers.head.kind !== "classes") return;
      const given = this.stage.look.opacity;
      const own = this.stage.look.outline ? 1 : Number(pane.figure.dataset.opacity || 1);
      pane.numbers.canvas.style.opacity = given === null ? own : given;
    }

    fade(by) {
      const own = this.stage.panes.find((pane) => pane.figure.dataset.kind === "classes");
      if (!own) return;
      const now = this.stage.look.opacity === null
        ? Number(own.figure.dataset.opacity || 1) : this.stage.look.opacity;
      this.stage.look.opacity = Math.min(1, Math.max(0, Math.round((now + by) * 100) / 100));
      this.loadAll();
      this.stage.panes.forEach((pane) => this.opacity(pane));
      this.stage.keep();
    }

    bare() {
      for (const pane of this.stage.panes) if (pane.figure.dataset.over) this.under(pane);
    }

    repaint() {
      if (this.painting) return;
      this.painting = true;
      requestAnimationFrame(async () => {
        this.painting = false;
        for (const pane of this.stage.panes) {
          if (pane.numbers) {
            await pane.numbers.paint(this.stage.look);
            this.opacity(pane);
          } else this.load(pane);
        }
        this.bars();
      });
    }

    /* Scale bars follow the map and the range. */
    async bars() {
      const look = this.stage.look;
      const maps = await V.maps();
      for (const { figure } of this.stage.panes) {
        const bar = figure.querySelector("[data-bar]");
        if (!bar || figure.dataset.main === undefined) continue;
        const colours = maps[look.map] || maps[figure.dataset.map];
        const steps = all(bar, "[data-step]");
        const reverse = figure.dataset.reverse !== undefined;
        steps.forEach((step, at) => {
          const part = (at + 0.5) / steps.length;
          step.setAttribute("fill", css(colours[Math.floor(256 * (reverse ? 1 - part : part))]));
        });
        const put = (name, value) => {
          const one = figure.querySelector("[data-end=" + name + "]");
          if (one) one.textContent = value;
        };
        const unit = figure.dataset.unit ? " " + figure.dataset.unit : "";
        put("low", look.lo === null ? figure.dataset.lowText : short(look.lo));
        put("high", look.hi === null ? figure.dataset.highText : short(look.hi) + unit);
        all(figure, "[data-tick]").forEach((tick) => {
          tick.hidden = look.lo !== null || look.hi !== null || Boolean(look.scale);
        });
        put("map", (look.map || figure.dataset.map) + (look.scale ? ", " + look.scale : ""));
      }
    }

    /* Readout: every pane's value at the cursor. */
    read() {
      const point = this.stage.point;
      if (point) this.loadAll().then(() => this.tell());
      this.tell();
    }

    tell() {
      const stage = this.stage;
      const point = stage.point;
      const column = point && Math.min(stage.width - 1, Math.floor(point.x * stage.width + 1e-9));
      const row = point && Math.min(stage.height - 1, Math.floor(point.y * stage.height + 1e-9));
      const key = point ? column + "," + row : "";
      if (this.place) this.place.textContent = point ? "(" + column + ", " + row + ")" : "";
      const said = [];
      for (const pane of stage.panes) {
        const line = this.lines.get(pane.key);
        if (!line) continue;
        const text = point ? this.text(pane, point, key) : "";
        if (line.textContent !== text) line.textContent = text;
        if (text) said.push(pane.title + " " + text);
      }
      this.root.classList.toggle("reading", Boolean(point));
      if (point) this.ask(key);
      if (point && stage.byKeys) this.speak(column + " across, " + row + " down: " + said.join(", "));
    }

    text(pane, point, key) {
      if (!pane.inStep) return "out of step";
      const exact = this.exact.get(key + pane.key + pane.shift);
      if (pane.numbers && !(pane.numbers.head.reduced && exact)) {
        return pane.numbers.text(point.x, point.y);
      }
      return exact === "-" ? "–" : exact || "";
    }

    /* What has no field is asked of the server, once the cursor rests. */
    ask(key) {
      const { x, y } = this.stage.point;
      const place = (pane) => [x - pane.shift[0], y - pane.shift[1]];
      const asked = this.stage.panes.filter((pane) =>
        pane.figure.dataset.values && pane.inStep && !this.exact.has(key + pane.key + pane.shift) &&
        (!pane.numbers || pane.numbers.head.reduced) &&
        place(pane).every((part) => part >= 0 && part <= 1));
      clearTimeout(this.asking);
      if (!asked.length) return;
      const where = (pane) => {
        const [across, down] = place(pane).map((part) => part.toFixed(6));
        const address = pane.figure.dataset.values;
        return address + (address.includes("?") ? "&" : "?") + "x=" + across + "&y=" + down;
      };
      this.asking = setTimeout(() => {
        const addresses = new Set(asked.map(where));
        addresses.forEach((address) =>
          this.fetchValues(address, asked.filter((pane) => where(pane) === address), key));
      }, ASKED_MS);
    }

    fetchValues(address, panes, key) {
      const asked = panes.map((pane) => [pane, key + pane.key + pane.shift]);
      return fetch(address)
        .then((answer) => (answer.ok ? answer.json() : {}))
        .then((found) => {
          for (const [pane, id] of asked) {
            this.exact.set(id, found[pane.figure.dataset.name] || "");
          }
          if (this.exact.size > 5000) this.exact.clear();
          this.tell();
        }).catch(() => {});
    }

    /* The keyboard's crosshair alone is read aloud, at most twice a second. */
    speak(words) {
      this.words = words;
      if (this.speaking || !this.spoken) return;
      const wait = Math.max(0, (this.spokenAt || 0) + SPOKEN_MS - performance.now());
      this.speaking = setTimeout(() => {
        this.speaking = 0;
        this.spokenAt = performance.now();
        if (this.spoken.textContent !== this.words) this.spoken.textContent = this.words;
      }, wait);
    }

    /* Map, scale, range, classes. */
    join() {
      const look = this.stage.look;
      const change = () => {
        this.stage.keep();
        this.repaint();
      };
      const choose = (name, selector) => {
        const chooser = this.root.querySelector(selector);
        if (!chooser) return;
        chooser.value = look[name] || chooser.value;
        chooser.addEventListener("change", () => {
          look[name] = chooser.value === chooser.dataset.usual ? "" : chooser.value;
          change();
        });
      };
      choose("map", "[data-choose=map]");
      choose("scale", "[data-choose=scale]");
      const form = this.root.querySelector("[data-look]");
      if (form) form.addEventListener("submit", (event) => event.preventDefault());
      this.ranges(change);
      this.toggles(change);
      const reset = this.root.querySelector("[data-look-reset]");
      if (reset) {
        reset.addEventListener("click", () => {
          Object.assign(look, { map: "", scale: "", lo: null, hi: null, opacity: null, outline: false });
          look.off.clear();
          all(this.root, "[data-choose]").forEach((one) => (one.value = one.dataset.usual));
          all(this.root, "[data-range]").forEach((one) => (one.value = one.dataset.usual));
          all(this.root, "[data-class] input").forEach((one) => (one.checked = true));
          all(this.root, "[data-outline]").forEach((one) => (one.checked = false));
          this.stage.panes.forEach((pane) => this.opacity(pane));
          change();
        });
      }
    }

    /* A number and a slider for each end. */
    ranges(change) {
      const look = this.stage.look;
      for (const slider of all(this.root, "input[type=range][data-range]")) {
        const name = slider.dataset.range;
        const typed = this.root.querySelector('input[type=number][data-range="' + name + '"]');
        const put = (text) => {
          const value = text === "" ? NaN : Number(text);
          const usual = !Number.isFinite(value) || value === Number(slider.dataset.usual);
          look[name] = usual ? null : value;
          const [lo, hi] = this.ends();
          if (lo >= hi) look[name] = null;
          change();
        };
        if (look[name] !== null) slider.value = typed.value = look[name];
        slider.addEventListener("input", () => {
          typed.value = short(Number(slider.value));
          put(typed.value);
        });
        typed.addEventListener("change", () => {
          slider.value = typed.value;
          put(typed.value);
        });
      }
    }

    ends() {
      const main = this.stage.panes.find((pane) => pane.figure.dataset.main !== undefined);
      if (!main) return [0, 1];
      const { lo, hi } = this.stage.look;
      return [lo === null ? Number(main.figure.dataset.low) : lo,
        hi === null ? Number(main.figure.dataset.high) : hi];
    }

    /* Rows of the legend get a box each; `o`: only this one. */
    toggles(change) {
      const look = this.stage.look;
      const outline = this.root.querySelector("[data-outline]");
      if (outline) {
        outline.checked = look.outline;
        outline.addEventListener("change", () => {
          look.outline = outline.checked;
          change();
        });
      }
      const rows = all(this.root, "[data-class]");
      const boxes = rows.map((row) => {
        const box = document.createElement("input");
        box.type = "checkbox";
        const place = Number(row.dataset.class);
        box.checked = !look.off.has(place);
        box.setAttribute("aria-label", "show " + row.dataset.name);
        box.addEventListener("change", () => {
          if (box.checked) look.off.delete(place);
          else look.off.add(place);
          change();
        });
        const link = row.querySelector("[data-toggle]");
        if (link) link.replaceWith(box);
        else row.prepend(box);
        return box;
      });
      const places = rows.map((row) => Number(row.dataset.class));
      boxes.forEach((box, at) => box.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step) boxes[(at + step + boxes.length) % boxes.length].focus();
        else if (event.key === "o") {
          const alone = places.every((place, other) => look.off.has(place) === (other !== at));
          look.off.clear();
          if (!alone) places.forEach((place, other) => other !== at && look.off.add(place));
          boxes.forEach((one, other) => (one.checked = !look.off.has(places[other])));
          change();
        } else return;
        event.preventDefault();
        event.stopPropagation();
      }));
    }
  }

  V.joinFields = (stage) => {
    stage.numbers = new Numbers(stage);
  };

  /* Of every pane that has numbers: what the readout says at a point of the original, 0 to 1. */
  V.valueAt = async (x, y, stage = V.current) => {
    await stage.numbers.loadAll();
    const found = {};
    for (const pane of stage.panes) {
      if (pane.numbers && pane.inStep) found[pane.key] = pane.numbers.text(x, y);
    }
    return found;
  };

  /* The number itself: a number, a direction, a class's place; null for none. */
  V.numberAt = async (key, x, y, stage = V.current) => {
    const pane = stage.panes.find((one) => one.key === key);
    const field = pane && (await stage.numbers.load(pane));
    return field ? field.at(x, y) : null;
  };

  /* The colours that a pane is painted with, red, green, blue, alpha of every number. */
  V.coloursOf = async (key, stage = V.current) => {
    const pane = stage.panes.find((one) => one.key === key);
    const field = pane && (await stage.numbers.load(pane));
    if (!field) return null;
    const { width, height } = field.head;
    return Array.from(field.context.getImageData(0, 0, width, height).data);
  };
})();
