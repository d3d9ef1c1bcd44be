import * as arctic from 'arctic'
import { ISSUER, ID, SECRET, REDIRECT, SUB, EMAIL, visit, want, refused, userInfo } from './lib.mjs'

const client = new arctic.OAuth2Client(ID, SECRET, REDIRECT)
const at = ISSUER + '/oauth/token', verifier = arctic.generateCodeVerifier(), state = arctic.generateState()
const back = new URL(await visit(client.createAuthorizationURLWithPKCE(
  ISSUER + '/oauth/authorize', state, arctic.CodeChallengeMethod.S256, verifier, ['openid', 'profile', 'email'])))
want('state', back.searchParams.get('state'), state)
const tokens = await client.validateAuthorizationCode(at, back.searchParams.get('code'), verifier)
want('signed in', tokens.accessTokenExpiresAt() > new Date(), true)
want('id_token', arctic.decodeIdToken(tokens.idToken()).sub, SUB)
want('userinfo', (await userInfo(tokens.accessToken())).email, EMAIL)
const next = await client.refreshAccessToken(at, tokens.refreshToken(), [])
want('refresh', next.accessToken() !== tokens.accessToken(), true)
await client.revokeToken(ISSUER + '/oauth/revoke', next.refreshToken())
want('revoked', (await refused(() => client.refreshAccessToken(at, next.refreshToken(), []))).code, 'invalid_grant')
