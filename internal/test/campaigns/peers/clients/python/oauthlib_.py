# This is oauthlib alone, which prepares what an application sends by its own means.
import requests
from oauthlib.oauth2 import WebApplicationClient
from lib import *

client = WebApplicationClient(ID)
verifier = client.create_code_verifier(64)
back = visit(client.prepare_request_uri(ISSUER + "/oauth/authorize", REDIRECT, ["openid", "email"], "a state",
                                        code_challenge_method="S256",
                                        code_challenge=client.create_code_challenge(verifier, "S256")))
client.parse_request_uri_response(back, "a state")


def token(prepared):
    url, headers, body = prepared
    return client.parse_request_body_response(requests.post(url, data=body, headers=headers, auth=(ID, SECRET)).text)


tokens = token(client.prepare_token_request(ISSUER + "/oauth/token", back, REDIRECT, code_verifier=verifier))
want("signed in", tokens["token_type"], "Bearer")
url, headers, body = client.add_token(ISSUER + "/oauth/userinfo", "GET")
want("userinfo", requests.get(url, headers=headers).json()["email"], EMAIL)
new = token(client.prepare_refresh_token_request(ISSUER + "/oauth/token", tokens["refresh_token"]))
want("refresh", new["access_token"] != tokens["access_token"], True)
url, headers, body = client.prepare_token_revocation_request(ISSUER + "/oauth/revoke", new["refresh_token"],
    "refresh_token")
want("revoked", requests.post(url, data=body, headers=headers, auth=(ID, SECRET)).status_code, 200)
again = client.prepare_refresh_token_request(ISSUER + "/oauth/token", new["refresh_token"])
want("refused", refused(lambda: token(again)), "invalid_grant")
