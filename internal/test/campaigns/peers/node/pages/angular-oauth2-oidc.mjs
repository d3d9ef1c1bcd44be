// This is an Angular application of one component, compiled in the browser.
import '@angular/compiler'
import { Component } from '@angular/core'
import { bootstrapApplication } from '@angular/platform-browser'
import { provideHttpClient } from '@angular/common/http'
import { OAuthService, provideOAuthClient } from 'angular-oauth2-oidc'
import { issuer, id, here, want, user, email } from './page.mjs'

document.body.append(document.createElement('app-root'))
const Root = Component({ selector: 'app-root', template: '' })(class {})
const application = await bootstrapApplication(Root, { providers: [provideHttpClient(), provideOAuthClient()] })
const client = application.injector.get(OAuthService)
client.configure({
  issuer, clientId: id, redirectUri: here, postLogoutRedirectUri: here, responseType: 'code',
  scope: 'openid profile email offline_access',
})

export async function start() {
  await client.loadDiscoveryDocument()
  client.initCodeFlow()
}

export async function arrive() {
  await client.loadDiscoveryDocumentAndTryLogin()
  want('signed in', client.hasValidAccessToken(), true)
  want('id_token', client.getIdentityClaims().sub, user)
  want('userinfo', (await client.loadUserProfile()).info.email, email)
  const first = client.getAccessToken()
  await client.refreshToken()
  return want('refresh', client.getAccessToken() !== first, true)
}

export async function leave() {
  await client.loadDiscoveryDocument()
  client.logOut()
}
