// oauth4webapi with DPoP (RFC 9449) as it comes: a client that registered itself signs its user in, calls the bus and
// userinfo, and refreshes, with proofs of its key. What it does on use_dpop_nonce is what its documentation says.
import * as oauth from 'oauth4webapi'
import { listen, want, bus } from './login.mjs'

const { ISSUER, ALG } = process.env
const http = { [oauth.allowInsecureRequests]: true }
const issuer = new URL(ISSUER)
const as = await oauth
  .discoveryRequest(issuer, { algorithm: 'oauth2', ...http })
  .then((answer) => oauth.processDiscoveryResponse(issuer, answer))
want('the algorithm is offered', as.dpop_signing_alg_values_supported.includes(ALG), true)

const { redirect, arrived, close } = await listen()
const registered = await oauth
  .dynamicClientRegistrationRequest(as, {
    redirect_uris: [redirect], token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'],
  }, http)
  .then(oauth.processDynamicClientRegistrationResponse)
const client = { client_id: registered.client_id, id_token_signed_response_alg: 'ES256' }
const keys = await oauth.generateKeyPair(ALG === 'EdDSA' ? 'Ed25519' : ALG)
let nonces = 0
const DPoP = oauth.DPoP(client, keys)
async function retried(send) {
  try {
    return await send()
  } catch (e) {
    if (!oauth.isDPoPNonceError(e)) throw e
    nonces++
    return await send()
  }
}

const verifier = oauth.generateRandomCodeVerifier(), state = oauth.generateRandomState()
const url = new URL(as.authorization_endpoint)
for (const [key, value] of Object.entries({
  response_type: 'code', client_id: client.client_id, redirect_uri: redirect, scope: 'openid tools', state,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  dpop_jkt: await DPoP.calculateThumbprint(),
})) url.searchParams.set(key, value)
console.log('visit: ' + url)
const params = oauth.validateAuthResponse(as, client, await arrived(), state)
const tokens = await retried(async () =>
  oauth.processAuthorizationCodeResponse(as, client,
    await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), params, redirect, verifier, { DPoP, ...http })))
want('token_type', tokens.token_type, 'dpop') // it writes it in small letters
const sub = oauth.getValidatedIdTokenClaims(tokens).sub

const info = await retried(async () =>
  oauth.processUserInfoResponse(as, client, sub, await oauth.userInfoRequest(as, client, tokens.access_token, { DPoP, ...http })))
want('userinfo', info.sub, sub)

async function tools(access) {
  const answer = await retried(() =>
    oauth.protectedResourceRequest(access, 'POST', bus, new Headers({ 'content-type': 'application/json', accept: 'application/json, text/event-stream' }),
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }), { DPoP, ...http }))
  want('the bus answers', answer.status, 200)
  return (await answer.json()).result.tools.length
}
want('tools', (await tools(tokens.access_token)) > 0, true)

const fresh = await retried(async () =>
  oauth.processRefreshTokenResponse(as, client,
    await oauth.refreshTokenGrantRequest(as, client, oauth.None(), tokens.refresh_token, { DPoP, ...http })))
want('refreshed', fresh.token_type, 'dpop')
want('tools', (await tools(fresh.access_token)) > 0, true)
want("nonces that were asked for", nonces <= 2, true)

// What a thief of the tokens can do with them.
const stolen = await fetch(bus, { method: 'POST', headers: { authorization: 'Bearer ' + fresh.access_token, 'content-type': 'application/json' }, body: '{}' })
want('the stolen token as Bearer', stolen.status, 401)
const thief = oauth.DPoP(client, await oauth.generateKeyPair('ES256'))
const error = await retried(() => oauth.userInfoRequest(as, client, fresh.access_token, { DPoP: thief, ...http })
  .then((a) => oauth.processUserInfoResponse(as, client, sub, a)))
  .catch(async (e) => {
    if (!oauth.isDPoPNonceError(e)) return e
    return oauth.userInfoRequest(as, client, fresh.access_token, { DPoP: thief, ...http }).then((a) => oauth.processUserInfoResponse(as, client, sub, a)).catch((e) => e)
  })
want('the stolen token with a proof by another key', error.cause?.[0]?.parameters?.error, 'invalid_token')
const renewed = await oauth.refreshTokenGrantRequest(as, client, oauth.None(), fresh.refresh_token, { ...http })
want('the stolen refresh token', (await renewed.json()).error, 'invalid_grant')
close()
process.exit(0) // the person's lines may go on
