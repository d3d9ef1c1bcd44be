// Shows the times of the page in the browser's own time zone. Without it they are shown in UTC, and say so.
"use strict";
for (const time of document.querySelectorAll("time[data-local]")) {
  const at = new Date(time.dateTime);
  const shape = { year: "numeric", month: "long", day: "numeric" };
  if (time.dataset.local !== "day") Object.assign(shape, { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  if (Number.isNaN(at.getTime())) continue;
  time.title = time.textContent;
  time.textContent = at.toLocaleString(document.documentElement.lang, shape);
}
