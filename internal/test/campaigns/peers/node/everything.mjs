// Runs the official everything-server of MCP over streamable HTTP, on a port of its own of this machine, and says which.
import http from "node:http";

const listen = http.Server.prototype.listen;
http.Server.prototype.listen = function (_port, ready) {
  this.once("listening", () => console.log(`everything at http://127.0.0.1:${this.address().port}/mcp`));
  return listen.call(this, 0, "127.0.0.1", ready);
};
process.argv[2] = "streamableHttp";
await import("./node_modules/@modelcontextprotocol/server-everything/dist/index.js");
