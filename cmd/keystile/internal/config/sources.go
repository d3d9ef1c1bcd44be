package config

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/pattern"
)

const envPrefix = "KEYSTILE_"

func (k key) env() string { return envPrefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_")) }

func (k key) flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(k.name) }

// Flags returns the flags of the named keys, or of all keys that may be a flag.
func Flags(names ...string) []cli.Flag {
	var flags []cli.Flag
	for i, f := range allFlags() {
		k := &keys[i]
		if !k.in(inFlag) || len(names) > 0 && !slices.Contains(names, k.name) {
			continue
		}
		if len(names) == 0 {
			f.Group = k.group
		}
		flags = append(flags, f)
	}
	return flags
}

// allFlags returns a flag for each key. They are made once: a hundred commands have some of them.
var allFlags = sync.OnceValue(func() (all []cli.Flag) {
	for _, k := range keys {
		f := cli.Flag{Name: k.flag(), Value: k.word(), Help: k.help + k.note()}
		if k.kind == "true or false" {
			f.Value, f.Either = "", true
		}
		all = append(all, f)
	}
	return all
})

// valueWords has the words that help has for values, by their kinds.
var valueWords = map[string]string{"folder": "DIR", "file": "FILE", "host:port": "ADDR", "origin": "URL",
	"duration": "DURATION", "number": "N", "list": "LIST"}

// word returns what help calls a value of the key.
func (k key) word() string {
	return cmp.Or(valueWords[k.kind], "VALUE")
}

// note returns the default in parentheses, "" if there is none.
func (k key) note() string {
	if k.fallback == "" {
		return ""
	}
	return " (" + k.fallback + ")"
}

func (l *loader) flags(args cli.Args) map[string]given {
	found := map[string]given{}
	for _, k := range keys {
		if _, ok := args.Flags[k.flag()]; ok && k.in(inFlag) {
			found[k.name] = given{args.Get(k.flag()), "flag --" + k.flag()}
		}
	}
	return found
}

func (l *loader) environment(env []string) map[string]given {
	byName := map[string]key{}
	var names []string
	for _, k := range keys {
		if k.in(inEnv) {
			byName[k.env()] = k
			names = append(names, k.env())
		}
	}
	found := map[string]given{}
	for _, line := range env {
		name, text, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, envPrefix) || text == "" || fromKubernetes(name, text) || ofTests[name] {
			continue
		}
		k, ok := byName[name]
		if !ok {
			l.complain("environment %s: no such key%s", name, cli.Hint("; the nearest known one is %s", name, names))
			continue
		}
		found[k.name] = given{text, "environment " + name}
	}
	return found
}

// ofTests are variables that the tests of this project read; they may stay set.
var ofTests = map[string]bool{"KEYSTILE_OPENAPI_CORPUS": true, "KEYSTILE_BENCH_ROWS": true,
	"KEYSTILE_SCREENSHOTS": true,
	"KEYSTILE_BINARY":      true, "KEYSTILE_FETCH": true, "KEYSTILE_POSTGRES_URL": true, "KEYSTILE_POSTGRES_CA": true,
	"KEYSTILE_PGBOUNCER_URL": true, "KEYSTILE_TEST_STORAGE": true, "KEYSTILE_TEST_REDIS_URL": true,
	"KEYSTILE_TEST_NODES": true}

var serviceVariable = pattern.Lazy(`^KEYSTILE_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_\d+_[A-Z]+(_PROTO|_PORT|_ADDR)?)$`)

// fromKubernetes reports whether Kubernetes has set the variable: it gives every pod the
// addresses of each Service, and a Service called keystile brings KEYSTILE_PORT and more.
func fromKubernetes(name, text string) bool {
	return serviceVariable().MatchString(name) || name == "KEYSTILE_PORT" && strings.Contains(text, "://")
}
