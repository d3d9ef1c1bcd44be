require 'openid_connect'
require_relative 'lib'

found = OpenIDConnect::Discovery::Provider::Config.discover! ISSUER
client = OpenIDConnect::Client.new(
  identifier: ID, secret: SECRET, redirect_uri: REDIRECT, authorization_endpoint: found.authorization_endpoint,
  token_endpoint: found.token_endpoint, userinfo_endpoint: found.userinfo_endpoint
)
back = visit(client.authorization_uri(scope: %i[profile email], state: 'a state', nonce: 'a nonce'))
client.authorization_code = back['code']
token = client.access_token!
want 'signed in', token.token_type.to_s, 'bearer'
id_token = OpenIDConnect::ResponseObject::IdToken.decode token.id_token, found.jwks
id_token.verify! issuer: ISSUER, client_id: ID, nonce: 'a nonce'
want 'id_token', id_token.sub, SUB
want 'userinfo', token.userinfo!.email, EMAIL
client.refresh_token = token.refresh_token
want 'refresh', client.access_token!.access_token != token.access_token, true
