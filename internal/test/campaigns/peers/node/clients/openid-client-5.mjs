import { Issuer, generators } from 'openid-client-5'
import { ISSUER, ID, SECRET, REDIRECT, SUB, EMAIL, visit, want, refused } from './lib.mjs'

const issuer = await Issuer.discover(ISSUER)
const client = new issuer.Client({ client_id: ID, client_secret: SECRET, redirect_uris: [REDIRECT],
  response_types: ['code'] })
const checks = { code_verifier: generators.codeVerifier(), state: generators.state(), nonce: generators.nonce() }
const back = await visit(client.authorizationUrl({
  scope: 'openid profile email', state: checks.state, nonce: checks.nonce,
  code_challenge: generators.codeChallenge(checks.code_verifier), code_challenge_method: 'S256',
}))
const tokens = await client.callback(REDIRECT, client.callbackParams(back), checks)
want('signed in', tokens.expired(), false)
want('id_token', tokens.claims().sub, SUB)
want('userinfo', (await client.userinfo(tokens)).email, EMAIL)
const next = await client.refresh(tokens)
want('refresh', next.access_token !== tokens.access_token, true)
await client.revoke(next.refresh_token)
want('revoked', (await refused(() => client.refresh(next))).error, 'invalid_grant')
