// Adds comfort to pages that work without it. It makes no markup from text: the policy forbids that.
const words = document.documentElement.lang === "zh-CN"
  ? { copy: "复制", copied: "已复制", wait: "请稍候" }
  : { copy: "Copy", copied: "Copied", wait: "One moment" };

// Text that is to be copied gets a button.
for (const pre of document.querySelectorAll("[data-copy]")) {
  const box = document.createElement("div"), button = document.createElement("button");
  box.className = "copy";
  button.type = "button";
  button.textContent = words.copy;
  pre.replaceWith(box);
  box.append(pre, button);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
    } catch { // no permission, or no secure context
      const range = document.createRange(), chosen = getSelection();
      range.selectNodeContents(pre);
      chosen.removeAllRanges();
      chosen.addRange(range);
      document.execCommand("copy");
    }
    button.textContent = words.copied;
    setTimeout(() => { button.textContent = words.copy; }, 2000);
  });
}

// An id gets a small one.
for (const id of document.querySelectorAll(".id code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words.copy;
  button.setAttribute("aria-label", words.copy + " " + id.textContent);
  id.after(button);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(id.textContent);
      button.textContent = words.copied;
    } catch {
      getSelection().selectAllChildren(id);
    }
    setTimeout(() => { button.textContent = words.copy; }, 2000);
  });
}

// Times are shown in the reader's zone unless the page says UTC, as the server writes them; that stays as the tooltip.
const chinese = document.documentElement.lang === "zh-CN";
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (n) => String(n).padStart(2, "0");
for (const time of document.querySelectorAll("time[datetime]:not([data-utc])")) {
  const at = new Date(time.dateTime);
  if (isNaN(at) || !time.dateTime.includes("T")) continue;
  time.title = time.textContent;
  const day = chinese ? `${at.getFullYear()}年${at.getMonth() + 1}月${at.getDate()}日` : `${at.getDate()} ${months[at.getMonth()]} ${at.getFullYear()},`;
  time.textContent = `${day} ${two(at.getHours())}:${two(at.getMinutes())}` + ("seconds" in time.dataset ? ":" + two(at.getSeconds()) : "");
}

// The answer to a form is loaded again without asking whether to send it again.
if (document.querySelector(".alert, .notice, .warn")) history.replaceState(null, "", location.href);

// A menu closes when something else is clicked.
addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.who[open]")) if (!menu.contains(event.target)) menu.open = false;
});

// A field that names a user, an application or a capability offers those that begin with what is typed.
const kinds = {
  users: (one) => [one.username, [one.nickname || one.name, one.sub].filter(Boolean).join(" · ")],
  apps: (one, all) => all.filter((a) => a.name === one.name).length > 1 ? [one.client_id, one.name] : [one.name, one.client_id],
  capabilities: (one) => [one.member, one.label],
};
for (const [n, input] of document.querySelectorAll("input[data-pick]").entries()) {
  const list = document.createElement("datalist"), kind = input.dataset.pick;
  list.id = "pick-" + n;
  input.after(list);
  input.setAttribute("list", list.id);
  input.autocomplete = "off";
  let waits;
  input.addEventListener("input", () => {
    clearTimeout(waits);
    waits = setTimeout(async () => {
      const asked = input.value;
      const answer = await fetch(`/api/console/${kind}?limit=10&q=${encodeURIComponent(asked)}`).catch(() => null);
      if (!answer || !answer.ok || input.value !== asked) return;
      const { data } = await answer.json();
      list.replaceChildren(...(data[kind] || []).map((one, _, all) => {
        const [value, label] = kinds[kind](one, all), option = document.createElement("option");
        option.value = value;
        option.label = label || value;
        return option;
      }));
    }, 150);
  });
}

// A plot says the numbers of the column that is pointed at, or chosen with the arrow keys.
for (const plot of document.querySelectorAll("figure.plot")) {
  const area = plot.querySelector(".area"), svg = area.querySelector("svg"), value = plot.querySelector(".value");
  const rows = [...plot.querySelectorAll("tbody tr")], names = [...plot.querySelectorAll("thead th")];
  const wide = svg.viewBox.baseVal.width / area.dataset.columns;
  const cursor = document.createElementNS(svg.namespaceURI, "rect");
  cursor.setAttribute("class", "cursor");
  cursor.setAttribute("width", wide);
  cursor.setAttribute("height", svg.viewBox.baseVal.height);
  let at = rows.length - 1;
  const show = (n) => {
    at = Math.max(0, Math.min(rows.length - 1, n));
    const cells = [...rows[at].children].map((cell) => cell.textContent);
    value.textContent = cells.map((text, i) => i ? `${names[i].textContent} ${text}` : text).join(" · ");
    cursor.setAttribute("x", at * wide);
    svg.append(cursor);
  };
  const rest = () => {
    cursor.remove();
    value.textContent = value.dataset.hint;
  };
  rest();
  area.tabIndex = 0;
  area.setAttribute("role", "group");
  area.setAttribute("aria-label", `${svg.getAttribute("aria-label")}: ${value.dataset.hint}`);
  area.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    show(Math.floor((event.clientX - box.left) / box.width * area.dataset.columns));
  });
  area.addEventListener("pointerleave", () => { if (document.activeElement !== area) rest(); });
  area.addEventListener("focus", () => show(at));
  area.addEventListener("blur", rest);
  area.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    show(to);
  });
}

// A form is sent once, and one with a file shows that it is on its way. Coming back to the page frees its buttons.
addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") return;
  for (const button of event.target.querySelectorAll("button")) {
    setTimeout(() => { button.disabled = true; });
    if (button === event.submitter) button.setAttribute("aria-label", words.wait);
  }
  if (event.submitter && event.target.querySelector("input[type=file]")) {
    const bar = document.createElement("progress");
    bar.setAttribute("aria-label", words.wait);
    event.submitter.after(bar);
  }
});
addEventListener("pageshow", () => {
  for (const bar of document.querySelectorAll("form progress")) bar.remove();
  for (const button of document.querySelectorAll("button[disabled]")) {
    button.disabled = false;
    button.removeAttribute("aria-label");
  }
});

// Select boxes of a filter act at once.
for (const select of document.querySelectorAll("form.filters select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

// One box ticks or clears all boxes of its table.
for (const all of document.querySelectorAll("input[data-all]")) {
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of all.closest("table").querySelectorAll("tbody input[type=checkbox]")) box.checked = all.checked;
  });
}

// A page that waits for something asks for itself again and shows what has changed.
const live = document.querySelector("[data-refresh]");
if (live) setTimeout(() => { if (!document.hidden) location.reload(); }, Math.max(1, Number(live.dataset.refresh)) * 1000);

// "/" leads to the search.
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, [contenteditable]")) return;
  const search = document.querySelector("form.filters input");
  if (search) { event.preventDefault(); search.focus(); }
});
