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

// Times are shown in the reader's zone, or in UTC where the page says so; what was written stays as the tooltip.
const clock = (timeZone) => new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "medium", timeZone });
const near = clock(), utc = clock("UTC");
for (const time of document.querySelectorAll("time[datetime]")) {
  const at = new Date(time.dateTime);
  if (isNaN(at) || !time.dateTime.includes("T")) continue;
  time.title = time.textContent;
  time.textContent = ("utc" in time.dataset ? utc : near).format(at);
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
