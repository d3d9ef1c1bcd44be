package trust

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// A pattern means the regular expression in which each * is any text of one line.
func TestSubjectsMatchAsARegularExpressionWould(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(from string, n int) string {
		var b strings.Builder
		for range random.IntN(n) {
			b.WriteByte(from[random.IntN(len(from))])
		}
		return b.String()
	}
	matched := 0
	for range 200_000 {
		pattern, text := draw("ab*.", 6), draw("ab.\n", 8)
		var quoted []string
		for _, part := range strings.Split(pattern, "*") {
			quoted = append(quoted, regexp.QuoteMeta(part))
		}
		want := regexp.MustCompile(`\A` + strings.Join(quoted, `[^\n\r]*`) + `\z`).MatchString(text)
		if got := matches(pattern, text); got != want {
			t.Fatalf("%q matches %q: %t", pattern, text, got)
		}
		if want {
			matched++
		}
	}
	if matched < 1000 {
		t.Errorf("only %d of them match", matched)
	}
}

func TestClaimsOfARuleAreComparedExactly(t *testing.T) {
	claims := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(`{"n": 9007199254740993, "s": "x", "l": ["a", 1], "o": {"a": true}, "z": null, "f": 1.0}`),
		&claims); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`{}`: true, `{"n": 9007199254740993}`: true, `{"n": 9007199254740992}`: false, `{"n": "9007199254740993"}`: false,
		`{"s": "x"}`: true, `{"s": "X"}`: false, `{"s": "x*"}`: false, `{"s": ["x"]}`: false, `{"l": ["a", 1]}`: true,
		`{"l": ["a"]}`: false, `{"l": [1, "a"]}`: false, `{"l": "a"}`: false, `{"o": {"a": true}}`: true, `{"o": {}}`: false,
		`{"z": null}`: true, `{"z": ""}`: false, `{"none": null}`: false, `{"none": ""}`: false, `{"f": 1.0}`: true,
		`{"s": "x", "n": 1}`: false, `{"S": "x"}`: false,
	} {
		rules, err := ParseRules([]byte(`[{"subject": "*", "claims": ` + text + `, "client_id": "a"}]`))
		if err != nil || rules[0].Matches("ada", claims) != want {
			t.Errorf("claims %s: %v, want %t", text, err, want)
		}
	}
}

func TestIssuerThatIsWrongIsRefused(t *testing.T) {
	good := []string{
		`{"issuer": "https://idp.example", "use": "id-jag"}`,
		`{"issuer": "http://10.0.0.1", "use": "workload", "allow_private": ["10.0.0.0/8"], "jwks_uri": "http://10.0.0.1/keys",
			"audience": "api://x", "rules": [{"subject": "system:*", "client_id": "a"}]}`,
		`{"issuer": "https://idp.example/tenant/", "use": "id-jag", "create": true, "scopes": ["openid", "tools:shop"]}`,
	}
	for _, text := range good {
		if _, err := Parse([]byte("[" + text + "]")); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		`null`, `{}`, `[null]`, `[{}]`, `[` + good[0] + `,` + good[0] + `]`, `[{"issuer": "https://a.example", "use": "x"}]`,
		`[{"issuer": "http://a.example", "use": "id-jag"}]`, `[{"issuer": "ftp://a.example", "use": "id-jag"}]`,
		`[{"issuer": "https://u@a.example", "use": "id-jag"}]`, `[{"issuer": "https://a.example?x", "use": "id-jag"}]`,
		`[{"issuer": "https://a.example", "use": "id-jag", "typo": 1}]`,
		`[{"issuer": "https://a.example", "use": "id-jag", "audience": "x"}]`,
		`[{"issuer": "https://a.example", "use": "id-jag", "rules": [{"subject": "a", "client_id": "b"}]}]`,
		`[{"issuer": "https://a.example", "use": "workload", "create": true}]`,
		`[{"issuer": "https://a.example", "use": "workload", "rules": [{"subject": "*", "client_id": "b"}]}]`,
		`[{"issuer": "https://a.example", "use": "workload", "rules": [{"subject": "a"}]}]`,
		`[{"issuer": "https://a.example", "use": "workload", "rules": [{"client_id": "a"}]}]`,
	} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
