from requests_oauthlib import OAuth2Session
from oauthlib.oauth2 import BackendApplicationClient
from lib import *

session = OAuth2Session(ID, scope=["openid", "profile", "email"], redirect_uri=REDIRECT)
url, state = session.authorization_url(ISSUER + "/oauth/authorize")
tokens = session.fetch_token(ISSUER + "/oauth/token", authorization_response=visit(url), client_secret=SECRET)
want("signed in", session.authorized, True)
want("userinfo", session.get(ISSUER + "/oauth/userinfo").json()["email"], EMAIL)
new = session.refresh_token(ISSUER + "/oauth/token", auth=(ID, SECRET))
want("refresh", new["access_token"] != tokens["access_token"], True)
own = OAuth2Session(client=BackendApplicationClient(ID)).fetch_token(ISSUER + "/oauth/token", client_secret=SECRET)
want("its own token", own["token_type"], "Bearer")
