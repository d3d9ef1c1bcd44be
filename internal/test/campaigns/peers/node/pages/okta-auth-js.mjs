// Okta's client knows the paths of Okta alone unless it is told others, and verifies RS256 alone.
import { script, issuer, id, here, want, user, email } from './page.mjs'

await script('/node_modules/@okta/okta-auth-js/dist/okta-auth-js.min.js')
const at = issuer + '/oauth/'
const client = new window.OktaAuth({
  issuer, clientId: id, redirectUri: here, postLogoutRedirectUri: here,
  authorizeUrl: at + 'authorize', tokenUrl: at + 'token', userinfoUrl: at + 'userinfo', revokeUrl: at + 'revoke',
  logoutUrl: at + 'logout',
})

export const start = () => client.token.getWithRedirect({ scopes: ['openid', 'profile', 'email', 'offline_access'] })

export async function arrive() {
  const { tokens } = await client.token.parseFromUrl()
  client.tokenManager.setTokens(tokens)
  want('signed in', await client.isAuthenticated(), true)
  want('id_token', tokens.idToken.claims.sub, user)
  want('userinfo', (await client.token.getUserInfo()).email, email)
  const next = await client.token.renewTokens()
  return want('refresh', next.accessToken.accessToken !== tokens.accessToken.accessToken, true)
}

export const leave = () => client.signOut()
