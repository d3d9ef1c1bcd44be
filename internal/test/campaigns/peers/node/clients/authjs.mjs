// This calls Auth.js as a framework's adapter does, with the cookies that it sets.
import { Auth, skipCSRFCheck } from '@auth/core'
import { ISSUER, ID, SECRET, SUB, EMAIL, visit, want } from './lib.mjs'

const origin = 'https://app.example.com'
const config = {
  basePath: '/auth', secret: 'a secret of the application, of some length', trustHost: true, skipCSRFCheck,
  logger: { error: (e) => console.error(e.message, e.cause), warn() {}, debug() {} },
  providers: [{ id: 'keystile', name: 'Keystile', type: 'oidc', issuer: ISSUER, clientId: ID, clientSecret: SECRET }],
  callbacks: {
    jwt: ({ token, account, profile }) => account ? { ...token, sub: profile.sub } : token,
    session: ({ session, token }) => ({ ...session, sub: token.sub }),
  },
}
const jar = {}
async function go(url, options = {}) {
  const cookie = Object.entries(jar).map(([k, v]) => k + '=' + v).join('; ')
  const answer = await Auth(new Request(url, { ...options, headers: { ...options.headers, cookie } }), config)
  for (const [, k, v] of answer.headers.getSetCookie().map((c) => /^([^=]*)=([^;]*)/.exec(c))) jar[k] = v
  return answer
}
const begun = await go(origin + '/auth/signin/keystile', {
  method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'callbackUrl=' + origin,
})
const ended = await go(await visit(begun.headers.get('location')))
want('signed in', ended.headers.get('location'), origin)
const session = await (await go(origin + '/auth/session')).json()
want('id_token', session.sub, SUB)
want('userinfo', session.user.email, EMAIL)
