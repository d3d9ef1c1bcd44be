// Prism, as `prism mock --errors` runs it: one server for each document. Standard input is one
// line, a JSON list of documents; standard output is one line, the list of addresses. It ends
// with its standard input.
import { Server } from 'node:http'
import { createInterface } from 'node:readline'
import core from '@stoplight/prism-core'
import http from '@stoplight/prism-http'
import server from '@stoplight/prism-http-server'

// Some of what it cannot read throws where it does not catch, and would end the process.
// Requests come one after the other, so the last one is the one to answer.
let last
const emit = Server.prototype.emit
Server.prototype.emit = function (event, request, response) {
  if (event === 'request') last = response
  return emit.apply(this, arguments)
}
process.on('unhandledRejection', error => last.writeHead(500).end(String(error)))

const logger = core.createLogger('prism', { level: 'silent' }, {})
const config = { mock: { dynamic: false }, validateRequest: true, validateResponse: false, checkSecurity: false, isProxy: false, errors: true }
const lines = createInterface({ input: process.stdin })
lines.on('close', () => process.exit(0))
lines.once('line', async line => {
  const addresses = []
  for (const document of JSON.parse(line)) {
    const operations = await http.getHttpOperationsFromSpec(document)
    addresses.push(await server.createServer(operations, { components: { logger }, cors: false, config }).listen(0, '127.0.0.1'))
  }
  console.log(JSON.stringify(addresses))
})
