// AppAuth-JS in Node: it listens on the device, and opens the user's browser by xdg-open, which is the test's here.
import { AuthorizationNotifier, AuthorizationRequest, AuthorizationServiceConfiguration, BaseTokenRequestHandler,
  RevokeTokenRequest, TokenRequest } from '@openid/appauth'
import { NodeBasedHandler } from '@openid/appauth/built/src/node_support/node_request_handler.js'
import { NodeCrypto } from '@openid/appauth/built/src/node_support/crypto_utils.js'
import { NodeRequestor } from '@openid/appauth/built/src/node_support/node_requestor.js'
import { ISSUER, ID, SUB, EMAIL, want, refused, userInfo } from './lib.mjs'

const requestor = new NodeRequestor()
const configuration = await AuthorizationServiceConfiguration.fetchFromIssuer(ISSUER, requestor)
const redirect = 'http://' + process.env.LISTEN
const handler = new NodeBasedHandler(Number(new URL(redirect).port))
const notifier = new AuthorizationNotifier()
handler.setAuthorizationNotifier(notifier)
const request = new AuthorizationRequest({
  client_id: ID, redirect_uri: redirect, scope: 'openid profile email',
  response_type: AuthorizationRequest.RESPONSE_TYPE_CODE,
}, new NodeCrypto())
const { code, verifier } = await new Promise((resolve, reject) => {
  notifier.setAuthorizationListener((request, response, error) =>
    error ? reject(new Error(error.error)) : resolve({ code: response.code, verifier: request.internal.code_verifier }))
  handler.performAuthorizationRequest(configuration, request)
})
const tokens = new BaseTokenRequestHandler(requestor)
const asked = (more) => new TokenRequest({ client_id: ID, redirect_uri: redirect, ...more })
const token = (more) => tokens.performTokenRequest(configuration, asked(more))
const first = await token({ grant_type: 'authorization_code', code, extras: { code_verifier: verifier } })
want('signed in', first.isValid(), true)
want('userinfo', (await userInfo(first.accessToken)).email, EMAIL)
const next = await token({ grant_type: 'refresh_token', refresh_token: first.refreshToken })
want('refresh', next.accessToken !== first.accessToken, true)
const gone = new RevokeTokenRequest({ token: next.refreshToken, client_id: ID })
await tokens.performRevokeTokenRequest(configuration, gone)
const again = await refused(() => token({ grant_type: 'refresh_token', refresh_token: next.refreshToken }))
want('revoked', again.message, 'Bad Request')
process.exit(0)
