// The official TypeScript client, version 1, cancels a call and hears of a long one.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { longCalls } from './long.mjs'

const { BUS, TOKEN } = process.env
const client = new Client({ name: 'peer', version: '1' })
await client.connect(new StreamableHTTPClientTransport(new URL(BUS), { requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } } }))
await longCalls('v1', client, (name, options) => client.callTool({ name, arguments: {} }, undefined, options))
await client.close()
