// Stock clients that prove themselves by a key, and one that is let in by an identity provider's assertion.
import * as v2 from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { PrivateKeyJwtProvider as ProviderV1 } from '@modelcontextprotocol/sdk/client/auth-extensions.js'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { want } from './browser.mjs'
import { use } from './login.mjs'

const { BUS, ISSUER, KEYED_ID, AGENT_ID, AGENT_SECRET, ASSERTION } = process.env
const jwk = JSON.parse(process.env.PRIVATE_KEY)
const key = await crypto.subtle.importKey('jwk', jwk, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, false, ['sign'])

const http = { [oauth.allowInsecureRequests]: true }
const issuer = new URL(ISSUER)
const as = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...http }).then((a) => oauth.processDiscoveryResponse(issuer, a))
want('private_key_jwt is offered', as.token_endpoint_auth_methods_supported.includes('private_key_jwt'), true)
const auth = oauth.PrivateKeyJwt({ key, kid: jwk.kid })
const client = { client_id: KEYED_ID }
const own = await oauth
  .clientCredentialsGrantRequest(as, client, auth, {}, http)
  .then((a) => oauth.processClientCredentialsResponse(as, client, a))
want('oauth4webapi: scope', own.scope, 'app')
const about = await oauth
  .introspectionRequest(as, client, auth, own.access_token, http)
  .then((a) => oauth.processIntrospectionResponse(as, client, a))
want('oauth4webapi: introspection', about.active, true)

const config = await openid.discovery(issuer, KEYED_ID, {}, openid.PrivateKeyJwt({ key, kid: jwk.kid }), {
  algorithm: 'oauth2', execute: [openid.allowInsecureRequests],
})
want('openid-client: scope', (await openid.clientCredentialsGrant(config)).scope, 'app')

for (const [name, Client, Transport, Provider] of [
  ['SDK 1', ClientV1, TransportV1, ProviderV1],
  ['SDK 2', v2.Client, v2.StreamableHTTPClientTransport, v2.PrivateKeyJwtProvider],
]) {
  const authProvider = new Provider({ clientId: KEYED_ID, privateKey: jwk, algorithm: jwk.alg, expectedIssuer: ISSUER })
  await use(name, new Client({ name: 'keyed', version: '1' }), new Transport(new URL(BUS), { authProvider }))
}

const authProvider = new v2.CrossAppAccessProvider({
  clientId: AGENT_ID, clientSecret: AGENT_SECRET, expectedIssuer: ISSUER,
  assertion: ({ authorizationServerUrl, resourceUrl }) => {
    want('the assertion is wanted for', new URL(authorizationServerUrl).origin, ISSUER)
    want('and for the tools at', resourceUrl, BUS)
    return ASSERTION
  },
})
await use('SDK 2 with an ID-JAG', new v2.Client({ name: 'assistant', version: '1' }),
  new v2.StreamableHTTPClientTransport(new URL(BUS), { authProvider }))
