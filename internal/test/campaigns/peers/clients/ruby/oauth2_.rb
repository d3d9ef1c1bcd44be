require 'oauth2'
require_relative 'lib'

client = OAuth2::Client.new(ID, SECRET, site: ISSUER, authorize_url: '/oauth/authorize', token_url: '/oauth/token')
back = visit(client.auth_code.authorize_url(redirect_uri: REDIRECT, scope: 'openid profile email', state: 'a state'))
want 'state', back['state'], 'a state'
token = client.auth_code.get_token(back['code'], redirect_uri: REDIRECT)
want 'signed in', token.expired?, false
want 'userinfo', token.get('/oauth/userinfo').parsed['email'], EMAIL
want 'refresh', token.refresh!.token != token.token, true
want 'its own token', client.client_credentials.get_token.token.empty?, false
