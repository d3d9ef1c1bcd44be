# This is python-social-auth's backend for any OpenID Connect provider, with what a framework's strategy would keep.
from urllib.parse import parse_qsl, urlsplit
from social_core.backends.open_id_connect import OpenIdConnectAuth
from social_core.storage import BaseStorage, AssociationMixin
from social_core.strategy import BaseStrategy
from lib import *


class Associations(AssociationMixin):
    kept = []

    @classmethod
    def store(cls, server_url, association):
        it = cls()
        it.server_url, it.handle = server_url, association.handle
        cls.kept.append(it)

    @classmethod
    def get(cls, server_url=None, handle=None, **more):
        return [it for it in cls.kept if it.server_url == server_url and (handle is None or it.handle == handle)]

    @classmethod
    def remove(cls, ids):
        cls.kept.clear()

    id = 1


class Storage(BaseStorage):
    association = Associations


class Strategy(BaseStrategy):
    data, session = {}, {}

    def get_setting(self, name): return {"ENDPOINT": ISSUER, "KEY": ID, "SECRET": SECRET}[name.split("_")[-1]]
    def request_data(self, merge=True): return self.data
    def request_host(self): return "app.example.com"
    def build_absolute_uri(self, path=None): return path
    def session_get(self, name, default=None): return self.session.get(name, default)
    def session_set(self, name, value): self.session[name] = value
    def session_pop(self, name): return self.session.pop(name, None)
    def redirect(self, url): return url
    def authenticate(self, backend, response, **more): return backend, response


strategy = Strategy(Storage)
backend = OpenIdConnectAuth(strategy, redirect_uri=REDIRECT)
strategy.data = dict(parse_qsl(urlsplit(visit(backend.start())).query))
backend.data = strategy.data
_, response = backend.auth_complete()
want("signed in", bool(response["access_token"]), True)
want("id_token", backend.id_token["sub"], SUB)
want("userinfo", backend.get_user_details(response)["email"], EMAIL)
want("refresh", backend.refresh_token(response["refresh_token"])["access_token"] != response["access_token"], True)
