// The official TypeScript client, version 1, against the bus: revisions until 2025-11-25.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { want } from './browser.mjs'

const { BUS, TOKEN } = process.env
const url = new URL(BUS)

const client = new Client({ name: 'peer', version: '1' })
await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } } }))
want('the server', client.getServerVersion().name, 'Keystile')

const names = []
let cursor, pages = 0
do {
  const page = await client.listTools(cursor === undefined ? {} : { cursor })
  names.push(...page.tools.map((tool) => tool.name))
  cursor = page.nextCursor
  pages++
} while (cursor !== undefined)
want('tools', new Set(names).size, 250)
want('pages', pages, 3)

const called = await client.callTool({ name: 'pets__tool001', arguments: { n: 7 } })
want('a call', called.content[0].text, 'tool001 {"n":7}')
want('its structure', called.structuredContent.n, 7)
const list = await client.callTool({ name: 'pets__tool009', arguments: { n: 7 } })
want('a list', list.content[0].text, 'tool009 [{"n":7}]')
want('its structure', list.structuredContent, undefined)

const missing = await client.callTool({ name: 'pets__none', arguments: {} }).then(() => 'a result', (e) => e.code)
want('a tool that is not there', missing, -32602)
await client.close()

const stranger = new Client({ name: 'peer', version: '1' })
const refused = await stranger.connect(new StreamableHTTPClientTransport(url)).then(() => 'connected', (e) => e.code)
want('without a token', refused, 401)
