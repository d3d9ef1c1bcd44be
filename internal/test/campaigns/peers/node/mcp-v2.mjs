// The official TypeScript client, version 2, against the bus, in both eras of the protocol.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { want } from './browser.mjs'

const { BUS, TOKEN, CHANGE } = process.env
const url = new URL(BUS)
const headers = { Authorization: `Bearer ${TOKEN}` }

async function flow(name, options) {
  const client = new Client({ name: 'peer', version: '1' }, options)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  want(`${name}: the server`, client.getServerVersion()?.name, 'Keystile')

  const { tools } = await client.listTools() // follows the cursors
  want(`${name}: tools`, new Set(tools.map((tool) => tool.name)).size, 250)
  const called = await client.callTool({ name: 'pets__tool001', arguments: { n: 7 } })
  want(`${name}: a call`, called.content[0].text, 'tool001 {"n":7}')
  want(`${name}: its structure`, called.structuredContent.n, 7)
  const missing = await client.callTool({ name: 'pets__none', arguments: {} }).then(() => 'a result', (e) => e.code)
  want(`${name}: a tool that is not there`, missing, -32602)
  return client
}

await (await flow('legacy', {})).close()
await (await flow('auto', { versionNegotiation: { mode: 'auto' } })).close()

let told
const change = new Promise((resolve) => (told = resolve))
const client = await flow('pinned', {
  versionNegotiation: { mode: { pin: '2026-07-28' } },
  listChanged: { tools: { onChanged: (error, tools) => told(error ?? tools.length) } },
})
await fetch(CHANGE)
want('pinned: tools after a change', await change, 253)
await client.close()
