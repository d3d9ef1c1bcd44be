// mcp-remote signs in by itself, for a client that only speaks to programs on its own machine.
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { bus, use, want } from './login.mjs'

// LIST says that it only signs in and prints the names of its tools.
// DEVICE says that it has no browser: its user types a code in a browser elsewhere.
const { METADATA, DEVICE, REDIRECT = 'http://localhost/oauth/callback' } = process.env
const redirect = new URL(REDIRECT)
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'mcp-remote-'))
process.on('exit', () => fs.rmSync(home, { recursive: true, force: true }))

// A port that is free: the one that mcp-remote makes of the URL may be somebody's.
const port = await new Promise((resolve) => {
  const server = net.createServer().listen(0, redirect.hostname, () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  })
})

let visits = 0
function remote() {
  const args = ['node_modules/mcp-remote/dist/proxy.js', bus.href, String(port), '--allow-http', '--host', redirect.hostname, '--callback-path', redirect.pathname]
  if (DEVICE) args.push('--device-code')
  if (METADATA) args.push('--client-metadata-url', METADATA)
  const transport = new StdioClientTransport({
    command: process.execPath, args, stderr: 'pipe',
    // No display, and a browser that is none: the URL is read where it is printed.
    env: { PATH: process.env.PATH, HOME: home, MCP_REMOTE_CONFIG_DIR: home, BROWSER: 'true' },
  })
  let said = ''
  transport.stderr.on('data', (data) => {
    said += data
    process.stderr.write(data)
    const url = /authorize this client(?: by visiting|, visit):\n.*?(http\S+)\n/.exec(said)
    if (!url) return
    said = said.slice(url.index + url[0].length)
    visits++
    console.log('visit: ' + url[1])
  })
  return transport
}

// stored reads or writes one of the files in which mcp-remote keeps what it has.
function stored(name, change) {
  const folder = path.join(home, fs.readdirSync(home).find((entry) => entry.startsWith('mcp-remote')))
  const file = path.join(folder, fs.readdirSync(folder).find((entry) => entry.endsWith('_' + name)))
  const value = JSON.parse(fs.readFileSync(file, 'utf8'))
  if (change) fs.writeFileSync(file, JSON.stringify({ ...value, ...change(value) }))
  return value
}

const fresh = () => new Client({ name: 'login', version: '1' })
if (process.env.LIST) {
  const client = fresh()
  await client.connect(remote())
  const { tools } = await client.listTools()
  console.log('tools: ' + tools.map((tool) => tool.name).sort().join(' '))
  process.exit()
}
await use('signed in', fresh(), remote())
if (process.env.ONCE) {
  want('a refresh token', stored('tokens.json').refresh_token, undefined)
  process.exit()
}
const before = stored('tokens.json', (tokens) => ({ access_token: 'bad.' + tokens.access_token }))
await use('refreshed', fresh(), remote())
want('a new refresh token', stored('tokens.json').refresh_token !== before.refresh_token, true)
want('visits of the browser', visits, 1)
process.exit() // the test holds our input open
