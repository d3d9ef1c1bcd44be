use strict; use warnings; use JSON::PP; use LWP::Authen::OAuth2;
require './lib.pl';

my $agent = LWP::Authen::OAuth2->new(
  client_id => $ENV{ID}, client_secret => $ENV{SECRET}, redirect_uri => $ENV{REDIRECT}, scope => 'openid profile email',
  authorization_endpoint => "$ENV{ISSUER}/oauth/authorize", token_endpoint => "$ENV{ISSUER}/oauth/token",
);
my $back = visit($agent->authorization_url());
$agent->request_tokens(code => $back->{code});
want('signed in', $agent->should_refresh() ? 1 : 0, 0);
want('userinfo', decode_json($agent->get("$ENV{ISSUER}/oauth/userinfo")->decoded_content)->{email}, $ENV{EMAIL});
my $first = decode_json($agent->token_string)->{access_token};
$agent->refresh_access_token;
want('refresh', decode_json($agent->token_string)->{access_token} ne $first ? 1 : 0, 1);
