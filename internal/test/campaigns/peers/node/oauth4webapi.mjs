// oauth4webapi against the provider, by the RFC 8414 document: it checks every header and
// field of every answer as the RFCs want them.
import * as oauth from 'oauth4webapi'
import { visit, want } from './browser.mjs'

const { ISSUER, USERNAME, PASSWORD, REDIRECT } = process.env
const http = { [oauth.allowInsecureRequests]: true }

const issuer = new URL(ISSUER)
const as = await oauth
  .discoveryRequest(issuer, { algorithm: 'oauth2', ...http })
  .then((answer) => oauth.processDiscoveryResponse(issuer, answer))
want('token_endpoint', as.token_endpoint, ISSUER + '/oauth/token')

async function flow(name, client, auth) {
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const nonce = oauth.generateRandomNonce()
  const url = new URL(as.authorization_endpoint)
  for (const [key, value] of Object.entries({
    response_type: 'code', client_id: client.client_id, redirect_uri: REDIRECT, scope: 'openid email', state, nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  })) url.searchParams.set(key, value)
  const params = oauth.validateAuthResponse(as, client, await visit(url, { username: USERNAME, password: PASSWORD }), state)
  const answer = await oauth.authorizationCodeGrantRequest(as, client, auth, params, REDIRECT, verifier, http)
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, { expectedNonce: nonce, requireIdToken: true })
  await oauth.validateApplicationLevelSignature(as, answer, http)
  const claims = oauth.getValidatedIdTokenClaims(tokens)
  const info = await oauth.userInfoRequest(as, client, tokens.access_token, http)
    .then((a) => oauth.processUserInfoResponse(as, client, claims.sub, a))
  want(`${name}: email`, info.email, 'ada@example.com')

  const fresh = await oauth.refreshTokenGrantRequest(as, client, auth, tokens.refresh_token, http)
    .then((a) => oauth.processRefreshTokenResponse(as, client, a))
  want(`${name}: a new refresh token`, fresh.refresh_token !== tokens.refresh_token, true)

  await oauth.revocationRequest(as, client, auth, fresh.access_token, http).then(oauth.processRevocationResponse)
  try {
    await oauth.userInfoRequest(as, client, fresh.access_token, http).then((a) => oauth.processUserInfoResponse(as, client, claims.sub, a))
    throw new Error('a revoked access token works')
  } catch (e) {
    want(`${name}: a revoked access token`, e.cause?.[0]?.parameters?.error ?? e.message, 'invalid_token')
  }
}

const { ES256_ID, ES256_SECRET, PUBLIC_ID } = process.env
await flow('confidential', { client_id: ES256_ID, id_token_signed_response_alg: 'ES256' }, oauth.ClientSecretPost(ES256_SECRET))
await flow('public', { client_id: PUBLIC_ID, id_token_signed_response_alg: 'ES256' }, oauth.None())

const machine = await oauth
  .clientCredentialsGrantRequest(as, { client_id: ES256_ID }, oauth.ClientSecretPost(ES256_SECRET), {}, http)
  .then((a) => oauth.processClientCredentialsResponse(as, { client_id: ES256_ID }, a))
want('client_credentials: scope', machine.scope, 'app')
