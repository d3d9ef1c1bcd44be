package signin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/passkey"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

// Flags of an authenticator (WebAuthn 6.1).
const (
	present  = 1 << 0
	verified = 1 << 2
	eligible = 1 << 3
	backedUp = 1 << 4
	attested = 1 << 6
)

// authenticator makes passkeys and answers challenges as a browser with a device does.
type authenticator struct {
	t                *testing.T
	origin, rp       string
	flags            byte
	counter          uint32
	id               []byte
	key              *ecdsa.PrivateKey
	user             string // the user handle
	kind, alg, curve int64  // of the key, as COSE writes them
}

func newAuthenticator(t *testing.T) *authenticator {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	id := make([]byte, 32)
	rand.Read(id)
	return &authenticator{t: t, origin: origin, rp: "id.example.com", flags: present | verified, id: id, key: key, kind: 2,
		alg: -7, curve: 1}
}

// options holds what the service asks a browser for.
type options struct {
	Challenge string
	RPID      string `json:"rpId"`
	RP        struct{ ID string }
	User      struct{ ID, Name string }
	Allow     []struct{ ID string } `json:"allowCredentials"`
	Exclude   []struct{ ID string } `json:"excludeCredentials"`

	UserVerification string
	Selection        struct{ ResidentKey, UserVerification string } `json:"authenticatorSelection"`
	Attestation      string
}

// begin asks for options.
func (b *browser) begin(path string) (o options, a answer) {
	b.f.t.Helper()
	a = b.form(path)
	if a.Code == 200 {
		must(b.f.t, json.Unmarshal(a.Body.Bytes(), &o))
	}
	return o, a
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func (d *authenticator) clientData(kind, challenge string) []byte {
	raw, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": d.origin,
		"crossOrigin": false})
	must(d.t, err)
	return raw
}

func (d *authenticator) data(flags byte) []byte {
	sum := sha256.Sum256([]byte(d.rp))
	return binary.BigEndian.AppendUint32(append(sum[:], flags), d.counter)
}

// make makes a passkey, and returns what the browser sends.
func (d *authenticator) make(o options) string {
	raw, err := base64.RawURLEncoding.DecodeString(o.User.ID)
	must(d.t, err)
	d.user = string(raw)
	point, err := d.key.PublicKey.Bytes()
	must(d.t, err)
	key := cborMap(5)
	key = cborInt(cborInt(key, 1), d.kind)
	key = cborInt(cborInt(key, 3), d.alg)
	key = cborInt(cborInt(key, -1), d.curve)
	key = cborBytes(cborInt(key, -2), point[1:33])
	key = cborBytes(cborInt(key, -3), point[33:])
	data := append(d.data(d.flags|attested), make([]byte, 16)...)
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(d.id))), d.id...)
	data = append(data, key...)
	object := append(cborMap(3), cborText("fmt")...)
	object = append(append(object, cborText("none")...), cborText("attStmt")...)
	object = append(append(object, cborMap(0)...), cborText("authData")...)
	return d.send(map[string]any{
		"clientDataJSON":    b64(d.clientData("webauthn.create", o.Challenge)),
		"attestationObject": b64(cborBytes(object, data)), "transports": []string{"internal"},
	})
}

// prove answers a challenge, and returns what the browser sends.
func (d *authenticator) prove(o options) string {
	d.counter++
	client, data := d.clientData("webauthn.get", o.Challenge), d.data(d.flags)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(data[:len(data):len(data)], hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, sum[:])
	must(d.t, err)
	return d.send(map[string]any{
		"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature),
		"userHandle": b64([]byte(d.user)),
	})
}

func (d *authenticator) send(response map[string]any) string {
	raw, err := json.Marshal(map[string]any{"id": b64(d.id), "rawId": b64(d.id), "type": "public-key",
		"clientExtensionResults": map[string]any{}, "response": response})
	must(d.t, err)
	return string(raw)
}

// The parts of CBOR (RFC 8949) that are needed.

func cborHead(to []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(to, major<<5|byte(n))
	case n < 1<<8:
		return append(to, major<<5|24, byte(n))
	}
	return binary.BigEndian.AppendUint16(append(to, major<<5|25), uint16(n))
}

func cborMap(n uint64) []byte { return cborHead(nil, 5, n) }
func cborText(text string) []byte {
	return append(cborHead(nil, 3, uint64(len(text))), text...)
}
func cborBytes(to, raw []byte) []byte { return append(cborHead(to, 2, uint64(len(raw))), raw...) }
func cborInt(to []byte, n int64) []byte {
	if n < 0 {
		return cborHead(to, 1, uint64(-n-1))
	}
	return cborHead(to, 0, uint64(n))
}

// addPasskey adds a passkey of a signed-in user on the account page.
func (b *browser) addPasskey(d *authenticator, name string) answer {
	b.f.t.Helper()
	o, a := b.begin(passkey.Path + "/begin")
	if a.Code != 200 {
		return a
	}
	return b.form(passkey.Path, "name", name, "credential", d.make(o))
}

// signInBy signs in with a passkey.
func (b *browser) signInBy(d *authenticator, pairs ...string) answer {
	b.f.t.Helper()
	o, _ := b.begin(web.PasskeyPath + "/begin")
	return b.form(web.PasskeyPath, append([]string{"assertion", d.prove(o)}, pairs...)...)
}

// secondBy proves a passkey as the second factor.
func (b *browser) secondBy(d *authenticator) answer {
	b.f.t.Helper()
	o, _ := b.begin(web.PasskeySecondPath + "/begin")
	return b.form(web.PasskeySecondPath, "assertion", d.prove(o))
}

// passkeyFixture is a service in which Mina has a passkey.
type passkeyFixture struct {
	*fixture
	device *authenticator
	b      *browser // in which she is signed in
}

func newPasskeyFixture(t *testing.T, change func(*Config)) *passkeyFixture {
	f := &passkeyFixture{fixture: newFixture(t, change), device: newAuthenticator(t)}
	f.b = newBrowser(f.fixture)
	if f.b.first().Header().Get("Location") == factor.RemindPath {
		f.b.form(factor.LaterPath)
	}
	if a := f.b.addPasskey(f.device, "my phone"); a.Code != 303 ||
		!strings.HasPrefix(a.Header().Get("Location"), web.AccountPath) {
		t.Fatalf("adding a passkey = %d to %q: %s", a.Code, a.Header().Get("Location"), a.Body)
	}
	return f
}
