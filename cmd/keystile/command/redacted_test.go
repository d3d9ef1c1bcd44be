package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/internal/test/said"
)

const secretMark = "SECRETMARK"

// withPasswords are addresses with a password, right and wrong.
var withPasswords = []string{
	"https://user:SECRETMARK@host.example", "http://user:SECRETMARK@127.0.0.1:1/path?q=1",
	"redis://:SECRETMARK@127.0.0.1:1/0", "postgres://user:SECRETMARK@127.0.0.1:1/db?connect_timeout=1",
	"https://SECRETMARK@host.example", "ftp://user:SECRETMARK@host.example", "bolt://user:SECRETMARK@host",
	"unix://user:SECRETMARK@/socket",
	"https://user:SECRETMARK@host:port", "https://user:SECRETMARK@[::1", "https://user:%zzSECRETMARK@host",
	"https://user:a SECRETMARK@host", "https://user:a,SECRETMARK@host",
	"https://user:a/SECRETMARK@host", "https://user:a@SECRETMARK@host", "https://user:a#SECRETMARK@host",
	"https://user:a?SECRETMARK@host", "https://user:\x01SECRETMARK@host", "https://user:SECRETMARK%40host",
	"https://user:SECRETMARK", "http//user:SECRETMARK@host", "http:/user:SECRETMARK@host", "//user:SECRETMARK@host",
	"://user:SECRETMARK@host", "user:SECRETMARK@host", "user%3ASECRETMARK@host",
	"redis:/user:SECRETMARK@host", "postgres:user:SECRETMARK@host", "postgres://user:SECRETMARK@",
	"host=127.0.0.1 password=SECRETMARK", "postgres://host/db?password=SECRETMARK&port=x",
	"redis://127.0.0.1:1?password=SECRETMARK",
	"name=http://user:SECRETMARK@host", `[{"name":"a","upstream":"http://user:SECRETMARK@host"}]`, `[{preset: oidc, id: a, secret: b, issuer: "https://user:SECRETMARK@host"}]`,
	`[{preset: "user:SECRETMARK@host"}]`, `[{"https://user:SECRETMARK@host": 1}]`, `[{name: http://user:SECRETMARK@host`,
}

// An address with a password may be written into any setting, and may be wrong: the program prints, logs and answers
// nothing with the password in it.
func TestSettingsHideThePasswordOfAnAddress(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var reference bytes.Buffer
	fatal(t, config.ReferenceJSON(&reference))
	var all []struct {
		Key, Environment, Flag string
		InFile                 bool `json:"in_file"`
	}
	fatal(t, json.Unmarshal(reference.Bytes(), &all))
	if len(all) < 60 {
		t.Fatalf("only %d settings are found", len(all))
	}
	read, accepted := 0, 0
	look := func(what, text string) {
		t.Helper()
		if strings.Contains(text, secretMark) {
			t.Errorf("%s shows it: %s", what, text)
		}
	}
	for _, setting := range all {
		for _, value := range withPasswords {
			what := setting.Key + "=" + value
			for _, args := range [][]string{{"config"}, {"storage", "check"}} {
				env := []string{"KEYSTILE_DATA=" + filepath.Join(t.TempDir(), "none")}
				switch {
				case setting.Environment != "":
					env = append(env, setting.Environment+"="+value)
				case setting.Flag != "":
					args = append(args, setting.Flag, value)
				default:
					continue
				}
				if args[0] == "storage" && setting.Key != "storage_url" && setting.Key != "redis_url" {
					continue
				}
				var out, errs bytes.Buffer
				code := program{storage: everything()}.run(t.Context(), args, strings.NewReader(""), &out, &errs, env)
				look(what+" "+strings.Join(args, " "), out.String()+errs.String())
				read++
				if code == 0 && args[0] == "config" {
					accepted++
				}
			}
			if setting.InFile {
				file := filepath.Join(t.TempDir(), "keystile.yaml")
				quoted, err := json.Marshal(value)
				fatal(t, err)
				for _, text := range []string{setting.Key + ": " + string(quoted), setting.Key + ": " + value,
					value + ": " + setting.Key} {
					fatal(t, os.WriteFile(file, []byte(text), 0o600))
					c, err := config.Load(cli.Args{Flags: map[string][]string{"config": {file}}}, nil)
					if err != nil {
						look(what+" in a file", err.Error())
						continue
					}
					var out bytes.Buffer
					fatal(t, c.Print(&out))
					look(what+" in a file", out.String()+fmt.Sprint(c.Settings()))
				}
			}
		}
	}
	if read < 2000 || accepted < 50 {
		t.Errorf("%d values were read and %d taken: the test looks in the wrong place", read, accepted)
	}
}

// A service that starts with such a value, or fails to, does not show it either.
func TestStartShowsNoPasswordOfAnAddress(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the service many times")
	}
	for _, env := range []string{"KEYSTILE_STORAGE_URL", "KEYSTILE_REDIS_URL", "KEYSTILE_OTEL_ENDPOINT",
		"KEYSTILE_STREAMS_S3_ENDPOINT", "KEYSTILE_BASE_URL", "KEYSTILE_GATEWAY_PRODUCTS", "KEYSTILE_CONNECTORS_OIDC",
		"KEYSTILE_NODE_NAME"} {
		for _, value := range withPasswords {
			if strings.ContainsRune(value, 1) {
				continue // no process has such a variable
			}
			out, dir := said.New(), t.TempDir()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				program{storage: everything()}.run(ctx, []string{"serve", "--listen", "127.0.0.1:0"}, strings.NewReader(""), out,
					out,
					[]string{"KEYSTILE_DATA=" + filepath.Join(dir, "d"), env + "=" + value})
			}()
			for runs := true; runs; {
				text, grown := out.Now()
				if strings.Contains(text, "running at ") {
					break
				}
				select {
				case <-grown:
				case <-ended:
					runs = false
				}
			}
			stop()
			<-ended
			if strings.Contains(out.String(), secretMark) {
				t.Errorf("%s=%s: %s", env, value, out)
			}
		}
	}
}

// The pages of settings and health show valid addresses without their passwords.
func TestPagesOfAServiceShowNoPasswordOfAnAddress(t *testing.T) {
	s := start(t, t.TempDir(), "--redis-url", "redis://user:SECRETMARK@127.0.0.1:1/0", "--account-contact",
		"https://user:SECRETMARK@host.example/privacy")
	cookie := cookieOf(t, s).String()
	for _, path := range []string{"/console/settings", "/api/console/settings", "/console/health", "/api/console/health",
		"/console/nodes", "/healthz/ready"} {
		r, body := get(t, http.DefaultClient, s.base+path, "Cookie", cookie)
		if r.StatusCode >= 500 && path != "/healthz/ready" || strings.Contains(body, secretMark) {
			t.Errorf("%s = %d %s", path, r.StatusCode, body)
		}
	}
}
