from oauth2client.client import OAuth2WebServerFlow
from urllib.parse import parse_qs, urlsplit
import httplib2, json
from lib import *

http = httplib2.Http(ca_certs=os.environ["SSL_CERT_FILE"])
flow = OAuth2WebServerFlow(ID, SECRET, "openid email", REDIRECT, auth_uri=ISSUER + "/oauth/authorize",
    token_uri=ISSUER + "/oauth/token",
                           revoke_uri=ISSUER + "/oauth/revoke", pkce=True)
back = visit(flow.step1_get_authorize_url())
credentials = flow.step2_exchange(parse_qs(urlsplit(back).query)["code"][0], http=http)
want("signed in", credentials.access_token_expired, False)
want("id_token", credentials.id_token["sub"], SUB)
_, info = credentials.authorize(http).request(ISSUER + "/oauth/userinfo")
want("userinfo", json.loads(info)["email"], EMAIL)
first = credentials.access_token
credentials.refresh(httplib2.Http(ca_certs=os.environ["SSL_CERT_FILE"]))
want("refresh", credentials.access_token != first, True)
