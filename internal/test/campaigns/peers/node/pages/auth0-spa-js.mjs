// auth0-spa-js knows the paths of Auth0 alone: /oauth/token is ours too, the other two it lets an application say.
import { script, issuer, id, here, want, user, email } from './page.mjs'

await script('/node_modules/@auth0/auth0-spa-js/dist/auth0-spa-js.production.js')
const client = new window.auth0.Auth0Client({
  domain: issuer, issuer, clientId: id, useRefreshTokens: true, authorizationParams: { redirect_uri: here },
})

export const start = () => client.loginWithRedirect({
  openUrl: (url) => location.assign(url.replace('/authorize?', '/oauth/authorize?')),
})

export async function arrive() {
  await client.handleRedirectCallback()
  want('signed in', await client.isAuthenticated(), true)
  want('id_token', (await client.getUser()).sub, user)
  const info = await client.createFetcher({ baseUrl: issuer }).fetchWithAuth('/oauth/userinfo')
  want('userinfo', (await info.json()).email, email)
  const first = await client.getTokenSilently()
  const next = await client.getTokenSilently({ cacheMode: 'off' })
  return want('refresh', next !== first, true)
}

const ended = new URLSearchParams({ client_id: id, post_logout_redirect_uri: here })

export const leave = async () => client.logout({ openUrl: () => location.assign(issuer + '/oauth/logout?' + ended) })
