#!/bin/sh
# Makes nginx.conf fit compose.yaml: the nodes by their names, and a certificate that nobody vouches for.
set -eu
mkdir -p /run/keystile
cd /run/keystile
sed 's/listen 127.0.0.1:8443/listen 8443/; s/127.0.0.1:8081/keystile1:8080/; s/127.0.0.1:8082/keystile2:8080/' /etc/keystile/nginx.conf > nginx.conf
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost -keyout id.example.com.key -out id.example.com.crt 2>/dev/null
