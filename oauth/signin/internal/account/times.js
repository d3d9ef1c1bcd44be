// Shows the times of the page in the browser's own time zone, written as they are without it: in UTC, as they say.
"use strict";
const chinese = document.documentElement.lang.startsWith("zh");
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (n) => String(n).padStart(2, "0");
const zone = (at) => new Intl.DateTimeFormat(document.documentElement.lang, { timeZoneName: "short" })
  .formatToParts(at).find((part) => part.type === "timeZoneName").value;
for (const time of document.querySelectorAll("time[data-local]")) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) continue;
  time.title = time.textContent;
  const [year, month, day] = [at.getFullYear(), at.getMonth(), at.getDate()];
  let text = chinese ? `${year}年${month + 1}月${day}日` : `${day} ${months[month]} ${year}`;
  if (time.dataset.local !== "day") {
    text += `${chinese ? "" : ","} ${two(at.getHours())}:${two(at.getMinutes())} ${zone(at)}`;
  }
  time.textContent = text;
}
