// This has both strategies of Passport, as an Express application has them.
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import OpenIDConnect from 'passport-openidconnect'
import OAuth2 from 'passport-oauth2'
import { ISSUER, ID, SECRET, REDIRECT, SUB, EMAIL, visit, want, userInfo } from './lib.mjs'

const app = express()
app.use(session({ secret: 'a secret', resave: false, saveUninitialized: true }))
const at = {
  authorizationURL: ISSUER + '/oauth/authorize', tokenURL: ISSUER + '/oauth/token', callbackURL: REDIRECT,
  clientID: ID, clientSecret: SECRET,
}
if (process.env.STRATEGY === 'oauth2') {
  passport.use('it', new OAuth2({ ...at, scope: ['openid', 'profile', 'email'], state: true, pkce: true },
    (token, refresh, params, profile, done) => done(null, { token, refresh, id: undefined })))
} else {
  const more = { issuer: ISSUER, userInfoURL: ISSUER + '/oauth/userinfo', scope: ['profile', 'email'] }
  passport.use('it', new OpenIDConnect({ ...at, ...more }, (issuer, profile, context, idToken, token, refresh, done) =>
    done(null, { token, refresh, id: profile.id, email: profile.emails[0].value })))
}
app.get('/login', passport.authenticate('it'))
app.get('/cb', (request, response, next) => passport.authenticate('it', (error, user, info) =>
  response.json({ error: error && String(error), user, info }))(request, response, next))
const server = app.listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const origin = 'http://127.0.0.1:' + server.address().port

const begun = await fetch(origin + '/login', { redirect: 'manual' })
const cookie = begun.headers.get('set-cookie').split(';')[0]
const back = await visit(begun.headers.get('location'))
const { user, ...rest } = await (await fetch(origin + '/cb' + new URL(back).search, { headers: { cookie } })).json()
if (!user) throw new Error(JSON.stringify(rest))
want('signed in', !!user.token, true)
if (user.id) {
  want('id_token', user.id, SUB)
  want('userinfo', user.email, EMAIL)
} else {
  want('userinfo', (await userInfo(user.token)).email, EMAIL)
}
server.close()
