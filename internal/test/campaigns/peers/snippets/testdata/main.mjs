// This program signs a user in with the code beside it, and prints who that is.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { begin, finish } from "./signin.mjs";

const { to, checks } = await begin();
const lines = createInterface({ input: process.stdin });
console.log(to.href);
const [address] = await once(lines, "line");
console.log((await finish(address, checks)).sub);
process.exit(0);
