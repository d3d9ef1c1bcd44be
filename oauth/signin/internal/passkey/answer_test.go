package passkey

import (
	"errors"
	"testing"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// Everything that a browser may send is refused, and nothing breaks: no text holds a challenge that was signed
// here.
func FuzzAnswer(f *testing.F) {
	store, err := storage.Open(f.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		f.Fatal(err)
	}
	s := &Passkeys{Store: store, Party: PartyOf("https://id.example.com")}
	if s.Party == nil {
		f.Fatal("no passkeys at a host with a name")
	}
	f.Add("")
	f.Add(`{"id":"AA","rawId":"AA","type":"public-key","clientExtensionResults":{},"response":{"clientDataJSON":"eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiQUEiLCJvcmlnaW4iOiJodHRwczovL2lkLmV4YW1wbGUuY29tIn0","authenticatorData":"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ","signature":"AA","userHandle":"dTE"}}`)
	f.Add(`{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"e30","attestationObject":"o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YUEA"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := s.read(t.Context(), text, signingIn, "browser", protocol.VerificationRequired); !errors.Is(err,
			errRefused) {
			t.Fatalf("read(%q) = %v, want errRefused", text, err)
		}
		if _, err := protocol.ParseCredentialCreationResponseBytes([]byte(text)); err != nil &&
			!errors.Is(refused(err), errRefused) {
			t.Fatal(err)
		}
	})
}
