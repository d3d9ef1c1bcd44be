// The official TypeScript client, version 2, signs in by itself. It is given the whole answer, and checks its iss.
import { Client, StreamableHTTPClientTransport, createPrivateKeyJwtAuth } from '@modelcontextprotocol/client'
import { login, signing } from './login.mjs'

await login({
  Client, Transport: StreamableHTTPClientTransport, extra: signing(createPrivateKeyJwtAuth),
  finish: (params) => params,
})
process.exit() // the test holds our input open
