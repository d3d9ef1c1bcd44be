// Holds a page against what all pages keep (see gateway/console/doc.go), in a window as it is, and returns what is
// wrong. Folded parts are unfolded first, all but the menus.
(() => {
  const faults = new Set(), latin = [];
  const where = (e) => {
    const own = e.id ? "#" + e.id : [...e.classList].map((c) => "." + c).join("");
    const up = e.parentElement?.closest("[id], [class], form, table, dl, section, main, header");
    const text = (e.innerText || e.getAttribute("aria-label") || "").trim().replace(/\s+/g, " ").slice(0, 48);
    const above = !up ? "" : up.id ? up.localName + "#" + up.id
      : up.localName + [...up.classList].map((c) => "." + c).join("");
    return `${above} > ${e.localName}${own} "${text}"`;
  };
  const fault = (rule, e, more) => faults.add(`${rule}: ${where(e)}${more ? " " + more : ""}`);
  const seen = (e) => {
    const r = e.getBoundingClientRect();
    return e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && r.width > 1 && r.height > 1;
  };

  // One filled button. Dialogs, menus, folded parts and the chosen tab do not count.
  const probe = document.createElement("span");
  probe.style.backgroundColor = "var(--accent)";
  document.body.append(probe);
  const accent = getComputedStyle(probe).backgroundColor;
  probe.remove();
  const filled = [...document.querySelectorAll("a, button, input, summary, [role=button]")].filter((e) => seen(e) &&
    getComputedStyle(e).backgroundColor === accent && !e.closest("dialog, [popover], details, [aria-current], .skip"));
  if (filled.length > 1) fault(`${filled.length} filled buttons`, filled[1], "beside " + where(filled[0]));

  const folded = [...document.querySelectorAll("main details:not([open])")];
  for (const d of folded) d.open = true;

  // Texts: their size, ids, and their language.
  const ids = /\b(u[a-z2-7]{26}|ks-?[a-z2-7]{20}|or\d{14}[a-z2-7]{10}|[A-Za-z0-9_-]{43})(?![\w-])/;
  const people = /\b(u[a-z2-7]{26}|ks-?[a-z2-7]{20})\b/; // they have names
  const alone = (node, e, id) => {
    const code = e.closest("pre, code, kbd, textarea");
    if (code && code.textContent.trim() !== id) return ""; // a command, an address, a record
    if (e.closest("pre, .secret, textarea, #claims")) return ""; // claims are told as they are
    if (/^(https?:\/)?\//.test(node.textContent.trim())) return ""; // an address
    const small = e.closest(".id");
    if (!small) return people.test(id) ? "an id does not stand small beside its name" : code ? "" : "an id is no code";
    if (parseFloat(getComputedStyle(small).fontSize) > 13) return "an id beside a name is not small";
    if (!small.querySelector("button")) return "an id has no button that copies it";
    if (!people.test(id) || decodeURIComponent(location.href).includes(id)) return "";
    const named = small.closest(".named");
    return named && named.textContent.replace(small.textContent, "").trim() ? "" : "an id has no name beside it";
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const e = node.parentElement, text = node.textContent.trim();
    if (!text || e.closest("script, style, template, noscript")) continue;
    const option = e.closest("option");
    if (!option && !seen(e)) continue;
    if (/[A-Za-z]{3}/.test(text) && !e.closest("code, pre, kbd, samp, textarea, [lang]:not(html)")) {
      latin.push([text, where(e)]);
    }
    if (option) continue;
    const scale = e.ownerSVGElement ? e.getScreenCTM()?.a ?? 1 : 1;
    const size = parseFloat(getComputedStyle(e).fontSize) * Math.abs(scale);
    if (size < 11.95) fault(`text of ${size.toFixed(1)} px`, e);
    const id = text.match(ids);
    const why = id && /\d/.test(id[0]) && alone(node, e, id[0]);
    if (why) fault(why, e);
  }
  for (const e of document.querySelectorAll("[placeholder], [aria-label], [title], [alt], input[type=submit]")) {
    if (!e.checkVisibility()) continue;
    for (const name of ["placeholder", "aria-label", "title", "alt"]) {
      if (/[A-Za-z]{3}/.test(e.getAttribute(name) ?? "")) latin.push([e.getAttribute(name), `${name} of ${where(e)}`]);
    }
  }

  // Nothing is cut at a side.
  const root = document.documentElement, main = document.querySelector("main");
  const wide = root.scrollWidth > root.clientWidth;
  const held = (e) => {
    while ((e = e.parentElement) && e !== main) if (getComputedStyle(e).overflowX !== "visible") return true;
    return false;
  };
  if (wide) fault(`the page is ${root.scrollWidth - root.clientWidth} px too wide`, root);
  const room = main && main.clientWidth - parseFloat(getComputedStyle(main).paddingLeft) -
    parseFloat(getComputedStyle(main).paddingRight);
  for (const e of main?.querySelectorAll("*") ?? []) {
    if (!seen(e) || e.ownerSVGElement) continue;
    const style = getComputedStyle(e);
    const right = e.getBoundingClientRect().right;
    if (!wide && right > main.getBoundingClientRect().right + 1 && !held(e)) fault("it leaves its page", e);
    if (e.scrollWidth <= e.clientWidth + 1 || style.overflowX === "visible" ||
      e.matches("pre, textarea, input, select, code.secret")) continue;
    if (style.overflowX === "hidden" || style.overflowX === "clip") {
      if (style.textOverflow !== "ellipsis" || !e.title) fault("a text is cut", e);
      continue;
    }
    if (!/gradient/.test(style.backgroundImage)) fault("it scrolls sideways, and nothing shows it", e);
    if (innerWidth >= 1280 && e.clientWidth < room - 4 && !e.closest("dialog, [popover], .columns")) {
      fault(`a table of ${e.scrollWidth} px is cut at ${e.clientWidth} of ${Math.round(room)}`, e);
    }
  }
  for (const d of folded) d.open = false;
  return { Faults: [...faults], Latin: latin };
})()
