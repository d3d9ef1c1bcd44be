import * as oauth from 'oauth4webapi'
import { ISSUER, ID, SECRET, REDIRECT, SUB, EMAIL, visit, want, refused } from './lib.mjs'

const issuer = new URL(ISSUER), client = { client_id: ID }, auth = oauth.ClientSecretBasic(SECRET)
const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer))
const verifier = oauth.generateRandomCodeVerifier()
const state = oauth.generateRandomState(), nonce = oauth.generateRandomNonce()
const url = new URL(as.authorization_endpoint)
for (const [name, value] of Object.entries({
  client_id: ID, redirect_uri: REDIRECT, response_type: 'code', scope: 'openid profile email', state, nonce,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
})) url.searchParams.set(name, value)
const params = oauth.validateAuthResponse(as, client, new URL(await visit(url)), state)
const answer = await oauth.authorizationCodeGrantRequest(as, client, auth, params, REDIRECT, verifier)
const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, { expectedNonce: nonce,
  requireIdToken: true })
want('signed in', tokens.token_type, 'bearer')
want('id_token', oauth.getValidatedIdTokenClaims(tokens).sub, SUB)
const info = await oauth.processUserInfoResponse(as, client, SUB, await oauth.userInfoRequest(as, client,
  tokens.access_token))
want('userinfo', info.email, EMAIL)
const refresh = async (token) => oauth.processRefreshTokenResponse(as, client,
  await oauth.refreshTokenGrantRequest(as, client, auth, token))
const next = await refresh(tokens.refresh_token)
want('refresh', next.access_token !== tokens.access_token, true)
await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, auth, next.refresh_token))
want('revoked', (await refused(() => refresh(next.refresh_token))).error, 'invalid_grant')
