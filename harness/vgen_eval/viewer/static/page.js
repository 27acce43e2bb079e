/* Keys, theme and watching, on every page. Without it each page still says all it has. */
(function () {
  "use strict";

  var VgenView = (window.VgenView = window.VgenView || {});
  var root = document.documentElement;

  /* --- what a reader chose, kept on this machine */

  var store = {
    get: function (name, otherwise) {
      try {
        var found = window.localStorage.getItem("vgen-view." + name);
        return found === null ? otherwise : found;
      } catch (e) {
        return otherwise;
      }
    },
    set: function (name, value) {
      try {
        window.localStorage.setItem("vgen-view." + name, value);
      } catch (e) {
        /* a browser that keeps nothing: it holds for this page */
      }
    },
  };
  VgenView.store = store;

  var THEMES = ["auto", "light", "dark"];

  function showTheme(theme) {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
    document.querySelectorAll("[data-theme-word]").forEach(function (word) {
      word.textContent = "Theme: " + theme;
    });
  }

  var theme = store.get("theme", "auto");
  if (THEMES.indexOf(theme) < 0) theme = "auto";
  if (theme !== "auto") root.setAttribute("data-theme", theme); /* before anything is painted */

  /* --- saying something to everyone */

  VgenView.announce = function (text) {
    var place = document.getElementById("announce");
    if (place) place.textContent = text;
  };

  /* --- keys: VgenView.on("j", fn) in other scripts; the last that was added comes first */

  var keys = {};
  var singles = store.get("single-keys", "on") === "on";

  VgenView.on = function (key, act) {
    (keys[key] = keys[key] || []).unshift(act);
  };

  function isWriting(target) {
    if (!target || !target.closest) return false;
    if (target.isContentEditable) return true;
    var field = target.closest("input, select, textarea");
    return !!field && !/^(checkbox|radio|button|submit|range)$/.test(field.type || "");
  }

  function onKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    var open = document.querySelector("dialog[open]");
    if (open && event.key !== "Escape") return;
    if (event.key !== "Escape" && isWriting(event.target)) return;
    var single = event.key.length === 1;
    if (single && !singles) return;
    /* a control's own key stays its own: space presses, arrows move a slider or a choice */
    var field = event.target.closest && event.target.closest("input, select, button, summary, a");
    if (event.key === " " && field) return;
    if (/^(Arrow|Home|End|Page)/.test(event.key) && event.target.closest("input, select, video")) return;
    var name = event.shiftKey && !single ? "Shift+" + event.key : event.key;
    var acts = keys[name] || [];
    for (var at = 0; at < acts.length; at++) {
      if (acts[at](event) !== false) {
        event.preventDefault();
        return;
      }
    }
  }

  VgenView.follow = function (selector) {
    var link = document.querySelector(selector);
    if (!link || !link.href) return false;
    link.click();
    return true;
  };

  function openKeys() {
    var sheet = document.getElementById("keys");
    if (!sheet || !sheet.showModal) return false;
    sheet.showModal(); /* closing gives the focus back by itself */
    return true;
  }

  function search() {
    var field = document.querySelector("input[type=search]");
    if (!field) return false;
    var folded = field.closest("details");
    if (folded) folded.open = true;
    field.focus();
    field.select();
    return true;
  }

  function leave(event) {
    if (document.querySelector("dialog[open]")) return false;
    if (isWriting(event.target)) {
      event.target.blur();
      return true;
    }
    var up = document.querySelectorAll(".crumbs a[href]");
    if (!up.length || document.body.classList.contains("page-runs")) return false;
    up[up.length - 1].click();
    return true;
  }

  /* Has nothing of the page the focus? */
  function isNowhere() {
    var at = document.activeElement;
    return !at || at === document.body || at === root || at.id === "main";
  }

  /* --- cards: one of them takes part in tabbing, arrows move among them */

  function rove(list) {
    var links = Array.prototype.slice.call(list.querySelectorAll(".card > a"));
    if (!links.length) return;

    function take(link) {
      links.forEach(function (other) {
        other.tabIndex = other === link ? 0 : -1;
      });
    }
    function columns() {
      var top = links[0].getBoundingClientRect().top;
      var count = links.findIndex(function (link) {
        return link.getBoundingClientRect().top > top + 4;
      });
      return count < 1 ? links.length : count;
    }
    function go(step) {
      return function (event) {
        var here = links.indexOf(document.activeElement);
        var letter = event && event.key.length === 1;
        if (here < 0 && !letter && !isNowhere()) return false;
        var by = typeof step === "function" ? step() : step;
        var next = here < 0 ? (current() < 0 ? 0 : current()) : here + by;
        if (next < 0 || next >= links.length) return true;
        take(links[next]);
        links[next].focus();
        return true;
      };
    }
    function current() {
      return links.findIndex(function (link) {
        return link.tabIndex === 0;
      });
    }
    var marked = location.hash && document.getElementById(location.hash.slice(1));
    var back = marked && marked.querySelector && marked.querySelector("a");
    take(links.indexOf(back) < 0 ? links[0] : back);
    if (links.indexOf(back) >= 0) back.focus();
    list.addEventListener("focusin", function (event) {
      if (links.indexOf(event.target) >= 0) {
        take(event.target);
        try {
          var place = location.pathname + location.search + "#" + event.target.parentNode.id;
          history.replaceState(history.state, "", place); /* Back comes back to this card */
        } catch (e) {
          /* too many in a short time: the next one counts */
        }
      }
    });
    /* a page comes to the place that its address names after scripts ran, and takes the focus away */
    window.addEventListener("load", function () {
      window.setTimeout(function () {
        if (links.indexOf(back) >= 0 && isNowhere()) back.focus();
      }, 0);
    });
    VgenView.on("Enter", function () {
      if (!isNowhere() || current() < 0) return false;
      links[current()].click();
      return true;
    });
    VgenView.on("ArrowRight", go(1));
    VgenView.on("ArrowLeft", go(-1));
    VgenView.on("ArrowDown", go(columns));
    VgenView.on("ArrowUp", go(function () { return -columns(); }));
    VgenView.on("Home", go(function () { return -links.indexOf(document.activeElement); }));
    VgenView.on("End", go(function () { return links.length - 1 - links.indexOf(document.activeElement); }));
    VgenView.on("j", go(1));
    VgenView.on("k", go(-1));
  }

  /* --- pictures on their way look like that, not like a mistake */

  function tellComing(picture) {
    function come() {
      picture.classList.remove("coming");
    }
    if (picture.complete) return;
    picture.classList.add("coming");
    picture.addEventListener("load", come);
    picture.addEventListener("error", come);
  }

  /* --- choices that act at once; the page that comes has the focus where it was */

  function actAtOnce(field) {
    field.addEventListener("change", function () {
      try {
        window.sessionStorage.setItem(
          "vgen-view.focus", JSON.stringify([location.pathname, field.name, field.value])
        );
      } catch (e) {
        /* the focus begins anew */
      }
      field.form.requestSubmit();
    });
  }

  function focusAgain() {
    var kept = null;
    try {
      kept = JSON.parse(window.sessionStorage.getItem("vgen-view.focus"));
      window.sessionStorage.removeItem("vgen-view.focus");
    } catch (e) {
      return;
    }
    if (!kept || kept[0] !== location.pathname) return;
    document.querySelectorAll("[data-at-once]").forEach(function (field) {
      if (field.name === kept[1] && (field.type !== "radio" || field.checked)) field.focus();
    });
  }

  /* --- commands: a button copies what can be selected as well */

  function offerCopy(block) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", function () {
      function say(word) {
        button.textContent = word;
        VgenView.announce(word);
      }
      function select() {
        window.getSelection().selectAllChildren(block);
        say("Selected: copy it by the keyboard");
      }
      if (!navigator.clipboard) return select();
      navigator.clipboard.writeText(block.textContent).then(function () {
        say("Copied");
      }, select);
    });
    block.parentNode.appendChild(button);
  }

  /* --- the sample that comes next is fetched while nothing is to be done */

  function warm() {
    var next = document.querySelector('a[rel="next"][data-carry]');
    if (!next || !/^https?:$/.test(location.protocol)) return;
    fetch(next.href)
      .then(function (answer) {
        return answer.ok ? answer.text() : "";
      })
      .then(function (text) {
        (text.match(/src="[^"]+\.png[^"]*"/g) || []).slice(0, 6).forEach(function (one) {
          new Image().src = one.slice(5, -1).replaceAll("&amp;", "&");
        });
      })
      .catch(function () {});
  }

  /* --- what is wider than its place says so, and can be scrolled by keys */

  function tellMore(box) {
    var line = document.createElement("p");
    line.className = "soft small more-right";
    line.textContent = "More to the right →";
    line.hidden = true;
    box.parentNode.insertBefore(line, box);
    function look() {
      var wider = box.scrollWidth > box.clientWidth + 1;
      var rest = wider && box.scrollLeft + box.clientWidth < box.scrollWidth - 2;
      box.classList.toggle("cut", rest);
      line.hidden = !wider;
      line.textContent = rest ? "More to the right →" : "← More to the left";
      if (wider && !box.hasAttribute("tabindex")) {
        box.tabIndex = 0;
        box.setAttribute("role", "region");
        var caption = box.querySelector("caption");
        box.setAttribute("aria-label", caption ? caption.textContent : "Table");
      }
    }
    box.addEventListener("scroll", look, { passive: true });
    if (window.ResizeObserver) new ResizeObserver(look).observe(box);
    look();
  }

  /* --- watching a run: what is new is told, and the list never moves under the reader */

  var SIGNS = { running: "▶", complete: "●", incomplete: "◐", stopped: "■", unreadable: "▲", gone: "▲" };

  function count(number) {
    return number.toLocaleString("en-US");
  }

  function watch(address, mark) {
    var seen = {};
    var fresh = "";
    var lost = false;
    var timer = 0;
    var busy = false;
    var gone = false;
    var box = document.querySelector("[data-live-box]");
    var state = box.getAttribute("data-was");
    var only = box.getAttribute("data-sample");

    function put(name, text) {
      document.querySelectorAll("[data-live-" + name + "]").forEach(function (place) {
        if (place.textContent !== text) place.textContent = text;
      });
    }
    function putState(name) {
      put("word", name);
      put("state", name);
      put("sign", SIGNS[name] || "");
      document.querySelectorAll("[data-live-mark]").forEach(function (place) {
        place.className = "mark mark-" + (name === "gone" ? "unreadable" : name);
      });
    }
    function offer(words) {
      document.querySelectorAll("[data-live-new]").forEach(function (link) {
        link.hidden = false;
        link.textContent = words + ": show";
      });
      VgenView.announce(words);
    }
    function again(after) {
      window.clearTimeout(timer);
      timer = window.setTimeout(ask, after);
    }
    function take(found) {
      if (lost) box.removeAttribute("data-state");
      lost = false;
      mark = found.mark;
      putState(found.state);
      put("count", count(found.ended) + " of " + count(found.expected));
      document.querySelectorAll("progress[data-live-bar]").forEach(function (bar) {
        bar.max = Math.max(found.expected, 1);
        bar.value = found.ended;
      });
      if (only ? found.keys.indexOf(only) >= 0 : found.fresh) {
        found.keys.forEach(function (key) {
          seen[key] = true;
        });
        fresh = count(Object.keys(seen).length) + (found.more || /\+$/.test(fresh) ? "+" : "");
        offer(only ? "answered" : fresh + " new");
      } else if (found.scored_again) offer("scored again");
      else if (found.state !== state && found.state !== "running" && !only) {
        if (fresh) VgenView.announce("The run is " + found.state);
        else offer("now " + found.state);
      }
      state = found.state;
      again(state === "running" ? 2000 : 5000);
    }
    /* said once: nothing more comes of it */
    function end() {
      gone = true;
      putState("gone");
      box.textContent = SIGNS.gone + " This run is gone";
      box.setAttribute("data-state", "gone");
      VgenView.announce("This run is gone");
    }
    function lose() {
      if (!lost && state === "running") VgenView.announce("disconnected, retrying");
      lost = true;
      box.setAttribute("data-state", "lost");
      put("word", "disconnected, retrying");
      again(5000);
    }
    function ask() {
      if (document.hidden || busy || gone) return;
      busy = true;
      fetch(address + mark, { headers: { accept: "application/json" }, cache: "no-store" })
        .then(function (answer) {
          if (answer.status === 404) return end();
          if (!answer.ok) throw new Error(String(answer.status));
          return answer.json().then(take);
        })
        .catch(lose)
        .then(function () {
          busy = false;
        });
    }
    document.addEventListener("visibilitychange", function () {
      if (!document.hidden) again(0);
    });
    again(state === "running" ? 2000 : 5000);
  }

  /* --- runs: which of them move on */

  function watchAll(address) {
    function ask() {
      if (document.hidden) return again();
      fetch(address, { cache: "no-store" })
        .then(function (answer) {
          return answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status)));
        })
        .then(function (found) {
          found.runs.forEach(function (run) {
            var row = document.getElementById("r-" + run.key);
            var bar = row && row.querySelector("progress");
            var told = row && row.querySelector("[data-count]");
            if (bar) bar.value = run.ended;
            if (told) told.textContent = count(run.ended) + " of " + count(run.expected);
          });
          var stale = document.querySelector("[data-stale]");
          if (stale && found.mark !== stale.getAttribute("data-stale")) stale.hidden = false;
        })
        .catch(function () {})
        .then(again);
    }
    function again() {
      window.setTimeout(ask, 4000);
    }
    again();
  }

  /* --- begin */

  function begin() {
    root.setAttribute("data-ready", "");
    showTheme(theme);
    document.querySelectorAll("[data-do]").forEach(function (control) {
      var what = control.getAttribute("data-do");
      if (what === "theme")
        control.addEventListener("click", function () {
          theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
          store.set("theme", theme);
          showTheme(theme);
        });
      if (what === "keys") control.addEventListener("click", openKeys);
      if (what === "single-keys") {
        control.checked = singles;
        control.addEventListener("change", function () {
          singles = control.checked;
          store.set("single-keys", singles ? "on" : "off");
        });
      }
    });
    /* what is filled in stays in the address, what is empty does not */
    document.querySelectorAll("form[data-tidy]").forEach(function (form) {
      form.addEventListener("submit", function () {
        Array.prototype.forEach.call(form.elements, function (field) {
          if (field.name && !field.value) field.disabled = true;
        });
        window.setTimeout(function () {
          Array.prototype.forEach.call(form.elements, function (field) {
            field.disabled = false;
          });
        }, 0);
      });
    });
    /* fewer than two runs are no comparison: told before the page is left */
    var chosen = document.getElementById("chosen");
    if (chosen)
      chosen.addEventListener("submit", function (event) {
        var many = document.querySelectorAll("input[form=chosen]:checked").length;
        if (many > 1 && many < 13) return;
        event.preventDefault();
        var hint = document.getElementById("chosen-hint");
        hint.className = "mark mark-incomplete";
        hint.textContent = many + " chosen: 2 to 12 are wanted.";
        VgenView.announce(hint.textContent);
      });
    /* on a wide window the filters stand open */
    var folded = document.querySelector(".filters > details");
    if (folded && window.matchMedia("(max-width: 959px)").matches) folded.open = false;

    document.querySelectorAll(".card img, .shot img").forEach(tellComing);
    document.querySelectorAll("[data-at-once]").forEach(actAtOnce);
    document.querySelectorAll("[data-command]").forEach(offerCopy);
    document.querySelectorAll(".scroll").forEach(tellMore);
    focusAgain();

    VgenView.on("?", openKeys);
    VgenView.on("/", search);
    VgenView.on("Escape", leave);
    VgenView.on("k", function () { return VgenView.follow("a[rel~=prev]"); });
    VgenView.on("j", function () { return VgenView.follow("a[rel~=next]"); });
    document.querySelectorAll(".cards").forEach(rove);
    document.addEventListener("keydown", onKey);

    if ("requestIdleCallback" in window) requestIdleCallback(warm, { timeout: 3000 });

    var live = document.body.getAttribute("data-live");
    if (live) watch(live, document.body.getAttribute("data-mark"));
    var all = document.querySelector("[data-live-all]");
    if (all) watchAll(all.getAttribute("data-live-all"));
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
