# This is Authlib as a Flask application has it: it reads the discovery document and verifies the id_token by itself.
from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, request
from urllib.parse import urlsplit
from lib import *

app = Flask("app")
app.secret_key = "a secret"
keystile = OAuth(app).register(
    "keystile", client_id=ID, client_secret=SECRET, server_metadata_url=ISSUER + "/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email"})


@app.route("/login")
def login():
    return keystile.authorize_redirect(REDIRECT)


@app.route("/cb")
def arrive():
    tokens = keystile.authorize_access_token()
    return jsonify(sub=tokens["userinfo"]["sub"], email=keystile.userinfo(token=tokens)["email"])


client = app.test_client()
back = urlsplit(visit(client.get("/login").headers["Location"]))
me = client.get("/cb?" + back.query)
want("signed in", me.status_code, 200)
want("id_token", me.json["sub"], SUB)
want("userinfo", me.json["email"], EMAIL)
