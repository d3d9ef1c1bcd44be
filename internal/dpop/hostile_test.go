package dpop

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/test/proofs"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

const origin = "https://id.example.com"

// fixed verifies every token as one of a caller.
type fixed struct {
	checker *Checker
	caller  storage.Caller
}

func (f fixed) Verify(ctx context.Context, bearer string, _ ...string) (storage.Caller, error) {
	if err := f.checker.Admit(ctx, &f.caller, bearer); err != nil {
		return storage.Caller{}, err
	}
	return f.caller, nil
}

// call has a request with these credentials judged.
func (f fixed) call(method, address, authorization string, proof ...string) (nonce string, err error) {
	r, w := httptest.NewRequest(method, address, nil), httptest.NewRecorder()
	r.Header.Set("Authorization", authorization)
	for _, text := range proof {
		r.Header.Add("DPoP", text)
	}
	c, err := Read(w.Header(), r)
	if err == nil {
		_, err = c.Verify(r.Context(), f)
	}
	if refused := Refused(err); refused != nil {
		return refused.Nonce, err
	}
	return w.Header().Get("DPoP-Nonce"), err
}

func newFixed(key *proofs.Key) fixed {
	return fixed{New(Config{Origin: origin}),
		storage.Caller{AppID: "a", Audience: origin, KeyThumbprint: key.Thumbprint()}}
}

const access = "eyJ.e30.c2ln"

func (f fixed) nonce(t *testing.T, key *proofs.Key) string {
	t.Helper()
	nonce, err := f.call("POST", origin+"/api/mcp", "DPoP "+access,
		key.New("POST", origin+"/api/mcp", "", access).Text(key))
	if r := Refused(err); r == nil || r.Name != UseNonce || nonce == "" {
		t.Fatalf("without a nonce: %q, %v", nonce, err)
	}
	return nonce
}

func TestProofByEachAlgorithmIsGoodOnce(t *testing.T) {
	for _, alg := range Algs() {
		key := proofs.NewKey(alg)
		f := newFixed(key)
		proof := key.New("POST", origin+"/api/mcp", f.nonce(t, key), access).Text(key)
		if _, err := f.call("POST", origin+"/api/mcp", "DPoP "+access, proof); err != nil {
			t.Errorf("%s: %v", alg, err)
		}
		if _, err := f.call("POST", origin+"/api/mcp", "DPoP "+access, proof); err == nil ||
			!strings.Contains(err.Error(), "used before") {
			t.Errorf("%s, again: %v", alg, err)
		}
	}
}

// hostile are proofs that a thief of a token may send. Each is a good one but for what it says.
var hostile = []struct {
	name string
	make func(p *proofs.Proof, key *proofs.Key)
}{
	{"alg none", func(p *proofs.Proof, _ *proofs.Key) { p.Head["alg"], p.Signature = "none", []byte{} }},
	{"alg None, signed", func(p *proofs.Proof, _ *proofs.Key) { p.Head["alg"] = "None" }},
	{"alg HS256", func(p *proofs.Proof, _ *proofs.Key) { p.Head["alg"] = "HS256" }},
	{"alg HS256 with a secret jwk", func(p *proofs.Proof, _ *proofs.Key) {
		p.Head["alg"], p.Head["jwk"] = "HS256", map[string]any{"kty": "oct", "k": "c2VjcmV0"}
	}},
	{"alg ES384", func(p *proofs.Proof, _ *proofs.Key) { p.Head["alg"] = "ES384" }},
	{"alg of another kind of key", func(p *proofs.Proof, _ *proofs.Key) { p.Head["alg"] = "RS256" }},
	{"alg in small letters", func(p *proofs.Proof, _ *proofs.Key) { p.Head["alg"] = "es256" }},
	{"no alg", func(p *proofs.Proof, _ *proofs.Key) { p.Head["alg"] = nil }},
	{"alg a number", func(p *proofs.Proof, _ *proofs.Key) { p.Head["alg"] = 256 }},
	{"no typ", func(p *proofs.Proof, _ *proofs.Key) { p.Head["typ"] = nil }},
	{"typ JWT", func(p *proofs.Proof, _ *proofs.Key) { p.Head["typ"] = "JWT" }},
	{"typ at+jwt", func(p *proofs.Proof, _ *proofs.Key) { p.Head["typ"] = "at+jwt" }},
	{"typ in capitals", func(p *proofs.Proof, _ *proofs.Key) { p.Head["typ"] = "DPOP+JWT" }},
	{"no jwk", func(p *proofs.Proof, _ *proofs.Key) { p.Head["jwk"] = nil }},
	{"kid in place of jwk", func(p *proofs.Proof, k *proofs.Key) { p.Head["jwk"], p.Head["kid"] = nil, k.Thumbprint() }},
	{"jwk a text", func(p *proofs.Proof, _ *proofs.Key) { p.Head["jwk"] = "{}" }},
	{"jwk a list", func(p *proofs.Proof, k *proofs.Key) { p.Head["jwk"] = []any{k.JWK} }},
	{"jwk empty", func(p *proofs.Proof, _ *proofs.Key) { p.Head["jwk"] = map[string]any{} }},
	{"jwk with its private part", func(p *proofs.Proof, k *proofs.Key) { p.Head["jwk"] = with(k.JWK, "d", "AQAB") }},
	{"jwk with an empty private part", func(p *proofs.Proof, k *proofs.Key) { p.Head["jwk"] = with(k.JWK, "d", "") }},
	{"jwk for encryption", func(p *proofs.Proof, k *proofs.Key) { p.Head["jwk"] = with(k.JWK, "use", "enc") }},
	{"jwk for another algorithm", func(p *proofs.Proof, k *proofs.Key) { p.Head["jwk"] = with(k.JWK, "alg", "ES512") }},
	{"jwk of another curve", func(p *proofs.Proof, k *proofs.Key) { p.Head["jwk"] = with(k.JWK, "crv", "P-384") }},
	{"jwk off the curve", func(p *proofs.Proof, k *proofs.Key) { p.Head["jwk"] = with(k.JWK, "y", k.JWK["x"]) }},
	{"crit", func(p *proofs.Proof, _ *proofs.Key) { p.Head["crit"] = []string{"exp"} }},
	{"b64", func(p *proofs.Proof, _ *proofs.Key) { p.Head["b64"], p.Head["crit"] = false, []string{"b64"} }},
	{"jku", func(p *proofs.Proof, _ *proofs.Key) { p.Head["jku"] = "https://evil.example/keys" }},
	{"x5u", func(p *proofs.Proof, _ *proofs.Key) { p.Head["x5u"] = "https://evil.example/c" }},
	{"x5c", func(p *proofs.Proof, _ *proofs.Key) { p.Head["x5c"] = []string{"AA=="} }},
	{"zip", func(p *proofs.Proof, _ *proofs.Key) { p.Head["zip"] = "DEF" }},
	{"no jti", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["jti"] = nil }},
	{"jti empty", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["jti"] = "" }},
	{"jti a number", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["jti"] = 1 }},
	{"jti too long", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["jti"] = strings.Repeat("x", 257) }},
	{"no htm", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["htm"] = nil }},
	{"htm of another method", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["htm"] = "GET" }},
	{"htm in small letters", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["htm"] = "post" }},
	{"no htu", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["htu"] = nil }},
	{"htu of another path", at(origin + "/oauth/userinfo")},
	{"htu of a path below", at(origin + "/api/mcp/b/support")},
	{"htu of the path with a slash", at(origin + "/api/mcp/")},
	{"htu of the path in capitals", at(origin + "/API/MCP")},
	{"htu of the origin", at(origin)},
	{"htu of another host", at("https://evil.example.com/api/mcp")},
	{"htu of another scheme", at("http://id.example.com/api/mcp")},
	{"htu of another port", at("https://id.example.com:8443/api/mcp")},
	{"htu with a user", at("https://id.example.com@evil.example/api/mcp")},
	{"htu with a user of ours", at("https://u@id.example.com/api/mcp")},
	{"htu that is a path", at("/api/mcp")},
	{"htu with a slash that is escaped", at(origin + "/api%2Fmcp")},
	{"htu empty", at("")},
	{"htu a list", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["htu"] = []string{origin + "/api/mcp"} }},
	{"no iat", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["iat"] = nil }},
	{"iat a text", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["iat"] = "now" }},
	{"iat six minutes ago", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["iat"] = time.Now().Unix() - 360 }},
	{"iat two minutes ahead", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["iat"] = time.Now().Unix() + 120 }},
	{"iat below zero", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["iat"] = -1 }},
	{"iat beyond all times", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["iat"] = 1e300 }},
	{"exp that is over", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["exp"] = time.Now().Unix() - 1 }},
	{"nbf to come", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["nbf"] = time.Now().Unix() + 120 }},
	{"no ath", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["ath"] = nil }},
	{"ath of another token", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["ath"] = TokenHash("eyJ.e30.b3RoZXI") }},
	{"ath padded", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["ath"] = TokenHash(access) + "=" }},
	{"ath the token itself", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["ath"] = access }},
	{"ath a number", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["ath"] = 1 }},
	{"no nonce", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["nonce"] = nil }},
	{"nonce empty", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["nonce"] = "" }},
	{"nonce a number", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["nonce"] = 1 }},
	{"nonce of another process", func(p *proofs.Proof, _ *proofs.Key) {
		n := nonces{key: drawnKey()}
		p.Claims["nonce"], _ = n.fresh(context.Background(), time.Now())
	}},
	{"nonce with a later time", func(p *proofs.Proof, _ *proofs.Key) {
		n := []byte(p.Claims["nonce"].(string))
		n[9]++
		p.Claims["nonce"] = string(n)
	}},
	{"nonce with something behind it", func(p *proofs.Proof, _ *proofs.Key) {
		p.Claims["nonce"] = p.Claims["nonce"].(string) + "AA"
	}},
	{"another key", func(p *proofs.Proof, _ *proofs.Key) {
		other := proofs.NewKey("ES256")
		p.Head["jwk"] = other.JWK
		p.Signature = other.Sign(proofs.B64([]byte(proofs.Object(p.Head))) + "." +
			proofs.B64([]byte(proofs.Object(p.Claims))))
	}},
	{"signed by another key", func(p *proofs.Proof, _ *proofs.Key) { p.Signature = proofs.NewKey("ES256").Sign("x") }},
	{"signature empty", func(p *proofs.Proof, _ *proofs.Key) { p.Signature = []byte{} }},
	{"signature of zeros", func(p *proofs.Proof, _ *proofs.Key) { p.Signature = make([]byte, 64) }},
	{"signature cut", func(p *proofs.Proof, k *proofs.Key) { p.Signature = k.Sign("x")[:63] }},
	{"signature in ASN.1", func(p *proofs.Proof, _ *proofs.Key) {
		p.Signature = append([]byte{0x30, 0x44}, make([]byte, 68)...)
	}},
	{"claims that are huge", func(p *proofs.Proof, _ *proofs.Key) { p.Claims["more"] = strings.Repeat("x", 9<<10) }},
}

func at(address string) func(*proofs.Proof, *proofs.Key) {
	return func(p *proofs.Proof, _ *proofs.Key) { p.Claims["htu"] = address }
}

func with(jwk map[string]any, name string, value any) map[string]any {
	all := map[string]any{name: value}
	for n, v := range jwk {
		if n != name {
			all[n] = v
		}
	}
	return all
}

func TestHostileProofsAreRefused(t *testing.T) {
	key := proofs.NewKey("ES256")
	f := newFixed(key)
	nonce := f.nonce(t, key)
	for _, c := range hostile {
		p := key.New("POST", origin+"/api/mcp", nonce, access)
		c.make(p, key)
		if _, err := f.call("POST", origin+"/api/mcp", "DPoP "+access, p.Text(key)); Refused(err) == nil ||
			!errors.Is(err, token.ErrInvalid) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if len(hostile) < 60 {
		t.Errorf("only %d are tried", len(hostile))
	}
	if _, err := f.call("POST", origin+"/api/mcp", "DPoP "+access,
		key.New("POST", origin+"/api/mcp", nonce, access).Text(key)); err != nil {
		t.Errorf("a good one: %v", err)
	}
}

// Texts that no object makes.
func TestProofsOfAnotherShapeAreRefused(t *testing.T) {
	key := proofs.NewKey("ES256")
	f := newFixed(key)
	p := key.New("POST", origin+"/api/mcp", f.nonce(t, key), access)
	head, claims := proofs.Object(p.Head), proofs.Object(p.Claims)
	good := proofs.Seal(key, head, claims, nil)
	seal := func(head, claims string) string { return proofs.Seal(key, head, claims, nil) }
	parts := strings.Split(good, ".")
	for name, text := range map[string]string{
		"nothing": "", "a dot": ".", "dots": "..", "two segments": parts[0] + "." + parts[1], "four": good + ".AA",
		"padded": good + "=", "a line break": parts[0] + "\n." + parts[1] + "." + parts[2], "blanks": " " + good,
		"a list":        good + ", " + good,
		"a JWE":         good + ".AA.AA",
		"JSON":          `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `"}`,
		"htm twice":     seal(head, strings.Replace(claims, `"htm"`, `"htm":"GET","htm"`, 1)),
		"HTM beside":    seal(head, strings.Replace(claims, `"htm"`, `"HTM":"GET","htm"`, 1)),
		"alg twice":     seal(strings.Replace(head, `"alg"`, `"alg":"none","alg"`, 1), claims),
		"claims a list": seal(head, "["+claims+"]"), "claims a text": seal(head, `"`+parts[1]+`"`),
		"claims null": seal(head, "null"), "claims cut": seal(head, claims[:len(claims)-1]),
		"head a list":      seal("["+head+"]", claims),
		"claims not UTF-8": seal(head, strings.Replace(claims, "POST", "PO\xffST", 1)),
		"nested deeply": seal(head,
			strings.Replace(claims, "{", `{"x":`+strings.Repeat("[", 50)+strings.Repeat("]", 50)+",", 1)),
		"longer than 8 KiB": good + strings.Repeat("A", 8<<10),
	} {
		if _, err := f.call("POST", origin+"/api/mcp", "DPoP "+access, text); Refused(err) == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTokenIsGoodInTheWayAloneInWhichItIsMeantToBeSent(t *testing.T) {
	key, other := proofs.NewKey("ES256"), proofs.NewKey("EdDSA")
	bound := newFixed(key)
	bearer := bound
	bearer.caller.KeyThumbprint = ""
	nonce := bound.nonce(t, key)
	address := origin + "/api/mcp"
	proof := func(k *proofs.Key) string { return k.New("POST", address, nonce, access).Text(k) }
	for _, c := range []struct {
		name          string
		of            fixed
		authorization string
		proofs        []string
		why           string // "": it is good
	}{
		{"bound, as DPoP", bound, "DPoP " + access, []string{proof(key)}, ""},
		{"bound, as dpop", bound, "dpop " + access, []string{proof(key)}, ""},
		{"bound, as Bearer", bound, "Bearer " + access, nil, "bound to a key"},
		{"bound, as Bearer with its proof", bound, "Bearer " + access, []string{proof(key)}, "bound to a key"},
		{"bound, as DPoP without a proof", bound, "DPoP " + access, nil, "missing"},
		{"bound, with two proofs", bound, "DPoP " + access, []string{proof(key), proof(key)}, "twice"},
		{"bound, with a proof by another key", bound, "DPoP " + access, []string{proof(other)}, "another key"},
		{"bound, with the proof of another token", bound, "DPoP eyJ.e30.AAAA", []string{proof(key)}, "ath"},
		{"bearer, as Bearer", bearer, "Bearer " + access, nil, ""},
		{"bearer, as Bearer with a proof", bearer, "Bearer " + access, []string{proof(other)}, ""},
		{"bearer, as DPoP with a proof", bearer, "DPoP " + access, []string{proof(other)}, "bound to no key"},
		{"bearer, as DPoP", bearer, "DPoP " + access, nil, "bound to no key"},
	} {
		_, err := c.of.call("POST", address, c.authorization, c.proofs...)
		if c.why == "" && err != nil || c.why != "" && (Refused(err) == nil || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.why)
		}
	}
	for _, h := range [][]string{{"DPoP"}, {"DPoP "}, {"Basic x"}, {"DPoP a", "Bearer a"}, {"DPoP a b"}, {"DPoPx a"}} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["Authorization"] = h
		if _, err := Read(http.Header{}, r); err == nil {
			t.Errorf("Authorization %q is read", h)
		}
	}
}

func TestStolenProofIsOfNoUseLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := proofs.NewKey("ES256")
		f := newFixed(key)
		nonce := f.nonce(t, key)
		address := origin + "/api/mcp"
		send := func() (string, error) {
			return f.call("POST", address, "DPoP "+access, key.New("POST", address, nonce, access).Text(key))
		}
		time.Sleep(nonceRenew)
		next, err := send()
		if err != nil || next == "" || next == nonce {
			t.Fatalf("after a minute: %q, %v", next, err)
		}
		time.Sleep(nonceLife - nonceRenew - time.Second)
		if _, err := send(); err != nil {
			t.Errorf("shortly before its end: %v", err)
		}
		time.Sleep(time.Second)
		if _, err := send(); Refused(err) == nil || Refused(err).Name != UseNonce {
			t.Errorf("after five minutes: %v", err)
		}
		nonce = next
		if _, err := send(); err != nil {
			t.Errorf("with the next one: %v", err)
		}
	})
}

// Two processes that share a key and what they have seen, and one that begins anew.
func TestProofIsGoodOnceOverNodesAndRestarts(t *testing.T) {
	seen := map[string]bool{}
	once := func(_ context.Context, id []byte, until time.Time) (bool, error) {
		if time.Until(until) < nonceLife || seen[string(id)] {
			return false, nil
		}
		seen[string(id)] = true
		return true, nil
	}
	shared := Config{Origin: origin, Key: drawnKey(), Once: once}
	key := proofs.NewKey("ES256")
	caller := storage.Caller{AppID: "a", Audience: origin, KeyThumbprint: key.Thumbprint()}
	address := origin + "/oauth/userinfo"
	one, two := fixed{New(shared), caller}, fixed{New(shared), caller}
	proof := key.New("GET", address, one.nonce(t, key), access).Text(key)
	if _, err := two.call("GET", address, "DPoP "+access, proof); err != nil {
		t.Errorf("the nonce of another node: %v", err)
	}
	for _, node := range []fixed{one, two, {New(shared), caller}} {
		if _, err := node.call("GET", address, "DPoP "+access, proof); Refused(err) == nil {
			t.Errorf("again, at whichever node: %v", err)
		}
	}
	alone := newFixed(key)
	proof = key.New("GET", address, alone.nonce(t, key), access).Text(key)
	if _, err := alone.call("GET", address, "DPoP "+access, proof); err != nil {
		t.Error(err)
	}
	_, err := newFixed(key).call("GET", address, "DPoP "+access, proof)
	if r := Refused(err); r == nil || r.Name != UseNonce {
		t.Errorf("after a restart: %v", err)
	}
}

func TestStoreThatIsAwayIsNoRefusal(t *testing.T) {
	key := proofs.NewKey("ES256")
	away := func(context.Context) ([]byte, error) { return nil, storage.ErrUnavailable }
	f := fixed{New(Config{Origin: origin, Key: away}), storage.Caller{Audience: origin, KeyThumbprint: key.Thumbprint()}}
	proof := key.New("POST", origin+"/x", strings.Repeat("A", 32), access).Text(key)
	_, err := f.call("POST", origin+"/x", "DPoP "+access, proof)
	if Refused(err) != nil || !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("without the key of nonces: %v", err)
	}
}
