# This is Authlib's session for requests, with its own reader of id_tokens.
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import jwt
from authlib.oidc.core import CodeIDToken
from lib import *

session = OAuth2Session(ID, SECRET, scope="openid profile email", redirect_uri=REDIRECT, code_challenge_method="S256")
found = session.get(ISSUER + "/.well-known/openid-configuration", withhold_token=True).json()
verifier = "a-code-verifier-that-is-long-enough-for-what-RFC-7636-says"
url, state = session.create_authorization_url(found["authorization_endpoint"], code_verifier=verifier, nonce="a nonce")
tokens = session.fetch_token(found["token_endpoint"], authorization_response=visit(url), code_verifier=verifier)
want("signed in", tokens.is_expired(), False)
claims = jwt.decode(tokens["id_token"], SECRET, claims_cls=CodeIDToken, 
                    claims_params={"nonce": "a nonce", "client_id": ID},
                    claims_options={"iss": {"essential": True, "value": ISSUER}})
claims.validate()
want("id_token", claims["sub"], SUB)
want("userinfo", session.get(found["userinfo_endpoint"]).json()["email"], EMAIL)
new = session.refresh_token(found["token_endpoint"])
want("refresh", new["access_token"] != tokens["access_token"], True)
gone = session.revoke_token(found["revocation_endpoint"], new["refresh_token"], "refresh_token")
want("revoked", gone.status_code, 200)
want("refused", refused(lambda: session.refresh_token(found["token_endpoint"])), "invalid_grant")
