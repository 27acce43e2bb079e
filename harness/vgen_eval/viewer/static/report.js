/* Keys of a report: from sample to sample; the pictures in view take the other keys. */
(function () {
  "use strict";
  const V = window.VgenView;

  const BELOW = 140; // pixels from the top of the window: what ends above them has been seen
  const samples = () => Array.from(document.querySelectorAll("[data-sample]"));

  const take = (section) => {
    const stage = (V.stages || []).find((one) => section.contains(one.root));
    if (stage) V.current = stage;
  };

  const go = (step) => () => {
    const all = samples();
    if (!all.length) return false;
    const here = all.findIndex((one) => one.getBoundingClientRect().bottom > BELOW);
    const at = here < 0 ? all.length - 1 : here;
    const isAbove = at === 0 && all[0].getBoundingClientRect().top > BELOW;
    const next = Math.min(all.length - 1, Math.max(0, isAbove && step > 0 ? 0 : at + step));
    const section = all[next];
    section.scrollIntoView({ block: "start" });
    section.querySelector("h2").focus({ preventScroll: true });
    take(section);
    V.announce(section.dataset.sample + ", " + (next + 1) + " of " + all.length);
    return true;
  };

  // before those of pictures, which are asked first then: a wipe and a crosshair keep their arrows
  for (const key of ["j", "ArrowRight"]) V.on(key, go(1));
  for (const key of ["k", "ArrowLeft"]) V.on(key, go(-1));

  document.addEventListener("DOMContentLoaded", () => {
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) take(entry.target);
    }, { rootMargin: "-45% 0px -45% 0px" });
    samples().forEach((section) => seen.observe(section));
  });
})();
