package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

func TestConfigDefaultsAreTheProtocols(t *testing.T) {
	c := load(t, nil)
	if c.CodeLifetime != 5*time.Minute || c.AccessLifetime != 604800*time.Second || c.RefreshLifetime != 30*24*time.Hour {
		t.Errorf("lifetimes = %v %v %v, want those of protocol 8", c.CodeLifetime, c.AccessLifetime, c.RefreshLifetime)
	}
	if c.LockFailures != 10 || c.LockWindow != 5*time.Minute || c.LockDuration != 15*time.Minute {
		t.Errorf("login lock = %d in %v for %v, want that of protocol 8", c.LockFailures, c.LockWindow, c.LockDuration)
	}
	if c.Listen != "127.0.0.1:8080" || c.Data != "keystile-data" || !c.Demo ||
		!slices.Equal(c.IDTokenAlgs, []string{"HS256"}) {
		t.Errorf("Load() = %+v", c)
	}
}

func TestFlagWinsOverTheEnvironmentWhichWinsOverTheFile(t *testing.T) {
	file := write(t, "listen: :1\nlifetimes:\n  code: 1m\n  access: 1h\nlog.level: debug\n")
	flags := map[string][]string{"config": {file}, "lifetimes-code": {"3m"}}
	env := []string{"KEYSTILE_LIFETIMES_CODE=2m", "KEYSTILE_LIFETIMES_ACCESS=2h", "HOME=/", "KEYSTILE_LISTEN="}
	c, err := Load(cli.Args{Flags: flags}, env)
	if err != nil {
		t.Fatal(err)
	}
	if c.CodeLifetime != 3*time.Minute || c.AccessLifetime != 2*time.Hour || c.Listen != ":1" ||
		c.RefreshLifetime != 720*time.Hour {
		t.Errorf("code %v access %v listen %q refresh %v", c.CodeLifetime, c.AccessLifetime, c.Listen, c.RefreshLifetime)
	}
	sources := map[string]string{}
	for _, v := range c.Values {
		sources[v.Key] = v.Source
	}
	for key, want := range map[string]string{
		"lifetimes.code": "flag --lifetimes-code", "lifetimes.access": "environment KEYSTILE_LIFETIMES_ACCESS",
		"listen": file + ":1", "log.level": file + ":5", "lifetimes.refresh": "default",
	} {
		if sources[key] != want {
			t.Errorf("source of %s = %q, want %q", key, sources[key], want)
		}
	}
}

func TestFileMayBeNamedByTheEnvironment(t *testing.T) {
	if c := load(t, []string{"KEYSTILE_CONFIG=" + write(t, "demo: false")}); c.Demo {
		t.Error("the file was not read")
	}
}

func TestUnknownKeyIsAnErrorThatNamesTheNearest(t *testing.T) {
	for _, c := range []struct{ name, file, env, want string }{
		{"in the file", "liftimes:\n  code: 5m", "", `keystile.yaml:2: unknown key "liftimes.code"; the nearest known one is "lifetimes.code"`},
		{"at the top of the file", "lisen: :1", "", `keystile.yaml:1: unknown key "lisen"; the nearest known one is "listen"`},
		{"in the environment", "", "KEYSTILE_BASEURL=x",
			"KEYSTILE_BASEURL: no such key; the nearest known one is KEYSTILE_BASE_URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantComplaint(t, []string{c.env}, c.file, c.want)
		})
	}
}

func TestBadValueNamesKeyValueSourceAndAnExample(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"LIFETIMES_CODE", "five", "a duration has"}, {"LIFETIMES_CODE", "0s", "above 0"},
		{"LIFETIMES_CODE", "300", "a unit"},
		{"LISTEN", "8080", "host:port"}, {"LISTEN", "localhost:http", "the port is a number"},
		{"LISTEN", ":65536", "the port"},
		{"BASE_URL", "id.example.com", "begin with https"}, {"BASE_URL", "ftp://x", "begin with https"},
		{"BASE_URL", "https://id.example.com/", "write https://id.example.com"},
		{"BASE_URL", "https://id.example.com/auth", "write https://id.example.com"},
		{"BASE_URL", "https://ID.example.com", "write https://id.example.com"},
		{"BASE_URL", "https://id.example.com:443", "write https://id.example.com"},
		{"BASE_URL", "https://id.example.com?x", "an origin"}, {"BASE_URL", "https://", "an origin"},
		{"TRUSTED_PROXIES", "10.0.0.0/33", "neither an address nor a network"}, {"LOGIN_LOCK_FAILURES", "0", "from 1"},
		{"DEMO", "maybe", "true or false"}, {"SIGNING_ALG", "HS256", "one of ES256"}, {"ID_TOKEN_ALGS", "none", "one of"},
		{"ID_TOKEN_ALGS", "ES256", "HS256 is always"}, {"LOG_LEVEL", "loud", "one of debug"},
		{"LOG_FORMAT", "xml", "one of text"},
	} {
		t.Run(c.key+"="+c.value, func(t *testing.T) {
			key := strings.ToLower(c.key)
			_, err := Load(cli.Args{}, []string{"KEYSTILE_" + c.key + "=" + c.value})
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, part := range []string{c.want, `"` + c.value + `"`, "environment KEYSTILE_" + c.key, "for example", strings.Split(key, "_")[0]} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the complaint %q does not say %q", err, part)
				}
			}
		})
	}
}

func TestConfigReportsAllComplaintsAtOnce(t *testing.T) {
	file := write(t, "lisen: :1\ndemo: perhaps\n")
	_, err := Load(cli.Args{Flags: map[string][]string{"config": {file}, "lifetimes-code": {"soon"}}},
		[]string{"KEYSTILE_DTA=x"})
	for _, part := range []string{"4 mistakes", "lisen", "demo", "lifetimes.code", "KEYSTILE_DTA"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Load() = %v, want it to name %q", err, part)
		}
	}
	var usage *cli.UsageError
	if !errors.As(err, &usage) {
		t.Error("a mistake in the configuration is no usage error")
	}
}

func TestFileSaysItsKeysInOneWay(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"a key twice", "listen: :1\nlisten: :2", "stands in"},
		{"nested and dotted", "lifetimes: {code: 1m}\nlifetimes.code: 2m", "stands in"},
		{"no value", "listen:", "a plain value"},
		{"a mapping for a value", "listen: {a: b}", "a plain value"},
		{"a list at the top", "- listen", "a mapping"},
		{"not YAML", "listen: [", "keystile.yaml"},
		{"two documents", "listen: :1\n---\nlisten: :2", "more than one document"},
		{"another file", "config: b.yaml", "cannot name another one"},
		{"the master key", "master_key: abc", "master_key_file"},
	} {
		t.Run(c.name, func(t *testing.T) { wantComplaint(t, nil, c.file, c.want) })
	}
	for _, empty := range []string{"", "# nothing\n", "---\n"} {
		if _, err := Load(cli.Args{}, []string{"KEYSTILE_CONFIG=" + write(t, empty)}); err != nil {
			t.Errorf("an empty file %q: %v", empty, err)
		}
	}
}

func TestFileThatIsNotThereIsAComplaint(t *testing.T) {
	_, err := Load(cli.Args{}, []string{"KEYSTILE_CONFIG=" + filepath.Join(t.TempDir(), "none.yaml")})
	if err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("Load() = %v", err)
	}
}

func TestListsAreListsOrCommas(t *testing.T) {
	for _, file := range []string{"trusted_proxies: [10.1.2.3/8, '::1']", "trusted_proxies: 10.0.0.0/8, ::1"} {
		c := load(t, []string{"KEYSTILE_CONFIG=" + write(t, file)})
		if len(c.TrustedProxies) != 2 || c.TrustedProxies[0].String() != "10.0.0.0/8" ||
			c.TrustedProxies[1].String() != "::1/128" {
			t.Errorf("%s: %v", file, c.TrustedProxies)
		}
	}
}

func TestConfigComplainsOfContradictions(t *testing.T) {
	key := "KEYSTILE_MASTER_KEY=" + storage.NewMasterKey().Text()
	wantComplaint(t, []string{key, "KEYSTILE_MASTER_KEY_FILE=/k"}, "", "keep one of them")
	wantComplaint(t, []string{"KEYSTILE_LIFETIMES_SESSION_IDLE=800h"}, "", "session_max")
	wantComplaint(t, []string{"KEYSTILE_LIMITS_STREAM_IDLE=59s"}, "", "less than 1m")
	wantComplaint(t, []string{"KEYSTILE_STORAGE_STALE_AFTER=1s"}, "", "less than 2s")
	wantComplaint(t, nil, "gateway.products: [{name: ai, upstream: 'http://127.0.0.1:1', timeout: 2h}]",
		"timeout of the product ai")
}

func TestHostsOfTheAdminListenerAreNamesAndAddresses(t *testing.T) {
	c := load(t, []string{"KEYSTILE_ADMIN_HOSTS=Metrics.internal, 10.0.0.5,::1 [fd00::1]"})
	if want := []string{"metrics.internal", "10.0.0.5", "[::1]", "[fd00::1]"}; !slices.Equal(c.AdminHosts, want) {
		t.Errorf("AdminHosts = %q, want %q", c.AdminHosts, want)
	}
	for word, want := range map[string]string{"metrics:9090": "has a port", "*.internal": "neither",
		"http://metrics": "neither", "a@b": "neither", "m/x": "neither"} {
		wantComplaint(t, []string{"KEYSTILE_ADMIN_HOSTS=" + word}, "", want)
	}
}

func TestKubernetesServiceVariablesAreNoKeys(t *testing.T) {
	load(t, []string{"KEYSTILE_SERVICE_HOST=10.0.0.1", "KEYSTILE_SERVICE_PORT=80", "KEYSTILE_SERVICE_PORT_HTTP=80",
		"KEYSTILE_PORT=tcp://10.0.0.1:80", "KEYSTILE_PORT_80_TCP=tcp://10.0.0.1:80", "KEYSTILE_PORT_80_TCP_ADDR=10.0.0.1"})
	wantComplaint(t, []string{"KEYSTILE_PORT=8080"}, "", "KEYSTILE_PORT")
}

func TestMasterKeyIsNeverShown(t *testing.T) {
	secret := storage.NewMasterKey().Text()
	var out strings.Builder
	if err := load(t, []string{"KEYSTILE_MASTER_KEY=" + secret}).Print(&out); err != nil {
		t.Fatal(err)
	}
	_, err := Load(cli.Args{}, []string{"KEYSTILE_MASTER_KEY=" + secret + "xyz"})
	if err == nil {
		t.Fatal("a broken key was accepted")
	}
	if text := out.String() + err.Error(); strings.Contains(text, secret) || !strings.Contains(out.String(), "[secret]") {
		t.Errorf("the key shows, or its place does not: %s", text)
	}
}

func TestMasterKeysAreSeparatedByCommas(t *testing.T) {
	fresh, old := storage.NewMasterKey(), storage.NewMasterKey()
	c := load(t, []string{"KEYSTILE_MASTER_KEY=" + fresh.Text() + "=, " + old.Text()})
	if len(c.MasterKeys) != 2 || c.MasterKeys[0].ID() != fresh.ID() || c.MasterKeys[1].ID() != old.ID() {
		t.Errorf("%d keys, not the two in their order", len(c.MasterKeys))
	}
	for _, v := range c.Values {
		if strings.Contains(v.Text, old.Text()) || strings.Contains(v.Text, fresh.Text()) {
			t.Errorf("%s shows a key", v.Key)
		}
	}
	_, err := Load(cli.Args{}, []string{"KEYSTILE_MASTER_KEY=" + fresh.Text() + "," + old.Text()[1:]})
	if err == nil || strings.Contains(err.Error(), old.Text()[1:]) || strings.Contains(err.Error(), fresh.Text()) {
		t.Errorf("with a broken second key: %v", err)
	}
}

func TestConfigPrintedLoadsTheSame(t *testing.T) {
	c := load(t, []string{"KEYSTILE_LISTEN=:0", "KEYSTILE_TRUSTED_PROXIES=10.0.0.0/8,::1", "KEYSTILE_DATA=a: b #c",
		"KEYSTILE_DEMO=0", "KEYSTILE_MASTER_KEY_FILE=null"})
	var out strings.Builder
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	again := load(t, []string{"KEYSTILE_CONFIG=" + write(t, out.String())})
	for i, v := range c.Values {
		if w := again.Values[i]; v.Key != "config" && v.Text != w.Text {
			t.Errorf("%s: %q was printed and read as %q", v.Key, v.Text, w.Text)
		}
	}
	if again.Data != "a: b #c" || again.Demo || again.MasterKeyFile != "null" {
		t.Errorf("read back: %+v", again)
	}
}

func TestKeysAreToldApartInEverySource(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range keys {
		for _, name := range []string{k.name, k.env(), "--" + k.flag()} {
			if seen[name] {
				t.Errorf("%s means two keys", name)
			}
			seen[name] = true
		}
		if k.help == "" {
			t.Errorf("%s has no help", k.name)
		}
	}
}

func load(t *testing.T, env []string) *Config {
	t.Helper()
	c, err := Load(cli.Args{}, env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "keystile.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func wantComplaint(t *testing.T, env []string, file, want string) {
	t.Helper()
	if file != "" {
		env = append(env, "KEYSTILE_CONFIG="+write(t, file))
	}
	if _, err := Load(cli.Args{}, env); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Load() = %v, want a complaint with %q", err, want)
	}
}

func TestVariablesOfTheProjectsTestsAreNoKeys(t *testing.T) {
	load(t, []string{"KEYSTILE_OPENAPI_CORPUS=/documents", "KEYSTILE_BENCH_ROWS=1000", "KEYSTILE_SCREENSHOTS=/pictures",
		"KEYSTILE_POSTGRES_URL=postgres://h/d"})
}

func TestMailNeedsAServerAndASender(t *testing.T) {
	for want, args := range map[string]map[string][]string{
		"mail.smtp.host: it is empty":               {"mail-smtp-username": {"ada"}},
		"mail.smtp.from: give the sender":           {"mail-smtp-host": {"localhost"}},
		"mail.smtp.port":                            {"mail-smtp-port": {"65536"}},
		"mail.smtp.tls":                             {"mail-smtp-tls": {"ssl"}},
		"signup: \"all\" (flag --signup)":           {"signup": {"all"}},
		"account.delete: \"no\" (flag":              {"account-delete": {"no"}},
		"account.contact: \"a\\nb\" (flag":          {"account-contact": {"a\nb"}},
		"mail.smtp.timeout: \"0s\" (flag":           {"mail-smtp-timeout": {"0s"}},
		"it must be a number from 1 to 65535, for ": {"mail-smtp-port": {"0"}},
	} {
		if _, err := Load(cli.Args{Flags: args}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%v) = %v, want %q in it", args, err, want)
		}
	}
	c := load(t, []string{"KEYSTILE_MAIL_SMTP_HOST=smtp.example.com", "KEYSTILE_MAIL_SMTP_FROM=a@example.com",
		"KEYSTILE_MAIL_SMTP_PASSWORD=s3cret"})
	if m := c.Mail; m.Host != "smtp.example.com" || m.TLS != "starttls" || m.Timeout != 30*time.Second ||
		!m.Password.Equal("s3cret") || c.SignUp != "closed" {
		t.Errorf("mail is %+v", m)
	}
	for _, v := range c.Values {
		if strings.Contains(v.Text, "s3cret") {
			t.Errorf("%s shows the secret", v.Key)
		}
	}
}
