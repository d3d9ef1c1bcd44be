package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// The whole way on a real file: with the server running, a restart, and a backup from before.
func TestMasterKeyChangesUnderARunningServer(t *testing.T) {
	t.Parallel()
	data, base, before := t.TempDir(), "http://127.0.0.1", filepath.Join(t.TempDir(), "before.db")
	s := start(t, data, "--base-url", base)
	app := must(t, "app", "create", "--data", data, "--name", "A", "--domain", "a.example")
	id, secret := app["client_id"].(string), app["client_secret"].(string)
	g := redeem(t, s, authorize(t, s), 200)
	must(t, "backup", before, "--data", data)
	old := masterKeyOf(t, data)
	v := must(t, "key", "rekey", "--data", data)
	fresh := masterKeyOf(t, data)
	if fresh == old || v["documents"].(float64) < 4 { // two applications, two signing keys
		t.Errorf("printed %v", v)
	}
	machineToken(t, s, id, secret)
	refresh(t, s, g.RefreshToken, 200)
	late := must(t, "app", "create", "--data", data, "--name", "Late", "--domain", "b.example")
	s.stop()
	for _, key := range []string{old, fresh} {
		if said := s.log.String() + s.out.String(); strings.Contains(said, key) {
			t.Error("a master key is logged")
		}
	}
	s = start(t, data, "--base-url", base)
	machineToken(t, s, id, secret)
	machineToken(t, s, late["client_id"].(string), late["client_secret"].(string))
	wantUserInfo(t, s, g.AccessToken, 200)
	s.stop()

	oldKey, err := storage.ParseMasterKey(old)
	if err != nil {
		t.Fatal(err)
	}
	wantFailure(t, 1, before+": storage: the master key is not the one", "restore", before, "--data", data)
	wantFailure(t, 1, "sealed with key "+oldKey.ID(), "restore", before, "--data", data)
	wantFailure(t, 1, "master.key.retired-ID", "restore", before, "--data", data)
	retired, err := os.ReadFile(v["retired"].([]any)[0].(string))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "master.key"), []byte(fresh+"\n"+string(retired)), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "restore", before, "--data", data)
	if v := must(t, "key", "rekey", "--data", data); v["documents"].(float64) < 4 {
		t.Errorf("printed %v", v)
	}
	if masterKeyOf(t, data) != fresh {
		t.Error("the key file does not hold the new key alone")
	}
	s = start(t, data, "--base-url", base)
	machineToken(t, s, id, secret)
}

func TestMasterKeyThatIsWrongAtTheStartIsNamedByItsID(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, data).stop()
	right, err := storage.ParseMasterKey(masterKeyOf(t, data))
	if err != nil {
		t.Fatal(err)
	}
	wrong, file := storage.NewMasterKey(), filepath.Join(t.TempDir(), "k")
	if err := os.WriteFile(file, []byte(wrong.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, 1, "the store is sealed with key "+right.ID()+", this is key "+wrong.ID(), "serve", "--data", data,
		"--listen", "127.0.0.1:0", "--master-key-file", file)
}
