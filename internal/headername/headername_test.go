package headername

import (
	"strings"
	"testing"
)

// tokenCharacters are the characters of RFC 9110 5.6.2 that a name may hold beside letters, digits and -.
const tokenCharacters = "!#$%&'*+.^_`|~"

// known are claims by the names that those who write them have for them.
var known = strings.Fields(`
	X-Keystile-User X-Keystile-Client X-Keystile-Tier X-Keystile-Scope X-Keystile-Anything Grpc-Metadata-X-Keystile-User Proxy
	Keystile-Caller Keystile-Anything Grpc-Metadata-Keystile-Caller
	Remote-User Remote-Groups Remote-Addr X-Remote-User X-WEBAUTH-USER X-Auth-Request-Email X-Authenticated-User X-Authentik-Username
	X-Consumer-Username X-Goog-Authenticated-User-Email X-Amzn-Oidc-Identity X-MS-CLIENT-PRINCIPAL X-MS-CLIENT-PRINCIPAL-NAME
	Cf-Access-Authenticated-User-Email Tailscale-User-Login Client-Cert Client-Cert-Chain X-SSL-Client-Verify X-ARR-ClientCert
	Forwarded X-Forwarded X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Forwarded-User X-Forwarded-Client-Cert X-Real-IP Client-IP
	X-Client-IP True-Client-IP X-Cluster-Client-IP CF-Connecting-IP CF-Connecting-IPv6 Fastly-Client-IP Fly-Client-IP Proxy-Client-IP WL-Proxy-Client-IP
	Ali-CDN-Real-IP X-Appengine-Cron X-Envoy-External-Address X-Envoy-Original-Path Front-End-Https
	X-Original-URL X-Original-URI X-Original-Method X-Original-Host X-Original-Forwarded-For X-Rewrite-URL X-Override-URL X-HTTP-Method-Override X-HTTP-Method
	X-Method-Override X-HTTP-Host-Override X-Host X-Accel-Mapping X-Sendfile-Type
`)

func TestClaimIsRefusedHoweverItIsWritten(t *testing.T) {
	for _, name := range known {
		for _, spelling := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if !Claims(spelling) || !Refused(spelling) {
				t.Errorf("%s passes", spelling)
			}
			for _, c := range tokenCharacters {
				for _, folded := range []string{strings.ReplaceAll(spelling, "-", string(c)),
					strings.Replace(spelling, "-", string(c), 1)} {
					if !Claims(folded) || !Refused(folded) {
						t.Errorf("%s, which may be read as %s, passes", folded, name)
					}
				}
			}
		}
	}
}

func TestNameWithAnythingButLettersDigitsAndHyphensIsRefused(t *testing.T) {
	for c := range 256 {
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-'
		for _, name := range []string{string([]byte{byte(c)}), "A" + string([]byte{byte(c)}),
			"Own" + string([]byte{byte(c)}) + "Key"} {
			if Plain(name) != plain || Refused(name) == plain {
				t.Errorf("%q: plain %t, refused %t; want plain %t", name, Plain(name), Refused(name), plain)
			}
		}
	}
}

func TestHeaderNamesThatClaimNothingPass(t *testing.T) {
	for _, name := range strings.Fields(`
		Accept Accept-Language Authorization Cache-Control Client Client-Id Content-Length Content-Type Cookie Date Host Idempotency-Key If-Match Origin Priority
		Range Referer Remote Sec-Fetch-Mode Traceparent User-Agent X X- X-Api-Key X-Auth-Token X-Csrf-Token X-Forward X-Hostname X-Keystone Keystile Keystone-User X-Model X-Real
		X-Request-Id X-Requested-With X-User-Id Idempotency Xforwarded Proxys
	`) {
		if Refused(name) {
			t.Errorf("%s is refused", name)
		}
	}
	if Refused("") {
		t.Error("no name is refused")
	}
}

func BenchmarkRefused(b *testing.B) {
	names := strings.Fields("Accept Accept-Encoding Accept-Language Authorization Content-Type Cookie Origin Referer " +
		"User-Agent X-Request-Id")
	for b.Loop() {
		for _, name := range names {
			if Refused(name) {
				b.Fatal(name)
			}
		}
	}
}
