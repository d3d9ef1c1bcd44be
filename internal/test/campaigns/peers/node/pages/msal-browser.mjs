import { script, issuer, id, here, want, user, email } from './page.mjs'

await script('/node_modules/@azure/msal-browser/lib/msal-browser.min.js')
const client = new window.msal.PublicClientApplication({
  auth: {
    clientId: id, authority: issuer, knownAuthorities: [new URL(issuer).host], redirectUri: here,
    postLogoutRedirectUri: here,
    OIDCOptions: { responseMode: 'query' },
  },
  system: { protocolMode: 'OIDC' },
})
const scopes = ['openid', 'profile', 'email', 'offline_access']

// It goes on from its callback to the page that began.
export async function start() {
  await client.initialize()
  const result = await client.handleRedirectPromise()
  if (!result) return client.loginRedirect({ scopes })
  want('signed in', !!result.accessToken, true)
  want('id_token', result.idTokenClaims.sub, user)
  const info = await fetch(issuer + '/oauth/userinfo', { headers: { Authorization: 'Bearer ' + result.accessToken } })
  want('userinfo', (await info.json()).email, email)
  const next = await client.acquireTokenSilent({ scopes, account: result.account, forceRefresh: true })
  return want('refresh', next.accessToken !== result.accessToken, true)
}

export const arrive = start

export const leave = () => client.logoutRedirect({ idTokenHint: client.getAllAccounts()[0].idToken })
