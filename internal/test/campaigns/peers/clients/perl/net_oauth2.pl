use strict; use warnings; use JSON::PP; use Net::OAuth2::Profile::WebServer;
require './lib.pl';

my $profile = Net::OAuth2::Profile::WebServer->new(
  client_id => $ENV{ID}, client_secret => $ENV{SECRET}, site => $ENV{ISSUER}, redirect_uri => $ENV{REDIRECT},
  authorize_path => '/oauth/authorize', access_token_path => '/oauth/token', refresh_token_path => '/oauth/token',
  scope => 'openid profile email',
);
my $back = visit($profile->authorize(state => 'a state'));
want('state', $back->{state}, 'a state');
my $token = $profile->get_access_token($back->{code});
want('signed in', $token->token_type, 'Bearer');
want('userinfo', decode_json($token->get('/oauth/userinfo')->decoded_content)->{email}, $ENV{EMAIL});
my $first = $token->access_token;
$token->refresh;
want('refresh', $token->access_token ne $first ? 1 : 0, 1);
