// The official TypeScript client, version 1, signs in by itself.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createPrivateKeyJwtAuth } from '@modelcontextprotocol/sdk/client/auth-extensions.js'
import { login, signing } from './login.mjs'

await login({
  Client, Transport: StreamableHTTPClientTransport, extra: signing(createPrivateKeyJwtAuth),
  finish: (params) => params.get('code'),
})
process.exit() // the test holds our input open
