import { script, issuer, id, here, want, user, email } from './page.mjs'

await script('/node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js')
const manager = new window.oidc.UserManager({
  authority: issuer, client_id: id, redirect_uri: here, post_logout_redirect_uri: here,
  scope: 'openid profile email', loadUserInfo: true,
})

export const start = () => manager.signinRedirect()

export async function arrive() {
  const signedIn = await manager.signinRedirectCallback()
  want('signed in', signedIn.expired, false)
  want('id_token', signedIn.profile.sub, user)
  want('userinfo', signedIn.profile.email, email)
  const next = await manager.signinSilent()
  return want('refresh', next.access_token !== signedIn.access_token, true)
}

export const leave = async () => manager.signoutRedirect()
