package oauth_test

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
)

// A thief of the data file or the log gets no secret with it.
func TestSecretsAreInNeitherTheDataFileNorTheLog(t *testing.T) {
	var log bytes.Buffer
	before, silence := slog.Default(), quiet
	defer func() { quiet = silence; slog.SetDefault(before) }()
	quiet = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	slog.SetDefault(quiet)

	w := newFileFixture(t)
	code := w.code()
	tokens := w.exchange(code).tokens(t)
	rotated := w.refresh(tokens.text("refresh_token")).tokens(t)
	w.userInfo(tokens.text("access_token"))
	w.revoke(rotated.text("refresh_token"))
	w.raw(w.signIn, "/oauth/signin", url.Values{"username": {"ada"}, "password": {"a wrong password"}})
	planted := map[string]string{
		"appkey": w.app.AppKey().Reveal(), "password": password, "a wrong password": "a wrong password",
		"session cookie": w.cookie, "code": code, "refresh token": tokens.text("refresh_token"),
		"rotated":      rotated.text("refresh_token"),
		"access token": tokens.text("access_token"), "id_token": tokens.text("id_token"), "master key": w.master.Text(),
	}
	for _, k := range must(w.store.SigningKeys(t.Context()))(t) {
		planted["signing key "+k.ID] = k.Private.Reveal()
	}
	w.raw(w.signIn, "/oauth/signin", url.Values{"username": {"ada"}, "password": {password}})
	if err := w.calls.Close(); err != nil {
		t.Fatal(err)
	}
	file := must(os.ReadFile(w.path))(t)
	if !bytes.Contains(file, []byte("ada")) || log.Len() == 0 {
		t.Fatal("the file or the log holds nothing: nothing is tested")
	}
	for name, secret := range planted {
		raw, _ := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(secret, "rt_"))
		for form, text := range map[string][]byte{"as it is": []byte(secret), "as bytes": raw,
			"in base64": []byte(base64.StdEncoding.EncodeToString([]byte(secret)))} {
			if len(text) > 8 && bytes.Contains(file, text) {
				t.Errorf("the %s is in the data file, %s", name, form)
			}
			if len(text) > 8 && bytes.Contains(log.Bytes(), text) {
				t.Errorf("the %s is in the log, %s: %s", name, form, log.String())
			}
		}
	}
}
