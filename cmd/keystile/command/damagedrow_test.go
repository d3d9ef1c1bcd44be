package command

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/internal/handle"
)

// flipped turns a bit of each copy of a text in a database, at an offset behind where the text begins.
func flipped(t *testing.T, path string, text []byte, offset int) {
	t.Helper()
	file, err := os.ReadFile(path)
	fatal(t, err)
	disk, err := os.OpenFile(path, os.O_WRONLY, 0)
	fatal(t, err)
	defer disk.Close()
	found := 0
	for at := 0; ; found++ {
		n := bytes.Index(file[at:], text)
		if n < 0 {
			break
		}
		at += n + 1
		_, err := disk.WriteAt([]byte{file[at-1+offset] ^ 1}, int64(at-1+offset))
		fatal(t, err)
	}
	if found == 0 {
		t.Fatalf("%q is not in it", text)
	}
}

// asksToken posts to the token endpoint as an application.
func asksToken(t *testing.T, s *service, id, secret string, form url.Values) (code int, body string) {
	t.Helper()
	form.Set("client_id", id)
	form.Set("client_secret", secret)
	resp, body := post(t, s, "/oauth/token", form)
	return resp.StatusCode, body
}

// stopServer has a server end by itself.
func stopServer(t *testing.T, s server) {
	t.Helper()
	fatal(t, s.Process.Signal(syscall.SIGTERM))
	<-s.child.ended
}

// One bit of an application's domains and one of a refresh token are wrong. Both are answered with 503, whoever asks;
// the others are served; and everything that looks at the file names them.
func TestDamagedRowIsNamedAndNeverServed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program")
	}
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	other := must(t, "app", "create", "--data", data, "--name", "Other", "--domain", "a.example")
	token, live := redeem(t, s, authorize(t, s), 200).RefreshToken, redeem(t, s, authorize(t, s), 200).RefreshToken
	s.stop()
	file := filepath.Join(data, "keystile.db")
	key := handle.KeyOf(token)
	row := append(key[:], "\x7f\xff\xff\xf1"...) // it is not spent
	flipped(t, file, row, len(key)+20)
	first := firstRunOf(t, data)

	served := serveIn(t, data)
	if code, body := asksToken(t, served.service, first.App.ClientID, first.App.ClientSecret,
		url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}); code != http.StatusServiceUnavailable {
		t.Errorf("a damaged token is answered with %d %s, want 503", code, body)
	}
	refresh(t, served.service, live, 200)
	authorize(t, served.service)

	flipped(t, file, []byte(`"domains":["a.example"`), len(`"domains":["`))
	id, secret := other["client_id"].(string), other["client_secret"].(string)
	for name, form := range map[string]url.Values{
		"client_credentials": {"grant_type": {"client_credentials"}},
		"refresh_token":      {"grant_type": {"refresh_token"}, "refresh_token": {live}},
	} {
		code, body := asksToken(t, served.service, id, secret, form)
		if code != http.StatusServiceUnavailable || strings.Contains(body, "invalid_client") ||
			strings.Contains(body, ".example") {
			t.Errorf("%s of a damaged application is answered with %d %s, want 503", name, code, body)
		}
	}
	query := url.Values{"response_type": {"code"}, "client_id": {id}, "redirect_uri": {"https://a.example/cb"}}
	if resp, body := get(t, http.DefaultClient,
		served.origin()+"/oauth/authorize?"+query.Encode()); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("authorize = %d %s, want 503", resp.StatusCode, body)
	}
	if code, body := asksToken(t, served.service, first.App.ClientID, first.App.ClientSecret,
		url.Values{"grant_type": {"client_credentials"}}); code != 200 {
		t.Errorf("another application is answered with %d %s", code, body)
	}
	code, _, errs := command(t, "", "backup", filepath.Join(t.TempDir(), "b.db"), "--data", data)
	named := []string{"app", id, "is damaged"}
	for _, word := range named {
		if code != 1 || !strings.Contains(errs, word) {
			t.Errorf("a backup exits %d and says %s, want %q", code, errs, word)
		}
	}
	stopServer(t, served)

	c := checkStorage(t, "--data", data)
	c.want(t, rowsName, admin.Unsafe, append(named, "the token", "restore")...)
	wantFailure(t, 1, id, "storage", "compact", "--data", data)
	wantFailure(t, 1, "the row of the token", "storage", "copy", "--from", "bolt:"+data, "--to", "bolt:"+t.TempDir())
	copied := filepath.Join(t.TempDir(), "copy.db")
	copyFile(t, file, copied)
	wantFailure(t, 1, id, "restore", copied, "--data", withKeyOf(t, data))
}

// A store without damage says how many rows it has, and a backup of it is good.
func TestStorageCheckReadsEveryRow(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	checkStorage(t, "--data", data).want(t, rowsName, admin.Noted, "keystile backup")
	s.stop()
	c := checkStorage(t, "--data", data)
	c.want(t, rowsName, admin.Safe, "are what was written")
	if text, _ := json.Marshal(c.by[rowsName]); strings.Contains(string(text), "no checksum") {
		t.Errorf("rows of this version lack a checksum: %s", text)
	}
}
