// The official TypeScript client, version 2, cancels a call and hears of a long one, in both
// eras of the protocol.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { longCalls } from './long.mjs'

const { BUS, TOKEN } = process.env
for (const [name, options] of [['legacy', {}], ['modern', { versionNegotiation: { mode: { pin: '2026-07-28' } } }]]) {
  const client = new Client({ name: 'peer', version: '1' }, options)
  await client.connect(new StreamableHTTPClientTransport(new URL(BUS), { requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } } }))
  await longCalls(name, client, (tool, more) => client.callTool({ name: tool, arguments: {} }, more))
  await client.close()
}
