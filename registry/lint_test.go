package registry

import (
	"fmt"
	"strings"
	"testing"
)

func TestLintGivesAdviceAndNoVerdict(t *testing.T) {
	for _, document := range []string{whole2, whole3} {
		if advice := Lint(t.Context(), []byte(document)); len(advice) != 0 {
			t.Errorf("Lint(a good document) = %q, want none", advice)
		}
	}
	for _, c := range []struct{ document, want string }{
		{`{"openapi":"3.0.3","paths":{"/a":{"get":{}}}}`, "info"},
		{`{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{"/x":null}}`, "gave up"},
		{`{"swagger":"2.0","paths":7}`, "paths"},
		{`nonsense`, "not a JSON object"},
		{`{"openapi":"3.0.3","x":` + strings.Repeat(`{"properties":`, 7000), "levels deep"},
	} {
		advice := Lint(t.Context(), []byte(c.document))
		if len(advice) == 0 || !strings.Contains(advice[0], c.want) || strings.Contains(strings.Join(advice, ""), "\n") {
			t.Errorf("Lint(%.100s) = %q, want lines about %s", c.document, advice, c.want)
		}
	}
}

func TestLintDeclinesWhatWouldTakeMinutes(t *testing.T) {
	with := func(schemas string) string {
		return `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{},"components":{"schemas":{` + schemas + `"last":{}}}}`
	}
	alias := `"S%d":{"$ref":"#/components/schemas/S%d"},`
	property := `"S%04d":{"properties":{"a":{"$ref":"#/components/schemas/S%04d"}}},`
	chains := each(4000, property)
	for i := 400; i < 4000; i += 400 {
		chains = strings.ReplaceAll(chains, fmt.Sprintf(`schemas/S%04d"`, i), `schemas/last"`)
	}
	deep := strings.Repeat(`{"additionalProperties":`, 58) + `{}` + strings.Repeat(`}`, 58)
	for name, document := range map[string]string{
		"aliases":    with(each(100, alias)),
		"a chain":    with(each(1100, property)),
		"ten chains": with(chains),
		"depth":      with(each(4000, `"S%d":`+deep+`,"x%d":{},`)),
	} {
		advice := Lint(t.Context(), []byte(document))
		if len(advice) != 1 || !strings.HasPrefix(advice[0], "not judged by the strict validator: ") {
			t.Errorf("%s: Lint() = %.200q, want it declined and said so", name, advice)
		}
	}
	for name, document := range map[string]string{"a short chain": with(each(100, property)), "few aliases": with(each(10, alias))} {
		if advice := Lint(t.Context(), []byte(document)); len(advice) > 0 && strings.HasPrefix(advice[0], "not judged") {
			t.Errorf("%s: Lint() = %q, want it judged", name, advice)
		}
	}
}
