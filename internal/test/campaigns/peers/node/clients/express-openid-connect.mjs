// This Express application lets nobody in who is not signed in. Unless it is told of codes it asks for what OAuth 2.1
// leaves out, an id_token by the browser.
import express from 'express'
import { auth } from 'express-openid-connect'
import { ISSUER, ID, SECRET, SUB, EMAIL, visit, want } from './lib.mjs'

const app = express()
app.use(auth({
  issuerBaseURL: ISSUER, baseURL: 'https://app.example.com', clientID: ID, clientSecret: SECRET,
  secret: 'a secret of the application, of some length',
  authorizationParams: { response_type: 'code' }, idpLogout: true,
}))
app.get('/me', async (request, response) => {
  const first = request.oidc.accessToken.access_token
  const info = await request.oidc.fetchUserInfo()
  const next = request.oidc.refreshToken ? await request.oidc.accessToken.refresh() : undefined
  response.json({ sub: request.oidc.user.sub, email: info.email, fresh: next && next.access_token !== first })
})
const server = app.listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const jar = {}
async function go(path) {
  const answer = await fetch(`http://127.0.0.1:${server.address().port}${path}`, {
    redirect: 'manual',
    headers: { 'x-forwarded-proto': 'https', cookie: Object.entries(jar).map(([k, v]) => k + '=' + v).join('; ') },
  })
  for (const [, k, v] of answer.headers.getSetCookie().map((c) => /^([^=]*)=([^;]*)/.exec(c))) jar[k] = v
  return answer
}
const begun = await go('/me')
const back = new URL(await visit(begun.headers.get('location')))
const ended = await go('/callback' + back.search)
if (ended.status !== 302) throw new Error(await ended.text())
want('signed in', new URL(ended.headers.get('location'), 'https://app.example.com').pathname, '/me')
const me = await (await go('/me')).json()
want('id_token', me.sub, SUB)
want('userinfo', me.email, EMAIL)
if (me.fresh !== undefined) want('refresh', me.fresh, true)
const out = (await go('/logout')).headers.get('location')
want('logout', new URL(await visit(out)).origin, 'https://app.example.com')
server.close()
