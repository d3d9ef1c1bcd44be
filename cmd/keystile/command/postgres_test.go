package command

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/database"
)

// Two nodes with folders of their own, one store and one master key are one service.
func TestNodesOnPostgreSQLAreOneService(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	url := database.WithSchema(t)
	one, two := t.TempDir(), t.TempDir()
	a := start(t, one, "--storage-url", url, "--base-url", "http://127.0.0.1")
	copyFile(t, filepath.Join(one, "master.key"), filepath.Join(two, "master.key"))
	copyFile(t, filepath.Join(one, "first-run.json"), filepath.Join(two, "first-run.json")) // for the test alone
	b := start(t, two, "--storage-url", url, "--base-url", "http://127.0.0.1")
	if _, err := os.Stat(filepath.Join(one, "keystile.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a node on PostgreSQL makes a database file: %v", err)
	}
	code := authorize(t, a)
	g := redeem(t, b, code, 200)
	wantUserInfo(t, a, g.AccessToken, 200)
	next := refresh(t, a, g.RefreshToken, 200)
	refresh(t, b, g.RefreshToken, 400) // it was used at the other node
	refresh(t, b, next.RefreshToken, 200)

	app := must(t, "app", "create", "--data", one, "--name", "Late", "--domain", "a.example")
	machineToken(t, b, app["client_id"].(string), app["client_secret"].(string))
	for _, s := range []*service{a, b} {
		if resp, body := get(t, http.DefaultClient, "http://"+s.address+"/healthz/ready"); resp.StatusCode != 200 {
			t.Errorf("ready: %d %s", resp.StatusCode, body)
		}
	}
	a.stop()
	b.stop()
	// without a server
	if code, said, errs := command(t, "", "user", "list", "--data", one, "--storage-url", url); code != 0 ||
		!strings.Contains(said, "admin") {
		t.Errorf("user list: %d %s%s", code, said, errs)
	}
	must(t, "audit", "verify", "--data", two, "--storage-url", url)
}

func TestServiceMovesToPostgreSQLAndBack(t *testing.T) {
	t.Parallel()
	url := database.WithSchema(t)
	data, back := t.TempDir(), t.TempDir()
	s := start(t, data, "--base-url", "http://127.0.0.1")
	g := redeem(t, s, authorize(t, s), 200)
	s.stop()
	if said := must(t, "storage", "copy", "--from", "bolt:"+data, "--to", url); said["finished"] != true {
		t.Errorf("it is not finished: %v", said)
	}
	wantFailure(t, 1, "it was copied to postgres://", "serve", "--data", data, "--listen", "127.0.0.1:0")
	s = start(t, data, "--storage-url", url, "--base-url", "http://127.0.0.1")
	wantUserInfo(t, s, g.AccessToken, 200)
	if said := must(t, "storage", "copy", "--from", "bolt:"+data, "--to", "bolt:"+t.TempDir()); said["live"] != false ||
		said["finished"] != true {
		t.Errorf("the file that was left behind is not copied beside the server: %v", said)
	}
	g = refresh(t, s, g.RefreshToken, 200)
	s.stop()
	must(t, "storage", "copy", "--from", url, "--to", "bolt:"+back)
	for _, words := range []string{"serve --listen 127.0.0.1:0", "user list", "key rotate"} {
		args := append(strings.Fields(words), "--data", data, "--storage-url", url)
		wantFailure(t, 1, "it was copied to bolt:"+back, args...)
	}
	for _, name := range []string{"master.key", "first-run.json"} {
		copyFile(t, filepath.Join(data, name), filepath.Join(back, name))
	}
	s = start(t, back, "--base-url", "http://127.0.0.1")
	refresh(t, s, g.RefreshToken, 200)
	must(t, "audit", "verify", "--data", back)
}

func TestPostgreSQLGuaranteesAreStated(t *testing.T) {
	t.Parallel()
	url, data := database.WithSchema(t), t.TempDir()
	for _, words := range []string{"backup " + filepath.Join(data, "b.db"), "restore " + filepath.Join(data, "b.db"),
		"storage compact"} {
		wantFailure(t, 1, "pg_dump", append(strings.Fields(words), "--data", data, "--storage-url", url)...)
	}
	wantFailure(t, 1, `the storage "bolt"`, "storage", "migrate", "status", "--data", data)
	before := must(t, "storage", "migrate", "status", "--data", data, "--storage-url", url)
	if before["missing"] == 0.0 {
		t.Errorf("before: %v", before)
	}
	wantFailure(t, 1, "keystile storage migrate up", "serve", "--data", data, "--storage-url", url+"&migrate=never",
		"--listen", "127.0.0.1:0")
	code, script, _ := command(t, "", "storage", "migrate", "sql", "--data", data, "--storage-url", url)
	if code != 0 || strings.Count(script, "BEGIN;") != len(before["steps"].([]any)) ||
		!strings.Contains(script, "CREATE TABLE token") {
		t.Errorf("sql: %d %s", code, script)
	}
	if taken := must(t, "storage", "migrate", "up", "--data", data, "--storage-url",
		url); len(taken["taken"].([]any)) != len(before["steps"].([]any)) {
		t.Errorf("up: %v", taken)
	}
	if after := must(t, "storage", "migrate", "status", "--data", data, "--storage-url", url); after["missing"] != 0.0 {
		t.Errorf("after: %v", after)
	}
	wantFailure(t, 2, "give status, up or sql", "storage", "migrate", "sideways", "--data", data, "--storage-url", url)
	wantFailure(t, 2, "is no address of a storage", "user", "list", "--data", data, "--storage-url",
		"mysql://opensesame@h")
	wantFailure(t, 2, "give bolt: here", "user", "list", "--data", data, "--storage-url", "bolt:/elsewhere")
}

func TestClocksThatAreFarApartAreRefused(t *testing.T) {
	for ahead, refused := range map[time.Duration]bool{0: false, 5 * time.Second: false, -5 * time.Second: false,
		6 * time.Second: true, -time.Hour: true} {
		if err := checkClocks(ahead); (err != nil) != refused {
			t.Errorf("a database whose clock is %v ahead: %v", ahead, err)
		}
	}
}

func TestPasswordInAnAddressIsNotShown(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, args := range [][]string{
		{"config", "--storage-url", "postgres://u:opensesame@127.0.0.1:1/k?password=opensesame"},
		{"serve", "--data", data, "--listen", "127.0.0.1:0", "--storage-url",
			"postgres://u:opensesame@127.0.0.1:1/k?password=opensesame"},
		{"serve", "--data", data, "--listen", "127.0.0.1:0", "--storage-url", "postgres://u:opensesame@127.0.0.1:1:1/k"},
	} {
		if _, out, errs := command(t, "", args...); strings.Contains(out+errs, "opensesame") {
			t.Errorf("keystile %s shows it: %s%s", args[0], out, errs)
		}
	}
}
