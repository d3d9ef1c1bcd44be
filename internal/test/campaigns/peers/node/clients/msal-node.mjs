import { ConfidentialClientApplication, ProtocolMode } from '@azure/msal-node'
import { ISSUER, ID, SECRET, REDIRECT, SUB, EMAIL, visit, want, userInfo } from './lib.mjs'

const client = new ConfidentialClientApplication({
  auth: { clientId: ID, clientSecret: SECRET, authority: ISSUER, knownAuthorities: [new URL(ISSUER).host] },
  system: { protocolMode: ProtocolMode.OIDC },
})
const asked = { scopes: ['openid', 'profile', 'email', 'offline_access'], redirectUri: REDIRECT }
const back = new URL(await visit(await client.getAuthCodeUrl(asked)))
const tokens = await client.acquireTokenByCode({ ...asked, code: back.searchParams.get('code') })
want('signed in', !!tokens.accessToken, true)
want('id_token', tokens.idTokenClaims.sub, SUB)
want('userinfo', (await userInfo(tokens.accessToken)).email, EMAIL)
const next = await client.acquireTokenSilent({ ...asked, account: tokens.account, forceRefresh: true })
want('refresh', next.accessToken !== tokens.accessToken, true)
want('its own token', !!(await client.acquireTokenByClientCredential({ scopes: ['app'] })).accessToken, true)
