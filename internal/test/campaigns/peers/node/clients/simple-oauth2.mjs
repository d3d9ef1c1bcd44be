import { AuthorizationCode, ClientCredentials } from 'simple-oauth2'
import { ISSUER, ID, SECRET, REDIRECT, EMAIL, visit, want, refused, userInfo } from './lib.mjs'

const config = {
  client: { id: ID, secret: SECRET },
  auth: { tokenHost: ISSUER, tokenPath: '/oauth/token', revokePath: '/oauth/revoke' },
}
const client = new AuthorizationCode({ ...config, auth: { ...config.auth, authorizePath: '/oauth/authorize' } })
const back = new URL(await visit(client.authorizeURL({ redirect_uri: REDIRECT, scope: 'openid profile email',
  state: 'a state' })))
const tokens = await client.getToken({ code: back.searchParams.get('code'), redirect_uri: REDIRECT })
want('signed in', tokens.expired(), false)
want('userinfo', (await userInfo(tokens.token.access_token)).email, EMAIL)
const next = await tokens.refresh()
want('refresh', next.token.access_token !== tokens.token.access_token, true)
await next.revokeAll()
want('revoked', (await refused(() => next.refresh())).data.payload.error, 'invalid_grant')
const own = await new ClientCredentials(config).getToken({})
want('its own token', own.token.token_type, 'Bearer')
