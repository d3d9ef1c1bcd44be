import { OAuth2Client, generateCodeVerifier } from '@badgateway/oauth2-client'
import { ISSUER, ID, SECRET, REDIRECT, EMAIL, visit, want, refused, userInfo } from './lib.mjs'

const client = new OAuth2Client({ server: ISSUER, clientId: ID, clientSecret: SECRET })
const codeVerifier = await generateCodeVerifier(), state = 'a state'
const back = await visit(await client.authorizationCode.getAuthorizeUri({ redirectUri: REDIRECT, state,
  codeVerifier, scope: ['openid', 'profile', 'email'] }))
const tokens = await client.authorizationCode.getTokenFromCodeRedirect(back, { redirectUri: REDIRECT, state,
  codeVerifier })
want('signed in', tokens.expiresAt > Date.now(), true)
want('userinfo', (await userInfo(tokens.accessToken)).email, EMAIL)
const next = await client.refreshToken(tokens)
want('refresh', next.accessToken !== tokens.accessToken, true)
await client.revoke(next, 'refresh_token')
want('revoked', (await refused(() => client.refreshToken(next))).oauth2Code, 'invalid_grant')
want('its own token', !!(await client.clientCredentials()).accessToken, true)
