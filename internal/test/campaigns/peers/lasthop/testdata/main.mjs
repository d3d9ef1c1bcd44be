// main answers each line of headers in JSON with what caller says of them.
import { createInterface } from "node:readline";
import { caller } from "./caller.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  const sent = JSON.parse(line);
  const headers = "Keystile-Caller" in sent ? { "keystile-caller": sent["Keystile-Caller"] } : {};
  try {
    const said = await caller(headers);
    console.log(JSON.stringify(said));
  } catch (e) {
    console.log(JSON.stringify({ refused: String(e) }));
  }
}
