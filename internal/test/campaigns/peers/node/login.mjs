// What the drivers of a login share: an OAuthClientProvider that keeps everything in memory, a
// listener for the browser to come back to, and the person at the browser, who is the test: it reads
// "visit: URL" and answers with a line, the address of a callback that nobody here listens at.
import http from 'node:http'
import readline from 'node:readline'
import { want } from './browser.mjs'

export { want }

// METADATA is the URL of a client metadata document, or empty: the client registers itself.
// ONCE says that it is given no refresh token, STEP_UP that its user allows less at first. REDIRECT is what the browser comes back to; of a loopback address the port is chosen here if it has none.
const { BUS, METADATA, REDIRECT = 'http://127.0.0.1/callback', NAME = 'Login test', ONCE, STEP_UP } = process.env
export const bus = new URL(BUS)

const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]()

export async function listen() {
  const redirect = new URL(REDIRECT)
  if (redirect.protocol !== 'http:') return { redirect: REDIRECT, arrived: async () => new URL((await lines.next()).value), close() {} }
  const arrivals = [], waiting = []
  const server = http.createServer((request, response) => {
    response.end('You can close this page.')
    const url = new URL(request.url, redirect)
    waiting.length ? waiting.shift()(url) : arrivals.push(url)
  })
  await new Promise((resolve) => server.listen(Number(redirect.port || 0), redirect.hostname.replace(/[[\]]/g, ''), resolve))
  redirect.port = server.address().port
  return { redirect: redirect.href, arrived: async () => arrivals.shift() ?? new Promise((resolve) => waiting.push(resolve)), close: () => server.close() }
}

export class Provider {
  #redirect
  stored = {}
  visits = 0
  calls = []

  constructor(redirect, extra = {}) {
    this.#redirect = redirect
    if (METADATA) this.clientMetadataUrl = METADATA
    Object.assign(this, extra)
  }
  get redirectUrl() { return this.#redirect }
  get clientMetadata() {
    return {
      client_name: NAME, redirect_uris: [this.#redirect], token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
    }
  }
  state() { return (this.stored.state = 'st-' + Math.random().toString(36).slice(2)) }
  clientInformation() { return this.stored.client }
  saveClientInformation(client) { this.stored.client = client }
  tokens() { return this.stored.tokens }
  saveTokens(tokens) { this.stored.tokens = tokens }
  saveCodeVerifier(verifier) { this.stored.verifier = verifier }
  codeVerifier() { return this.stored.verifier }
  redirectToAuthorization(url) {
    this.visits++
    console.log('visit: ' + url)
  }
}

// login goes the whole way: refused, sent to the browser, back with a code, listing, calling, and
// once more with a token that is no good, by refreshing. Finish makes of the callback's parameters what
// finishAuth wants.
export async function login({ Client, Transport, finish, extra }) {
  const callback = await listen()
  const provider = new Provider(callback.redirect, extra)
  const fresh = () => new Client({ name: 'login', version: '1' })

  const first = new Transport(bus, { authProvider: provider })
  const refused = await fresh().connect(first).then(() => 'connected', (e) => e.constructor.name)
  want('without a token', refused, 'UnauthorizedError')
  const back = await callback.arrived()
  if (back.searchParams.get('error')) throw new Error(`the browser comes back with ${back.search}`)
  want('the state', back.searchParams.get('state'), provider.stored.state)
  await first.finishAuth(finish(back.searchParams))
  want('the client', METADATA ? provider.stored.client.client_id : /^ks-/.test(provider.stored.client.client_id), METADATA || true)

  if (STEP_UP) return stepUp({ fresh, Transport, finish, provider, callback })
  callback.close()
  await use('signed in', fresh(), new Transport(bus, { authProvider: provider }))
  want('visits of the browser', provider.visits, 1)
  const before = provider.stored.tokens
  if (ONCE) return want('a refresh token', before.refresh_token, undefined)
  provider.stored.tokens = { ...before, access_token: 'bad.' + before.access_token }
  await use('refreshed', fresh(), new Transport(bus, { authProvider: provider }))
  want('a new refresh token', provider.stored.tokens.refresh_token !== before.refresh_token, true)
  want('visits of the browser', provider.visits, 1)
}

// stepUp calls a tool that the user has not allowed: the client is refused, asks its user once more, and
// then has both the old tools and the new one.
async function stepUp({ fresh, Transport, finish, provider, callback }) {
  const transport = new Transport(bus, { authProvider: provider })
  const client = fresh()
  await client.connect(transport)
  const listed = async () => (await client.listTools()).tools.map((tool) => tool.name).sort().join(' ')
  want('allowed at first', await listed(), 'up__status')
  const order = () => client.callTool({ name: 'up__order', arguments: { code: 404 } })
  want('not allowed yet', await order().then(() => 'called', (e) => e.constructor.name), 'UnauthorizedError')
  await transport.finishAuth(finish((await callback.arrived()).searchParams))
  const called = await order()
  want('allowed then', called.isError ? called.content[0].text : called.structuredContent.path, '/order')
  want('the tools then', await listed(), 'up__order up__status')
  want('visits of the browser', provider.visits, 2)
  callback.close()
}

export async function use(when, client, transport) {
  await client.connect(transport)
  const { tools } = await client.listTools()
  want(`${when}: tools`, tools.map((tool) => tool.name).sort().join(' '), process.env.TOOLS ?? 'up__order up__status')
  const called = await client.callTool({ name: 'up__status', arguments: { code: 404 } })
  want(`${when}: a call`, called.isError ? called.content[0].text : called.structuredContent.code, '404')
  await client.close()
}

// signing is what a client adds that signs what it sends to the token endpoint: PRIVATE_KEY is a JWK.
export function signing(createPrivateKeyJwtAuth) {
  const { PRIVATE_KEY, ISSUER } = process.env
  if (!PRIVATE_KEY) return {}
  return {
    addClientAuthentication: createPrivateKeyJwtAuth({
      issuer: METADATA, subject: METADATA, privateKey: JSON.parse(PRIVATE_KEY), alg: JSON.parse(PRIVATE_KEY).alg, audience: ISSUER,
    }),
  }
}
