// openid-client against the provider: discovery, code + PKCE with state and nonce, iss,
// id_token, userinfo, refresh, revocation, client_credentials. The environment names the
// issuer and the applications.
import * as client from 'openid-client'
import { visit, want } from './browser.mjs'

const { ISSUER, USERNAME, PASSWORD, REDIRECT } = process.env
const insecure = { execute: [client.allowInsecureRequests] }

async function signIn(config) {
  const verifier = client.randomPKCECodeVerifier()
  const state = client.randomState()
  const nonce = client.randomNonce()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'openid profile email',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  })
  const back = await visit(url, { username: USERNAME, password: PASSWORD })
  return client.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  })
}

async function wholeFlow(name, config) {
  client.enableNonRepudiationChecks(config) // verify the id_token's signature too
  const tokens = await signIn(config)
  const claims = tokens.claims()
  want(`${name}: audience`, claims.aud, config.clientMetadata().client_id)
  const info = await client.fetchUserInfo(config, tokens.access_token, claims.sub)
  want(`${name}: nickname`, info.nickname, 'Ada')
  const fresh = await client.refreshTokenGrant(config, tokens.refresh_token)
  want(`${name}: subject after a refresh`, fresh.claims().sub, claims.sub)
  await client.tokenRevocation(config, fresh.refresh_token)
  try {
    await client.refreshTokenGrant(config, fresh.refresh_token)
    throw new Error('a revoked refresh token works')
  } catch (e) {
    want(`${name}: refresh after revocation`, e.error, 'invalid_grant')
  }
}

const server = new URL(ISSUER)
const es256 = await client.discovery(server, process.env.ES256_ID,
  { client_secret: process.env.ES256_SECRET, id_token_signed_response_alg: 'ES256' }, undefined, insecure)
await wholeFlow('confidential, ES256', es256)

const open = await client.discovery(server, process.env.PUBLIC_ID,
  { id_token_signed_response_alg: 'ES256' }, client.None(), insecure)
await wholeFlow('public, ES256', open)

const own = await client.clientCredentialsGrant(es256, {})
want('client_credentials: scope', own.scope, 'app')

// The library knows no symmetric signatures: it reads an HS256 id_token, and refuses.
const hs256 = await client.discovery(server, process.env.HS256_ID,
  { client_secret: process.env.HS256_SECRET, id_token_signed_response_alg: 'HS256' }, undefined, insecure)
try {
  await signIn(hs256)
  console.log('note: openid-client accepts an HS256 id_token')
} catch (e) {
  if (!/alg|HS256|unsupported/i.test(`${e.message} ${e.cause?.message}`)) throw e
  console.log(`note: openid-client refuses HS256 (${e.message}); use id_token_alg ES256 with it`)
}
