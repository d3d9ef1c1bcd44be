import * as client from 'openid-client'
import { ISSUER, ID, SECRET, REDIRECT, SUB, EMAIL, visit, want, refused } from './lib.mjs'

const config = await client.discovery(new URL(ISSUER), ID, SECRET)
const verifier = client.randomPKCECodeVerifier(), state = client.randomState(), nonce = client.randomNonce()
const back = await visit(client.buildAuthorizationUrl(config, {
  redirect_uri: REDIRECT, scope: 'openid profile email', state, nonce,
  code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
}))
const tokens = await client.authorizationCodeGrant(config, new URL(back), {
  pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true,
})
want('signed in', tokens.token_type, 'bearer')
want('id_token', tokens.claims().sub, SUB)
want('userinfo', (await client.fetchUserInfo(config, tokens.access_token, SUB)).email, EMAIL)
const next = await client.refreshTokenGrant(config, tokens.refresh_token)
want('refresh', next.access_token !== tokens.access_token, true)
await client.tokenRevocation(config, next.refresh_token)
want('revoked', (await refused(() => client.refreshTokenGrant(config, next.refresh_token))).error, 'invalid_grant')
